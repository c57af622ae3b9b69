import HostsModel
import HostsProcess

/// Runs small programs that a fixture needs, such as ssh-keygen.
package enum Tool {
    /// Enough for the programs of the base system.
    package static let environment = ["PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C"]

    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - program: Absolute, or a name in PATH.
    ///   - arguments: What follows its name.
    ///   - extra: Variables beside `environment`.
    /// - Returns: Its standard output.
    /// - Throws: When it fails; the error holds what it said.
    @discardableResult
    package static func run(
        _ program: String, _ arguments: [String], environment extra: [String: String] = [:]
    ) async throws -> String {
        let outcome = try await ChildProcess.run(
            program: program, arguments: arguments, environment: environment.merging(extra) { $1 },
            deadline: .now + .seconds(60), outputLimit: .mebibytes(1))
        guard outcome.isSuccess else {
            let said = String(decoding: outcome.errorOutput, as: UTF8.self)
            throw FixtureError("\(program) \(arguments.joined(separator: " ")): \(outcome.ending) \(said)")
        }
        return String(decoding: outcome.output, as: UTF8.self)
    }

    /// What a program said, and its exit status.
    package struct Answer: Hashable, Sendable {
        /// Minus the number of the signal that ended it, if one did.
        package let status: Int32
        package let output: String
        package let errorOutput: String
    }

    /// Runs a program to its end, whatever its status.
    ///
    /// - Parameters:
    ///   - program: Absolute, or a name in PATH.
    ///   - arguments: What follows its name.
    ///   - environment: Its whole environment.
    ///   - input: What it reads as standard input.
    /// - Returns: What it said.
    /// - Throws: When it cannot be started, or runs for more than a minute.
    package static func answer(
        _ program: String, _ arguments: [String], environment: [String: String], input: String = ""
    ) async throws -> Answer {
        let outcome = try await ChildProcess.run(
            program: program, arguments: arguments, environment: environment, input: Array(input.utf8),
            deadline: .now + .seconds(60), outputLimit: .mebibytes(4))
        let status: Int32
        switch outcome.ending {
        case .exited(let code): status = code
        case .signalled(let number): status = -number
        case .timedOut: throw FixtureError("\(program) \(arguments.joined(separator: " ")) does not end")
        }
        return Answer(
            status: status, output: String(decoding: outcome.output, as: UTF8.self),
            errorOutput: String(decoding: outcome.errorOutput, as: UTF8.self))
    }

    /// Makes a key pair with ssh-keygen.
    ///
    /// - Parameters:
    ///   - path: Of the private key; `.pub` is added for the public one.
    ///   - type: As ssh-keygen names it: `ed25519`, `ecdsa`, `rsa`.
    ///   - passphrase: Empty for none.
    ///   - isPEM: Whether the private key is written in the older PEM format.
    /// - Throws: When the system refuses; the test cannot go on.
    package static func makeKey(
        _ path: String, type: String = "ed25519", passphrase: String = "", isPEM: Bool = false
    ) async throws {
        let format = isPEM ? ["-m", "PEM"] : []
        try await run(
            "ssh-keygen", ["-q", "-t", type, "-N", passphrase, "-C", "hosts test", "-f", path] + format)
    }
}
