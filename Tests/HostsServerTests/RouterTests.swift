import HostsAPI
import HostsModel
import HostsTestSupport
import Testing

@testable import HostsServer

@Suite struct RouterTests {
    private static func route(_ method: HTTPMethod, _ pattern: String) -> Route {
        Route(method, pattern, .read) { _ async throws(APIError) in .document([pattern]) }
    }

    @Test func `two routes for the same requests trap`() async {
        await #expect(processExitsWith: .failure) {
            _ = Router([RouterTests.route(.get, "/a/{x}"), RouterTests.route(.get, "/a/{y}")])
        }
        _ = Router([Self.route(.get, "/a/{x}"), Self.route(.post, "/a/{x}"), Self.route(.get, "/a/{x}/b")])
    }

    @Test(
        arguments: [
            ("/a", "/a", [:]), ("/a/b", "/a/{x}", ["x": "b"]), ("/a/b%2Fc", "/a/{x}", ["x": "b/c"]),
            ("/c/1/2/3", "/c/{rest...}", ["rest": "1/2/3"]), ("/c/1", "/c/{rest...}", ["rest": "1"]),
            ("/c/1/2/why", "/c/{rest...}/why", ["rest": "1/2"]), ("/c/why", "/c/{rest...}", ["rest": "why"]),
            ("/c/1%2F2/why", "/c/{rest...}/why", ["rest": "1/2"]), ("/c/1//why", nil, [:]),
            ("/c", nil, [:]), ("/c/", nil, [:]), ("/c/1//2", nil, [:]), ("/a/", nil, [:]),
            ("/a//b", nil, [:]),
            ("/A", nil, [:]), ("/", nil, [:]),
        ] as [(String, String?, [String: String])])
    func match(target: String, pattern: String?, variables: [String: String]) throws {
        let router = Router([
            Self.route(.get, "/a"), Self.route(.get, "/a/{x}"), Self.route(.get, "/c/{rest...}/why"),
            Self.route(.get, "/c/{rest...}"),
        ])
        let match = router.match(HTTPRequest(method: "GET", target: target), try RequestTarget(target))
        switch match {
        case .found(let route, let request):
            #expect(route.pattern == pattern)
            #expect(request.variables == variables)
        case .refused(let error, _):
            #expect(pattern == nil)
            #expect(error.status == 404)
        }
    }

    @Test(arguments: [
        "", "v1/hosts", "*", "http:/v1", "/%", "/%4", "/%4g", "/?%zz=1", "/?a=%c3", "/a%0a", "/?a=1&a=2",
    ])
    func `a target that is ill-formed is refused`(target: String) {
        #expect(throws: APIError.self) { try RequestTarget(target) }
    }

    @Test func `every target is read or refused, never trapped`() {
        var generator = SeededGenerator(seed: 7)
        let alphabet = Array("/?&=%+a0:{}.\u{e9}\u{0}# ")
        for _ in 0..<20_000 {
            let length = Int.random(in: 0..<24, using: &generator)
            let text = String(
                (0..<length).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] })
            do throws(APIError) {
                let target = try RequestTarget("/" + text)
                #expect(target.parameters.count <= RequestTarget.parameterLimit)
            } catch {
                #expect(error.status == 400)
            }
        }
    }

    @Test func `a target has limits`() {
        #expect(throws: APIError.self) { try RequestTarget("/" + String(repeating: "a", count: 4096)) }
        let many = (0...RequestTarget.parameterLimit).map { "a\($0)=1" }.joined(separator: "&")
        #expect(throws: APIError.self) { try RequestTarget("/?" + many) }
    }

    @Test func `a query keeps its plus signs and its equals signs`() throws {
        let target = try RequestTarget("/v1/events?after=a+b%3Dc=d&follow")
        #expect(target.parameters == ["after": "a+b=c=d", "follow": ""])
    }
}
