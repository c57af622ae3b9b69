import CCurl

/// One easy handle of libcurl and the stack that drives it; owns both.
struct CurlHandle: ~Copyable {
    private let easy: UnsafeMutableRawPointer
    private let stack: UnsafeMutableRawPointer
    private let headers: UnsafeMutablePointer<curl_slist>?

    /// Whether libcurl is initialised.
    ///
    /// Nothing of TLS is: only a Unix socket is ever spoken to.
    private static let isReady = curl_global_init(0) == CURLE_OK

    /// Makes a handle for requests to one socket; nil when memory is short.
    init?(headers lines: [String]) {
        guard Self.isReady, let easy = curl_easy_init() else { return nil }
        guard let stack = curl_multi_init() else {
            curl_easy_cleanup(easy)
            return nil
        }
        var headers: UnsafeMutablePointer<curl_slist>?
        for line in lines { headers = curl_slist_append(headers, line) ?? headers }
        self.easy = easy
        self.stack = stack
        self.headers = headers
    }

    deinit {
        curl_multi_remove_handle(stack, easy)
        curl_easy_cleanup(easy)
        curl_multi_cleanup(stack)
        curl_slist_free_all(headers)
    }

    func set(_ option: CURLoption, _ number: Int) -> Bool {
        hosts_curl_set_number(easy, option, number) == CURLE_OK
    }

    func set(_ option: CURLoption, _ text: String) -> Bool {
        hosts_curl_set_text(easy, option, text) == CURLE_OK
    }

    /// Sets what the next POST sends.
    ///
    /// - Parameter body: Not copied: it must outlive the transfer. Nil for an empty one.
    /// - Returns: Whether libcurl takes it.
    func setBody(_ body: SecretBytes?) -> Bool {
        guard let body else { return set(CURLOPT_POSTFIELDSIZE, 0) && set(CURLOPT_COPYPOSTFIELDS, "") }
        return body.withBytes { hosts_curl_set_body(easy, $0.baseAddress, $0.count) } == CURLE_OK
    }

    func useHeaders() -> Bool {
        hosts_curl_set_list(easy, CURLOPT_HTTPHEADER, headers) == CURLE_OK
    }

    /// Sends the response's bytes to `receiver`, which must outlive the transfer.
    func deliver(to receiver: CurlReceiver) -> Bool {
        receiver.status = { [easy] in hosts_curl_status(easy) }
        return hosts_curl_set_writers(
            easy,
            { bytes, size, count, context in
                CurlHandle.receiver(context)?.receive(
                    head: UnsafeRawBufferPointer(start: bytes, count: size * count))
                return size * count
            },
            { bytes, size, count, context in
                let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
                return CurlHandle.receiver(context)?.receive(piece) == true ? size * count : 0
            },
            Unmanaged.passUnretained(receiver).toOpaque()) == CURLE_OK
    }

    private static func receiver(_ context: UnsafeMutableRawPointer?) -> CurlReceiver? {
        context.map { Unmanaged<CurlReceiver>.fromOpaque($0).takeUnretainedValue() }
    }

    func start() -> Bool { curl_multi_add_handle(stack, easy) == CURLM_OK }

    /// Gives the transfer up, or makes room for the next.
    func finish() { curl_multi_remove_handle(stack, easy) }

    /// Does what can be done without waiting; the result once the transfer has ended.
    func advance() -> CURLcode? {
        var running: Int32 = 0
        guard curl_multi_perform(stack, &running) == CURLM_OK else { return CURLE_FAILED_INIT }
        var result = CURLE_OK
        return hosts_curl_next_result(stack, &result) != 0 ? result : nil
    }

    /// Waits until something can be done, at most `milliseconds`.
    func wait(milliseconds: Int32) {
        curl_multi_poll(stack, nil, 0, milliseconds, nil)
    }

    var status: Int { hosts_curl_status(easy) }

    var systemError: Int32 { Int32(truncatingIfNeeded: hosts_curl_system_error(easy)) }

    static func text(of code: CURLcode) -> String {
        curl_easy_strerror(code).map { String(cString: $0) } ?? "error \(code.rawValue)"
    }
}
