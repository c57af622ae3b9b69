import HostsConfig
import HostsDetection
import HostsModel

/// What libFuzzer calls with each input; see `make fuzz`.
///
/// The first byte says what the rest is: `r` is a reply to a look, framed by the nonce `n0nce`; anything else is a
/// screen. Whatever the bytes are, they give an observation or an error, within the limits of libFuzzer on time and
/// memory.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDetection(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    guard let kind = input.first else { return 0 }
    let rest = Array(input.dropFirst())
    if kind == UInt8(ascii: "r") { fuzzReply(rest) } else { fuzzScreen(rest) }
    return 0
}

/// libFuzzer's loop (FuzzerInterface.h).
@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ body: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt
) -> CInt

/// The package manager calls the entry of a program by this name, and not by `main`.
@_cdecl("fuzz_detection_main")
public func fuzzMain(
    _ count: CInt, _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    var (count, words) = (count, words)
    return runFuzzer(&count, &words) { fuzzDetection($0, $1) }
}

private let book: RuleBook = {
    let loaded = AgentRulesFolder.load(shipped: "Config/agents.d", own: nil)
    precondition(loaded.diagnostics.isEmpty, "run it in the root of the project: \(loaded.diagnostics)")
    return loaded.book
}()

private let host: HostID = {
    guard let host = HostID(rawValue: "fuzz") else { preconditionFailure("a valid name") }
    return host
}()

/// The same reply twice: to a detector that knows nothing, and to one that knows what the first told.
private func fuzzReply(_ body: [UInt8]) {
    var detector = HostDetector(host: host, rules: book)
    for second in 0..<2 {
        _ = detector.nextRequest()
        let reply = ProbeReply(nonce: "n0nce", body: body, status: 0)
        do throws(ReplyError) {
            let step = try detector.report(reply, at: WallTime(milliseconds: Int64(second) * 5000))
            guard case .followUp = step else { continue }
            _ = try detector.report(reply, at: WallTime(milliseconds: Int64(second) * 5000))
        } catch {
            continue  // no observation
        }
    }
}

private func fuzzScreen(_ capture: [UInt8]) {
    let screen = Screen(capture: capture, title: String(decoding: capture.prefix(40), as: UTF8.self))
    for rules in book.agents { _ = ScreenClassifier(rules).read(screen) }
}
