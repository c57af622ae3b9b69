/* A connection to a D-Bus, and the few messages of the login manager that hostsd reads: sd_bus_message_read and
 * its siblings are variadic, hence not importable, and a callback of C in Swift is no good place for anything. So
 * nothing calls back here: messages are taken one by one, replies are known by their cookie, and deadlines are the
 * caller's. A connection and its message belong to one thread (sd-bus(3): not thread-safe).
 *
 * Unless said otherwise, functions answer 0 or more for success and a negative errno value for failure. */
#ifndef HOSTS_CSYSTEMD_BUS_H
#define HOSTS_CSYSTEMD_BUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hosts_bus;

enum {
    HOSTS_BUS_REPLY = 1,
    HOSTS_BUS_ERROR = 2,
    HOSTS_BUS_SIGNAL = 3,
    /* A call of somebody else, which is not answered. */
    HOSTS_BUS_OTHER = 4,
};

/* What stands in the header of the message at hand; the strings (never NULL, possibly empty) live until the next
 * message is taken. */
struct hosts_bus_header {
    int kind;
    /* Of the call that is answered. */
    uint64_t reply_cookie;
    const char *sender;
    const char *path;
    const char *interface;
    const char *member;
    /* The name of an error, as in org.freedesktop.DBus.Error.ServiceUnknown. */
    const char *error;
};

/* What a connection waits for: as for poll(2), and until when on CLOCK_MONOTONIC, UINT64_MAX for ever. */
struct hosts_bus_wait {
    int descriptor;
    short events;
    uint64_t until_microseconds;
};

/* Begins to connect, without waiting for the answer. The connection does not end the process and starts no service. */
int hosts_bus_open(const char *address, struct hosts_bus **bus);
/* Ends the connection and frees it; what was not sent is lost. */
void hosts_bus_close(struct hosts_bus *bus);
int hosts_bus_wait(struct hosts_bus *bus, struct hosts_bus_wait *wait);

/* Takes the next message: 1 when there is one, 0 when there is none for now, negative when the connection is lost. */
int hosts_bus_take(struct hosts_bus *bus, struct hosts_bus_header *header);

/* Sends a call whose arguments are all strings, up to the first that is NULL; `*cookie` tells its reply. Waits for
 * nothing. */
int hosts_bus_call(struct hosts_bus *bus, const char *destination, const char *path, const char *interface,
                   const char *member, const char *first, const char *second, const char *third, const char *fourth,
                   uint64_t *cookie);

/* Readers of the message at hand; each may be called once for a message. -ENXIO or -EBADMSG for another content. */

/* The one boolean of PrepareForSleep. */
int hosts_bus_read_flag(struct hosts_bus *bus, int *flag);
/* The one string of GetNameOwner. */
int hosts_bus_read_string(struct hosts_bus *bus, const char **string);
/* The three strings of NameOwnerChanged. */
int hosts_bus_read_owner_change(struct hosts_bus *bus, const char **name, const char **owner);
/* The descriptor of Inhibit, duplicated close-on-exec: the caller owns it. The one in the message is closed with it. */
int hosts_bus_read_descriptor(struct hosts_bus *bus);

/* The properties of the manager; what is missing keeps the value that it has. */
struct hosts_login_manager {
    int is_preparing_for_sleep;
    uint64_t delay_microseconds;
};
int hosts_login_read_manager(struct hosts_bus *bus, struct hosts_login_manager *manager);

/* The next session of ListSessions: 1 for one, 0 at the end. May be called until then. */
int hosts_login_read_session_entry(struct hosts_bus *bus, uint32_t *user, const char **path);

/* The properties of a session; strings are never NULL. */
struct hosts_login_session {
    int is_active;
    int is_locked;
    int is_idle;
    int is_remote;
    /* CLOCK_REALTIME in microseconds, 0 if it is not idle. */
    uint64_t idle_since;
    const char *type;
    const char *class_name;
    const char *state;
};
int hosts_login_read_session(struct hosts_bus *bus, struct hosts_login_session *session);

#ifdef __cplusplus
}
#endif

#endif
