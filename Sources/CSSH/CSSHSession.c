#define _GNU_SOURCE
#include "CSSHSession.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "CSSHGuard.h"
#include "CSSHSessionState.h"

enum {
    /* Read from the socket at one go. */
    FILL_CHUNK = 16 * 1024,
    /* After the shutdown no call of libssh2 waits (measured at every stage); a bound all the same. */
    FREE_ATTEMPTS = 16,
};

static pthread_once_t library_once = PTHREAD_ONCE_INIT;
static int library_code;

static void start_library(void) { library_code = libssh2_init(0); }

int hosts_ssh_start_library(void) {
    /* libssh2_init counts in a plain static variable. */
    pthread_once(&library_once, start_library);
    return library_code;
}

int hosts_ssh_library_version(void) {
    int major = 0, minor = 0, patch = 0;
    /* The library that was loaded, which may be another than the header's. */
    const char *version = libssh2_version(0);
    if (!version || sscanf(version, "%d.%d.%d", &major, &minor, &patch) < 2) return LIBSSH2_VERSION_NUM;
    return major << 16 | minor << 8 | patch;
}

/* What libssh2 calls. */

static struct hosts_ssh *owner(void **abstract) { return *abstract; }

static void *allocate(size_t size, void **abstract) {
    return hosts_arena_allocate(&owner(abstract)->arena, size);
}

static void *resize(void *memory, size_t size, void **abstract) {
    return hosts_arena_resize(&owner(abstract)->arena, memory, size);
}

static void release(void *memory, void **abstract) { hosts_arena_free(&owner(abstract)->arena, memory); }

/* Never EAGAIN: libssh2 1.10.0 answers every other call with BAD_USE while a packet is half sent, 1.11.0
 * mixes packets, and a rekey in that state never ends. Errors are negative errno values. */
static ssize_t queue_packet(libssh2_socket_t socket, const void *bytes, size_t size, int flags,
                            void **abstract) {
    (void)socket;
    (void)flags;
    struct hosts_ssh *ssh = owner(abstract);
    if (ssh->is_dead) return -EPIPE;
    if (hosts_buffer_append(&ssh->queued, bytes, size) == 0) return (ssize_t)size;
    ssh->is_dead = 1;
    return -ENOBUFS;
}

static ssize_t take_received(libssh2_socket_t socket, void *bytes, size_t size, int flags, void **abstract) {
    (void)socket;
    (void)flags;
    struct hosts_ssh *ssh = owner(abstract);
    size_t count = hosts_buffer_count(&ssh->received);
    if (ssh->is_dead) return 0;
    if (count == 0) return ssh->has_peer_ended ? 0 : -EAGAIN;
    if (size > count) size = count;
    memcpy(bytes, ssh->received.bytes + ssh->received.start, size);
    hosts_buffer_consume(&ssh->received, size);
    return (ssize_t)size;
}

static void set_callbacks(LIBSSH2_SESSION *session) {
#if LIBSSH2_VERSION_NUM >= 0x010b01
    libssh2_session_callback_set2(session, LIBSSH2_CALLBACK_SEND, (libssh2_cb_generic *)queue_packet);
    libssh2_session_callback_set2(session, LIBSSH2_CALLBACK_RECV, (libssh2_cb_generic *)take_received);
#else
    libssh2_session_callback_set(session, LIBSSH2_CALLBACK_SEND, (void *)queue_packet);
    libssh2_session_callback_set(session, LIBSSH2_CALLBACK_RECV, (void *)take_received);
#endif
}

/* Life. */

hosts_ssh *hosts_ssh_create(int socket) {
    if (hosts_ssh_start_library() != 0) return NULL;
    struct hosts_ssh *ssh = calloc(1, sizeof *ssh);
    if (!ssh) return NULL;
    ssh->arena.block_limit = HOSTS_SSH_ALLOCATION_LIMIT;
    ssh->arena.limit = HOSTS_SSH_MEMORY_LIMIT;
    ssh->received.limit = HOSTS_SSH_RECEIVE_LIMIT;
    ssh->queued.limit = HOSTS_SSH_SEND_LIMIT;
    ssh->keeps_head = 1;
    ssh->head = malloc(HOSTS_SSH_HEAD_LIMIT);
    ssh->session = ssh->head ? libssh2_session_init_ex(allocate, release, resize, ssh) : NULL;
    if (!ssh->session) {
        hosts_arena_clear(&ssh->arena);
        free(ssh->head);
        free(ssh);
        return NULL;
    }
    ssh->socket = socket;
    libssh2_session_set_blocking(ssh->session, 0);
    set_callbacks(ssh->session);
    return ssh;
}

/* Frees the session; what it cannot free goes with the arena. */
static int free_session(struct hosts_ssh *ssh) {
    HOSTS_GUARD(ssh, LIBSSH2_ERROR_DECRYPT);
    int code = LIBSSH2_ERROR_EAGAIN;
    for (int i = 0; i < FREE_ATTEMPTS && code == LIBSSH2_ERROR_EAGAIN; i++) {
        code = libssh2_session_free(ssh->session);
    }
    return code;
}

void hosts_ssh_close(hosts_ssh *ssh) {
    if (!ssh->session) return;
    if (!ssh->is_dead && !ssh->has_peer_ended && libssh2_userauth_authenticated(ssh->session)) {
        /* A word to the server's log; whether it arrives does not matter. */
        libssh2_session_disconnect_ex(ssh->session, SSH_DISCONNECT_BY_APPLICATION, "closed by hostsd", "");
        hosts_ssh_flush(ssh);
    }
    ssh->is_dead = 1;
    shutdown(ssh->socket, SHUT_RDWR);
    free_session(ssh);
    ssh->session = NULL;
    ssh->channel = NULL;
    ssh->key = NULL;
    close(ssh->socket);
    ssh->socket = -1;
    hosts_arena_clear(&ssh->arena);
    hosts_buffer_clear(&ssh->received);
    hosts_buffer_clear(&ssh->queued);
    hosts_ssh_forget_head(ssh);
    hosts_ssh_forget_signature(ssh);
}

void hosts_ssh_free(hosts_ssh *ssh) {
    hosts_ssh_close(ssh);
    free(ssh);
}

/* Bytes. */

int hosts_ssh_fill(hosts_ssh *ssh) {
    if (!ssh->session) return HOSTS_SSH_DEAD;
    int result = HOSTS_SSH_AGAIN;
    while (hosts_ssh_receive_room(ssh) > 0) {
        size_t size = hosts_ssh_receive_room(ssh);
        if (size > FILL_CHUNK) size = FILL_CHUNK;
        if (hosts_buffer_reserve(&ssh->received, size) != 0) {
            errno = ENOMEM;
            return HOSTS_SSH_DEAD;
        }
        uint8_t *place = ssh->received.bytes + ssh->received.end;
        ssize_t count = recv(ssh->socket, place, size, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            int code = errno;
            hosts_buffer_consume(&ssh->received, 0);
            errno = code;
            if (count < 0 && code == EAGAIN) return result;
            ssh->has_peer_ended = 1;
            return count == 0 ? HOSTS_SSH_EOF : HOSTS_SSH_DEAD;
        }
        if (ssh->keeps_head && ssh->head_size < HOSTS_SSH_HEAD_LIMIT) {
            size_t kept = HOSTS_SSH_HEAD_LIMIT - ssh->head_size;
            if (kept > (size_t)count) kept = (size_t)count;
            memcpy(ssh->head + ssh->head_size, place, kept);
            ssh->head_size += kept;
        }
        ssh->received.end += (size_t)count;
        result = 1;
        if ((size_t)count < size) return result;
    }
    return result;
}

int hosts_ssh_flush(hosts_ssh *ssh) {
    if (!ssh->session) return HOSTS_SSH_DEAD;
    while (hosts_buffer_count(&ssh->queued) > 0) {
        const uint8_t *first = ssh->queued.bytes + ssh->queued.start;
        ssize_t count = send(ssh->socket, first, hosts_buffer_count(&ssh->queued), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno == EAGAIN ? HOSTS_SSH_AGAIN : HOSTS_SSH_DEAD;
        hosts_buffer_consume(&ssh->queued, (size_t)count);
    }
    return 0;
}

size_t hosts_ssh_receive_room(const hosts_ssh *ssh) {
    return HOSTS_SSH_RECEIVE_LIMIT - hosts_buffer_count(&ssh->received);
}

size_t hosts_ssh_send_backlog(const hosts_ssh *ssh) { return hosts_buffer_count(&ssh->queued); }

size_t hosts_ssh_memory(const hosts_ssh *ssh) { return ssh->arena.used; }

/* The handshake. */

static int set_preference(struct hosts_ssh *ssh, int method, const char *names) {
    return libssh2_session_method_pref(ssh->session, method, names);
}

int hosts_ssh_prefer(hosts_ssh *ssh, enum hosts_ssh_method method, const char *names) {
    if (!ssh->session) return HOSTS_SSH_DEAD;
    int code = 0;
    switch (method) {
    case HOSTS_SSH_KEX: return set_preference(ssh, LIBSSH2_METHOD_KEX, names);
    case HOSTS_SSH_HOST_KEY: return set_preference(ssh, LIBSSH2_METHOD_HOSTKEY, names);
    case HOSTS_SSH_CIPHER:
        code = set_preference(ssh, LIBSSH2_METHOD_CRYPT_CS, names);
        return code != 0 ? code : set_preference(ssh, LIBSSH2_METHOD_CRYPT_SC, names);
    case HOSTS_SSH_MAC:
        code = set_preference(ssh, LIBSSH2_METHOD_MAC_CS, names);
        return code != 0 ? code : set_preference(ssh, LIBSSH2_METHOD_MAC_SC, names);
    }
    return LIBSSH2_ERROR_INVAL;
}

int hosts_ssh_supports(hosts_ssh *ssh, enum hosts_ssh_method method, const char *name) {
    static const int methods[] = {LIBSSH2_METHOD_KEX, LIBSSH2_METHOD_HOSTKEY, LIBSSH2_METHOD_CRYPT_CS,
                                  LIBSSH2_METHOD_MAC_CS};
    if (!ssh->session) return 0;
    const char **names = NULL;
    int count = libssh2_session_supported_algs(ssh->session, methods[method], &names);
    int found = 0;
    for (int i = 0; i < count; i++) found |= strcmp(names[i], name) == 0;
    if (count > 0) libssh2_free(ssh->session, names);
    return found;
}

int hosts_ssh_handshake(hosts_ssh *ssh) {
    if (!ssh->session) return HOSTS_SSH_DEAD;
    HOSTS_GUARD(ssh, LIBSSH2_ERROR_DECRYPT);
    return libssh2_session_handshake(ssh->session, ssh->socket);
}

const uint8_t *hosts_ssh_host_key(hosts_ssh *ssh, size_t *size) {
    *size = 0;
    if (!ssh->session) return NULL;
    int type = 0;
    return (const uint8_t *)libssh2_session_hostkey(ssh->session, size, &type);
}

const char *hosts_ssh_banner(hosts_ssh *ssh) {
    return ssh->session ? libssh2_session_banner_get(ssh->session) : NULL;
}

const uint8_t *hosts_ssh_head(const hosts_ssh *ssh, size_t *size) {
    *size = ssh->head_size;
    return ssh->head;
}

void hosts_ssh_forget_head(hosts_ssh *ssh) {
    free(ssh->head);
    ssh->head = NULL;
    ssh->head_size = 0;
    ssh->keeps_head = 0;
}

const char *hosts_ssh_error_text(hosts_ssh *ssh) {
    char *text = NULL;
    if (!ssh->session) return "";
    libssh2_session_last_error(ssh->session, &text, NULL, 0);
    return text ? text : "";
}
