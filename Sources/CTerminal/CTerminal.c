#define _GNU_SOURCE
#include "CTerminal.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

void hosts_terminal_take_locale(void) {
    if (setlocale(LC_CTYPE, "") != NULL && strcmp(nl_langinfo(CODESET), "UTF-8") == 0) return;
    setlocale(LC_CTYPE, "C.UTF-8");
}

int hosts_terminal_width(uint32_t scalar) {
    return wcwidth((wchar_t)scalar);
}

int hosts_terminal_columns(int descriptor) {
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_col;
}

/* The signals that must not find the terminal without its echo. SIGTTIN and SIGTTOU are not among them: they
 * stop a background process before it has touched anything. */
static const int guarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
enum { guarded_count = sizeof guarded / sizeof guarded[0] };

static volatile sig_atomic_t arrived;

static void note(int number) {
    arrived = number;
}

/* Reads a line byte by byte, so that nothing behind it is taken. With a mask, signals come in while it waits
 * only, and one that was noted ends it with -EINTR. */
static ssize_t read_line(int descriptor, const sigset_t *mask, char *answer, size_t size) {
    size_t count = 0;
    int is_too_long = 0;
    for (;;) {
        struct pollfd wanted = {.fd = descriptor, .events = POLLIN};
        if (ppoll(&wanted, 1, NULL, mask) < 0) {
            if (errno != EINTR) return -errno;
            if (mask != NULL && arrived != 0) return -EINTR;
            continue;
        }
        char byte = 0;
        ssize_t taken = read(descriptor, &byte, 1);
        if (taken < 0) {
            if (errno == EINTR || errno == EAGAIN) continue;
            return -errno;
        }
        if (taken == 0 && count == 0 && !is_too_long) return -ENODATA;
        if (taken == 0 || byte == '\n') return is_too_long ? -E2BIG : (ssize_t)count;
        if (count < size) {
            answer[count++] = byte;
        } else {
            is_too_long = 1;
        }
        explicit_bzero(&byte, sizeof byte);
    }
}

static void write_all(int terminal, const char *text) {
    size_t left = strlen(text);
    while (left > 0) {
        ssize_t written = write(terminal, text, left);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return; /* nobody sees the question; what is typed is read all the same */
        text += written;
        left -= (size_t)written;
    }
}

static ssize_t ask_once(int terminal, const char *question, int hidden, const sigset_t *mask, char *answer,
                        size_t size) {
    struct termios before;
    if (tcgetattr(terminal, &before) != 0) return -errno;
    if (hidden) {
        struct termios silent = before;
        silent.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL);
        if (tcsetattr(terminal, TCSAFLUSH, &silent) != 0) return -errno;
    }
    write_all(terminal, question);
    ssize_t result = read_line(terminal, mask, answer, size);
    if (hidden) {
        tcsetattr(terminal, TCSANOW, &before);
        write_all(terminal, "\n");
    }
    return result;
}

ssize_t hosts_terminal_ask(int terminal, const char *question, int hidden, void *answer, size_t size) {
    for (;;) {
        sigset_t blocked, before;
        sigemptyset(&blocked);
        for (int i = 0; i < guarded_count; i++) sigaddset(&blocked, guarded[i]);
        pthread_sigmask(SIG_BLOCK, &blocked, &before);
        arrived = 0;
        struct sigaction actions[guarded_count];
        for (int i = 0; i < guarded_count; i++) {
            struct sigaction action = {.sa_handler = note};
            sigemptyset(&action.sa_mask);
            sigaction(guarded[i], NULL, &actions[i]);
            if (actions[i].sa_handler != SIG_IGN) sigaction(guarded[i], &action, NULL);
        }
        ssize_t result = ask_once(terminal, question, hidden, &before, answer, size);
        int number = arrived;
        for (int i = 0; i < guarded_count; i++) sigaction(guarded[i], &actions[i], NULL);
        /* Still blocked, so it means what it meant before once the mask is back. */
        if (number != 0) kill(getpid(), number);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (result != -EINTR) return result;
    }
}

ssize_t hosts_terminal_read_line(int descriptor, void *answer, size_t size) {
    return read_line(descriptor, NULL, answer, size);
}
