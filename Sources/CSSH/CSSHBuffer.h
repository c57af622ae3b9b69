/* A bounded first-in first-out buffer that holds memory only while it holds bytes. */
#ifndef HOSTS_CSSH_BUFFER_H
#define HOSTS_CSSH_BUFFER_H

#include <stddef.h>
#include <stdint.h>

struct hosts_buffer {
    uint8_t *bytes;
    size_t start;
    size_t end;
    size_t capacity;
    size_t limit;
};

static inline size_t hosts_buffer_count(const struct hosts_buffer *buffer) {
    return buffer->end - buffer->start;
}

/* Makes room for `size` more bytes at `bytes + end`. Returns 0, or -1 when that passes the limit or memory
 * ends. */
int hosts_buffer_reserve(struct hosts_buffer *buffer, size_t size);
/* Returns 0, or -1 and takes nothing. */
int hosts_buffer_append(struct hosts_buffer *buffer, const void *bytes, size_t size);
/* Drops the first `size` bytes; memory goes with the last one. */
void hosts_buffer_consume(struct hosts_buffer *buffer, size_t size);
void hosts_buffer_clear(struct hosts_buffer *buffer);

#endif
