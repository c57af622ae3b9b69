import Glibc
import HostsModel
import HostsPOSIX
import HostsTestSupport
import Testing

@testable import HostsSSH

struct LinkChildTests {
    @Test func `a child that ends at once tells how`() async throws {
        let rig = ChildRig()
        try await rig.start(script: "echo $$; exit 3")
        let pid = await rig.everything().dropLast()
        #expect(await rig.ending() == .exited(3))
        await rig.end()
        await ChildRig.untilGone(String(pid))
    }

    @Test func `a child that a signal ends tells which`() async throws {
        let rig = ChildRig()
        try await rig.start(script: "kill -9 $$")
        #expect(await rig.ending() == .signalled(9))
        await rig.end()
    }

    @Test func `what cannot be executed is an error at once`() async throws {
        let rig = ChildRig()
        for (program, code) in [("/nonexistent/ssh", ENOENT), ("/etc/passwd", EACCES), ("a\0b", EINVAL)] {
            let command = LinkChild.Command(program: program, environment: [:], errorOutput: .kept)
            let error = await #expect(throws: SystemError.self) { try await rig.start(command) }
            #expect(error?.code == code)
        }
    }

    @Test func `a child that ignores SIGTERM is killed when its time is over`() async throws {
        let rig = ChildRig()
        try await rig.start(
            script: "trap '' TERM; echo $$; while :; do sleep 1; done",
            farewell: .terminate(patience: .milliseconds(50)))
        let pid = try #require(await rig.lines(1).first)
        await rig.end()
        #expect(await rig.ending() == .signalled(SIGKILL))
        await ChildRig.untilGone(pid)
    }

    @Test func `a child that obeys SIGTERM is not killed`() async throws {
        let rig = ChildRig()
        try await rig.start(
            script: "trap 'exit 9' TERM; echo $$; while :; do sleep 0.01; done",
            farewell: .terminate(patience: .seconds(120)))
        let pid = try #require(await rig.lines(1).first)
        await rig.end()
        #expect(await rig.ending() == .exited(9))
        await ChildRig.untilGone(pid)
    }

    @Test func `what a child has left behind carries on, and ends with it`() async throws {
        let rig = ChildRig()
        try await rig.start(script: "(echo child; exec sleep 600) & echo $$ $!; exit 4")
        let lines = await rig.lines(2)
        #expect(await rig.ending() == .exited(4))
        let pids = try #require(lines.first { $0 != "child" }).split(separator: " ").map(String.init)
        // Kept as it is: the number of its group must stay its own.
        #expect(await ChildRig.isZombie(pids[0]))
        #expect(kill(try #require(Int32(pids[1])), 0) == 0)
        await rig.end()
        for pid in pids { await ChildRig.untilGone(pid) }
    }

    @Test func `a child that nobody holds any more is ended and reaped`() async throws {
        let rig = ChildRig()
        try await rig.start(script: "trap '' HUP; echo $$; exec sleep 600")
        let pid = try #require(await rig.lines(1).first)
        await rig.drop()
        await ChildRig.untilGone(pid)
    }

    @Test func `megabytes of complaints stop nobody, and the last ones stay`() async throws {
        let rig = ChildRig()
        try await rig.start(
            script: "head -c 3000000 /dev/zero | tr '\\0' x >&2; echo last >&2; echo done",
            errorOutput: .kept)
        #expect(await rig.everything() == "done\n")
        #expect(await rig.ending() == .exited(0))
        let tail = await rig.errorTail
        #expect(tail.utf8.count == LinkChild.tailLimit)
        #expect(tail.hasSuffix("xxx" + "last\n"))
        await rig.end()
        #expect(await rig.errorTail == tail)
    }

    @Test func `a child has three descriptors, its own group, the root folder, and no signal blocked`()
        async throws
    {
        #expect(try await output("ls", ["/proc/self/fd"]) == ["0", "1", "2", "3"], "3 is its own")
        #expect(
            try await output("grep", ["SigBlk", "/proc/self/status"]) == ["SigBlk:", "0000000000000000"])
        #expect(try await output("pwd", []) == ["/"])
        let group = try await output("sh", ["-c", "ps -o pgid= -p $$; echo $$"])
        #expect(group.count == 2)
        #expect(Set(group).count == 1)
    }

    /// The words that a program prints.
    private func output(_ program: String, _ arguments: [String]) async throws -> [String] {
        let rig = ChildRig()
        try await rig.start(
            LinkChild.Command(
                program: program, arguments: arguments, environment: Tool.environment, errorOutput: .kept))
        let words = await rig.everything().split { $0.isWhitespace }.map(String.init)
        await rig.end()
        return words
    }

    @Test func `two hundred starts and kills leave neither a descriptor nor a process behind`() async {
        await #expect(processExitsWith: .success) {
            let rig = ChildRig()
            try await rig.start(script: "exit 0", errorOutput: .kept)
            await rig.end()
            _ = await rig.ending()
            await Descriptors.settle()
            let before = Descriptors.count
            let scripts = ["exec sleep 600", "exit 1", "sleep 600 & exit 0", "echo no >&2; exec sleep 600"]
            for round in 0..<200 {
                try await rig.start(
                    script: scripts[round % 4], errorOutput: round % 2 == 0 ? .kept : .dropped,
                    farewell: round % 3 == 0 ? .kill : .politely)
                if round % 5 == 0 { await rig.drop() } else { await rig.end() }
                let missing = LinkChild.Command(program: "/nonexistent", environment: [:], errorOutput: .kept)
                await #expect(throws: SystemError.self) { try await rig.start(missing) }
            }
            while ChildRig.hasChildren { await Task.yield() }
            await Descriptors.settle()
            #expect(Descriptors.count == before)
        }
    }
}
