import Glibc
import HostsModel
import HostsSystem
import HostsTestSupport
import Testing

/// A watch on a clock that is moved by hand, and the person's folders below a temporary one.
private final class WatchFixture: Sendable {
    let folder: TemporaryFolder
    let clock = ManualClock()
    let watch: FolderWatch

    init(_ prepare: (TemporaryFolder) throws -> Void = { _ in }) throws {
        folder = try TemporaryFolder()
        try prepare(folder)
        let root = folder.path + "/config/hostsd"
        watch = try FolderWatch(
            folders: [root, root + "/hosts.d", root + "/hooks.d"], clock: clock, log: quietLog())
    }

    /// Runs the watch while `body` runs; the first change, that of the beginning, is fetched before.
    func run(_ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.watch.run() }
            await untilTold()
            try await body()
            group.cancelAll()
        }
    }

    /// Waits for the next change: until the watch waits for calm, then lets time pass.
    func untilTold() async {
        await clock.untilSleeping()
        clock.advance(by: FolderWatch.longestUnrest)
        await untilChanged()
    }

    func untilChanged() async {
        var changes = watch.changes.makeAsyncIterator()
        _ = await changes.next()
    }
}

@Suite(.timeLimit(.minutes(5))) struct FolderWatchTests {
    private let whole: @Sendable (TemporaryFolder) throws -> Void = { folder in
        try folder.makeFolder("config/hostsd/hosts.d")
        try folder.write("config/hostsd/hosts.d/dev.toml", "ssh = 'dev'")
    }

    @Test func `a file that is written, replaced or removed is a change each`() async throws {
        let fixture = try WatchFixture(whole)
        try await fixture.run {
            try fixture.folder.write("config/hostsd/hosts.d/dev.toml", "ssh = 'a'")
            await fixture.untilTold()
            try fixture.folder.replace("config/hostsd/hosts.d/dev.toml", "ssh = 'b'")
            await fixture.untilTold()
            try fixture.folder.remove("config/hostsd/hosts.d/dev.toml")
            await fixture.untilTold()
            try fixture.folder.write("config/hostsd/hostsd.toml", "")
            await fixture.untilTold()
        }
    }

    @Test func `a folder that is removed and made again is watched again`() async throws {
        let fixture = try WatchFixture(whole)
        try await fixture.run {
            try fixture.folder.remove("config/hostsd/hosts.d")
            await fixture.untilTold()
            try fixture.folder.makeFolder("config/hostsd/hosts.d")
            await fixture.untilTold()
            try fixture.folder.write("config/hostsd/hosts.d/new.toml", "")
            await fixture.untilTold()
        }
    }

    @Test func `a folder that is replaced by another is watched, the old one is not`() async throws {
        let fixture = try WatchFixture { folder in
            try whole(folder)
            try folder.makeFolder("other")
        }
        try await fixture.run {
            try fixture.folder.move("config/hostsd/hosts.d", to: "old")
            try fixture.folder.move("other", to: "config/hostsd/hosts.d")
            await fixture.untilTold()
            try fixture.folder.write("config/hostsd/hosts.d/new.toml", "")
            await fixture.untilTold()
            try fixture.folder.write("old/dev.toml", "")
            try fixture.folder.write("config/hostsd/hosts.d/last.toml", "")
            await fixture.untilTold()
        }
    }

    @Test func `folders that come into being later are found, level by level`() async throws {
        let fixture = try WatchFixture()
        try await fixture.run {
            try fixture.folder.makeFolder("config")
            await fixture.untilTold()
            try fixture.folder.makeFolder("config/hostsd")
            await fixture.untilTold()
            try fixture.folder.makeFolder("config/hostsd/hooks.d")
            await fixture.untilTold()
            try fixture.folder.write("config/hostsd/hooks.d/notify", "")
            await fixture.untilTold()
        }
    }

    @Test(arguments: ["/", ""])
    func `a folder behind a link is found again when it comes back`(prefix: String) async throws {
        let fixture = try WatchFixture { folder in
            try folder.makeFolder("config/hostsd")
            try folder.makeFolder("cloud")
            let target = prefix == "/" ? folder.path("cloud") : "../../cloud"
            try folder.link("config/hostsd/hosts.d", to: target)
        }
        try await fixture.run {
            try fixture.folder.move("cloud", to: "away")
            await fixture.untilTold()
            try fixture.folder.move("away", to: "cloud")
            await fixture.untilTold()
            try fixture.folder.write("cloud/new.toml", "")
            await fixture.untilTold()
        }
    }

    @Test func `a hook that becomes executable is a change`() async throws {
        let fixture = try WatchFixture { folder in
            try folder.makeFolder("config/hostsd/hooks.d")
            try folder.write("config/hostsd/hooks.d/notify", "")
        }
        try await fixture.run {
            #expect(chmod(fixture.folder.path + "/config/hostsd/hooks.d/notify", 0o755) == 0)
            await fixture.untilTold()
        }
    }

    @Test func `a file behind a symbolic link is watched where it is`() async throws {
        let fixture = try WatchFixture { folder in
            try whole(folder)
            try folder.makeFolder("dotfiles")
            try folder.write("dotfiles/gpu.toml", "ssh = 'gpu'")
            try folder.link("config/hostsd/hosts.d/gpu.toml", to: folder.path + "/dotfiles/gpu.toml")
        }
        try await fixture.run {
            try fixture.folder.replace("dotfiles/gpu.toml", "ssh = 'other'")
            await fixture.untilTold()
        }
    }

    @Test func `changes are told once they have settled`() async throws {
        let fixture = try WatchFixture(whole)
        try await fixture.run {
            try fixture.folder.write("config/hostsd/hosts.d/dev.toml", "ssh = 'a'")
            await fixture.clock.untilSleeping()
            let started = fixture.clock.now
            // Nothing more happens: the sleeper's deadline is the settle time after the last event.
            var deadline = fixture.clock.nextDeadline
            while let next = deadline {
                fixture.clock.advance(by: next - fixture.clock.now)
                deadline = fixture.clock.nextDeadline
            }
            await fixture.untilChanged()
            #expect(fixture.clock.now - started >= FolderWatch.settleTime)
            #expect(fixture.clock.now - started < FolderWatch.longestUnrest)
        }
    }

    @Test func `a closed watch ends its streams and gives its descriptors back`() async throws {
        let before = try openDescriptors()
        for _ in 0..<20 {
            let fixture = try WatchFixture(whole)
            try await fixture.run {}
            var changes = fixture.watch.changes.makeAsyncIterator()
            while await changes.next() != nil {}
        }
        // The threads close theirs when they see the end; wait for that.
        while try openDescriptors() > before { await Task.yield() }
    }

    /// Descriptors of inotify and pipes; other tests come and go with sockets and files.
    private func openDescriptors() throws -> Int {
        var count = 0
        for descriptor in 0..<Int32(1024) {
            var target = [CChar](repeating: 0, count: 64)
            guard readlink("/proc/self/fd/\(descriptor)", &target, 63) > 0 else { continue }
            let text = String(decoding: target.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if text.contains("inotify") { count += 1 }
        }
        return count
    }
}
