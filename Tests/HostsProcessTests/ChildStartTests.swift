import Glibc
import HostsModel
import HostsProcess
import HostsTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ChildStartTests {
    private func run(_ program: String, arguments: [String] = [], environment: [String: String] = [:]) async
        -> Result<ChildOutcome, ChildError>
    {
        do throws(ChildError) {
            return .success(
                try await ChildProcess.run(
                    program: program, arguments: arguments, environment: environment,
                    deadline: .now + .seconds(60), outputLimit: .kibibytes(4)))
        } catch {
            return .failure(error)
        }
    }

    private func code(_ result: Result<ChildOutcome, ChildError>) -> String {
        switch result {
        case .success(let outcome): "\(outcome.ending)"
        case .failure(let error): error.code
        }
    }

    @Test func `a program that is not there is told as such`() async {
        #expect(code(await run("/nowhere/at/all")) == "child.not-found")
        #expect(code(await run("no-such-program-anywhere")) == "child.not-found")
    }

    @Test func `a script whose interpreter is missing is not found either`() async throws {
        let folder = try TemporaryFolder()
        let script = try folder.write("hook", "#!/nowhere/sh\n", mode: 0o755)
        #expect(code(await run(script)) == "child.not-found")
    }

    @Test func `a file without the x bit, a folder and a file of no known format are not executable`()
        async throws
    {
        let folder = try TemporaryFolder()
        let plain = try folder.write("plain", "#!/bin/sh\n", mode: 0o644)
        #expect(await run(plain) == .failure(.notExecutable(program: plain, code: EACCES)))
        #expect(code(await run(folder.path)) == "child.not-executable")
        let empty = try folder.write("empty", "just text\n", mode: 0o755)
        #expect(await run(empty) == .failure(.notExecutable(program: empty, code: ENOEXEC)))
    }

    @Test(arguments: ["", "bin/true", "./true"])
    func `a path that would mean another file in the child is refused`(program: String) async {
        #expect(code(await run(program)) == "child.unusable-text")
    }

    @Test func `a NUL byte and a nameless variable are refused`() async {
        #expect(code(await run("/bin/true", arguments: ["a\0b"])) == "child.unusable-text")
        #expect(code(await run("/bin/true", environment: ["A": "\0"])) == "child.unusable-text")
        #expect(code(await run("/bin/true", environment: ["A=B": "c"])) == "child.unusable-text")
        #expect(code(await run("/bin/true", environment: ["": "c"])) == "child.unusable-text")
    }

    @Test func `a name without a slash is searched in PATH`() async {
        #expect(await run("true").map(\.ending) == .success(.exited(0)))
    }

    @Test func `a program that is still being written is waited for a moment`() async throws {
        let folder = try TemporaryFolder()
        let script = try folder.write("hook", "#!/bin/sh\nexit 5\n", mode: 0o755)
        let writer = open(script, O_WRONLY | O_CLOEXEC)
        #expect(writer >= 0)
        async let result = run(script)
        close(writer)
        #expect(await result.map(\.ending) == .success(.exited(5)))
    }

    /// In a process of its own, where no other test opens and closes descriptors meanwhile.
    @Test func `a hundred runs, failed ones and stopped ones too, leave no descriptor open`() async {
        await #expect(processExitsWith: .success) {
            let deadline = ContinuousClock.now + .seconds(60)
            let before = try openDescriptors()
            for _ in 0..<25 {
                for (program, script) in [
                    ("/bin/sh", "exit 0"), ("/bin/sh", "cat <&-; echo x"), ("/nowhere", ""),
                ] {
                    do throws(ChildError) {
                        _ = try await ChildProcess.run(
                            program: program, arguments: ["-c", script], environment: [:], deadline: deadline,
                            outputLimit: .bytes(10))
                    } catch {
                        #expect(error.code == "child.not-found")
                    }
                }
                let stopped = try await ChildProcess.run(
                    program: "/bin/sleep", arguments: ["600"], environment: [:], deadline: .now,
                    outputLimit: .bytes(0))
                #expect(stopped.ending == .timedOut)
            }
            // A thread may hold its cancellation pipe for a moment after it has handed over its result, and the
            // runtime opens a few of its own; a leak on any path would be 25 or more.
            while try openDescriptors() >= before + 10, .now < deadline { await Task.yield() }
            #expect(try openDescriptors() < before + 10)
        }
    }

    @Test func `many children run side by side`() async {
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<40 {
                group.addTask {
                    await run("/bin/sh", arguments: ["-c", "exit \(number)"]).map(\.ending)
                        == .success(.exited(Int32(number)))
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}

private func openDescriptors() throws -> Int {
    let folder = try #require(opendir("/proc/self/fd"))
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    return count
}
