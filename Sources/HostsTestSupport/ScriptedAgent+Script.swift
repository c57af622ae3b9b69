/// The program of a stand-in, for Python 3 without any package.
extension ScriptedAgent {
    /// The script, for an interpreter whose file is named for the agent.
    ///
    /// Arguments: the kind, the path of the FIFO with what it is told, and of the one in which it repeats each word as
    /// soon as the terminal shows what was asked for: only then can a test rely on what a look will see.
    package static let script = #"""
        import json, os, re, select, sys, time, tty

        kind, control, answers = sys.argv[1:4]
        home = os.environ.get("HOME", "/")
        state, since, pending = "idle", time.time(), b""


        def elapsed():
            return int(time.time() - since)


        def turning(glyphs, per_second):
            return glyphs[int(time.time() * per_second) % len(glyphs)]


        class Claude:
            """State in sessions/PID.json; the title stands still."""

            def __init__(self):
                self.started = time.time()
                with open("/proc/self/stat") as stat:
                    self.tick = stat.read().rsplit(")", 1)[1].split()[19]
                self.folder = os.path.join(home, ".claude", "sessions")
                self.record = os.path.join(self.folder, "%d.json" % os.getpid())

            def title(self):
                return "✳ Fix the flaky test"

            def save(self, before):
                os.makedirs(self.folder, exist_ok=True)
                status = {"permission": "waiting", "question": "waiting", "interrupted": "idle"}.get(state, state)
                document = {"pid": os.getpid(), "sessionId": "00000000-0000-4000-8000-%012d" % os.getpid(),
                            "startedAt": int(self.started * 1000), "procStart": self.tick, "version": "2.1.284",
                            "kind": "interactive", "entrypoint": "cli", "status": status,
                            "updatedAt": int(time.time() * 1000)}
                if status == "waiting":
                    document["waitingFor"] = "permission prompt" if state == "permission" else "input needed"
                with open(self.record + ".new", "w") as file:
                    file.write(json.dumps(document) + "\n")
                os.rename(self.record + ".new", self.record)

            def end(self):
                os.unlink(self.record)

            def rows(self):
                rule = "─" * 78
                work = ["❯ find out why the test fails", "", "● I'll run it a few times first.", ""]
                composer = [rule, "❯\u00a0", rule, "  ⏵⏵ accept edits on (shift+tab to cycle)"]
                if state == "busy":
                    row = "%s Percolating… (%ds · ↓ 1.2k tokens)" % (turning("·✢*✶✻✽", 4), elapsed())
                    return work + [row, ""] + composer
                if state == "permission":
                    return work + [rule, " Bash command", "", "   make test", "", " Do you want to proceed?",
                                   " ❯ 1. Yes", "   2. Yes, and don't ask again for: make test", "   3. No", "",
                                   " Esc to cancel · Tab to amend"]
                if state == "question":
                    return work + [rule, " ☐ Storage", "", "Which database?", "", "❯ 1. SQLite", "  2. PostgreSQL",
                                   "  3. Type something.", "",
                                   "Enter to select · ↑/↓ to navigate · Esc to cancel"]
                if state == "interrupted":
                    return work + ["  ⎿  Interrupted · What should Claude do instead?", ""] + composer
                return work + ["✻ Cooked for 9s", ""] + composer


        class Codex:
            """A spinner in the title; turns in a log that it holds open."""

            def __init__(self):
                folder = os.path.join(home, ".codex", "sessions", "2026", "12", "01")
                os.makedirs(folder, exist_ok=True)
                self.log = open(os.path.join(folder, "rollout-2026-12-01-%d.jsonl" % os.getpid()), "a")
                self.write("session_meta", {"id": str(os.getpid()), "thread_source": "user"})

            def write(self, kind, payload):
                row = {"timestamp": "2026-12-01T00:00:00.000Z", "type": kind, "payload": payload}
                self.log.write(json.dumps(row, separators=(",", ":")) + "\n")
                self.log.flush()

            def title(self):
                if state == "busy":
                    return turning("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", 8) + " sessions"
                return "[ ! ] Action Required | sessions" if state in ("permission", "question") else "sessions"

            def save(self, before):
                event = {"idle": "task_complete", "interrupted": "turn_aborted"}.get(state)
                if state == "busy" and before in ("idle", "interrupted"):
                    event = "task_started"
                if event and before != state:
                    self.write("event_msg", {"type": event})

            def end(self):
                pass

            def rows(self):
                work = ["› sort the list, newest first", "", "• I'll look at how the list is built.", ""]
                composer = ["› Ask Codex to do anything", "", "  gpt-5.6-sol high · ~/src/sessions"]
                if state == "busy":
                    return work + ["• Working (%ds • esc to interrupt)" % elapsed(), ""] + composer
                if state == "permission":
                    return work + ["  Would you like to run the following command?", "", "  $ cargo test", "",
                                   "› 1. Yes, proceed (y)", "  2. No, and tell Codex what to do differently (esc)",
                                   "", "  Press enter to confirm or esc to cancel"]
                if state == "question":
                    return work + ["  Question 1/1 (1 unanswered)", "  Which order?", "", "› 1. Newest first",
                                   "  2. Oldest first", "",
                                   "  tab to add notes | enter to submit answer | esc to interrupt"]
                if state == "interrupted":
                    notice = "■ Conversation interrupted - tell the model what to do differently."
                    return work + [notice, ""] + composer
                return work + ["• Newest sessions come first now.", ""] + composer


        class Gemini:
            """The title says it all."""

            def title(self):
                word = {"busy": "✦  Working… (ledger)", "permission": "✋  Action Required (ledger)",
                        "question": "✋  Action Required (ledger)"}.get(state, "◇  Ready (ledger)")
                return word.ljust(80)

            def save(self, before):
                pass

            def end(self):
                pass

            def rows(self):
                width = 98
                work = [" > port the exporter", "▀" * width, "", "✦ Reading the exporter first.", ""]
                composer = ["─" * width, " Shift+Tab to accept edits", "▄" * width,
                            " >   Type your message or @path/to/file", "▀" * width,
                            " ~/src/ledger (main*)      no sandbox      auto (gemini-3-pro)"]
                box = ["╭" + "─" * (width - 2) + "╮"]
                if state == "busy":
                    row = " %s Thinking... (esc to cancel, %ds)" % (turning("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", 8), elapsed())
                    return work + [row] + composer
                if state == "permission":
                    inside = ["?  Shell make test", "", "Allow execution of: 'make'?", "", "● 1. Allow once",
                              "  2. Allow for this session", "  3. No, suggest changes (esc)", ""]
                elif state == "question":
                    inside = ["Answer Questions", "", "Which logger?", "", "●  1.  structured", "   2.  plain", "",
                              "Enter to select · ↑/↓ to navigate · Esc to cancel"]
                else:
                    return work + ["✦ Done: it is exported.", "", "? for shortcuts".rjust(width)] + composer
                box += ["│ " + row.ljust(width - 4) + " │" for row in inside]
                return work + box + ["╰" + "─" * (width - 2) + "╯"]


        class Copilot:
            """No title; permissions in a log beside a lock that names the process."""

            def __init__(self):
                self.folder = os.path.join(home, ".copilot", "session-state", "00-%d" % os.getpid())
                os.makedirs(self.folder, exist_ok=True)
                self.lock = os.path.join(self.folder, "inuse.%d.lock" % os.getpid())
                open(self.lock, "w").close()
                self.write("session.start")

            def write(self, event):
                with open(os.path.join(self.folder, "events.jsonl"), "a") as log:
                    log.write(json.dumps({"type": event, "data": {}}, separators=(",", ":")) + "\n")

            def title(self):
                return "copilot"

            def save(self, before):
                if state == before:
                    return
                if before in ("permission", "question"):
                    self.write("permission.completed")
                elif state == "busy":
                    self.write("user.message")
                    self.write("assistant.turn_start")
                if state in ("idle", "interrupted"):
                    self.write("assistant.turn_end" if state == "idle" else "abort")
                if state == "permission":
                    self.write("permission.requested")

            def end(self):
                self.write("session.shutdown")
                os.unlink(self.lock)

            def rows(self):
                width = 94
                work = ["", " ● I'll look for the place where the retry count is read.", "",
                        " ✓ Search for retry settings", "   ↪ 4 lines...", ""]
                top, bottom = " ╭" + "─" * width + "╮", " ╰" + "─" * width + "╯"
                composer = [" ~/src/courier [⎇ main*]", top,
                            " │ " + ">  Enter @ to mention files or / for commands".ljust(width - 1) + "│", bottom,
                            " Ctrl+c Exit · Ctrl+r Expand all"]
                if state == "busy":
                    return work + [" %s Thinking (Esc to cancel)" % turning("◉◎", 2), ""] + composer
                if state == "permission":
                    inside = ["Install the dependencies", "", "npm ci", "", "Do you want to run this command?", "",
                              "❯ 1. Yes", "  2. No, and tell Copilot what to do differently (Esc)", "",
                              "Confirm with number keys or ↑↓ keys and Enter, Cancel with Esc"]
                elif state == "question":
                    inside = ["Switch to auto mode?", "", "❯ 1. Yes", "  2. No", "",
                              "Confirm with number keys or ↑↓ keys and Enter, Cancel with Esc"]
                else:
                    return work + [" ● The count is read as a number now.", ""] + composer
                return work + [top] + [" │ " + row.ljust(width - 1) + "│" for row in inside] + [bottom]


        class OpenCode:
            """The whole screen; the row below the composer tells work from rest."""

            def title(self):
                return "OC | Idempotent import"

            def save(self, before):
                pass

            def end(self):
                pass

            def rows(self):
                work = ["", "  ┃", "  ┃  make the import idempotent", "  ┃", "",
                        "     I will key each row on the external id.", "", "     → Read src/import.ts"]
                composer = ["  ┃", "  ┃", "  ┃", "  ┃  Build · Sonnet 5 Anthropic", "  ╹" + "▀" * 94]
                if state == "busy":
                    bar = turning(["■⬝⬝⬝⬝⬝", "⬝■⬝⬝⬝⬝", "⬝⬝■⬝⬝⬝"], 4)
                    below = composer + ["   %s  esc interrupt        9.6K (7%%)  ctrl+p commands" % bar]
                elif state == "permission":
                    below = ["  ┃", "  ┃  △ Permission required", "  ┃    $ make test", "  ┃",
                             "   Allow once   Allow always   Reject        ⇆ select  enter confirm"]
                elif state == "question":
                    below = ["  ┃", "  ┃  What should happen to rows without an id?", "  ┃", "  ┃  1. Skip them",
                             "  ┃  2. Insert anyway", "  ┃", "  ┃  ↑↓ select  enter submit  esc dismiss"]
                else:
                    work = work + ["", "     ▣  Build · Sonnet 5 · 7.2s"]
                    below = composer + ["   ~/src/intake:main        9.9K (7%)  ctrl+p commands"]
                return work + [""] * (29 - len(work) - len(below)) + below


        agent = {"claude": Claude, "codex": Codex, "gemini": Gemini, "copilot": Copilot, "opencode": OpenCode}[kind]()


        def draw():
            sys.stdout.write("\033[H\033[2J\033]0;%s\007" % agent.title() + "\r\n".join(agent.rows()))
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


        fifo = os.open(control, os.O_RDWR | os.O_NONBLOCK)
        shown = os.open(answers, os.O_RDWR)
        tty.setcbreak(0)
        agent.save(state)
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
                        agent.end()
                        # What a FIFO holds goes with its last user: this waits for somebody who reads it.
                        os.close(shown)
                        os.write(os.open(answers, os.O_WRONLY), line + b"\n")
                        sys.exit(0)
                    if word != state:
                        before, state, since = state, word, time.time()
                        agent.save(before)
                    draw()
                    wait_for_terminal()
                    os.write(shown, line + b"\n")
            draw()
        """#
}
