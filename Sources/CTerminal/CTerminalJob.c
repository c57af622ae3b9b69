#define _GNU_SOURCE
#include "CTerminalJob.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
enum { ending_count = sizeof ending / sizeof ending[0] };

static struct {
    sigset_t waited; /* what sigtimedwait takes */
    sigset_t before; /* the mask that the program is given */
    int is_ignored[ending_count];
    int terminal; /* -1 without a controlling one */
    pid_t pid;
    int has_terminal; /* it was started in the foreground */
    int has_group;    /* its own; without one it is in ours */
    int has_modes;
    struct termios modes; /* before it was started, or as we found them when we went on */
    int has_own_modes;
    struct termios own; /* of the job, when it was stopped */
    int flags[3];       /* of the standard descriptors, which we share with the shell */
    int signal;         /* the last one of `ending` that came */
} job = {.terminal = -1};

void hosts_job_prepare(void) {
    sigemptyset(&job.waited);
    sigaddset(&job.waited, SIGCHLD);
    for (int i = 0; i < ending_count; i++) {
        struct sigaction action;
        sigaction(ending[i], NULL, &action);
        job.is_ignored[i] = action.sa_handler == SIG_IGN;
        if (!job.is_ignored[i]) sigaddset(&job.waited, ending[i]);
    }
    /* A parent that ignores it would have the kernel throw the status away. */
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigemptyset(&standard.sa_mask);
    sigaction(SIGCHLD, &standard, NULL);
    pthread_sigmask(SIG_BLOCK, &job.waited, &job.before);
    job.terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
}

/* Whether the terminal is ours, and not another job's. */
static int is_in_foreground(void) {
    return job.terminal >= 0 && tcgetpgrp(job.terminal) == getpgrp();
}

/* Puts a group into the foreground. From the background this would stop us: then it is not ours to give. */
static void give_terminal(pid_t group) {
    sigset_t stop, mask;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &stop, &mask);
    tcsetpgrp(job.terminal, group);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static void set_modes(const struct termios *modes) {
    sigset_t stop, mask;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &stop, &mask);
    while (tcsetattr(job.terminal, TCSADRAIN, modes) != 0 && errno == EINTR) continue;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/* The terminal is ours again, as it was. */
static void take_terminal_back(void) {
    for (int i = 0; i < 3; i++) {
        if (job.flags[i] >= 0) fcntl(i, F_SETFL, job.flags[i]);
    }
    if (!job.has_terminal) return;
    if (job.has_group && tcgetpgrp(job.terminal) == job.pid) give_terminal(getpgrp());
    if (job.has_modes && is_in_foreground()) set_modes(&job.modes);
}

int hosts_job_start(char *const words[]) {
    job.has_terminal = is_in_foreground();
    /* A group whose number is not known here (of another PID namespace, getpgrp(2) says 0) could not be given the
     * terminal back. */
    job.has_group = job.has_terminal && getpgrp() > 0;
    job.has_modes = job.has_terminal && tcgetattr(job.terminal, &job.modes) == 0;
    job.has_own_modes = 0;
    for (int i = 0; i < 3; i++) job.flags[i] = fcntl(i, F_GETFL);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0) return code;
    code = posix_spawnattr_init(&attributes);
    if (code != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return code;
    }
    short flags = POSIX_SPAWN_SETSIGMASK;
    posix_spawnattr_setsigmask(&attributes, &job.before);
    if (job.has_group) {
        flags |= POSIX_SPAWN_SETPGROUP;
        posix_spawnattr_setpgroup(&attributes, 0);
        /* The child does it itself, before it runs, so that it never reads from the background. */
        code = posix_spawn_file_actions_addtcsetpgrp_np(&actions, job.terminal);
    }
    posix_spawnattr_setflags(&attributes, flags);
    if (code == 0) code = posix_spawnp(&job.pid, words[0], &actions, &attributes, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (code != 0) {
        /* A child that could not execute may have taken the terminal with it. */
        if (job.has_group) give_terminal(getpgrp());
        job.pid = 0;
    }
    return code;
}

/* The job was stopped: give the terminal back, stop as it did, and go on with it. */
static void stop_with_job(int number) {
    if (!job.has_group) {
        /* In our own group the signal has come to us, or comes to the job alone: then it is let be. */
        return;
    }
    job.has_own_modes = tcgetattr(job.terminal, &job.own) == 0;
    take_terminal_back();
    /* Whatever stopped it stops all of us: the shell waits for the whole group. */
    kill(0, number == SIGSTOP || number == SIGTTIN || number == SIGTTOU ? SIGSTOP : number);
    /* Here again after SIGCONT. */
    if (is_in_foreground()) {
        job.has_modes = tcgetattr(job.terminal, &job.modes) == 0;
        if (job.has_own_modes) set_modes(&job.own);
        give_terminal(job.pid);
    }
    kill(-job.pid, SIGCONT);
}

static void time_left(const struct timespec *deadline, struct timespec *left) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    left->tv_sec = deadline->tv_sec - now.tv_sec;
    left->tv_nsec = deadline->tv_nsec - now.tv_nsec;
    if (left->tv_nsec < 0) {
        left->tv_sec -= 1;
        left->tv_nsec += 1000000000L;
    }
    if (left->tv_sec < 0) left->tv_sec = left->tv_nsec = 0;
}

static struct timespec deadline_in(int milliseconds) {
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += milliseconds / 1000;
    deadline.tv_nsec += (milliseconds % 1000) * 1000000L;
    if (deadline.tv_nsec >= 1000000000L) {
        deadline.tv_sec += 1;
        deadline.tv_nsec -= 1000000000L;
    }
    return deadline;
}

int hosts_job_wait(int milliseconds, int *status) {
    struct timespec deadline = deadline_in(milliseconds);
    for (;;) {
        int word = 0;
        pid_t found = waitpid(job.pid, &word, WNOHANG | WUNTRACED);
        if (found == job.pid && WIFSTOPPED(word)) {
            stop_with_job(WSTOPSIG(word));
            continue;
        }
        if (found == job.pid || (found < 0 && errno == ECHILD)) {
            take_terminal_back();
            job.pid = 0;
            *status = word;
            return 1;
        }
        struct timespec left;
        time_left(&deadline, &left);
        int number = sigtimedwait(&job.waited, NULL, &left);
        if (number < 0 && errno == EAGAIN) return 0;
        if (number <= 0 || number == SIGCHLD) continue;
        job.signal = number;
        kill(job.has_group ? -job.pid : job.pid, number);
    }
}

int hosts_job_pause(int milliseconds) {
    struct timespec deadline = deadline_in(milliseconds);
    for (;;) {
        struct timespec left;
        time_left(&deadline, &left);
        int number = sigtimedwait(&job.waited, NULL, &left);
        if (number < 0 && errno == EAGAIN) return 0;
        if (number <= 0 || number == SIGCHLD) continue;
        job.signal = number;
        return number;
    }
}

int hosts_job_signal(void) {
    struct termios modes;
    if (job.signal != 0) return job.signal;
    return job.has_terminal && tcgetattr(job.terminal, &modes) != 0 ? SIGHUP : 0;
}

int hosts_job_terminal(void) {
    struct termios modes;
    if (!job.has_terminal || tcgetattr(job.terminal, &modes) != 0) return 0;
    if ((modes.c_lflag & ICANON) == 0) return 1;
    return (modes.c_lflag & ECHO) == 0 ? 2 : 0;
}

void hosts_job_discard_input(void) {
    if (job.terminal >= 0) tcflush(job.terminal, TCIFLUSH);
}
