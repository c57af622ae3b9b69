/// A stand-in for a coding agent: it has the process name, the titles, the state file and the screens of one, and does
/// what it is told over a FIFO.
package struct ScriptedAgent: Hashable, Sendable {
    /// The agents that can be stood in for.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case claude, codex
    }

    /// What the stand-in can be told.
    package enum Command: String, Hashable, Sendable {
        /// Start a turn.
        case busy
        /// Ask for permission.
        case permission
        /// Ask a question.
        case question
        /// End the turn.
        case idle
        /// End the turn as the person's Esc does.
        case interrupted
        /// Leave.
        case exit
    }

    package let kind: Kind

    package init(kind: Kind) {
        self.kind = kind
    }

    /// The script, for an interpreter whose file is named for the agent.
    ///
    /// Arguments: the kind, the path of the FIFO with what it is told, and of the one in which it repeats each word as
    /// soon as the terminal shows what was asked for: only then can a test rely on what a look will see.
    package static let script = #"""
        import json, os, re, select, sys, time, tty

        kind, control = sys.argv[1], sys.argv[2]
        fifo = os.open(control, os.O_RDWR | os.O_NONBLOCK)
        shown = os.open(sys.argv[3], os.O_RDWR)
        tty.setcbreak(0)
        topic = "Fix the flaky test" if kind == "claude" else "sessions"
        rule = "─" * 78
        started = time.time()
        state, since, pending = "idle", time.time(), b""
        with open("/proc/self/stat") as stat:
            tick = stat.read().rsplit(")", 1)[1].split()[19]
        home = os.environ.get("HOME", "/")
        sessions = os.path.join(home, ".claude", "sessions")
        record = os.path.join(sessions, "%d.json" % os.getpid())

        def claude_screen():
            work = ["❯ find out why the test fails", "", "● I'll run it a few times first.", ""]
            composer = [rule, "❯\u00a0", rule, "  ⏵⏵ accept edits on (shift+tab to cycle)"]
            seconds = int(time.time() - since)
            if state == "busy":
                glyph = "·✢*✶✻✽"[int(time.time() * 4) % 6]
                return work + ["%s Percolating… (%ds · ↓ 1.2k tokens)" % (glyph, seconds), ""] + composer
            if state == "permission":
                return work + [rule, " Bash command", "", "   make test", "", " Do you want to proceed?",
                               " ❯ 1. Yes", "   2. Yes, and don't ask again for: make test", "   3. No", "",
                               " Esc to cancel · Tab to amend"]
            if state == "question":
                return work + [rule, " ☐ Storage", "", "Which database?", "", "❯ 1. SQLite", "  2. PostgreSQL",
                               "  3. Type something.", "", "Enter to select · ↑/↓ to navigate · Esc to cancel"]
            if state == "interrupted":
                return work + ["  ⎿  Interrupted · What should Claude do instead?", ""] + composer
            return work + ["✻ Cooked for 9s", ""] + composer

        def codex_screen():
            work = ["› sort the list, newest first", "", "• I'll look at how the list is built.", ""]
            composer = ["› Ask Codex to do anything", "", "  gpt-5.6-sol high · ~/src/sessions"]
            seconds = int(time.time() - since)
            if state == "busy":
                return work + ["• Working (%ds • esc to interrupt)" % seconds, ""] + composer
            if state == "permission":
                return work + ["  Would you like to run the following command?", "", "  $ cargo test", "",
                               "› 1. Yes, proceed (y)", "  2. No, and tell Codex what to do differently (esc)", "",
                               "  Press enter to confirm or esc to cancel"]
            if state == "question":
                return work + ["  Question 1/1 (1 unanswered)", "  Which order?", "", "› 1. Newest first",
                               "  2. Oldest first", "",
                               "  tab to add notes | enter to submit answer | esc to interrupt"]
            if state == "interrupted":
                return work + ["■ Conversation interrupted - tell the model what to do differently.", ""] + composer
            return work + ["• Newest sessions come first now.", ""] + composer

        def title():
            if kind == "claude":
                return "✳ " + topic
            if state == "busy":
                return "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"[int(time.time() * 8) % 10] + " " + topic
            if state in ("permission", "question"):
                return "[ ! ] Action Required | " + topic
            return topic

        def save():
            if kind != "claude":
                return
            os.makedirs(sessions, exist_ok=True)
            status = {"permission": "waiting", "question": "waiting", "interrupted": "idle"}.get(state, state)
            document = {"pid": os.getpid(), "sessionId": "00000000-0000-4000-8000-%012d" % os.getpid(),
                        "startedAt": int(started * 1000), "procStart": tick, "version": "2.1.284",
                        "kind": "interactive", "entrypoint": "cli", "status": status,
                        "updatedAt": int(time.time() * 1000)}
            if status == "waiting":
                document["waitingFor"] = "permission prompt" if state == "permission" else "input needed"
            with open(record + ".new", "w") as file:
                file.write(json.dumps(document) + "\n")
            os.rename(record + ".new", record)

        def draw():
            rows = claude_screen() if kind == "claude" else codex_screen()
            sys.stdout.write("\033[H\033[2J\033]0;%s\007" % title() + "\r\n".join(rows))
            sys.stdout.flush()

        # A terminal tells the place of its cursor (ECMA-48, DSR 6) once it has drawn all that came before.
        def wait_for_terminal():
            sys.stdout.write("\033[6n")
            sys.stdout.flush()
            answer, deadline = b"", time.time() + 10
            while not re.search(rb"\033\[\d+;\d+R", answer):
                ready, _, _ = select.select([0], [], [], max(0, deadline - time.time()))
                if not ready:
                    sys.exit("the terminal does not answer")
                answer += os.read(0, 4096)

        save()
        draw()
        os.write(shown, b"ready\n")
        while True:
            ready, _, _ = select.select([fifo], [], [], 0.25 if state == "busy" else 30)
            if ready:
                pending += os.read(fifo, 4096)
                *lines, pending = pending.split(b"\n")
                for line in lines:
                    word = line.decode().strip()
                    if word == "exit":
                        if os.path.exists(record):
                            os.unlink(record)
                        # What a FIFO holds goes with its last user: this waits for somebody who reads it.
                        os.close(shown)
                        os.write(os.open(sys.argv[3], os.O_WRONLY), line + b"\n")
                        sys.exit(0)
                    if word != state:
                        state, since = word, time.time()
                        save()
                    draw()
                    wait_for_terminal()
                    os.write(shown, line + b"\n")
            draw()
        """#
}
