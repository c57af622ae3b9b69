import HostsModel

/// What is wrong with a text of a file, or nil; each rule says why in its message.
enum TextRule {
    /// What is typed after `ssh`: it becomes one argument of a program and must not be taken for an option.
    static func destination(_ text: String) -> String? {
        if text.isEmpty { return "the destination is empty: write what you would type after ssh" }
        if text.hasPrefix("-") {
            return "a destination cannot begin with \"-\": ssh would take it for an option"
        }
        if text.contains(where: \.isWhitespace) {
            return "a destination is one word: put options and ports into your ssh_config"
        }
        return tooLongOrUnprintable(text, limit: 512, what: "the destination")
    }

    static func label(_ text: String) -> String? {
        if text.allSatisfy(\.isWhitespace) { return "the label is empty" }
        return tooLongOrUnprintable(text, limit: 100, what: "the label")
    }

    static func tag(_ text: String) -> String? {
        if text.isEmpty { return "the tag is empty" }
        if text.contains(where: { $0.isWhitespace || $0 == "," }) {
            return "a tag is one word without commas"
        }
        return tooLongOrUnprintable(text, limit: 40, what: "the tag")
    }

    static func program(_ text: String, limit: Int) -> String? {
        guard text.contains("/") else {
            if text.isEmpty { return "the program's name is empty" }
            if text.hasPrefix("-") { return "a program's name cannot begin with \"-\"" }
            return tooLongOrUnprintable(text, limit: limit, what: "the program's name")
        }
        return absolutePath(text, limit: limit)
    }

    static func absolutePath(_ text: String, limit: Int) -> String? {
        guard text.hasPrefix("/") else { return "the path must begin with \"/\"" }
        return tooLongOrUnprintable(text, limit: limit, what: "the path")
    }

    private static func tooLongOrUnprintable(_ text: String, limit: Int, what: String) -> String? {
        guard text.unicodeScalars.count <= limit else { return "\(what) is longer than \(limit) characters" }
        guard SafeText.visible(text, limit: limit) == text else { return "\(what) holds control characters" }
        return nil
    }
}
