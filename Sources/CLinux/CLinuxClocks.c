#define _GNU_SOURCE
#include "CLinuxClocks.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static uint64_t microseconds(clockid_t clock) {
    struct timespec time = {0};
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

uint64_t hosts_clock_boot(void) { return microseconds(CLOCK_BOOTTIME); }

uint64_t hosts_clock_monotonic(void) { return microseconds(CLOCK_MONOTONIC); }

uint64_t hosts_clock_wall(void) { return microseconds(CLOCK_REALTIME); }

int hosts_wall_watch_create(void) { return timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

int hosts_wall_watch_arm(int descriptor) {
    /* Reading tells ECANCELED once after the clock was set; the timer itself lies in the far future. */
    uint64_t count;
    while (read(descriptor, &count, sizeof count) < 0 && errno == EINTR) continue;
    const struct itimerspec never = {.it_value = {.tv_sec = INT64_C(1) << 40}};
    return timerfd_settime(descriptor, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
}
