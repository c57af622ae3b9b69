/* One SSH client session over one socket.
 *
 * libssh2 is driven without its ever seeing the socket: what it sends is queued here and flushed by
 * `hosts_ssh_flush`, what it reads was put here by `hosts_ssh_fill`. A session is used by one thread at a
 * time. Functions that step a conversation return HOSTS_SSH_AGAIN until they are done and are then called
 * again with the same arguments; at most one of them is under way. */
#ifndef HOSTS_CSSH_SESSION_H
#define HOSTS_CSSH_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "CSSHKey.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hosts_ssh hosts_ssh;

/* 0 is success; other negative values are libssh2's own (its header calls them LIBSSH2_ERROR_...). */
enum {
    HOSTS_SSH_OK = 0,
    HOSTS_SSH_AGAIN = -37,
    /* Ours, outside of libssh2's range. */
    HOSTS_SSH_EOF = -1001,
    HOSTS_SSH_DEAD = -1002,
};

enum {
    /* Most bytes that wait to be sent; more means that the peer takes nothing, and the session is dead. */
    HOSTS_SSH_SEND_LIMIT = 256 * 1024,
    /* Most bytes that wait for libssh2; the socket is not read beyond. Two SSH packets of the largest size.
     * */
    HOSTS_SSH_RECEIVE_LIMIT = 80 * 1024,
    /* First bytes of the server that are kept until the handshake is over: banner and KEXINIT are in clear text.
     * Whoever has said this much without "SSH-" is no SSH server. */
    HOSTS_SSH_HEAD_LIMIT = 8192,
    /* Last bytes of the remote standard error that are kept. */
    HOSTS_SSH_STDERR_LIMIT = 1024,
    /* Largest single allocation of libssh2, and largest sum per session: a hostile server chooses sizes. */
    HOSTS_SSH_ALLOCATION_LIMIT = 1024 * 1024,
    HOSTS_SSH_MEMORY_LIMIT = 4 * 1024 * 1024,
};

/* Prepares libssh2; safe to call often and from any thread. Returns 0, or a libssh2 error. */
int hosts_ssh_start_library(void);
/* The version of libssh2 that runs, as 0xMMmmpp. */
int hosts_ssh_library_version(void);

/* Takes over `socket`, which must be connected, non-blocking and close-on-exec. NULL: no memory, the socket
 * stays the caller's. */
hosts_ssh *hosts_ssh_create(int socket);
/* Ends the session in the only safe order: shut the socket down, free libssh2's session, close the socket.
 * The second call has no effect. Every function but `hosts_ssh_free` then answers HOSTS_SSH_DEAD, NULL or 0.
 * */
void hosts_ssh_close(hosts_ssh *ssh);
/* Closes and frees. */
void hosts_ssh_free(hosts_ssh *ssh);

/* Reads the socket until it has no more or the receive buffer is full. Returns 1 when bytes came,
 * HOSTS_SSH_AGAIN when none did, HOSTS_SSH_EOF at the peer's end, or HOSTS_SSH_DEAD with errno on failure. */
int hosts_ssh_fill(hosts_ssh *ssh);
/* Writes the send queue to the socket. Returns 0 when the queue is empty, HOSTS_SSH_AGAIN when the socket is
 * full, HOSTS_SSH_DEAD with errno on failure. */
int hosts_ssh_flush(hosts_ssh *ssh);
/* Room in the receive buffer, in bytes. */
size_t hosts_ssh_receive_room(const hosts_ssh *ssh);
size_t hosts_ssh_send_backlog(const hosts_ssh *ssh);
/* Bytes that libssh2 holds. */
size_t hosts_ssh_memory(const hosts_ssh *ssh);

/* The lists that are negotiated. */
enum hosts_ssh_method { HOSTS_SSH_KEX, HOSTS_SSH_HOST_KEY, HOSTS_SSH_CIPHER, HOSTS_SSH_MAC };

/* Sets the preferences before the handshake, for both directions; names that libssh2 does not know are
 * dropped. */
int hosts_ssh_prefer(hosts_ssh *ssh, enum hosts_ssh_method method, const char *names);
/* Whether this libssh2 knows the name. */
int hosts_ssh_supports(hosts_ssh *ssh, enum hosts_ssh_method method, const char *name);

int hosts_ssh_handshake(hosts_ssh *ssh);
/* The server's host key as on the wire, after the handshake. */
const uint8_t *hosts_ssh_host_key(hosts_ssh *ssh, size_t *size);
/* The server's identification line, or the line it sent instead; NULL when none came. */
const char *hosts_ssh_banner(hosts_ssh *ssh);
/* The first bytes from the server, until `hosts_ssh_forget_head`. */
const uint8_t *hosts_ssh_head(const hosts_ssh *ssh, size_t *size);
void hosts_ssh_forget_head(hosts_ssh *ssh);

/* Offers a public key and proves it. `blob` is sent as it is. With `key` the proof is made at once; without,
 * the function answers HOSTS_SSH_AGAIN while `hosts_ssh_sign_request` is not NULL, until
 * `hosts_ssh_sign_answer`. */
int hosts_ssh_authenticate(hosts_ssh *ssh, const char *user, const uint8_t *blob, size_t blob_size,
                           const hosts_key *key);
/* The data that waits for a signature from elsewhere, or NULL. */
const uint8_t *hosts_ssh_sign_request(const hosts_ssh *ssh, size_t *size);
/* The bare signature; size 0 means that nobody signs. */
void hosts_ssh_sign_answer(hosts_ssh *ssh, const uint8_t *signature, size_t size);
/* Asks which methods may continue; valid until the next call. One round trip (method "none"). */
int hosts_ssh_list_methods(hosts_ssh *ssh, const char *user, const char **methods);
int hosts_ssh_is_authenticated(hosts_ssh *ssh);

/* Opens a session channel and runs `command` on it. One channel at a time. */
int hosts_ssh_open_exec(hosts_ssh *ssh, const char *command);
/* Sends as much as the peer's window takes; returns the count, HOSTS_SSH_AGAIN, or an error. */
long hosts_ssh_write(hosts_ssh *ssh, const uint8_t *bytes, size_t size);
/* Reads standard output, and drains standard error on the way. Returns the count, HOSTS_SSH_AGAIN,
 * HOSTS_SSH_EOF at the end of the channel, or an error. */
long hosts_ssh_read(hosts_ssh *ssh, uint8_t *bytes, size_t capacity);
/* Closes the channel and waits for the peer's close. 0 also when there is none. */
int hosts_ssh_close_channel(hosts_ssh *ssh);
/* The last bytes of standard error of the current or last channel, oldest first. */
size_t hosts_ssh_stderr_tail(const hosts_ssh *ssh, uint8_t bytes[HOSTS_SSH_STDERR_LIMIT]);

/* A channel that the server connects to a port elsewhere (direct-tcpip). Many may be open; one at a time is
 * being opened. It ends with its session at the latest. */
typedef struct hosts_ssh_tunnel hosts_ssh_tunnel;

/* Asks the server to connect to `host` and `port`. */
int hosts_ssh_open_tunnel(hosts_ssh *ssh, const char *host, uint16_t port, hosts_ssh_tunnel **tunnel);

/* Sends as much as the peer's window takes; returns the count, HOSTS_SSH_AGAIN, or an error. */
long hosts_ssh_tunnel_write(hosts_ssh *ssh, hosts_ssh_tunnel *tunnel, const uint8_t *bytes, size_t size);

/* Returns the count, HOSTS_SSH_AGAIN, HOSTS_SSH_EOF, or an error. */
long hosts_ssh_tunnel_read(hosts_ssh *ssh, hosts_ssh_tunnel *tunnel, uint8_t *bytes, size_t capacity);

/* Closes it and waits for the peer's close. After 0 or an error other than HOSTS_SSH_AGAIN it is gone. */
int hosts_ssh_close_tunnel(hosts_ssh *ssh, hosts_ssh_tunnel *tunnel);

/* libssh2's text for its last error; valid until the next call, never NULL. */
const char *hosts_ssh_error_text(hosts_ssh *ssh);

#ifdef __cplusplus
}
#endif

#endif
