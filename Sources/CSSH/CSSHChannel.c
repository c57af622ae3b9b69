#include <string.h>

#include "CSSHGuard.h"
#include "CSSHSessionState.h"

enum {
    /* Most standard error that is read and dropped in one step. */
    STDERR_PER_STEP = 256 * 1024,
    /* Receive window of a channel: bounds what libssh2 holds for it. */
    CHANNEL_WINDOW = 256 * 1024,
    CHANNEL_PACKET = 32 * 1024,
};

int hosts_ssh_open_exec(hosts_ssh *ssh, const char *command) {
    static const char type[] = "session";
    static const char request[] = "exec";
    if (!ssh->session) return HOSTS_SSH_DEAD;
    if (ssh->is_started) return LIBSSH2_ERROR_BAD_USE;
    HOSTS_GUARD(ssh, LIBSSH2_ERROR_DECRYPT);
    if (!ssh->channel) {
        ssh->channel = libssh2_channel_open_ex(ssh->session, type, sizeof type - 1, CHANNEL_WINDOW,
                                               CHANNEL_PACKET, NULL, 0);
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
    HOSTS_GUARD(ssh, LIBSSH2_ERROR_DECRYPT);
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
        ssize_t count =
            libssh2_channel_read_ex(ssh->channel, SSH_EXTENDED_DATA_STDERR, (char *)bytes, sizeof bytes);
        if (count == LIBSSH2_ERROR_EAGAIN || count == 0) return 0;
        if (count < 0) return count;
        keep_stderr(ssh, bytes, (size_t)count);
        drained += (size_t)count;
    }
    return 0;
}

long hosts_ssh_read(hosts_ssh *ssh, uint8_t *bytes, size_t capacity) {
    if (!ssh->session || !ssh->channel) return HOSTS_SSH_DEAD;
    HOSTS_GUARD(ssh, LIBSSH2_ERROR_DECRYPT);
    long code = drain_stderr(ssh);
    /* Only what came before the end of the connection is still worth reading: libssh2 drops a packet whose MAC is
     * wrong and would go on with the next, as if nothing were missing. */
    if (code < 0 && code != LIBSSH2_ERROR_SOCKET_DISCONNECT && code != LIBSSH2_ERROR_SOCKET_RECV) return code;
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
    HOSTS_GUARD(ssh, LIBSSH2_ERROR_DECRYPT);
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
