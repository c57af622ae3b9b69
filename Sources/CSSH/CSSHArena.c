#include "CSSHArena.h"

#include <stdlib.h>
#include <string.h>

struct hosts_arena_block {
    struct hosts_arena_block *previous;
    struct hosts_arena_block *next;
    size_t size;
    /* Keeps what follows aligned as malloc would. */
    max_align_t memory[];
};

static struct hosts_arena_block *block_of(void *memory) {
    return (struct hosts_arena_block *)((char *)memory - offsetof(struct hosts_arena_block, memory));
}

static int fits(const struct hosts_arena *arena, size_t freed, size_t size) {
    return size <= arena->block_limit && arena->used - freed <= arena->limit - size;
}

static void link_block(struct hosts_arena *arena, struct hosts_arena_block *block) {
    block->previous = NULL;
    block->next = arena->first;
    if (arena->first) arena->first->previous = block;
    arena->first = block;
    arena->used += block->size;
}

static void unlink_block(struct hosts_arena *arena, struct hosts_arena_block *block) {
    if (block->previous) block->previous->next = block->next;
    if (block->next) block->next->previous = block->previous;
    if (arena->first == block) arena->first = block->next;
    arena->used -= block->size;
}

void *hosts_arena_allocate(struct hosts_arena *arena, size_t size) {
    if (!fits(arena, 0, size)) return NULL;
    struct hosts_arena_block *block = malloc(sizeof *block + size);
    if (!block) return NULL;
    block->size = size;
    link_block(arena, block);
    return block->memory;
}

void *hosts_arena_resize(struct hosts_arena *arena, void *memory, size_t size) {
    if (!memory) return hosts_arena_allocate(arena, size);
    struct hosts_arena_block *block = block_of(memory);
    if (!fits(arena, block->size, size)) return NULL;
    unlink_block(arena, block);
    struct hosts_arena_block *resized = realloc(block, sizeof *block + size);
    if (!resized) {
        link_block(arena, block);
        return NULL;
    }
    resized->size = size;
    link_block(arena, resized);
    return resized->memory;
}

void hosts_arena_free(struct hosts_arena *arena, void *memory) {
    if (!memory) return;
    struct hosts_arena_block *block = block_of(memory);
    unlink_block(arena, block);
    free(block);
}

void hosts_arena_clear(struct hosts_arena *arena) {
    while (arena->first) {
        struct hosts_arena_block *block = arena->first;
        unlink_block(arena, block);
        free(block);
    }
}
