import HostsModel

/// A look that is one line: the word `look` and the boot id.
///
/// It stands in for the real detector: what a link does to the bytes is what is tested here.
struct LookInterpreter: ProbeInterpreter {
    let host: HostID

    func explain(_ session: SessionID) -> SessionExplanation? { nil }

    /// A file `boot` in the home directory takes the place of the boot id; `slow` makes looks take 2 s.
    static let program = ShellProgram(
        definitions: """
            look() {
                boot=
                read -r boot </proc/sys/kernel/random/boot_id
                [ -r "$HOME/boot" ] && read -r boot <"$HOME/boot"
                [ -e "$HOME/slow" ] && sleep 2
                echo "look $boot"
            }
            say() { shift; echo "$*"; }
            hang() { sleep 600; }
            count() { printf '%s' "$2" | wc -c; }
            flood() { head -c 40000000 /dev/zero | tr '\\0' 'x'; }
            complain() { head -c 40000000 /dev/zero | tr '\\0' 'x' >&2; echo done; }
            child() { sleep 300 & echo "started"; }
            """)

    func nextRequest() -> ProbeRequest { ProbeRequest(function: "look") }

    func interpret(_ reply: ProbeReply, at time: WallTime) throws(LinkError) -> ProbeStep {
        let text = String(decoding: reply.body, as: UTF8.self)
        let words = text.dropLast().split(separator: " ", omittingEmptySubsequences: false)
        // One line and no more: what a child has printed beside it is not a part of the look.
        guard words.count == 2, words[0] == "look", text.firstIndex(of: "\n") == text.indices.last,
            reply.status == 0
        else { throw .badReply(detail: text) }
        return .observation(HostObservation(host: host, bootID: String(words[1]), time: time, sessions: []))
    }
}
