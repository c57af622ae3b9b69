#define _GNU_SOURCE
#include "CLinuxSpawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int hosts_spawn_pipe(int ends[2], int ours) {
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    if (fcntl(ends[ours], F_SETFL, O_NONBLOCK) == 0) return 0;
    int code = errno;
    close(ends[0]);
    close(ends[1]);
    return code;
}

/* Each step only if all before it went well, so that one error code tells all. */
#define STEP(code, call) \
    do { \
        if ((code) == 0) (code) = (call); \
    } while (0)

int hosts_spawn_child(const char *program, char *const argv[], char *const envp[], int in, int out, int err,
                      pid_t *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0) return code;
    code = posix_spawnattr_init(&attributes);
    if (code != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return code;
    }
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    /* dup2 onto itself would keep close-on-exec; ours are never 0, 1 or 2 unless the daemon was started with those
     * closed, and glibc clears the flag in that case (posix_spawn_file_actions_adddup2(3)). */
    STEP(code, posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO));
    STEP(code, posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO));
    STEP(code, posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO));
    STEP(code, posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1));
    STEP(code, posix_spawn_file_actions_addchdir_np(&actions, "/"));
    STEP(code, posix_spawnattr_setpgroup(&attributes, 0));
    STEP(code, posix_spawnattr_setsigmask(&attributes, &none));
    STEP(code, posix_spawnattr_setsigdefault(&attributes, &all));
    STEP(code, posix_spawnattr_setflags(&attributes,
                                        POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
    STEP(code, posix_spawnp(pid, program, &actions, &attributes, argv, envp));
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

int hosts_spawn_watch(pid_t pid) {
    /* glibc has pidfd_open since 2.36; the system call is in every kernel since 5.3. It is close-on-exec. */
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

int hosts_spawn_peek(pid_t pid, int *status, int *signal) {
    siginfo_t found = {.si_pid = 0};
    while (waitid(P_PID, (id_t)pid, &found, WEXITED | WNOHANG | WNOWAIT) != 0) {
        if (errno != EINTR) return errno;
    }
    if (found.si_pid != pid) return EAGAIN;
    *status = found.si_code == CLD_EXITED ? found.si_status : 0;
    *signal = found.si_code == CLD_EXITED ? 0 : found.si_status;
    return 0;
}

int hosts_spawn_reap(pid_t pid, int block, int *status, int *signal) {
    int raw = 0;
    for (;;) {
        pid_t found = waitpid(pid, &raw, block ? 0 : WNOHANG);
        if (found == pid) break;
        if (found == 0) return EAGAIN;
        if (errno != EINTR) return errno;
    }
    *status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 0;
    *signal = WIFSIGNALED(raw) ? WTERMSIG(raw) : 0;
    return 0;
}
