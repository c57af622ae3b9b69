/* What a terminal program needs of libc and Swift cannot import: wcwidth (hidden behind _XOPEN_SOURCE),
 * ioctl (variadic), handlers of signals around a hidden question, and a locale in which wcwidth knows more than
 * ASCII. */
#ifndef HOSTS_CTERMINAL_H
#define HOSTS_CTERMINAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "CTerminalJob.h"

/* Takes the person's LC_CTYPE if it is UTF-8, else C.UTF-8: in the plain C locale every width beyond ASCII is -1
 * (glibc 2.36). Changes the process's locale; call it once, before other threads exist. */
void hosts_terminal_take_locale(void);

/* Cells that a character takes: 0, 1 or 2; -1 for what is not printable. */
int hosts_terminal_width(uint32_t scalar);

/* Columns of the terminal at a descriptor, 0 if it is none or does not say. */
int hosts_terminal_columns(int descriptor);

/* Writes a question to a terminal and reads the line that is typed, without its end.
 *
 * Where it is hidden, nothing of the answer is shown. A signal that ends or stops the process meanwhile (SIGHUP,
 * SIGINT, SIGQUIT, SIGTERM, SIGTSTP) takes effect after the terminal is as it was; after a stop the question
 * comes again. For one thread at a time, and for a process whose other threads leave these signals alone.
 *
 * Returns the count of bytes, -ENODATA at the end of the input, -E2BIG for a longer line, or another errno value
 * below zero. */
ssize_t hosts_terminal_ask(int terminal, const char *question, int hidden, void *answer, size_t size);

/* Reads the first line of a descriptor that is no terminal; returns as hosts_terminal_ask does. */
ssize_t hosts_terminal_read_line(int descriptor, void *answer, size_t size);

#endif
