/* The memory of one libssh2 session: bounded, counted, and given back whole when the session ends.
 *
 * libssh2 lets a server choose the sizes of some allocations, and loses a few blocks when a session is freed
 * in the middle of a key exchange (1.10.0); both end here. */
#ifndef HOSTS_CSSH_ARENA_H
#define HOSTS_CSSH_ARENA_H

#include <stddef.h>

struct hosts_arena_block;

struct hosts_arena {
    struct hosts_arena_block *first;
    /* Bytes that are in use. */
    size_t used;
    size_t block_limit;
    size_t limit;
};

/* NULL when the block or the sum is too large. */
void *hosts_arena_allocate(struct hosts_arena *arena, size_t size);
void *hosts_arena_resize(struct hosts_arena *arena, void *memory, size_t size);
void hosts_arena_free(struct hosts_arena *arena, void *memory);
/* Frees whatever is left. */
void hosts_arena_clear(struct hosts_arena *arena);

#endif
