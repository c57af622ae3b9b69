import Glibc
import HostsPOSIX
import HostsSystem
import HostsTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct FolderClaimTests {
    @Test func `a folder has one owner at a time, and leaves nothing in it`() throws {
        let folder = try TemporaryFolder()
        var first: FolderClaim? = try FolderClaim(on: folder.path)
        #expect(first != nil)
        #expect(throws: FolderClaim.Failure.taken) { try FolderClaim(on: folder.path) }
        first = nil
        // A child that another test starts has a copy of every descriptor until it executes its program.
        while try !isFree(folder.path) {}
        // Only an empty folder can be removed.
        #expect(rmdir(folder.path) == 0)
    }

    private func isFree(_ folder: String) throws -> Bool {
        do throws(FolderClaim.Failure) {
            _ = try FolderClaim(on: folder)
            return true
        } catch .taken {
            return false
        }
    }

    @Test func `a claim that fails closes no descriptor of others`() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let owner = try FolderClaim(on: folder.path)
            // Opens and looks, all the time: whoever closes twice closes one of these.
            try DedicatedThread.start {
                while true {
                    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
                    for _ in 0..<8 where fcntl(descriptor, F_GETFD) < 0 { exit(1) }
                    close(descriptor)
                }
            }
            for _ in 0..<20_000 {
                #expect(throws: FolderClaim.Failure.taken) { try FolderClaim(on: folder.path) }
            }
            withExtendedLifetime(owner) {}
        }
    }

    @Test func `a folder that is not there is no claim, and no other's`() {
        #expect(throws: FolderClaim.Failure.unavailable(.call("open", code: ENOENT))) {
            try FolderClaim(on: "/nowhere/at/all")
        }
    }
}
