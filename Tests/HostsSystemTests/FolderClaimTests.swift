import Glibc
import HostsSystem
import HostsTestSupport
import Testing

@Suite struct FolderClaimTests {
    @Test func `a folder has one owner at a time, and leaves nothing in it`() throws {
        let folder = try TemporaryFolder()
        var first: FolderClaim? = try FolderClaim(on: folder.path)
        #expect(first != nil)
        #expect(throws: FolderClaim.Failure.taken) { try FolderClaim(on: folder.path) }
        first = nil
        _ = try FolderClaim(on: folder.path)
        // Only an empty folder can be removed.
        #expect(rmdir(folder.path) == 0)
    }

    @Test func `a folder that is not there is no claim, and no other's`() {
        #expect(throws: FolderClaim.Failure.unavailable(.call("open", code: ENOENT))) {
            try FolderClaim(on: "/nowhere/at/all")
        }
    }
}
