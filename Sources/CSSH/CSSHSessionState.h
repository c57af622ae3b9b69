/* What the parts of the session share; see CSSHSession.h for what they do. */
#ifndef HOSTS_CSSH_SESSION_STATE_H
#define HOSTS_CSSH_SESSION_STATE_H

#include <libssh2.h>

#include "CSSHArena.h"
#include "CSSHBuffer.h"
#include "CSSHSession.h"

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

/* Drops the signature that is being made elsewhere, and its data. */
void hosts_ssh_forget_signature(struct hosts_ssh *ssh);

#endif
