#include <string.h>

#include "CSSHGuard.h"
#include "CSSHSessionState.h"

enum {
    /* Receive window of a tunnel: bounds what libssh2 holds for it while the other end takes nothing. */
    TUNNEL_WINDOW = 128 * 1024,
    TUNNEL_PACKET = 32 * 1024,
    /* What the session may hold more for each tunnel: the window, and what keeps account of it. */
    TUNNEL_MEMORY = 2 * TUNNEL_WINDOW,
    /* A host name (RFC 1035: 255 bytes) or an IPv6 address with its zone. */
    HOST_LIMIT = 512,
};

static size_t put_uint32(uint8_t *place, uint32_t number) {
    place[0] = (uint8_t)(number >> 24);
    place[1] = (uint8_t)(number >> 16);
    place[2] = (uint8_t)(number >> 8);
    place[3] = (uint8_t)number;
    return 4;
}

static size_t put_text(uint8_t *place, const char *text) {
    size_t size = strlen(text);
    put_uint32(place, (uint32_t)size);
    memcpy(place + 4, text, size);
    return 4 + size;
}

int hosts_ssh_open_tunnel(hosts_ssh *ssh, const char *host, uint16_t port, hosts_ssh_tunnel **tunnel) {
    static const char type[] = "direct-tcpip";
    *tunnel = NULL;
    if (!ssh->session) return HOSTS_SSH_DEAD;
    if (strlen(host) > HOST_LIMIT) return LIBSSH2_ERROR_INVAL;
    HOSTS_GUARD(ssh, LIBSSH2_ERROR_DECRYPT);
    /* RFC 4254 section 7.2: where to, and from where, which is nobody's concern. */
    uint8_t message[HOST_LIMIT + 64];
    size_t size = put_text(message, host);
    size += put_uint32(message + size, port);
    size += put_text(message + size, "127.0.0.1");
    size += put_uint32(message + size, 0);
    LIBSSH2_CHANNEL *channel = libssh2_channel_open_ex(ssh->session, type, sizeof type - 1, TUNNEL_WINDOW,
                                                       TUNNEL_PACKET, (const char *)message, (unsigned)size);
    if (!channel) return libssh2_session_last_errno(ssh->session);
    ssh->arena.limit += TUNNEL_MEMORY;
    *tunnel = (hosts_ssh_tunnel *)channel;
    return 0;
}

long hosts_ssh_tunnel_write(hosts_ssh *ssh, hosts_ssh_tunnel *tunnel, const uint8_t *bytes, size_t size) {
    if (!ssh->session) return HOSTS_SSH_DEAD;
    HOSTS_GUARD(ssh, LIBSSH2_ERROR_DECRYPT);
    ssize_t count = libssh2_channel_write_ex((LIBSSH2_CHANNEL *)tunnel, 0, (const char *)bytes, size);
    /* 0: the peer's window is used up. */
    return count == 0 ? HOSTS_SSH_AGAIN : count;
}

long hosts_ssh_tunnel_read(hosts_ssh *ssh, hosts_ssh_tunnel *tunnel, uint8_t *bytes, size_t capacity) {
    if (!ssh->session) return HOSTS_SSH_DEAD;
    HOSTS_GUARD(ssh, LIBSSH2_ERROR_DECRYPT);
    LIBSSH2_CHANNEL *channel = (LIBSSH2_CHANNEL *)tunnel;
    ssize_t count = libssh2_channel_read_ex(channel, 0, (char *)bytes, capacity);
    if (count != 0) return count;
    return libssh2_channel_eof(channel) == 1 ? HOSTS_SSH_EOF : HOSTS_SSH_AGAIN;
}

int hosts_ssh_close_tunnel(hosts_ssh *ssh, hosts_ssh_tunnel *tunnel) {
    /* The session has freed its channels with itself. */
    if (!ssh->session) return 0;
    HOSTS_GUARD(ssh, LIBSSH2_ERROR_DECRYPT);
    int code = libssh2_channel_free((LIBSSH2_CHANNEL *)tunnel);
    if (code != LIBSSH2_ERROR_EAGAIN) ssh->arena.limit -= TUNNEL_MEMORY;
    return code;
}
