import HostsModel
import HostsPOSIX

/// A program that is told of events.
package struct Hook: Hashable, Sendable {
    /// Its file name, which is its identity: the same name in a later folder takes its place.
    package let name: String
    /// Where it lies.
    package let path: String

    package init(name: String, path: String) {
        self.name = name
        self.path = path
    }
}

/// Why a file in a hooks folder is not run, or a folder is not read.
package struct HookProblem: Hashable, Sendable {
    /// What is wrong.
    package enum Kind: Hashable, Sendable {
        /// The name has other characters than letters, digits, dot, dash and underscore.
        case badName
        /// Two machines changed it apart, and the sync kept both.
        case conflictCopy
        case notRegular
        case notExecutable
        /// Owned by neither this user nor root.
        case foreignOwner(uid: UInt32)
        /// Group or others may write to it.
        case writableByOthers
        case setUserID
        /// It cannot be looked at. Carries the errno value.
        case unreadable(code: Int32)
        /// More than `HookFolder.limit` hooks.
        case tooMany
        /// It answered 78: it says itself that its configuration is wrong.
        case misconfigured
    }

    package let path: String
    package let kind: Kind

    package init(path: String, kind: Kind) {
        self.path = path
        self.kind = kind
    }

    /// One line for people, with what they can do.
    package var message: String {
        let path = SafeText.visible(path)
        return switch kind {
        case .badName:
            "\(path): a hook's name has letters, digits, dots, dashes and underscores only; rename it"
        case .conflictCopy:
            "\(path) is the conflict copy of a sync and not run; compare it with the hook, then delete it"
        case .notRegular: "\(path) is not a regular file"
        case .notExecutable: "\(path) is not executable: chmod +x \(path)"
        case .foreignOwner(let uid):
            "\(path) belongs to user \(uid), not to you or root: chown it, or copy it"
        case .writableByOthers: "\(path) can be changed by others: chmod go-w \(path)"
        case .setUserID:
            "\(path) is set-user-ID or set-group-ID, which a hook must not be: chmod ug-s \(path)"
        case .unreadable(let code): "\(path) cannot be read: \(SystemError.text(code))"
        case .tooMany: "\(path): more than \(HookFolder.limit) hooks; this one and later ones are not run"
        case .misconfigured:
            "\(path) says that it is misconfigured (exit 78); correct it, then: hostsctl reload"
        }
    }
}

/// What the hooks folders hold.
package struct HookSet: Hashable, Sendable {
    /// The hooks that can be run, in the order of their names.
    package var hooks: [Hook] = []
    package var problems: [HookProblem] = []

    package init(hooks: [Hook] = [], problems: [HookProblem] = []) {
        self.hooks = hooks
        self.problems = problems
    }
}
