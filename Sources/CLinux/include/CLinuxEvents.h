/* epoll, eventfd, timerfd, peer credentials and sockets that are close-on-exec and non-blocking from their
 * creation: macros, packed structs and GNU extensions that Swift cannot import. Every function returns -1
 * with errno set on failure; interrupted calls are retried here. */
#ifndef HOSTS_CLINUX_EVENTS_H
#define HOSTS_CLINUX_EVENTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a descriptor is ready for, and what a registration asks for. Failed and closed are always reported. */
enum {
    HOSTS_READY_READ = 1,
    HOSTS_READY_WRITE = 2,
    /* The peer has shut down its sending side (EPOLLRDHUP). */
    HOSTS_READY_PEER_CLOSED = 4,
    HOSTS_READY_FAILED = 8,
    HOSTS_READY_CLOSED = 16,
};

/* struct epoll_event is packed on x86-64 and holds a union; this one is neither. */
struct hosts_event {
    uint64_t token;
    uint32_t ready;
};

int hosts_epoll_create(void);
int hosts_epoll_add(int epoll, int descriptor, uint32_t interest, uint64_t token);
int hosts_epoll_change(int epoll, int descriptor, uint32_t interest, uint64_t token);
int hosts_epoll_remove(int epoll, int descriptor);

/* Waits for events without a time limit; the timer is one of the descriptors. Returns how many there are. */
int hosts_epoll_wait(int epoll, struct hosts_event *events, int capacity);

/* A non-blocking counter; `signal` makes it readable, `clear` unreadable. */
int hosts_eventfd_create(void);
void hosts_eventfd_signal(int descriptor);
void hosts_eventfd_clear(int descriptor);

/* A timer on CLOCK_BOOTTIME, which counts suspend. `nanoseconds` from now; below 1 disarms it. */
int hosts_timerfd_create(void);
int hosts_timerfd_arm(int descriptor, int64_t nanoseconds);
void hosts_timerfd_clear(int descriptor);

/* struct ucred needs _GNU_SOURCE, which must not stand in a public header. */
struct hosts_peer {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

/* Who is at the other end of a Unix socket (SO_PEERCRED). */
int hosts_peer_credentials(int descriptor, struct hosts_peer *peer);

/* A stream socket of `family` (AF_INET, AF_INET6, AF_UNIX). */
int hosts_socket_create(int family);
/* Accepts one connection (accept4). */
int hosts_socket_accept(int descriptor);
/* Two connected Unix sockets; ends[0] is non-blocking, ends[1] is for a child and blocks. */
int hosts_socket_pair(int ends[2]);

/* Two connected Unix sockets for this process alone. */
int hosts_socket_pair_nonblocking(int ends[2]);

/* Random bytes of the system, 256 at most (getrandom(2)). */
int hosts_random(void *bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif
