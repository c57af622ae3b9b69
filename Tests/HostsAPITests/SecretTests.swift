import FoundationEssentials
import HostsAPI
import HostsModel
import Testing

@Suite struct SecretTests {
    private static func secret(_ text: String) -> SecretBytes { SecretBytes(copying: text.utf8) }

    private static func text(_ secret: SecretBytes?) -> String? {
        secret?.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [true, false])
    func `what nobody holds any more is overwritten, all of it`(isFinished: Bool) {
        let seen = Locked<[UInt8]?>(nil)
        do {
            let builder = SecretBytes.Builder(capacity: 8) { memory in
                seen.withLock { $0 = Array(memory) }
                memory.deallocate()
            }
            #expect(builder.append("passw".utf8))
            if isFinished {
                let secret = builder.finish()
                #expect(seen.withLock { $0 } == nil)
                #expect(Self.text(secret) == "passw")
            }
        }
        #expect(seen.withLock { $0 } == [UInt8](repeating: 0, count: 8))
    }

    @Test func `a builder takes no more than it has room for`() {
        let builder = SecretBytes.Builder(capacity: 4)
        #expect(builder.append("abc".utf8))
        #expect(!builder.append("de".utf8))
        builder.fill { room in
            #expect(room.count == 1)
            room[0] = UInt8(ascii: "x")
            return 1
        }
        builder.fill { _ in -1 }
        #expect(Self.text(builder.finish()) == "abcx")
    }

    @Test func `a copy is overwritten where nobody else holds it`() {
        var copy = Array("secret".utf8)
        SecretBytes.erase(&copy)
        #expect(copy.isEmpty)
    }

    @Test(arguments: [
        "correct horse", "\"", "\\", "a\u{1}\u{1f}\n\t\r", "日本語 é 😀", "/", " ", "\u{7f}",
        String(repeating: "\u{2}", count: 4095),
    ])
    func `a passphrase comes out of its body as it went in, and any JSON coder reads it`(_ text: String)
        throws
    {
        let body = try #require(PassphraseBody.encoded(Self.secret(text)))
        #expect(Self.text(try PassphraseBody.decoded(body)) == text)
        let members = try JSONDecoder().decode([String: String].self, from: body.withBytes { Data($0) })
        #expect(members == ["passphrase": text])
    }

    @Test func `what is no UTF-8 has no body`() {
        #expect(PassphraseBody.encoded(SecretBytes(copying: [0xff, 0x41])) == nil)
        #expect(PassphraseBody.encoded(SecretBytes(copying: [0xc3])) == nil)
    }

    @Test(arguments: [
        (#" { "passphrase" : "x" } "#, "x"), (#"{"passphrase":"\"\\\/\b\f\n\r\t"}"#, "\"\\/\u{8}\u{c}\n\r\t"),
        (#"{"passphrase":"\u00e9\uD83D\uDE00A"}"#, "é😀A"), (#"{"\u0070assphrase":"x"}"#, "x"),
    ])
    func `every way to write the body is read`(body: String, expected: String) throws {
        #expect(Self.text(try PassphraseBody.decoded(Self.secret(body))) == expected)
    }

    @Test(arguments: [
        "", "{", "{}", "[]", "null", #""hunter2""#, #"{"passphrase":"hunter2"#, #"{"passphrase":"hunter2"}x"#,
        #"{"passphrase":hunter2}"#, #"{"passphrase":"hunter2",}"#, #"{"passphrase":"hunter2","more":1}"#,
        #"{"pass":"hunter2"}"#, #"{"passphrase":""}"#, #"{"passphrase":"hunter2\q"}"#,
        #"{"passphrase":"hunter2\u12"}"#, #"{"passphrase":"hunter2\ud800"}"#,
        #"{"passphrase":"hunter2\ud800\u0041"}"#, #"{"passphrase":"hunter2\udc00"}"#,
        #"{"passphrase":"hunter2\u0000"}"#, "{\"passphrase\":\"hunter2\n\"}", #"{"passphrase":"hunter2\"#,
        #"{"passphrase":"hunter2\u00ｅ9"}"#,
    ])
    func `any other body is refused, and nothing of it is repeated`(body: String) {
        let error = #expect(throws: APIError.self) { try PassphraseBody.decoded(Self.secret(body)) }
        #expect(error?.status == 400)
        #expect(error?.document.error.message.contains("hunter2") == false)
        #expect(error?.document.error.help == nil)
    }

    @Test func `no body, and one that is no UTF-8, are refused`() {
        #expect(throws: APIError.self) { try PassphraseBody.decoded(nil) }
        let body = Array("{\"passphrase\":\"".utf8) + [0xff] + Array("\"}".utf8)
        #expect(throws: APIError.self) { try PassphraseBody.decoded(SecretBytes(copying: body)) }
    }

    @Test func `every cut of a body is refused, never trapped`() {
        let body = Array(#"{"passphrase":"a\u00e9\ud83d\ude00\n"}"#.utf8)
        for end in 0..<body.count {
            #expect(throws: APIError.self) {
                try PassphraseBody.decoded(SecretBytes(copying: body[..<end]))
            }
        }
    }

    @Test(arguments: [
        ("SHA256:" + String(repeating: "a", count: 43), true),
        ("SHA256:" + String(repeating: "+", count: 42) + "/", true),
        ("SHA256:" + String(repeating: "a", count: 42), false),
        ("SHA256:" + String(repeating: "a", count: 43) + "=", false),
        ("MD5:" + String(repeating: "a", count: 43), false),
        ("SHA256:" + String(repeating: "a", count: 42) + "\"", false),
        ("SHA256:" + String(repeating: "é", count: 21) + "a", false), ("", false),
    ])
    func `a fingerprint is SHA-256 in Base64`(text: String, isOne: Bool) {
        #expect(TrustBody.isFingerprint(text) == isOne)
    }
}
