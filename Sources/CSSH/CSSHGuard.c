#include "CSSHGuard.h"

#include <stdio.h>
#include <stdlib.h>

#include "CSSHSessionState.h"

static _Thread_local struct hosts_guard *current;

void hosts_guard_enter(struct hosts_guard *guard, hosts_ssh *ssh) {
    guard->ssh = ssh;
    guard->outer = current;
    current = guard;
}

void hosts_guard_leave(struct hosts_guard *guard) { current = guard->outer; }

/* What assert(3) of glibc calls. Libraries find the program's own definition first. */
_Noreturn void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function);

_Noreturn void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function) {
    if (current) {
        current->ssh->is_dead = 1;
        longjmp(current->place, 1);
    }
    fprintf(stderr, "%s:%u: %s: assertion `%s' failed\n", file, line, function, assertion);
    abort();
}
