package import HostsModel
package import HostsSSH

/// The links of this hostsd neither show a host's key nor open a locked one.
///
/// What is asked is refused, with its reason.
extension LinkFactory: HostAccess {
    private static let missing = LinkError.unsupported(detail: "the links of this hostsd cannot do that")

    package func hostKey(of record: HostRecord) async throws(LinkError) -> HostKeyOffer {
        throw Self.missing
    }

    package func trust(
        _ record: HostRecord, fingerprint: String
    ) async throws(HostAccessError) -> HostKeyOffer {
        throw .link(Self.missing)
    }

    package func unlock(
        _ record: HostRecord, passphrase: [UInt8]
    ) async throws(HostAccessError) -> [String] {
        throw .link(Self.missing)
    }
}
