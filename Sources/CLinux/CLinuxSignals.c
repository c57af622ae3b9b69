#define _GNU_SOURCE
#include "CLinuxSignals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int write_end = -1;

static void forward(int number) {
    const int saved = errno;
    const unsigned char byte = (unsigned char)number;
    /* A full pipe holds thousands of signals that nobody has read: one more says nothing new. */
    const ssize_t ignored = write(atomic_load(&write_end), &byte, 1);
    (void)ignored;
    errno = saved;
}

static void nothing(int number) { (void)number; }

static int handle(int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    return sigaction(number, &action, NULL);
}

int hosts_signals_catch(const int *signals, size_t count) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    int expected = -1;
    if (fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0 ||
        !atomic_compare_exchange_strong(&write_end, &expected, ends[1])) {
        const int code = expected == -1 ? errno : EALREADY;
        close(ends[0]);
        close(ends[1]);
        errno = code;
        return -1;
    }
    if (handle(SIGPIPE, nothing) != 0) return -1;
    for (size_t index = 0; index < count; index++)
        if (handle(signals[index], forward) != 0) return -1;
    return ends[0];
}
