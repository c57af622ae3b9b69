/* What hostsd says to the service manager and hears from it. */
#ifndef HOSTS_CSYSTEMD_H
#define HOSTS_CSYSTEMD_H

#include <stdint.h>
#include <systemd/sd-daemon.h>

#include "CSystemdBus.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sends one message of the protocol of sd_notify(3) to the socket at `address` (a path, or an abstract name that
 * begins with '@'). Waits at most `timeout_milliseconds` for room in the manager's queue. Returns 0 or an errno value.
 *
 * sd_notify itself reads NOTIFY_SOCKET from the environment at every call. The variable must not be inherited by
 * children, and the environment must not change once other threads run: so the address is taken once, before. */
int hosts_notify(const char *address, const char *message, int timeout_milliseconds);

#ifdef __cplusplus
}
#endif

#endif
