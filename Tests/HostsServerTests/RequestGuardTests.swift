import HostsAPI
import HostsModel
import Testing

@testable import HostsServer

@Suite struct RequestGuardTests {
    private func refusal(
        peer: Peer?, fields: [String: [String]] = ["host": ["localhost"]], size: ByteCount = .bytes(0),
        authority: String? = nil
    ) -> APIError? {
        let request = HTTPRequest(method: "GET", target: "/", fields: fields, peer: peer, bodySize: size)
        return RequestGuard(uid: 1000).refusal(of: request, authority: authority)
    }

    @Test func `the daemon's own user and root are let in, nobody else`() {
        #expect(refusal(peer: Peer(uid: 1000, pid: 1)) == nil)
        #expect(refusal(peer: Peer(uid: 0, pid: 1)) == nil)
        #expect(refusal(peer: Peer(uid: 1001, pid: 1))?.status == 403)
        #expect(refusal(peer: nil)?.status == 403)
    }

    @Test func `a request names the server once and by our name`() {
        let peer = Peer(uid: 1000, pid: 1)
        #expect(refusal(peer: peer, fields: [:])?.status == 400)
        #expect(refusal(peer: peer, fields: ["host": ["localhost", "hostsd"]])?.status == 400)
        #expect(refusal(peer: peer, fields: ["host": ["evil.example"]])?.status == 403)
        #expect(refusal(peer: peer, authority: "evil.example")?.status == 403)
        #expect(refusal(peer: peer, authority: "hostsd:80") == nil)
    }

    @Test func `a body over the limit is too large`() {
        let peer = Peer(uid: 1000, pid: 1)
        #expect(refusal(peer: peer, size: HTTPRequest.bodyLimit) == nil)
        #expect(refusal(peer: peer, size: .bytes(HTTPRequest.bodyLimit.bytes + 1))?.status == 413)
    }
}
