/* Signals as bytes in a pipe: a handler may do next to nothing, and Swift code even less. */
#ifndef HOSTS_CLINUX_SIGNALS_H
#define HOSTS_CLINUX_SIGNALS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Catches the signals from now on; each arrives as one byte, its number, on the descriptor that is returned (blocking,
 * close-on-exec, owned by the caller and never closed). SIGPIPE gets a handler that does nothing, so that writing to
 * a closed pipe answers EPIPE. Returns -1 with errno set; EALREADY at a second call.
 *
 * Handlers, and not a blocked mask with signalfd or an ignored SIGPIPE: exec sets handlers back to the default, while
 * mask and ignored signals would be inherited by every hook and every ssh. */
int hosts_signals_catch(const int *signals, size_t count);

#ifdef __cplusplus
}
#endif

#endif
