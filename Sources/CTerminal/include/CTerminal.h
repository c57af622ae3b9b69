/* What a terminal program needs of libc and Swift cannot import: wcwidth (hidden behind _XOPEN_SOURCE),
 * ioctl (variadic) and a locale in which wcwidth knows more than ASCII. */
#ifndef HOSTS_CTERMINAL_H
#define HOSTS_CTERMINAL_H

#include <stdint.h>

/* Takes the person's LC_CTYPE if it is UTF-8, else C.UTF-8: in the plain C locale every width beyond ASCII is -1
 * (glibc 2.36). Changes the process's locale; call it once, before other threads exist. */
void hosts_terminal_take_locale(void);

/* Cells that a character takes: 0, 1 or 2; -1 for what is not printable. */
int hosts_terminal_width(uint32_t scalar);

/* Columns of the terminal at a descriptor, 0 if it is none or does not say. */
int hosts_terminal_columns(int descriptor);

#endif
