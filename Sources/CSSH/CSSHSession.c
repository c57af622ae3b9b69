#define _GNU_SOURCE
#include "CSSHSession.h"

#include <errno.h>
#include <libssh2.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "CSSHArena.h"
#include "CSSHBuffer.h"

enum {
    /* Read from the socket at one go. */
    FILL_CHUNK = 16 * 1024,
    /* Most standard error that is read and dropped in one step. */
    STDERR_PER_STEP = 256 * 1024,
    /* Receive window of a channel: bounds what libssh2 holds for it. */
    CHANNEL_WINDOW = 256 * 1024,
    CHANNEL_PACKET = 32 * 1024,
    /* After the shutdown no call of libssh2 waits (measured at every stage); a bound all the same. */
    FREE_ATTEMPTS = 16,
};

struct hosts_ssh {
    LIBSSH2_SESSION *session;
    LIBSSH2_CHANNEL *channel;
    struct hosts_arena arena;
    struct hosts_buffer received;
    struct hosts_buffer queued;
    uint8_t *head;
    size_t head_size;
    /* The signature that is being made elsewhere; NULL `sign_data`: none is wanted. */
    uint8_t *sign_data;
    size_t sign_size;
    uint8_t *signature;
    size_t signature_size;
    const hosts_key *key;
    uint8_t stderr_tail[HOSTS_SSH_STDERR_LIMIT];
    size_t stderr_end;
    size_t stderr_total;
    int socket;
    unsigned keeps_head : 1;
    unsigned has_peer_ended : 1;
    unsigned is_dead : 1;
    unsigned is_answered : 1;
    unsigned is_started : 1;
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
    int version = LIBSSH2_VERSION_NUM;
    while (version > 0 && !libssh2_version(version)) version--;
    return version;
}

/* What libssh2 calls. */

static struct hosts_ssh *owner(void **abstract) { return *abstract; }

static void *allocate(size_t size, void **abstract) { return hosts_arena_allocate(&owner(abstract)->arena, size); }

static void *resize(void *memory, size_t size, void **abstract) {
    return hosts_arena_resize(&owner(abstract)->arena, memory, size);
}

static void release(void *memory, void **abstract) { hosts_arena_free(&owner(abstract)->arena, memory); }

/* Never EAGAIN: libssh2 1.10.0 answers every other call with BAD_USE while a packet is half sent, 1.11.0 mixes packets,
 * and a rekey in that state never ends. Errors are negative errno values. */
static ssize_t queue_packet(libssh2_socket_t socket, const void *bytes, size_t size, int flags, void **abstract) {
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

static int set_callbacks(LIBSSH2_SESSION *session) {
#if LIBSSH2_VERSION_NUM >= 0x010b01
    libssh2_session_callback_set2(session, LIBSSH2_CALLBACK_SEND, (libssh2_cb_generic *)queue_packet);
    libssh2_session_callback_set2(session, LIBSSH2_CALLBACK_RECV, (libssh2_cb_generic *)take_received);
#else
    libssh2_session_callback_set(session, LIBSSH2_CALLBACK_SEND, (void *)queue_packet);
    libssh2_session_callback_set(session, LIBSSH2_CALLBACK_RECV, (void *)take_received);
#endif
    return 0;
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

static void forget_signature(struct hosts_ssh *ssh) {
    free(ssh->sign_data);
    free(ssh->signature);
    ssh->sign_data = NULL;
    ssh->signature = NULL;
    ssh->sign_size = 0;
    ssh->signature_size = 0;
    ssh->is_answered = 0;
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
    for (int i = 0; i < FREE_ATTEMPTS; i++) {
        if (libssh2_session_free(ssh->session) != LIBSSH2_ERROR_EAGAIN) break;
    }
    ssh->session = NULL;
    ssh->channel = NULL;
    ssh->key = NULL;
    close(ssh->socket);
    ssh->socket = -1;
    hosts_arena_clear(&ssh->arena);
    hosts_buffer_clear(&ssh->received);
    hosts_buffer_clear(&ssh->queued);
    hosts_ssh_forget_head(ssh);
    forget_signature(ssh);
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
        ssize_t count = send(ssh->socket, ssh->queued.bytes + ssh->queued.start, hosts_buffer_count(&ssh->queued),
                             MSG_NOSIGNAL);
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
    return libssh2_session_handshake(ssh->session, ssh->socket);
}

const uint8_t *hosts_ssh_host_key(hosts_ssh *ssh, size_t *size) {
    *size = 0;
    if (!ssh->session) return NULL;
    int type = 0;
    return (const uint8_t *)libssh2_session_hostkey(ssh->session, size, &type);
}

const char *hosts_ssh_banner(hosts_ssh *ssh) { return ssh->session ? libssh2_session_banner_get(ssh->session) : NULL; }

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

/* Authentication. */

struct reader {
    const uint8_t *next;
    size_t left;
};

static int read_string(struct reader *reader, struct reader *string) {
    if (reader->left < 4) return -1;
    const uint8_t *p = reader->next;
    size_t size = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
    if (size > reader->left - 4) return -1;
    string->next = p + 4;
    string->left = size;
    reader->next += 4 + size;
    reader->left -= 4 + size;
    return 0;
}

static int skip(struct reader *reader, size_t size) {
    if (reader->left < size) return -1;
    reader->next += size;
    reader->left -= size;
    return 0;
}

/* The algorithm's name out of the data to be signed (RFC 4252 section 7): session id, type byte, user, service,
 * method, a boolean, algorithm. It is right in every version of libssh2, whatever the blob says. */
static int signed_algorithm(const uint8_t *data, size_t size, char *name, size_t capacity) {
    struct reader reader = {data, size}, string;
    if (read_string(&reader, &string) != 0 || skip(&reader, 1) != 0) return -1;
    for (int i = 0; i < 3; i++) {
        if (read_string(&reader, &string) != 0) return -1;
    }
    if (skip(&reader, 1) != 0 || read_string(&reader, &string) != 0 || string.left >= capacity) return -1;
    memcpy(name, string.next, string.left);
    name[string.left] = '\0';
    return 0;
}

static int hand_over(struct hosts_ssh *ssh, unsigned char **result, size_t *result_size, const uint8_t *signature,
                     size_t size) {
    *result = hosts_arena_allocate(&ssh->arena, size);
    if (!*result) return LIBSSH2_ERROR_ALLOC;
    memcpy(*result, signature, size);
    *result_size = size;
    return 0;
}

static int sign(LIBSSH2_SESSION *session, unsigned char **result, size_t *result_size, const unsigned char *data,
                size_t size, void **abstract) {
    (void)abstract;
    struct hosts_ssh *ssh = owner(libssh2_session_abstract(session));
    if (ssh->key) {
        char algorithm[64];
        uint8_t signature[HOSTS_SIGNATURE_LIMIT];
        size_t signature_size = sizeof signature;
        if (signed_algorithm(data, size, algorithm, sizeof algorithm) != 0) return LIBSSH2_ERROR_PROTO;
        if (hosts_key_sign(ssh->key, algorithm, data, size, signature, &signature_size) != 0) {
            return LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED;
        }
        return hand_over(ssh, result, result_size, signature, signature_size);
    }
    if (ssh->is_answered) {
        int code = ssh->signature_size == 0
                       ? LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED
                       : hand_over(ssh, result, result_size, ssh->signature, ssh->signature_size);
        forget_signature(ssh);
        return code;
    }
    if (!ssh->sign_data) {
        ssh->sign_data = malloc(size);
        if (!ssh->sign_data) return LIBSSH2_ERROR_ALLOC;
        memcpy(ssh->sign_data, data, size);
        ssh->sign_size = size;
    }
    return LIBSSH2_ERROR_EAGAIN;
}

int hosts_ssh_authenticate(hosts_ssh *ssh, const char *user, const uint8_t *blob, size_t blob_size,
                           const hosts_key *key) {
    if (!ssh->session) return HOSTS_SSH_DEAD;
    void *abstract = ssh;
    ssh->key = key;
    int code = libssh2_userauth_publickey(ssh->session, user, blob, blob_size, sign, &abstract);
    if (code != LIBSSH2_ERROR_EAGAIN) {
        ssh->key = NULL;
        forget_signature(ssh);
    }
    return code;
}

const uint8_t *hosts_ssh_sign_request(const hosts_ssh *ssh, size_t *size) {
    *size = ssh->is_answered ? 0 : ssh->sign_size;
    return ssh->is_answered ? NULL : ssh->sign_data;
}

void hosts_ssh_sign_answer(hosts_ssh *ssh, const uint8_t *signature, size_t size) {
    if (!ssh->sign_data || ssh->is_answered) return;
    ssh->signature = size > 0 ? malloc(size) : NULL;
    if (ssh->signature) {
        memcpy(ssh->signature, signature, size);
        ssh->signature_size = size;
    }
    ssh->is_answered = 1;
}

int hosts_ssh_list_methods(hosts_ssh *ssh, const char *user, const char **methods) {
    *methods = NULL;
    if (!ssh->session) return HOSTS_SSH_DEAD;
    *methods = libssh2_userauth_list(ssh->session, user, (unsigned)strlen(user));
    return *methods ? 0 : libssh2_session_last_errno(ssh->session);
}

int hosts_ssh_is_authenticated(hosts_ssh *ssh) {
    return ssh->session ? libssh2_userauth_authenticated(ssh->session) : 0;
}

/* The channel. */

int hosts_ssh_open_exec(hosts_ssh *ssh, const char *command) {
    static const char type[] = "session";
    static const char request[] = "exec";
    if (!ssh->session) return HOSTS_SSH_DEAD;
    if (ssh->is_started) return LIBSSH2_ERROR_BAD_USE;
    if (!ssh->channel) {
        ssh->channel = libssh2_channel_open_ex(ssh->session, type, sizeof type - 1, CHANNEL_WINDOW, CHANNEL_PACKET,
                                               NULL, 0);
        if (!ssh->channel) return libssh2_session_last_errno(ssh->session);
        ssh->stderr_end = 0;
        ssh->stderr_total = 0;
    }
    int code = libssh2_channel_process_startup(ssh->channel, request, sizeof request - 1, command,
                                               (unsigned)strlen(command));
    if (code == 0) ssh->is_started = 1;
    return code;
}

long hosts_ssh_write(hosts_ssh *ssh, const uint8_t *bytes, size_t size) {
    if (!ssh->session || !ssh->channel) return HOSTS_SSH_DEAD;
    ssize_t count = libssh2_channel_write_ex(ssh->channel, 0, (const char *)bytes, size);
    /* 0: the peer's window is used up. */
    return count == 0 ? HOSTS_SSH_AGAIN : count;
}

static void keep_stderr(struct hosts_ssh *ssh, const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        ssh->stderr_tail[ssh->stderr_end] = bytes[i];
        ssh->stderr_end = (ssh->stderr_end + 1) % HOSTS_SSH_STDERR_LIMIT;
    }
    ssh->stderr_total += size;
}

/* Unread standard error uses up the window and then holds back standard output, too. */
static long drain_stderr(struct hosts_ssh *ssh) {
    uint8_t bytes[4096];
    for (size_t drained = 0; drained < STDERR_PER_STEP;) {
        ssize_t count = libssh2_channel_read_ex(ssh->channel, SSH_EXTENDED_DATA_STDERR, (char *)bytes, sizeof bytes);
        if (count == LIBSSH2_ERROR_EAGAIN || count == 0) return 0;
        if (count < 0) return count;
        keep_stderr(ssh, bytes, (size_t)count);
        drained += (size_t)count;
    }
    return 0;
}

long hosts_ssh_read(hosts_ssh *ssh, uint8_t *bytes, size_t capacity) {
    if (!ssh->session || !ssh->channel) return HOSTS_SSH_DEAD;
    long code = drain_stderr(ssh);
    ssize_t count = libssh2_channel_read_ex(ssh->channel, 0, (char *)bytes, capacity);
    if (count > 0) return count;
    if (count < 0 && count != LIBSSH2_ERROR_EAGAIN) return count;
    if (code < 0) return code;
    if (libssh2_channel_eof(ssh->channel) == 1) return HOSTS_SSH_EOF;
    return HOSTS_SSH_AGAIN;
}

int hosts_ssh_close_channel(hosts_ssh *ssh) {
    if (!ssh->session) return HOSTS_SSH_DEAD;
    if (!ssh->channel) return 0;
    int code = libssh2_channel_free(ssh->channel);
    if (code == LIBSSH2_ERROR_EAGAIN) return code;
    ssh->channel = NULL;
    ssh->is_started = 0;
    return code;
}

size_t hosts_ssh_stderr_tail(const hosts_ssh *ssh, uint8_t bytes[HOSTS_SSH_STDERR_LIMIT]) {
    if (ssh->stderr_total < HOSTS_SSH_STDERR_LIMIT) {
        memcpy(bytes, ssh->stderr_tail, ssh->stderr_end);
        return ssh->stderr_end;
    }
    size_t older = HOSTS_SSH_STDERR_LIMIT - ssh->stderr_end;
    memcpy(bytes, ssh->stderr_tail + ssh->stderr_end, older);
    memcpy(bytes + older, ssh->stderr_tail, ssh->stderr_end);
    return HOSTS_SSH_STDERR_LIMIT;
}

const char *hosts_ssh_error_text(hosts_ssh *ssh) {
    char *text = NULL;
    if (!ssh->session) return "";
    libssh2_session_last_error(ssh->session, &text, NULL, 0);
    return text ? text : "";
}
