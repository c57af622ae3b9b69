/* The clocks of the system, and a timer that tells when the wall clock is set: TFD_TIMER_CANCEL_ON_SET and the clock
 * numbers are macros, and struct timespec belongs to too many modules. */
#ifndef HOSTS_CLINUX_CLOCKS_H
#define HOSTS_CLINUX_CLOCKS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counts while the machine sleeps (CLOCK_BOOTTIME); does not (CLOCK_MONOTONIC); can be set (CLOCK_REALTIME).
 * In microseconds. None of them can fail. */
uint64_t hosts_clock_boot(void);
uint64_t hosts_clock_monotonic(void);
uint64_t hosts_clock_wall(void);

/* A descriptor that becomes readable when the wall clock is set, and after a sleep (timerfd_create(2)); -1 with errno
 * on failure. `arm` must be called first, and again after each time; it answers -1 with errno on failure. */
int hosts_wall_watch_create(void);
int hosts_wall_watch_arm(int descriptor);

#ifdef __cplusplus
}
#endif

#endif
