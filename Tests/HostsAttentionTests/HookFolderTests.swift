import Glibc
import HostsAttention
import HostsTestSupport
import Testing

@Suite struct HookFolderTests {
    let folder: TemporaryFolder
    let system: String
    let own: String

    init() throws {
        folder = try TemporaryFolder()
        system = folder.path + "/system"
        own = folder.path + "/own"
        for path in [system, own] { try #require(mkdir(path, 0o755) == 0) }
    }

    private func put(_ name: String, mode: mode_t = 0o755) throws {
        try folder.write(name, "#!/bin/sh\n", mode: mode)
    }

    private func read() -> HookSet { HookFolder.read([system, own]) }

    @Test func `executable files are hooks, in the order of their names`() throws {
        try put("own/50-b")
        try put("own/10-a.sh")
        try put("system/30-c", mode: 0o500)
        #expect(read().hooks.map(\.name) == ["10-a.sh", "30-c", "50-b"])
        #expect(read().problems.isEmpty)
    }

    @Test func `a folder that is not there holds no hooks`() {
        #expect(HookFolder.read([folder.path + "/nowhere"]) == HookSet())
    }

    @Test func `the same name in a later folder takes the earlier one's place`() throws {
        try put("system/50-a")
        try put("own/50-a")
        #expect(read().hooks.map(\.path) == [own + "/50-a"])
    }

    @Test func `a link to dev null masks a hook`() throws {
        try put("system/50-a")
        #expect(symlink("/dev/null", own + "/50-a") == 0)
        #expect(read() == HookSet())
    }

    @Test func `a link to a hook is a hook`() throws {
        try folder.write("target", "#!/bin/sh\n", mode: 0o755)
        #expect(symlink(folder.path + "/target", own + "/50-a") == 0)
        #expect(read().hooks.map(\.name) == ["50-a"])
    }

    @Test(arguments: [
        ".hidden", "50-a~", "#50-a#", ".#50-a", "50-a.swp", "50-a.tmp", "50-a.bak", "50-a.dpkg-old",
        "50-a.rpmsave",
        ".syncthing.50-a.tmp", "~syncthing~50-a.tmp",
    ])
    func `what editors and packages leave is ignored`(name: String) throws {
        try put("own/" + name)
        #expect(read() == HookSet())
    }

    @Test(arguments: [
        ("50 a", HookProblem.Kind.badName), ("50-ä", .badName),
        ("50-a.sync-conflict-20261130-200000-ABCDEFG.sh", .conflictCopy),
        ("50-a (conflicted copy 2026-11-30)", .conflictCopy),
    ])
    func `a name that is no hook's is told`(name: String, problem: HookProblem.Kind) throws {
        try put("own/" + name)
        #expect(read().hooks.isEmpty)
        #expect(read().problems == [HookProblem(path: own + "/" + name, kind: problem)])
    }

    @Test(
        arguments: [
            (0o644, HookProblem.Kind.notExecutable), (0o775, .writableByOthers), (0o757, .writableByOthers),
            (0o4755, .setUserID), (0o2755, .setUserID),
        ] as [(mode_t, HookProblem.Kind)])
    func `a mode that makes it unsafe or useless is told`(mode: mode_t, problem: HookProblem.Kind) throws {
        try put("own/50-a", mode: mode)
        #expect(read().hooks.isEmpty)
        #expect(read().problems == [HookProblem(path: own + "/50-a", kind: problem)])
        #expect(read().problems.allSatisfy { $0.message.contains("50-a") })
    }

    @Test func `a folder, a fifo and a dangling link are no hooks`() throws {
        #expect(mkdir(own + "/a", 0o755) == 0)
        #expect(mkfifo(own + "/b", 0o700) == 0)
        #expect(symlink("/nowhere/at/all", own + "/c") == 0)
        #expect(read().hooks.isEmpty)
        #expect(read().problems.map(\.kind) == [.notRegular, .notRegular, .unreadable(code: ENOENT)])
    }

    @Test func `a broken hook in a later folder does not bring the earlier one back`() throws {
        try put("system/50-a")
        try put("own/50-a", mode: 0o644)
        #expect(read().hooks.isEmpty)
        #expect(read().problems.map(\.kind) == [.notExecutable])
    }

    @Test func `a folder that others may write to is not read`() throws {
        try put("own/50-a")
        #expect(chmod(own, 0o777) == 0)
        #expect(read().hooks.isEmpty)
        #expect(read().problems == [HookProblem(path: own, kind: .writableByOthers)])
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func `a hook of another user is not run`() throws {
        try put("own/50-a")
        #expect(chown(own + "/50-a", 12_345, 0) == 0)
        #expect(read().problems.map(\.kind) == [.foreignOwner(uid: 12_345)])
        #expect(HookFolder.read([own], user: 12_345).hooks.map(\.name) == ["50-a"])
    }

    @Test func `there is a limit to the number of hooks`() throws {
        for number in 0...HookFolder.limit { try put("own/hook\(100 + number)") }
        #expect(read().hooks.count == HookFolder.limit)
        #expect(read().problems.map(\.kind) == [.tooMany])
    }
}
