/* libmicrohttpd 0.9.75 for Swift: itself, and shims for its variadic functions and for macros that are no plain
 * numbers. Everything here belongs to the one thread that runs the daemon (external epoll mode). */
#ifndef HOSTS_CMICROHTTPD_H
#define HOSTS_CMICROHTTPD_H

#include <microhttpd.h>
#include <stddef.h>
#include <sys/types.h>

/* What the daemon may take; zero is no valid value. */
typedef struct hosts_http_limits {
    unsigned int connections;
    /* Request line and header fields of one connection, with the room for its answers, in bytes. */
    size_t connection_memory;
    /* How long a connection may be silent that waits for no answer of ours, in seconds. */
    unsigned int idle_seconds;
} hosts_http_limits;

/* The callbacks, and the value that each of them is given. */
typedef struct hosts_http_callbacks {
    /* Told the request target as it came, before it is decoded; may answer NULL. */
    void *(*target)(void *cls, const char *target, struct MHD_Connection *connection);
    MHD_AccessHandlerCallback handle;
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connection;
    void *cls;
} hosts_http_callbacks;

/* Starts a daemon without threads of its own on a listening, non-blocking socket, which it then owns.
 * NULL if it cannot be made. */
struct MHD_Daemon *hosts_http_start(int listener, hosts_http_limits limits, hosts_http_callbacks callbacks);

/* The descriptor to wait on, or -1. */
int hosts_http_epoll_descriptor(struct MHD_Daemon *daemon);

/* A chunked response of unknown length, read from `reader`. */
struct MHD_Response *hosts_http_stream_response(size_t block, MHD_ContentReaderCallback reader, void *cls,
                                                MHD_ContentReaderFreeCallback release);

/* What a reader answers at its end. */
ssize_t hosts_http_end_of_stream(void);

/* The socket of a connection, or -1. Variadic in the library. */
int hosts_http_connection_descriptor(struct MHD_Connection *connection);

#endif
