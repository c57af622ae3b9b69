import HostsModel
import Testing

@testable import HostsSSH

struct OpenSSHFailureTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let said: String
        var status: Int32 = 255
        var noise = ""
        var stage = LinkError.Stage.shell
        var jumps: [String] = []
        let error: LinkError

        init(
            _ name: String, _ said: String, status: Int32 = 255, noise: String = "",
            stage: LinkError.Stage = .shell, jumps: [String] = [], is error: LinkError
        ) {
            testDescription = name
            self.said = said
            self.status = status
            self.noise = noise
            self.stage = stage
            self.jumps = jumps
            self.error = error
        }
    }

    private static let elapsed = Duration.seconds(3)

    /// What ssh 9.2p1 printed when it was run against real servers, unless another version is named.
    private static let hostKeys = [
        Case(
            "an unknown host key, nobody to ask", "Host key verification failed.",
            is: .hostKeyUnknown(host: "devbox", fingerprint: "ssh does not show it")),
        Case(
            "an unknown host key, strict checking",
            """
            No ED25519 host key is known for [127.0.0.1]:34981 and you have requested strict checking.\r
            Host key verification failed.\r

            """,
            is: .hostKeyUnknown(host: "[127.0.0.1]:34981", fingerprint: "ED25519 key")),
        Case(
            "a changed host key",
            """
            Someone could be eavesdropping on you right now (man-in-the-middle attack)!
            It is also possible that a host key has just been changed.
            The fingerprint for the ED25519 key sent by the remote host is
            SHA256:9/ujO+9rRptX+EcwHm5cH3lVZnV77UZIn0at3sVD0bs.
            Please contact your system administrator.
            Add correct host key in /home/dev/.ssh/known_hosts to get rid of this message.
            Offending ED25519 key in /home/dev/.ssh/known_hosts:17
              remove with:
              ssh-keygen -f "/home/dev/.ssh/known_hosts" -R "[127.0.0.1]:34981"
            Host key for [127.0.0.1]:34981 has changed and you have requested strict checking.
            Host key verification failed.
            """,
            is: .hostKeyChanged(
                host: "[127.0.0.1]:34981", expected: "another ED25519 key in line 17",
                got: "SHA256:9/ujO+9rRptX+EcwHm5cH3lVZnV77UZIn0at3sVD0bs",
                file: "/home/dev/.ssh/known_hosts")),
        Case(
            "a revoked host key",
            """
            The ED25519 host key for [127.0.0.1]:34981 is marked as revoked.
            This could mean that a stolen key is being used to
            impersonate this host.
            ED25519 host key for [127.0.0.1]:34981 was revoked and you have requested strict checking.
            Host key verification failed.
            """,
            is: .hostKeyRevoked(host: "[127.0.0.1]:34981", fingerprint: "ED25519 key")),
        Case(
            "a host key of RevokedHostKeys",
            """
            Host key ED25519 SHA256:9/ujO+9rRptX+EcwHm5cH3lVZnV77UZIn0at3sVD0bs revoked by file /etc/revoked
            Host key verification failed.
            """,
            is: .hostKeyRevoked(
                host: "devbox", fingerprint: "ED25519 SHA256:9/ujO+9rRptX+EcwHm5cH3lVZnV77UZIn0at3sVD0bs")),
    ]

    private static let denied =
        "dev@127.0.0.1: Permission denied (publickey,password,keyboard-interactive).\r\n"

    private static let logins = [
        Case("no key fits", denied, is: .authenticationRefused(user: "dev", tried: [])),
        Case(
            "no key fits, 7.4", "Permission denied (publickey,password).",
            is: .authenticationRefused(user: "the user of devbox", tried: [])),
        Case(
            "after a banner", "Authorised use only.\n" + denied,
            is: .authenticationRefused(user: "dev", tried: [])),
        Case(
            "no method of ours", "dev@127.0.0.1: Permission denied (password,keyboard-interactive).",
            is: .secondFactorWanted(user: "dev", methods: "password,keyboard-interactive")),
        Case(
            "a key and then a code", "dev@127.0.0.1: Permission denied (keyboard-interactive).",
            is: .secondFactorWanted(user: "dev", methods: "keyboard-interactive")),
        Case(
            "too many keys",
            """
            Received disconnect from 127.0.0.1 port 34981:2: Too many authentication failures
            Disconnected from 127.0.0.1 port 34981
            """,
            is: .tooManyKeys(user: "the user of devbox", tried: [])),
        Case(
            "the agent says no",
            "sign_and_send_pubkey: signing failed for ED25519 \"dev@here\" from agent: agent refused operation\r\n"
                + denied,
            is: .agentRefused(key: "dev@here")),
        Case(
            "the agent says no, 8.1",
            "sign_and_send_pubkey: signing failed: agent refused operation\r\n" + denied,
            is: .agentRefused(key: "the key")),
        Case(
            "a hardware key that is not there",
            "sign_and_send_pubkey: signing failed for ED25519-SK \"/home/dev/.ssh/id_sk\": device not found\n"
                + denied,
            is: .keyUnusable(path: "/home/dev/.ssh/id_sk", detail: "device not found")),
        Case(
            "a key that others can read",
            """
            Permissions 0644 for '/home/dev/.ssh/id' are too open.
            It is required that your private key files are NOT accessible by others.
            This private key will be ignored.
            Load key "/home/dev/.ssh/id": bad permissions
            \(denied)
            """,
            is: .keyUnusable(path: "/home/dev/.ssh/id", detail: "bad permissions")),
        Case(
            "a file that is no key", "Load key \"/home/dev/.ssh/junk\": error in libcrypto\r\n" + denied,
            is: .keyUnusable(path: "/home/dev/.ssh/junk", detail: "error in libcrypto")),
        Case(
            "a file that is no key, 8.4", "Load key \"/home/dev/.ssh/junk\": invalid format\r\n" + denied,
            is: .keyUnusable(path: "/home/dev/.ssh/junk", detail: "invalid format")),
        Case(
            "a key that is not there",
            "no such identity: /home/dev/.ssh/id: No such file or directory\r\n" + denied,
            is: .keyMissing(path: "/home/dev/.ssh/id")),
    ]

    private static let connections = [
        Case(
            "no such name", "ssh: Could not resolve hostname nosuch.invalid: Name or service not known",
            is: .nameNotFound(name: "nosuch.invalid", detail: "Name or service not known")),
        Case(
            "a closed port", "ssh: connect to host 127.0.0.1 port 34981: Connection refused",
            is: .connectionRefused(address: "127.0.0.1:34981")),
        Case(
            "a closed port of IPv6", "ssh: connect to host ::1 port 22: Connection refused",
            is: .connectionRefused(address: "[::1]:22")),
        Case(
            "no way", "ssh: connect to host 192.0.2.1 port 22: No route to host",
            is: .unreachable(address: "192.0.2.1:22", detail: "No route to host")),
        Case(
            "no answer", "ssh: connect to host 192.0.2.1 port 22: Connection timed out",
            is: .timedOut(.connect, after: elapsed)),
        Case(
            "a server that says nothing",
            "Connection timed out during banner exchange\nConnection to 127.0.0.1 port 34981 timed out",
            is: .timedOut(.handshake, after: elapsed)),
        Case(
            "a server that hangs up",
            """
            kex_exchange_identification: Connection closed by remote host
            Connection closed by 127.0.0.1 port 34981
            """,
            is: .closedByPeer(
                .handshake, detail: "kex_exchange_identification: Connection closed by remote host")),
        Case(
            "a server that hangs up, 7.9", "ssh_exchange_identification: Connection closed by remote host",
            is: .closedByPeer(
                .handshake, detail: "ssh_exchange_identification: Connection closed by remote host")),
        Case(
            "a server that resets",
            """
            kex_exchange_identification: read: Connection reset by peer
            Connection reset by 127.0.0.1 port 34981
            """,
            is: .closedByPeer(
                .handshake, detail: "kex_exchange_identification: read: Connection reset by peer")),
        Case(
            "a server that ends later", "Connection closed by 127.0.0.1 port 34981",
            is: .closedByPeer(.authentication, detail: "Connection closed by 127.0.0.1 port 34981")),
        Case(
            "no SSH server",
            "kex_exchange_identification: banner line contains invalid characters\nConnection closed",
            is: .notSSH(address: "devbox", firstLine: "banner line contains invalid characters")),
        Case(
            "a penalty, where it is shown",
            "kex_exchange_identification: banner line 0: Not allowed at this time\nConnection closed",
            is: .rateLimited(detail: "kex_exchange_identification: banner line 0: Not allowed at this time")),
        Case(
            "no common key exchange",
            "Unable to negotiate with 127.0.0.1 port 34981: no matching key exchange method found. "
                + "Their offer: sntrup761x25519-sha512,curve25519-sha256",
            is: .noCommonAlgorithm(
                kind: "key exchange", offered: "sntrup761x25519-sha512,curve25519-sha256")),
        Case(
            "no common host key",
            "Unable to negotiate with 127.0.0.1 port 34981: no matching host key type found. "
                + "Their offer: ssh-ed25519",
            is: .noCommonAlgorithm(kind: "host key", offered: "ssh-ed25519")),
        Case(
            "no common cipher",
            "Unable to negotiate with 127.0.0.1 port 34981: no matching cipher found. "
                + "Their offer: aes128-ctr",
            is: .noCommonAlgorithm(kind: "cipher", offered: "aes128-ctr")),
    ]

    private static let carried = """
        kex_exchange_identification: Connection closed by remote host
        Connection closed by UNKNOWN port 65535
        """

    private static let others = [
        Case(
            "a ProxyCommand that is not there",
            "/bin/bash: line 1: exec: nonexistent-program: not found\n" + carried,
            is: .programFailed(
                name: "ProxyCommand",
                detail: "/bin/bash: line 1: exec: nonexistent-program: not found")),
        Case(
            "a ProxyCommand without a word, or its server", carried,
            is: .closedByPeer(
                .handshake, detail: "kex_exchange_identification: Connection closed by remote host")),
        Case(
            "a jump host that reaches no server",
            "channel 0: open failed: connect failed: Connection refused\nstdio forwarding failed\n" + carried,
            jumps: ["door"], is: .connectionRefused(address: "devbox")),
        Case(
            "a jump host that reaches no server in time",
            "channel 0: open failed: connect failed: Connection timed out\nstdio forwarding failed\n"
                + carried,
            jumps: ["door"], is: .unreachable(address: "devbox", detail: "Connection timed out")),
        Case(
            "a jump host that forwards nothing",
            "channel 0: open failed: administratively prohibited: open failed\nstdio forwarding failed\n"
                + carried,
            jumps: ["door"],
            is: .jumpHost(
                name: "door",
                .channelRefused(detail: "channel 0: open failed: administratively prohibited: open failed"))),
        Case(
            "a jump host that is not known", "Host key verification failed.\n" + carried, jumps: ["door"],
            is: .jumpHost(
                name: "door", .hostKeyUnknown(host: "door", fingerprint: "ssh does not show it"))),
        Case(
            "a jump host that says something else", "bad luck\n" + carried, jumps: ["door", "gate"],
            is: .jumpHost(name: "door,gate", .programFailed(name: "ssh", detail: "bad luck"))),
        Case(
            "a refusal by the server behind a jump host", denied, jumps: ["door"],
            is: .authenticationRefused(user: "dev", tried: [])),
        Case(
            "a ProxyCommand that ends at once",
            "bad luck\r\nbanner exchange: Connection to UNKNOWN port 65535: Broken pipe",
            is: .programFailed(name: "ProxyCommand", detail: "bad luck")),
        Case(
            "a jump host without a name",
            "ssh: Could not resolve hostname nosuch.invalid: Name or service not known\n" + carried,
            jumps: ["nosuch.invalid"],
            is: .jumpHost(
                name: "nosuch.invalid",
                .nameNotFound(name: "nosuch.invalid", detail: "Name or service not known"))),
        Case(
            "a bad option",
            "/tmp/c: line 3: Bad configuration option: nonsense\r\n/tmp/c: terminating, 1 bad "
                + "configuration options",
            is: .resolutionFailed(
                destination: "devbox",
                detail: "/tmp/c: line 3: Bad configuration option: nonsense; /tmp/c: terminating, 1 bad "
                    + "configuration options")),
        Case(
            "a bad value", "/tmp/c line 2: Bad port 'abc'.",
            is: .resolutionFailed(destination: "devbox", detail: "/tmp/c line 2: Bad port 'abc'.")),
        Case(
            "no such file", "Can't open user config file /tmp/c: No such file or directory",
            is: .resolutionFailed(
                destination: "devbox",
                detail: "Can't open user config file /tmp/c: No such file or directory")),
        Case(
            "no channel", "channel 0: open failed: connect failed: open failed",
            is: .channelRefused(detail: "channel 0: open failed: connect failed: open failed")),
        Case(
            "no exec", "exec request failed on channel 0",
            is: .channelRefused(detail: "exec request failed on channel 0")),
        Case(
            "a shared connection that has no room, and then a refusal",
            "mux_client_request_session: session request failed: Session open refused by peer\r\n" + denied,
            is: .authenticationRefused(user: "dev", tried: [])),
        Case(
            "a shared connection that breaks",
            "mux_client_request_session: read from master failed: Broken pipe",
            is: .programFailed(
                name: "ssh",
                detail: "the connection of its ControlPath: mux_client_request_session: read from master "
                    + "failed: Broken pipe")),
        Case(
            "an account without a shell", "", status: 1, noise: "This account is currently not available.",
            is: .noPOSIXShell(detail: "This account is currently not available.")),
        Case(
            "a login shell that is not there", "bash: line 1: /nonexistent: No such file or directory\n",
            status: 127,
            is: .noPOSIXShell(detail: "bash: line 1: /nonexistent: No such file or directory")),
        Case("nothing said", "", status: 126, is: .noPOSIXShell(detail: "it ended with status 126")),
        Case(
            "words that nobody knows", "one\ntwo\nthree\nfour\u{1b}[2J",
            is: .programFailed(name: "ssh", detail: "two; three; four\\u{1b}[2J")),
        Case("no words", "", is: .programFailed(name: "ssh", detail: "it says nothing")),
        Case(
            "the end of a link that worked, whatever the host says",
            "Host key verification failed.\r\nConnection to 127.0.0.1 closed by remote host.\r\n",
            stage: .probe,
            is: .closedByPeer(.probe, detail: "Connection to 127.0.0.1 closed by remote host.")),
        Case(
            "a shell that ends", "", status: 3, stage: .probe,
            is: .closedByPeer(.probe, detail: "the shell ended with status 3")),
    ]

    @Test(arguments: hostKeys + logins + connections + others)
    func `the last words of ssh say what is wrong`(_ c: Case) {
        var target = OpenSSHTarget(name: "devbox")
        target.jumps = c.jumps
        let end = ShellEnd(
            stage: c.stage, ending: .exited(c.status), said: Array(c.said.utf8), noise: c.noise,
            elapsed: Self.elapsed)
        #expect(OpenSSHFailure(end: end, target: target).error == c.error)
    }

    @Test func `a signal is named, and a local user's name is told from another`() {
        var target = OpenSSHTarget(name: "root@devbox")
        let killed = ShellEnd(
            stage: .probe, ending: .signalled(9), said: [], noise: "", elapsed: Self.elapsed)
        #expect(
            OpenSSHFailure(end: killed, target: target).error
                == .programFailed(name: "ssh", detail: "it was ended by signal 9"))
        let refused = ShellEnd(
            stage: .shell, ending: .exited(255), said: Array("Permission denied (publickey).".utf8),
            noise: "",
            elapsed: Self.elapsed)
        #expect(
            OpenSSHFailure(end: refused, target: target).error
                == .authenticationRefused(user: "root", tried: []))
        target.hasLocalUserName = true
        #expect(OpenSSHFailure(end: refused, target: target).error == .userRefused(user: "root", tried: []))
    }

    @Test func `no prefix of any message is a trap`() {
        for c in Self.hostKeys + Self.logins + Self.connections + Self.others {
            let bytes = Array(c.said.utf8)
            for start in 0...bytes.count {
                for said in [bytes[start...], bytes[..<start]] {
                    let end = ShellEnd(
                        stage: .shell, ending: nil, said: Array(said), noise: "", elapsed: Self.elapsed)
                    #expect(!OpenSSHFailure(end: end, target: OpenSSHTarget(name: "x")).error.code.isEmpty)
                }
            }
        }
    }
}
