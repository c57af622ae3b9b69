import Testing

@testable import HostsSSH

struct Base64Tests {
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"),
    ])
    func `the examples of RFC 4648 encode and decode`(text: String, encoded: String) {
        #expect(Base64.encodeWithoutPadding(Array(text.utf8)) == encoded)
        #expect(Base64.decode(Array(encoded.utf8)) == Array(text.utf8))
        let padding = String(repeating: "=", count: (4 - encoded.utf8.count % 4) % 4)
        #expect(Base64.decode(Array((encoded + padding).utf8)) == Array(text.utf8))
    }

    @Test(arguments: ["A", "Zg=Zg", "Zm9v*", "Zm 9v", "Zg==="])
    func `what is not base64 is refused`(text: String) {
        #expect(Base64.decode(Array(text.utf8)) == nil)
    }
}
