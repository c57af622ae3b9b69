#include "CSSHBuffer.h"

#include <stdlib.h>
#include <string.h>

/* First allocation: a probe's request or reply fits. */
enum { SMALLEST_CAPACITY = 4096 };

int hosts_buffer_reserve(struct hosts_buffer *buffer, size_t size) {
    size_t count = hosts_buffer_count(buffer);
    if (size > buffer->limit || count > buffer->limit - size) return -1;
    if (buffer->capacity - buffer->end >= size) return 0;
    if (buffer->start > 0) {
        memmove(buffer->bytes, buffer->bytes + buffer->start, count);
        buffer->start = 0;
        buffer->end = count;
        if (buffer->capacity - count >= size) return 0;
    }
    size_t capacity = buffer->capacity ? buffer->capacity : SMALLEST_CAPACITY;
    while (capacity < count + size) capacity *= 2;
    uint8_t *bytes = realloc(buffer->bytes, capacity);
    if (!bytes) return -1;
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return 0;
}

int hosts_buffer_append(struct hosts_buffer *buffer, const void *bytes, size_t size) {
    if (size == 0) return 0;
    if (hosts_buffer_reserve(buffer, size) != 0) return -1;
    memcpy(buffer->bytes + buffer->end, bytes, size);
    buffer->end += size;
    return 0;
}

void hosts_buffer_consume(struct hosts_buffer *buffer, size_t size) {
    buffer->start += size;
    if (buffer->start == buffer->end) hosts_buffer_clear(buffer);
}

void hosts_buffer_clear(struct hosts_buffer *buffer) {
    free(buffer->bytes);
    buffer->bytes = NULL;
    buffer->start = 0;
    buffer->end = 0;
    buffer->capacity = 0;
}
