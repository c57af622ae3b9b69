#define _GNU_SOURCE
#include "CSystemd.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

int hosts_notify(const char *address, const char *message, int timeout_milliseconds) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const size_t length = strlen(address);
    if (length < 2 || (address[0] != '/' && address[0] != '@')) return EAFNOSUPPORT;
    if (length >= sizeof name.sun_path) return ENAMETOOLONG;
    memcpy(name.sun_path, address, length);
    /* An abstract name begins with NUL, and its length is part of it: no NUL follows. */
    if (address[0] == '@') name.sun_path[0] = '\0';
    const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (address[0] == '/'));

    const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return errno;
    const struct timeval limit = {
        .tv_sec = timeout_milliseconds / 1000, .tv_usec = (timeout_milliseconds % 1000) * 1000};
    int code = 0;
    if (setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) != 0) code = errno;
    while (code == 0 &&
           sendto(descriptor, message, strlen(message), MSG_NOSIGNAL, (struct sockaddr *)&name, size) < 0) {
        if (errno != EINTR) code = errno;
    }
    close(descriptor);
    return code;
}
