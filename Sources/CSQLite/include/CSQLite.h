/* SQLite 3, and the few things of it that Swift cannot import. */
#ifndef HOSTS_CSQLITE_H
#define HOSTS_CSQLITE_H

#include <sqlite3.h>

/* SQLITE_TRANSIENT is a cast and not importable; the text is copied before the call returns. */
static inline int hosts_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int bytes) {
    return sqlite3_bind_text(statement, index, text, bytes, SQLITE_TRANSIENT);
}

#endif
