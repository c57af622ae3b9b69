/* PCRE2 (8 bit, 10.42) as one compiled pattern with its limits. The library's own interface is made of macros that need
 * a code unit width and of four objects per pattern, hence not importable as it is. */
#ifndef HOSTS_CPCRE2_H
#define HOSTS_CPCRE2_H

#include <stddef.h>
#include <stdint.h>

typedef struct hosts_pattern hosts_pattern;

typedef enum hosts_pattern_result {
    HOSTS_PATTERN_NO_MATCH = 0,
    HOSTS_PATTERN_MATCH = 1,
    HOSTS_PATTERN_LIMIT = 2, /* a match, depth, heap or JIT stack limit was hit: nothing is known */
    HOSTS_PATTERN_FAILED = 3 /* out of memory, or a subject that is not UTF-8 */
} hosts_pattern_result;

typedef struct hosts_pattern_limits {
    uint32_t match; /* calls of the matching function */
    uint32_t depth; /* nested backtracking; the JIT compiler ignores it */
    uint32_t heap;  /* KiB */
} hosts_pattern_limits;

/* Compiles `length` bytes of UTF-8 with UTF and UCP, and with JIT where the machine has it. On failure NULL; then
 * `code` holds the library's error code and `offset` the byte at which it was noticed. Free it with
 * hosts_pattern_free. A compiled pattern never changes: any number of threads may match with it at once. */
hosts_pattern *hosts_pattern_compile(const uint8_t *text, size_t length, hosts_pattern_limits limits, int *code,
                                     size_t *offset);
void hosts_pattern_free(hosts_pattern *pattern);

/* Looks for the pattern anywhere in `length` bytes of UTF-8. */
hosts_pattern_result hosts_pattern_find(const hosts_pattern *pattern, const uint8_t *subject, size_t length);

/* The library's text for an error code, always terminated. */
void hosts_pattern_error_text(int code, char *buffer, size_t size);

#endif
