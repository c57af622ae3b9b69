/// Who could change a file or folder, judged by its owner and mode (the rules of ssh, facts: linux 14.7).
package struct FileAccess: Hashable, Sendable {
    /// The owner that files outside of a user namespace appear to have inside: unknown, not foreign.
    package static let unmappedUser: UInt32 = 65_534

    package let owner: UInt32
    package let group: UInt32
    /// The permission bits.
    package let mode: UInt32

    package init(owner: UInt32, group: UInt32, mode: UInt32) {
        self.owner = owner
        self.group = group
        self.mode = mode
    }

    /// Why somebody else than `user` and root could change it, in words with the remedy, or nil.
    ///
    /// A group whose number is the user's own is a user private group; only its user is in it.
    package func concern(for user: UInt32, path: String) -> String? {
        if owner != user, owner != 0, owner != Self.unmappedUser {
            return "owned by user \(owner), who can change what hostsd does"
        }
        if mode & 0o002 != 0 { return "everybody can write to it: chmod o-w \(path)" }
        if mode & 0o020 != 0, group != user, group != 0 {
            return "group \(group) can write to it: chmod g-w \(path)"
        }
        return nil
    }
}
