/* Starting a child process with the attributes that glibc offers as extensions (addchdir_np, addclosefrom_np,
 * pipe2, pidfd_open): none of them is importable from Swift, where _GNU_SOURCE is not defined. */
#ifndef HOSTS_CLINUX_SPAWN_H
#define HOSTS_CLINUX_SPAWN_H

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A pipe whose two ends are close-on-exec; the one that stays with us (0: read end, 1: write end) is non-blocking.
 * Returns 0 or an errno value. */
int hosts_spawn_pipe(int ends[2], int ours);

/* Starts `program` (searched in PATH when it has no slash) in a new process group and in the folder `/`, with every
 * signal at its default and unblocked, and with no other descriptors than the three given ones as 0, 1 and 2.
 * Returns 0 or an errno value, those of the child's exec included. */
int hosts_spawn_child(const char *program, char *const argv[], char *const envp[], int in, int out, int err,
                      pid_t *pid);

/* A close-on-exec descriptor that becomes readable when the process has ended; -1 with errno on failure. */
int hosts_spawn_watch(pid_t pid);

/* Tells how the process has ended and leaves it to be reaped, so that its number and that of its group stay taken;
 * EAGAIN while it runs. `*signal` is 0 when it exited by itself with `*status`. */
int hosts_spawn_peek(pid_t pid, int *status, int *signal);

/* Waits until the process has ended and reaps it. Without `block` the answer may be EAGAIN: it still runs.
 * Returns 0 or an errno value. `*signal` is 0 when it exited by itself with `*status`. */
int hosts_spawn_reap(pid_t pid, int block, int *status, int *signal);

#ifdef __cplusplus
}
#endif

#endif
