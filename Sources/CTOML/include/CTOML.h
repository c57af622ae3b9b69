/* TOML text to a tree that knows where everything stands; a C interface on toml++ 3.3.0, whose own is C++.
 * Positions are 1-based; columns count code points. No C++ exception leaves this module. */
#ifndef HOSTS_CTOML_H
#define HOSTS_CTOML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Deepest nesting of tables and arrays that is taken: toml++ 3.3.0 bounds that of values but not that of
 * dotted keys, and whoever walks the tree does so by recursion. */
#define HOSTS_TOML_DEPTH_LIMIT 32

typedef struct hosts_toml_document hosts_toml_document;
typedef struct hosts_toml_node hosts_toml_node;

typedef enum hosts_toml_kind {
    HOSTS_TOML_TABLE,
    HOSTS_TOML_ARRAY,
    HOSTS_TOML_STRING,
    HOSTS_TOML_INTEGER,
    HOSTS_TOML_FLOAT,
    HOSTS_TOML_BOOLEAN,
    HOSTS_TOML_OTHER /* dates and times: nothing here is configured with them */
} hosts_toml_kind;

typedef struct hosts_toml_position {
    uint32_t line;
    uint32_t column;
} hosts_toml_position;

/* Parses `length` bytes of UTF-8. Never NULL but when memory is short; free it with hosts_toml_free. */
hosts_toml_document *hosts_toml_parse(const char *text, size_t length);
void hosts_toml_free(hosts_toml_document *document);

/* NULL when the text was parsed; else what is wrong, and where. Lives as long as the document. */
const char *hosts_toml_error(const hosts_toml_document *document);
hosts_toml_position hosts_toml_error_position(const hosts_toml_document *document);

/* The top-level table; NULL after a syntax error. Nodes live as long as the document. */
const hosts_toml_node *hosts_toml_root(const hosts_toml_document *document);

hosts_toml_kind hosts_toml_node_kind(const hosts_toml_node *node);
hosts_toml_position hosts_toml_node_position(const hosts_toml_node *node);

/* Members of a table (in the order of the file) or of an array. */
size_t hosts_toml_count(const hosts_toml_node *node);
const hosts_toml_node *hosts_toml_child(const hosts_toml_node *node, size_t index);
/* Key of a table's member, UTF-8 with its length; and where the key stands. */
const char *hosts_toml_key(const hosts_toml_node *table, size_t index, size_t *length);
hosts_toml_position hosts_toml_key_position(const hosts_toml_node *table, size_t index);

/* Values; only for a node of that kind. */
const char *hosts_toml_string(const hosts_toml_node *node, size_t *length);
int64_t hosts_toml_integer(const hosts_toml_node *node);
double hosts_toml_float(const hosts_toml_node *node);
bool hosts_toml_boolean(const hosts_toml_node *node);

#ifdef __cplusplus
}
#endif

#endif
