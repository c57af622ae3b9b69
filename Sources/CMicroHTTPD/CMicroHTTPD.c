#define _GNU_SOURCE
#include "CMicroHTTPD.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

struct MHD_Daemon *hosts_http_start(int listener, hosts_http_limits limits, hosts_http_callbacks callbacks) {
    /* Suspended connections never time out (microhttpd.h, MHD_suspend_connection): theirs is the server's business. */
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, callbacks.handle, callbacks.cls,
        MHD_OPTION_LISTEN_SOCKET, listener,
        MHD_OPTION_CONNECTION_LIMIT, limits.connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits.connection_memory,
        MHD_OPTION_CONNECTION_TIMEOUT, limits.idle_seconds,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        MHD_OPTION_URI_LOG_CALLBACK, callbacks.target, callbacks.cls,
        MHD_OPTION_NOTIFY_COMPLETED, callbacks.completed, callbacks.cls,
        MHD_OPTION_NOTIFY_CONNECTION, callbacks.connection, callbacks.cls,
        MHD_OPTION_END);
}

int hosts_http_epoll_descriptor(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info == NULL ? -1 : info->epoll_fd;
}

struct MHD_Response *hosts_http_stream_response(size_t block, MHD_ContentReaderCallback reader, void *cls,
                                                MHD_ContentReaderFreeCallback release) {
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, block, reader, cls, release);
}

ssize_t hosts_http_end_of_stream(void) { return MHD_CONTENT_READER_END_OF_STREAM; }

bool hosts_http_socket_peer(int descriptor, uid_t *uid, pid_t *pid) {
    struct ucred credentials;
    socklen_t size = sizeof(credentials);
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return false;
    *uid = credentials.uid;
    *pid = credentials.pid;
    return true;
}

bool hosts_http_connection_peer(struct MHD_Connection *connection, uid_t *uid, pid_t *pid) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info != NULL && hosts_http_socket_peer(info->connect_fd, uid, pid);
}

int hosts_http_wakeup_create(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void hosts_http_wakeup_signal(int wakeup) {
    /* Fails only when the counter is full, and then the reader is awake anyway. */
    (void)eventfd_write(wakeup, 1);
}

int hosts_http_wait(int epoll_descriptor, int wakeup, int milliseconds) {
    struct pollfd descriptors[2] = {
        {.fd = epoll_descriptor, .events = POLLIN},
        {.fd = wakeup, .events = POLLIN},
    };
    if (poll(descriptors, 2, milliseconds) < 0) return errno == EINTR ? 0 : errno;
    if (descriptors[1].revents != 0) {
        eventfd_t count;
        (void)eventfd_read(wakeup, &count);
    }
    return 0;
}

int hosts_http_unix_socket(void) { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }
