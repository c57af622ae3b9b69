package import HostsModel

/// What is wrong, or worth knowing, about a configuration file, with the place where it stands.
///
/// Configuration reports all of its diagnostics at once; one of severity `error` means that the file it stands
/// in cannot be used.
package struct Diagnostic: Error, Hashable, Sendable {
    /// How much a diagnostic matters.
    package enum Severity: String, Hashable, Sendable, CaseIterable {
        /// The file, or what it describes, cannot be used.
        case error
        /// It is used, but probably not as the person meant it.
        case warning
        /// A fact that explains what was done.
        case info
    }

    package let severity: Severity
    package let location: SourceLocation
    /// One line without the place; text out of files is made visible and bounded.
    package let message: String
    /// The known name that the person probably meant, if one is near.
    package let suggestion: String?

    package init(
        _ severity: Severity, at location: SourceLocation, _ message: String, suggestion: String? = nil
    ) {
        self.severity = severity
        self.location = location
        self.message = message
        self.suggestion = suggestion
    }

    package static func error(
        at location: SourceLocation, _ message: String, suggestion: String? = nil
    ) -> Diagnostic {
        Diagnostic(.error, at: location, message, suggestion: suggestion)
    }

    package static func warning(
        at location: SourceLocation, _ message: String, suggestion: String? = nil
    ) -> Diagnostic {
        Diagnostic(.warning, at: location, message, suggestion: suggestion)
    }

    package static func info(at location: SourceLocation, _ message: String) -> Diagnostic {
        Diagnostic(.info, at: location, message)
    }

    /// The message with its suggestion, without severity and place: `unknown key "x", did you mean "y"?`.
    package var text: String {
        guard let suggestion else { return message }
        return "\(message), did you mean \"\(suggestion)\"?"
    }
}

extension Diagnostic: CustomStringConvertible {
    /// `file:line:column: error: message, did you mean "x"?`, as compilers write it and editors read it.
    package var description: String { "\(location): \(severity.rawValue): \(text)" }
}

extension Diagnostic: Comparable {
    /// The order of a list for people: by file, then by place, errors first at the same place.
    package static func < (left: Diagnostic, right: Diagnostic) -> Bool { left.order < right.order }

    private var order: (String, Int, Int, Int, String) {
        let rank =
            switch severity {
            case .error: 0
            case .warning: 1
            case .info: 2
            }
        return (location.file, location.line, location.column, rank, message)
    }
}
