#include "CPCRE2.h"

#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct hosts_pattern {
    pcre2_code *code;
    pcre2_match_context *context; /* holds the limits; read only after hosts_pattern_compile */
};

hosts_pattern *hosts_pattern_compile(const uint8_t *text, size_t length, hosts_pattern_limits limits, int *code,
                                     size_t *offset) {
    *code = 0;
    *offset = 0;
    hosts_pattern *pattern = calloc(1, sizeof *pattern);
    if (pattern == NULL) {
        *code = PCRE2_ERROR_NOMEMORY;
        return NULL;
    }
    PCRE2_SIZE where = 0;
    /* \C matches half a character: never wanted in a screen rule, and the JIT compiler refuses it. */
    pattern->code = pcre2_compile(text, length, PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, code, &where, NULL);
    *offset = where;
    if (pattern->code == NULL) {
        hosts_pattern_free(pattern);
        return NULL;
    }
    pattern->context = pcre2_match_context_create(NULL);
    if (pattern->context == NULL) {
        *code = PCRE2_ERROR_NOMEMORY;
        hosts_pattern_free(pattern);
        return NULL;
    }
    pcre2_set_match_limit(pattern->context, limits.match);
    pcre2_set_depth_limit(pattern->context, limits.depth);
    pcre2_set_heap_limit(pattern->context, limits.heap);
    /* A machine without JIT answers PCRE2_ERROR_JIT_BADOPTION; the interpreter then does the same work. */
    (void)pcre2_jit_compile(pattern->code, PCRE2_JIT_COMPLETE);
    *code = 0;
    return pattern;
}

void hosts_pattern_free(hosts_pattern *pattern) {
    if (pattern == NULL) return;
    pcre2_match_context_free(pattern->context); /* both accept NULL */
    pcre2_code_free(pattern->code);
    free(pattern);
}

hosts_pattern_result hosts_pattern_find(const hosts_pattern *pattern, const uint8_t *subject, size_t length) {
    /* Match data is what a match writes to: one per call, so that a pattern can be shared between threads. */
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    if (data == NULL) return HOSTS_PATTERN_FAILED;
    static const uint8_t empty[1] = {0};
    int result = pcre2_match(pattern->code, subject == NULL ? empty : subject, length, 0, 0, data, pattern->context);
    pcre2_match_data_free(data);
    if (result >= 0) return HOSTS_PATTERN_MATCH;
    switch (result) {
    case PCRE2_ERROR_NOMATCH:
        return HOSTS_PATTERN_NO_MATCH;
    case PCRE2_ERROR_MATCHLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
    case PCRE2_ERROR_HEAPLIMIT:
    case PCRE2_ERROR_JIT_STACKLIMIT:
        return HOSTS_PATTERN_LIMIT;
    default:
        return HOSTS_PATTERN_FAILED;
    }
}

void hosts_pattern_error_text(int code, char *buffer, size_t size) {
    if (size == 0) return;
    if (pcre2_get_error_message(code, (PCRE2_UCHAR *)buffer, size) == PCRE2_ERROR_BADDATA) buffer[0] = '\0';
}
