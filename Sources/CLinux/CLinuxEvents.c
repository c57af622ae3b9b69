#define _GNU_SOURCE
#include "CLinuxEvents.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Events taken from the kernel in one call. */
enum { EVENT_BATCH = 64 };

int hosts_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

static uint32_t to_epoll(uint32_t interest) {
    uint32_t events = 0;
    if (interest & HOSTS_READY_READ) events |= EPOLLIN;
    if (interest & HOSTS_READY_WRITE) events |= EPOLLOUT;
    if (interest & HOSTS_READY_PEER_CLOSED) events |= EPOLLRDHUP;
    return events;
}

static uint32_t from_epoll(uint32_t events) {
    uint32_t ready = 0;
    if (events & EPOLLIN) ready |= HOSTS_READY_READ;
    if (events & EPOLLOUT) ready |= HOSTS_READY_WRITE;
    if (events & EPOLLRDHUP) ready |= HOSTS_READY_PEER_CLOSED;
    if (events & EPOLLERR) ready |= HOSTS_READY_FAILED;
    if (events & EPOLLHUP) ready |= HOSTS_READY_CLOSED;
    return ready;
}

static int control(int epoll, int operation, int descriptor, uint32_t interest, uint64_t token) {
    struct epoll_event event = {.events = to_epoll(interest), .data.u64 = token};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

int hosts_epoll_add(int epoll, int descriptor, uint32_t interest, uint64_t token) {
    return control(epoll, EPOLL_CTL_ADD, descriptor, interest, token);
}

int hosts_epoll_change(int epoll, int descriptor, uint32_t interest, uint64_t token) {
    return control(epoll, EPOLL_CTL_MOD, descriptor, interest, token);
}

int hosts_epoll_remove(int epoll, int descriptor) { return control(epoll, EPOLL_CTL_DEL, descriptor, 0, 0); }

int hosts_epoll_wait(int epoll, struct hosts_event *events, int capacity) {
    struct epoll_event batch[EVENT_BATCH];
    if (capacity > EVENT_BATCH) capacity = EVENT_BATCH;
    int count;
    do {
        count = epoll_wait(epoll, batch, capacity, -1);
    } while (count < 0 && errno == EINTR);
    for (int i = 0; i < count; i++) {
        events[i].token = batch[i].data.u64;
        events[i].ready = from_epoll(batch[i].events);
    }
    return count;
}

int hosts_eventfd_create(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void hosts_eventfd_signal(int descriptor) {
    /* EAGAIN means that the counter is full, so the descriptor is readable already. */
    eventfd_write(descriptor, 1);
}

static void drain_counter(int descriptor) {
    uint64_t count;
    ssize_t size;
    do {
        size = read(descriptor, &count, sizeof count);
    } while (size < 0 && errno == EINTR);
}

void hosts_eventfd_clear(int descriptor) { drain_counter(descriptor); }

int hosts_timerfd_create(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

int hosts_timerfd_arm(int descriptor, int64_t nanoseconds) {
    struct itimerspec setting = {0};
    if (nanoseconds > 0) {
        setting.it_value.tv_sec = nanoseconds / 1000000000;
        setting.it_value.tv_nsec = nanoseconds % 1000000000;
    }
    return timerfd_settime(descriptor, 0, &setting, NULL);
}

void hosts_timerfd_clear(int descriptor) { drain_counter(descriptor); }

int hosts_peer_credentials(int descriptor, struct hosts_peer *peer) {
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return -1;
    peer->pid = credentials.pid;
    peer->uid = credentials.uid;
    peer->gid = credentials.gid;
    return 0;
}

int hosts_socket_create(int family) { return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

int hosts_socket_accept(int descriptor) {
    int accepted;
    do {
        accepted = accept4(descriptor, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    } while (accepted < 0 && errno == EINTR);
    return accepted;
}

int hosts_random(void *bytes, size_t size) {
    return getrandom(bytes, size, 0) == (ssize_t)size ? 0 : -1;
}

int hosts_socket_pair_nonblocking(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
}

int hosts_socket_pair(int ends[2]) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0) return 0;
    int code = errno;
    close(ends[0]);
    close(ends[1]);
    errno = code;
    return -1;
}
