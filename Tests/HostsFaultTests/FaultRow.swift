/// One row of the fault matrix: what is broken, and what must follow within which bound.
struct FaultRow: Hashable, Sendable {
    let number: Int
    let name: String
    let bound: String

    init(_ number: Int, _ name: String, _ bound: String) {
        self.number = number
        self.name = name
        self.bound = bound
    }

    /// The rows of this suite; docs/faults.md has the same.
    ///
    /// The other numbers, about sleep, clocks, names and the daemon as a whole, are tested elsewhere.
    static let all = [
        FaultRow(1, "FIN while idle", "seen <= 1 s, first dial after 2 s"),
        FaultRow(2, "RST mid-probe", "seen <= 1 s, no result published"),
        FaultRow(3, "half-open, both ways", "checking, then dropped <= 15 s"),
        FaultRow(4, "one-way loss, server to client", "dropped <= 15 s"),
        FaultRow(5, "one-way loss, client to server", "dropped <= 15 s"),
        FaultRow(6, "half-open that heals at 8 s", "0 new connections"),
        FaultRow(7, "half-open that heals at 20 s", "dropped <= 15 s, 1 new connection"),
        FaultRow(8, "RTT 800 ms, jitter 400 ms", "0 false downs (60 s instead of 24 h)"),
        FaultRow(9, "loss of 5 %", "0 false downs (60 s at 1 s per look)"),
        FaultRow(10, "one byte per 50 ms", "login ends or deadline, CPU < 1 %"),
        FaultRow(11, "SYN dropped", "attempt <= 10 s, then 2 s"),
        FaultRow(12, "connection refused, then up", "online <= 9 s after the port opens"),
        FaultRow(13, "accepts, sends nothing", "<= 15 s, transient"),
        FaultRow(14, "garbage or HTTP instead of SSH", "<= 15 s, text shown"),
        FaultRow(15, "blank line or long text before SSH-", "online, or a message; no crash"),
        FaultRow(16, "cut at every byte of login and probe", "known state, 99.5 % <= 1 s, 0 descriptors"),
        FaultRow(17, "bit flip in a packet", "<= 1 s, no data accepted"),
        FaultRow(18, "server rekeys each 4 KiB, each 1 s", "10,000 probes, 0 errors"),
        FaultRow(19, "rekey while the server is stopped", "recovers, same login"),
        FaultRow(29, "wrong key", "needsYou after 1 connection"),
        FaultRow(30, "second factor wanted", "needsYou(second factor), 1 connection"),
        FaultRow(31, "8 keys, MaxAuthTries 6", "order honoured, else told; 1 connection"),
        FaultRow(32, "key needs a touch, user absent", "needsYou(touch) < 100 s, 1 request"),
        FaultRow(33, "host key changed", "needsYou, both fingerprints, 0 auth bytes"),
        FaultRow(34, "host key of another type offered", "online, no false alarm"),
        FaultRow(35, "revoked key; certificate host", "refused; named or by ssh"),
        FaultRow(36, "refused for a while (penalty)", "limited >= 60 s, <= 1 dial per minute"),
        FaultRow(37, "MaxStartups 3, 30 hosts behind it", "<= 4 unauthenticated, all online <= 30 s"),
        FaultRow(38, "MaxSessions 1", "0 errors, 0 reconnects"),
        FaultRow(39, "UnusedConnectionTimeout 4, ClientAlive 1x2", "0 drops (30 s instead of 1 h)"),
        FaultRow(40, "hardened and other servers", "online, or the list without a match named"),
        FaultRow(41, "rc prints 1 MB, sleeps 20 s, exits", "message, deadline 20 s"),
        FaultRow(42, "login shells", "POSIX, fish and csh online; others named"),
        FaultRow(43, "40 MB on stderr, on stdout", "capped, <= deadline"),
        FaultRow(44, "background child holds stdout", "the marker ends the probe"),
        FaultRow(45, "server restarted", "online <= 9 s after the port opens, new boot id"),
        FaultRow(46, "ProxyCommand dies, hangs, complains", "as 1 and 13; its words; no zombie"),
        FaultRow(47, "bastion down, 20 hosts behind", "one cause; <= 4 dials at a time"),
        FaultRow(51, "1,000 cuts at random bytes", "descriptors and memory flat"),
    ]
}
