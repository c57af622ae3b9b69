package import HostsModel

/// The shell functions of the probe: for dash, bash, busybox ash, the Korn shells, and zsh that is called sh.
///
/// A reply is a sequence of sections. Each begins with `@NONCE name words`; its body runs to the next header.
/// The last one is `done`; without it the reply was cut. No reply is longer than 246 KiB.
package enum ProbeProgram {
    /// The version of the reply that `ReplyParser` reads.
    package static let version = 2

    /// What a link sends to a fresh shell.
    package static let program = ShellProgram(definitions: text + "\n" + turnLogText)

    static let probeFunction = "hostsd_probe"
    static let lookFunction = "hostsd_look"
    /// Most panes drawn for one request: a drawn pane has 4–8 KiB, and all of them have 105 KiB.
    static let captureLimit = 16
    /// Most sockets that are named in one request.
    static let socketLimit = 8
    /// Most processes whose turn logs are asked for in one request.
    static let logLimit = 16

    private static let text = #"""
        # Functions of the probe. They only read: no file is written, nothing is started but the tools named here,
        # and tmux gets commands that never start a server. Each runs in a subshell of the link's shell.

        hostsd_setup() {
            nonce=$1
            umask 077
            set +e +u +f
            # The Korn shells and zsh look for aliases in $( ) only when it is run.
            \unalias -a 2>/dev/null
            PATH=${PATH:-/usr/bin:/bin}:/opt/homebrew/bin:/usr/local/bin:/opt/local/bin
            PATH=$PATH:$HOME/.local/bin:$HOME/bin:/home/linuxbrew/.linuxbrew/bin
            PATH=$PATH:/run/current-system/sw/bin:/snap/bin:/usr/sbin:/sbin
            LC_ALL=C # bytes are cut and searched; tmux gets -u, without which it replaces what is not ASCII
            export PATH LC_ALL
            unset TMUX TMUX_PANE
            # Each tool gets two seconds: what it asks may hang, a tmux server or a file system. A client of tmux may have
            # been started with every other signal blocked. An alarm outlives an exec (alarm(2)); macOS has only perl.
            limit=
            if command -v timeout >/dev/null 2>&1; then
                limit='timeout -s KILL 2'
            elif command -v perl >/dev/null 2>&1; then
                limit='perl -e alarm+shift;exec+@ARGV 2'
            fi
            newline='
        '
            spaces=$(printf ' \t\n.')
            spaces=${spaces%.}
            IFS=$spaces
            hung=0 servers=0 seen=$newline
        }

        # hostsd_server SOCKET ARGUMENT...: lists one tmux server and draws the panes that the arguments ask for.
        hostsd_server() {
            socket=$1
            shift
            case $seen in *"$newline$socket$newline"*) return ;; esac
            seen=$seen$socket$newline
            [ -S "$socket" ] || return
            servers=$((servers + 1))
            printf '@%s server %s\n' "$nonce" "$socket"
            if [ "$servers" -gt 16 ] || [ "$hung" -ge 2 ]; then
                printf '@%s served skipped\n' "$nonce"
                return
            fi
            count=$#
            set -- "$@" \
                display-message -p "@$nonce tmux #{pid} #{start_time} %s #{version}" \; \
                display-message -p "@$nonce clients" \; list-clients -F \
                '#{client_pid} #{client_activity} #{client_tty} #{pane_id} #{session_name}' \; \
                display-message -p "@$nonce panes" \; list-panes -a -F \
                "#{pane_id} #{pane_pid} #{pane_tty} #{pane_dead} #{pane_in_mode} #{window_bell_flag} \
        #{window_activity} #{pane_width} #{pane_height} \
        #{session_name}:#{window_index}.#{pane_index} #{pane_title}" \; \
                display-message -p "@$nonce listed"
            for word do
                case $word in
                capture:%*:*:"$socket")
                    pane=${word#capture:%}
                    pane=${pane%%:*}
                    stamp=${word#capture:*:}
                    stamp=${stamp%%:*}
                    case $pane$stamp in *[!0-9]*) continue ;; esac
                    # A pane that is gone must not end the command list: its condition is false, it draws nothing.
                    set -- "$@" \; if-shell -F -t "%$pane" \
                        "#{&&:#{==:#{pane_id},%$pane},#{!=:#{window_activity},$stamp}}" \
                        "display-message -p -t %$pane '@$nonce screen #{pane_id}' ; capture-pane -p -t %$pane ; \
        display-message -p -t %$pane '@$nonce drawn #{pane_id}'" \
                        "display-message -p -t %$pane '@$nonce same #{pane_id}'"
                    ;;
                esac
            done
            shift "$count"
            $limit tmux -u -S "$socket" "$@" 2>/dev/null
            status=$?
            case $status in 124 | 137 | 142 | 265 | 270) hung=$((hung + 1)) ;; esac
            printf '@%s served %s\n' "$nonce" "$status"
        }

        hostsd_named_servers() {
            for name do
                case $name in socket:/*) hostsd_server "${name#socket:}" "$@" ;; esac
            done
        }

        hostsd_servers() {
            for place in "${TMUX_TMPDIR:-/tmp}" "${TMUX_TMPDIR:-/run/user/$user}"; do
                for path in "$place/tmux-$user"/*; do
                    hostsd_server "$path" "$@"
                done
            done
            hostsd_named_servers "$@"
        }

        # Copies what tmux says, up to the end mark and at most 105 KiB. The end of the pipe may never come: a client
        # hands its output to the server, and a server that hangs keeps it. (Not awk: mawk waits for a full block.)
        hostsd_bound() {
            sed -e "/^@$nonce end\$/q" | head -c 107520
        }

        # The processes of this user that have a terminal, tmux servers, and this shell: proof of a whole list.
        # Every line carries the path it was read from: nothing that a process calls itself can look like another
        # line. Arguments are read of interpreters, tmux and what the requests call a name only. A list that is cut is no
        # list, so the lines get shorter where there are many: 600 processes fit.
        hostsd_processes() {
            files=
            for path in /proc/[0-9]*; do
                [ -O "$path" ] && files="$files $path/stat"
            done
            # Nothing in this file can make its reader wait (unlike the arguments, below): no limit is needed.
            found=$(grep -aHs -e "^$$ (" -e '^[0-9]* (tmux' \
                -e ') [A-Za-z] [0-9]* [0-9]* [0-9]* -\{0,1\}[1-9]' $files |
                sed -e 's/\(.*) .\( -\{0,1\}[0-9]*\)\{19\} \).*/\1/' -e 's/^\(.\{224\}\).*/\1/')
            pids= files= count=0 rows=0
            IFS=$newline
            for line in $found; do
                rows=$((rows + 1))
                pid=${line#/proc/}
                pid=${pid%%/*}
                name=${line#*"("}
                name=${name%")"*}
                case $name in
                node* | MainThread | bun* | deno* | python* | *sh | sudo | npx* | uv* | tmux* | .* | [0-9]*) ;;
                *)
                    wanted=
                    for word do
                        case $word in names:*"$name"*) wanted=yes ;; esac
                    done
                    [ -n "$wanted" ] || continue
                    ;;
                esac
                pids=$pids$pid$newline
                # Whoever reads the arguments of a process that waits for a disk may wait with it.
                case ${line##*")"} in ' D'*) continue ;; esac
                files=$files/proc/$pid/cmdline$newline
                count=$((count + 1))
            done
            printf '@%s processes %s %s\n%s\n@%s commands\n' "$nonce" "$$" "$rows" "$found" "$nonce"
            width=512
            [ "$count" -gt 96 ] && width=$((49152 / count))
            [ "$width" -lt 96 ] && width=96
            if [ -n "$files" ]; then
                set -- $files
                IFS=$spaces
                $limit grep -aHs -m 1 '' "$@" | cut -b 1-$width
            fi
            IFS=$spaces
        }

        # The same where there is no /proc: on macOS, FreeBSD, OpenBSD and NetBSD. Each column has an option of its own:
        # BSD takes all that follows a `=` for the heading.
        hostsd_processes_ps() {
            found=$($limit ps -x -ww -o pid= -o ppid= -o pgid= -o tpgid= -o stat= -o tty= -o lstart= -o command= |
                awk -v shell="$$" '$1 == shell || $6 !~ /^([?]+|-)$/ || /tmux/' | cut -b 1-600)
            pids= rows=0
            IFS=$newline
            for line in $found; do
                rows=$((rows + 1))
                line=${line#"${line%%[0-9]*}"}
                pids=$pids${line%%" "*}$newline
            done
            IFS=$spaces
            printf '@%s processes %s %s ps\n%s\n' "$nonce" "$$" "$rows" "$found"
        }

        # What the host is, and which start of it this is: a line of `system`, `boot` and `user` each. A boot time moves
        # when the clock is set, so it is the last resort.
        hostsd_system() {
            kernel= release= name= boot= user=
            if hostsd_has_proc; then
                read -r kernel </proc/sys/kernel/ostype
                read -r release </proc/sys/kernel/osrelease
                read -r name </proc/sys/kernel/hostname
                [ -r /proc/sys/kernel/random/boot_id ] && read -r boot </proc/sys/kernel/random/boot_id
                [ -n "$boot" ] || boot=$(grep -s '^btime ' /proc/stat)
                while read -r key real user rest; do
                    [ "$key" = Uid: ] && break
                done </proc/self/status
            else
                kernel=$(uname -s)
                release=$(uname -r)
                name=$(uname -n)
                user=$(id -u)
                for key in kern.bootsessionuuid kern.boot_id kern.boottime; do
                    [ -n "$boot" ] || boot=$($limit sysctl -n "$key" 2>/dev/null)
                done
            fi
            printf '@%s system %s %s %s\n@%s boot %s\n@%s user %s\n' \
                "$nonce" "$kernel" "$release" "$name" "$nonce" "$boot" "$nonce" "$user"
        }

        hostsd_has_proc() { [ -r /proc/self/stat ]; }

        # Whether the home folder answers.
        hostsd_home() { [ -n "$HOME" ] && $limit ls -d "$HOME/." >/dev/null 2>&1; }

        # hostsd_state AGENT:VARIABLE:HOME:FOLDER: the state files of the processes that may be agents.
        hostsd_state() {
            rest=${1#*:}
            variable=${rest%%:*}
            rest=${rest#*:}
            case $variable in *[!A-Za-z0-9_]* | [0-9]*) return ;; esac
            home=
            [ -n "$variable" ] && eval "home=\${$variable:-}"
            folder=${home:-$HOME/${rest%%:*}}/${rest#*:}
            agent=${1%%:*}
            set --
            IFS=$newline
            for pid in $pids; do set -- "$@" "$folder/$pid.json"; done
            IFS=$spaces
            [ "$#" -gt 0 ] || return
            printf '@%s state %s %s\n' "$nonce" "$agent" "$folder"
            $limit grep -aHs -m 1 '' "$@" | cut -b 1-2048
        }

        # hostsd_probe NONCE WORD...: looks at processes, state files and every tmux server of the user. Words:
        #   names:NAME,NAME...                    programs whose arguments are wanted
        #   state:AGENT:VARIABLE:HOME:FOLDER      state files in $VARIABLE/FOLDER, else ~/HOME/FOLDER
        #   log:PID:STAMP:PLACE:...               the log of a process's turns; see `TurnLogRules.words`
        #   socket:PATH                           a tmux server that is in none of the usual places
        #   capture:%PANE:STAMP:PATH              draw a pane there, if last written to at another time than STAMP
        hostsd_probe() (
            hostsd_setup "$1"
            shift
            printf '@%s hostsd 2 probe\n' "$nonce"
            if ! hostsd_has_proc && ! command -v ps >/dev/null 2>&1; then
                printf '@%s unsupported\n@%s done\n' "$nonce" "$nonce"
                return
            fi
            hostsd_system
            {
                if hostsd_has_proc; then
                    hostsd_processes "$@"
                else
                    hostsd_processes_ps
                fi
                for word do
                    case $word in state:*:*:*:*) hostsd_state "${word#state:}" ;; esac
                done
                case " $*" in *' log:'*) hostsd_logs "$@" ;; esac
                printf '@%s processed\n' "$nonce"
            } | head -c 143360
            printf '\n'
            command -v tmux >/dev/null 2>&1 &&
                { hostsd_servers "$@"; printf '@%s end\n' "$nonce"; } | hostsd_bound
            printf '\n@%s done\n' "$nonce"
        )

        # hostsd_look NONCE WORD...: draws panes that were found just now; `socket` and `capture` as above.
        hostsd_look() (
            hostsd_setup "$1"
            shift
            printf '@%s hostsd 2 look\n' "$nonce"
            command -v tmux >/dev/null 2>&1 &&
                { hostsd_named_servers "$@"; printf '@%s end\n' "$nonce"; } | hostsd_bound
            printf '\n@%s done\n' "$nonce"
        )
        """#
}
