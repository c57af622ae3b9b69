#include "CMicroHTTPD.h"

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

int hosts_http_connection_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}
