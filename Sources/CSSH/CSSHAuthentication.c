#include <stdlib.h>
#include <string.h>

#include "CSSHGuard.h"
#include "CSSHSessionState.h"

void hosts_ssh_forget_signature(struct hosts_ssh *ssh) {
    free(ssh->sign_data);
    free(ssh->signature);
    ssh->sign_data = NULL;
    ssh->signature = NULL;
    ssh->sign_size = 0;
    ssh->signature_size = 0;
    ssh->is_answered = 0;
}

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

/* The algorithm's name out of the data to be signed (RFC 4252 section 7): session id, type byte, user,
 * service, method, a boolean, algorithm. It is right in every version of libssh2, whatever the blob says. */
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

static int hand_over(struct hosts_ssh *ssh, unsigned char **result, size_t *result_size,
                     const uint8_t *signature, size_t size) {
    *result = hosts_arena_allocate(&ssh->arena, size);
    if (!*result) return LIBSSH2_ERROR_ALLOC;
    memcpy(*result, signature, size);
    *result_size = size;
    return 0;
}

static int sign(LIBSSH2_SESSION *session, unsigned char **result, size_t *result_size,
                const unsigned char *data, size_t size, void **abstract) {
    (void)abstract;
    struct hosts_ssh *ssh = *libssh2_session_abstract(session);
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
        hosts_ssh_forget_signature(ssh);
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
    HOSTS_GUARD(ssh, LIBSSH2_ERROR_DECRYPT);
    void *abstract = ssh;
    ssh->key = key;
    int code = libssh2_userauth_publickey(ssh->session, user, blob, blob_size, sign, &abstract);
    if (code != LIBSSH2_ERROR_EAGAIN) {
        ssh->key = NULL;
        hosts_ssh_forget_signature(ssh);
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
    HOSTS_GUARD(ssh, LIBSSH2_ERROR_DECRYPT);
    *methods = libssh2_userauth_list(ssh->session, user, (unsigned)strlen(user));
    return *methods ? 0 : libssh2_session_last_errno(ssh->session);
}

int hosts_ssh_is_authenticated(hosts_ssh *ssh) {
    return ssh->session ? libssh2_userauth_authenticated(ssh->session) : 0;
}

