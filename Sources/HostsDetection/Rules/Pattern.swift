import CPCRE2

/// A compiled PCRE2 pattern: the one owner of its C object, freed when the last reference goes.
///
/// Never changes after `init`, so any number of tasks may match with it at once.
@safe final class Pattern: @unchecked Sendable {
    /// What a search found.
    ///
    /// A limit is an error of the rule, never a match.
    enum Outcome: Hashable, Sendable {
        case match, noMatch, limit, failed
    }

    /// Why a text is no pattern.
    struct Failure: Error, Hashable, Sendable {
        /// The library's words.
        let message: String
        /// Where it was noticed, in bytes from the beginning of the pattern.
        let offset: Int
    }

    /// Calls of the matching function in one search: a row of a screen needs a few hundred.
    static let matchLimit: UInt32 = 20_000
    static let depthLimit: UInt32 = 1_000
    /// KiB of heap in one search.
    static let heapLimit: UInt32 = 256
    /// Longest pattern, in bytes.
    static let lengthLimit = 1_000

    // `hosts_pattern_find` only reads it (CPCRE2.h), and `deinit` runs when no one else holds the object.
    private let raw: OpaquePointer

    init(_ text: String) throws(Failure) {
        var bytes = Array(text.utf8)
        guard bytes.count <= Self.lengthLimit else {
            throw Failure(
                message: "a pattern has at most \(Self.lengthLimit) bytes", offset: Self.lengthLimit)
        }
        let length = bytes.count
        // An empty array may have no storage, and the library wants an address.
        bytes.append(0)
        let limits = hosts_pattern_limits(
            match: Self.matchLimit, depth: Self.depthLimit, heap: Self.heapLimit)
        var code: Int32 = 0
        var offset = 0
        guard let raw = unsafe hosts_pattern_compile(bytes, length, limits, &code, &offset) else {
            throw Failure(message: Self.message(for: code), offset: offset)
        }
        unsafe self.raw = unsafe raw
    }

    deinit {
        unsafe hosts_pattern_free(raw)
    }

    /// Looks for the pattern in part of `text`, which is valid UTF-8; `^` and `$` are the ends of the part.
    func find(in text: [UInt8], _ range: Range<Int>) -> Outcome {
        let result = unsafe text.withUnsafeBufferPointer { buffer in
            unsafe hosts_pattern_find(
                raw, UnsafeBufferPointer(rebasing: buffer[range]).baseAddress, range.count)
        }
        switch result {
        case HOSTS_PATTERN_MATCH: return .match
        case HOSTS_PATTERN_NO_MATCH: return .noMatch
        case HOSTS_PATTERN_LIMIT: return .limit
        default: return .failed
        }
    }

    /// Looks for the pattern in a whole text.
    func find(in text: String) -> Outcome {
        let bytes = Array(text.utf8)
        return find(in: bytes, bytes.indices)
    }

    private static func message(for code: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        let size = buffer.count
        unsafe hosts_pattern_error_text(code, &buffer, size)
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
