package import HostsAPI
import HostsModel

/// A method that some route has.
package enum HTTPMethod: String, Hashable, Sendable {
    case get = "GET"
    case post = "POST"
    case patch = "PATCH"
    case delete = "DELETE"

    /// Reads a method; HEAD is answered as GET, and the transport leaves the body out.
    init?(request method: String) {
        if method == "HEAD" { self = .get } else { self.init(rawValue: method) }
    }
}

/// What a route does to the fleet.
package enum Permission: Hashable, Sendable {
    /// Reads only.
    case read
    /// Changes something; logged with the caller.
    case write
}

/// A request that a route was found for.
package struct RoutedRequest: Sendable {
    package let request: HTTPRequest
    /// The values of the pattern's variables.
    package let variables: [String: String]
    package let query: QueryParameters

    /// The value of a variable of the pattern.
    ///
    /// - Parameter name: A variable of the route's own pattern; any other name is our bug.
    /// - Returns: The decoded part of the path.
    package func variable(_ name: String) -> String {
        guard let value = variables[name] else {
            preconditionFailure("the route's pattern has no variable \(name)")
        }
        return value
    }
}

/// One row of the table.
package struct Route: Sendable {
    package typealias Handler = @Sendable (RoutedRequest) async throws(APIError) -> RouteAnswer

    package let method: HTTPMethod
    /// Segments between slashes; `{name}` takes one, `{name...}` as many as the others leave, and at least one.
    package let pattern: String
    package let permission: Permission
    /// The parameters that its query may have.
    package let parameters: [String]
    package let takesBody: Bool
    package let handler: Handler

    package init(
        _ method: HTTPMethod, _ pattern: String, _ permission: Permission, parameters: [String] = [],
        takesBody: Bool = false, handler: @escaping Handler
    ) {
        self.method = method
        self.pattern = pattern
        self.permission = permission
        self.parameters = parameters
        self.takesBody = takesBody
        self.handler = handler
    }
}

/// The table of routes; pure but for what its handlers do.
package struct Router: Sendable {
    /// What a look-up found.
    package enum Match: Sendable {
        case found(Route, RoutedRequest)
        case refused(APIError, allow: [String])
    }

    private enum Segment: Hashable {
        case literal(String)
        case variable
        case rest
    }

    package let routes: [Route]

    /// Makes a router.
    ///
    /// Two routes for the same requests are our bug and trap.
    package init(_ routes: [Route]) {
        var seen: Set<[Segment]> = []
        for route in routes {
            let key = [.literal(route.method.rawValue)] + Self.segments(of: route.pattern).map(\.segment)
            precondition(
                seen.insert(key).inserted, "two routes answer \(route.method.rawValue) \(route.pattern)")
        }
        self.routes = routes
    }

    /// Finds the route of a request and reads its query.
    package func match(_ request: HTTPRequest, _ target: RequestTarget) -> Match {
        let onPath = routes.compactMap { route in
            Self.variables(of: route.pattern, in: target.segments).map { (route, $0) }
        }
        guard !onPath.isEmpty else {
            let path = SafeText.visible("/" + target.segments.joined(separator: "/"))
            return .refused(.pathNotFound(path), allow: [])
        }
        let method = HTTPMethod(request: request.method)
        guard let (route, variables) = onPath.first(where: { $0.0.method == method }) else {
            let allow = onPath.map(\.0.method.rawValue)
            let text =
                "\(SafeText.visible(request.method, limit: 20)) is not possible here, only \(allow.joined(separator: ", "))"
            return .refused(.methodNotAllowed(text), allow: allow + (allow.contains("GET") ? ["HEAD"] : []))
        }
        guard route.takesBody || request.bodySize.bytes == 0 else {
            return .refused(.badRequest("\(route.method.rawValue) \(route.pattern) takes no body"), allow: [])
        }
        do throws(APIError) {
            let query = try QueryParameters(target.parameters, known: route.parameters)
            return .found(route, RoutedRequest(request: request, variables: variables, query: query))
        } catch {
            return .refused(error, allow: [])
        }
    }

    private static func segments(of pattern: String) -> [(segment: Segment, name: String)] {
        pattern.split(separator: "/").map { part in
            guard part.hasPrefix("{"), part.hasSuffix("}") else { return (.literal(String(part)), "") }
            let name = part.dropFirst().dropLast()
            return name.hasSuffix("...") ? (.rest, String(name.dropLast(3))) : (.variable, String(name))
        }
    }

    /// The values of a pattern's variables if a path fits it.
    private static func variables(of pattern: String, in path: [String]) -> [String: String]? {
        var variables: [String: String] = [:]
        var rest = path[...]
        let segments = segments(of: pattern)
        for (index, (segment, name)) in segments.enumerated() {
            guard let part = rest.popFirst(), !part.isEmpty else { return nil }
            switch segment {
            case .literal(let text):
                guard part == text else { return nil }
            case .variable: variables[name] = part
            case .rest:
                let taken = rest.dropLast(segments.count - index - 1)
                guard !taken.contains("") else { return nil }
                variables[name] = ([part] + taken).joined(separator: "/")
                rest = rest[taken.endIndex...]
            }
        }
        return rest.isEmpty ? variables : nil
    }
}
