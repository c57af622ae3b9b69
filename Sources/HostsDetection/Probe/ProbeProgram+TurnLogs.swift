/// The part of the script that reads logs of turns.
extension ProbeProgram {
    static let turnLogText = #"""
        # hostsd_log_files PID STAMP PLACE PATTERN FILE VARIABLE HOME ...: adds what may be the log of a process to
        # `logs`, a line PID:PATH for each.
        hostsd_log_files() {
            set +f
            IFS=$newline
            case $1 in '' | *[!0-9]*) return ;; esac
            case $3 in
            held)
                owner=
                for line in $held; do
                    case $line in
                    /proc/*/fd:)
                        owner=${line#/proc/}
                        owner=${owner%/fd:}
                        ;;
                    *' -> '*)
                        [ "$owner" = "$1" ] || continue
                        line=${line#*' -> '}
                        case $line in $4) logs=$logs$1:$line$newline ;; esac
                        ;;
                    esac
                done
                ;;
            beside)
                case $6 in *[!A-Za-z0-9_]* | [0-9]*) return ;; esac
                [ -n "$answers" ] || return
                root=
                [ -n "$6" ] && eval "root=\${$6:-}"
                for line in ${root:-$HOME/$7}/${4%%PID*}$1${4#*PID}; do
                    [ -e "$line" ] && logs=$logs$1:${line%/*}/$5$newline
                done
                ;;
            esac
        }

        # hostsd_log_foreign PATH SKIP: whether the first line of a log says that it is not the agent's own.
        hostsd_log_foreign() {
            texts=
            IFS=,
            for item in $2; do
                text='"'${item%%=*}'":"'
                case $item in *=*) text=$text${item#*=}'"' ;; esac
                texts=$texts${texts:+$newline}$text
            done
            IFS=$spaces
            [ -n "$texts" ] || return 1
            $limit head -c 65536 "$1" 2>/dev/null | head -n 1 | grep -qaF -e "$texts"
        }

        # hostsd_log_tail PID STAMP PLACE PATTERN FILE VARIABLE HOME BYTES SKIP EVENTS: the words of the last events in
        # the newest log of a process, unless that is as it was at STAMP.
        hostsd_log_tail() {
            set +f
            best= newest=0 stamp=
            IFS=$newline
            for line in $logs; do
                case $line in "$1:"*) ;; *) continue ;; esac
                for found in $stamps; do
                    [ "${found#* }" = "${line#*:}" ] || continue
                    time=${found#*-}
                    time=${time%%-*}
                    [ "$time" -gt "$newest" ] || continue
                    if [ "${found%% *}" != "$2" ] && hostsd_log_foreign "${line#*:}" "$9"; then
                        IFS=$newline
                        continue
                    fi
                    IFS=$newline
                    newest=$time
                    best=${line#*:}
                    stamp=${found%% *}
                done
            done
            IFS=$spaces
            [ -n "$best" ] || return
            if [ "$stamp" = "$2" ]; then
                printf '@%s log %s same\n' "$nonce" "$1"
                return
            fi
            events=
            IFS=,
            for item in ${10}; do events=$events${events:+|}$item; done
            IFS=$spaces
            printf '@%s log %s %s\n' "$nonce" "$1" "$stamp"
            $limit tail -c "$8" "$best" 2>/dev/null | grep -aoE "\"type\":\"($events)\"" | tail -n 4
        }

        # hostsd_logs WORD...: the logs of the turns of processes that are known. Only the words of the events that were
        # asked for are printed, never a line of a log.
        hostsd_logs() {
            held= logs= answers=
            # The shell itself looks into the home folder for these, and nothing limits that.
            case " $*" in *:beside:*) hostsd_home && answers=yes ;; esac
            for word do
                case $word in log:*:*:held:*) ;; *) continue ;; esac
                pid=${word#log:}
                pid=${pid%%:*}
                case $pid in *[!0-9]*) continue ;; esac
                held="$held /proc/$pid/fd"
            done
            # Of a single folder ls tells no name: with that of this shell there are two.
            [ -n "$held" ] && held=$($limit ls -l $held "/proc/$$/fd" 2>/dev/null)
            for word do
                case $word in log:*) ;; *) continue ;; esac
                IFS=:
                set -f
                hostsd_log_files ${word#log:}
            done
            IFS=$spaces
            set +f
            [ -n "$logs" ] || return
            stamps=$(
                set -f
                IFS=$newline
                files=
                for line in $logs; do files=$files${line#*:}$newline; done
                set -- $files
                IFS=$spaces
                # GNU and busybox; BSD.
                if hostsd_has_proc; then
                    $limit stat -L -c '%i-%Y-%s %n' "$@" 2>/dev/null
                else
                    $limit stat -L -f '%i-%m-%z %N' "$@" 2>/dev/null
                fi
            )
            for word do
                case $word in log:*) ;; *) continue ;; esac
                IFS=:
                set -f
                hostsd_log_tail ${word#log:}
            done
            IFS=$spaces
            set +f
        }
        """#
}
