/// `GET /v1/version`: which daemon answers.
package struct VersionDocument: Codable, Hashable, Sendable {
    package var schema: Int
    package var version: String
    package var pid: Int

    package init(version: String, pid: Int) {
        schema = apiSchema
        self.version = version
        self.pid = pid
    }
}

/// `GET /v1/hooks`.
package struct HookList: Codable, Hashable, Sendable {
    package var schema: Int
    package var hooks: [HookView]

    package init(hooks: [HookView]) {
        schema = apiSchema
        self.hooks = hooks
    }
}
