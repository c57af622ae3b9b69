/* Keeps a failed assertion of libssh2 from ending the program.
 *
 * libssh2 1.10.0 asserts that what it decrypts is a multiple of the cipher's block (transport.c, decrypt), before
 * the MAC is looked at; Debian builds it with assertions. Whoever turns over one bit of a packet's length on its way,
 * or a server that means harm, would end the daemon with all of its links. Inside a guarded call a failed assertion
 * ends that session instead. */
#ifndef HOSTS_CSSH_GUARD_H
#define HOSTS_CSSH_GUARD_H

#include <setjmp.h>

#include "CSSHSession.h"

struct hosts_guard {
    jmp_buf place;
    hosts_ssh *ssh;
    /* The guard that counts again afterwards. */
    struct hosts_guard *outer;
};

void hosts_guard_enter(struct hosts_guard *guard, hosts_ssh *ssh);
void hosts_guard_leave(struct hosts_guard *guard);

/* Guards the rest of the function, which returns `failure` when an assertion fails; the session is then dead. The
 * function must own nothing that it would have to give back, and change no variable that `failure` reads. */
#define HOSTS_GUARD(ssh, failure)                                         \
    struct hosts_guard guard __attribute__((cleanup(hosts_guard_leave))); \
    hosts_guard_enter(&guard, ssh);                                       \
    if (setjmp(guard.place) != 0) return failure

#endif
