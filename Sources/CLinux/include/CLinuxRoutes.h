/* Links, addresses and routes of the kernel (rtnetlink(7)): its messages are walked with macros, which Swift cannot
 * import. Functions that open or send return -1 with errno set on failure; interrupted calls are retried here. */
#ifndef HOSTS_CLINUX_ROUTES_H
#define HOSTS_CLINUX_ROUTES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HOSTS_ROUTE_LINK = 1,
    HOSTS_ROUTE_ADDRESS = 2,
    HOSTS_ROUTE_ROUTE = 3,
    /* The end of a dump. */
    HOSTS_ROUTE_DONE = 4,
    /* The kernel refuses; `error` tells why. */
    HOSTS_ROUTE_ERROR = 5,
    /* A message that does not matter here. */
    HOSTS_ROUTE_OTHER = 6,
};

/* Interfaces of one route (multipath) that are looked at. */
enum { HOSTS_ROUTE_HOPS = 8 };

/* One message of the kernel. What it does not hold is 0. */
struct hosts_route_record {
    int kind;
    /* Whether something is gone (RTM_DEL...). */
    int is_removal;
    uint32_t sequence;
    /* The dump is not of one moment: NLM_F_DUMP_INTR. */
    int is_interrupted;
    /* An errno value. */
    int error;

    /* Of the link, or of the address. */
    uint32_t interface;
    /* Link: IFF_UP; IFF_RUNNING, that is, it has a carrier; IFF_LOOPBACK. */
    int is_up;
    int is_running;
    int is_loopback;

    /* Address and route: 4 or 16 bytes, in the order of the network; the length is 0 if there is none. */
    uint8_t address[16];
    uint8_t address_length;
    uint8_t prefix_length;
    /* 4 or 6. */
    uint8_t version;
    /* Address: duplicates are still looked for, or one was found. */
    int is_tentative;

    /* Route: a usual one, outside the table of local addresses, not cached, not by its source. */
    int is_unicast;
    /* The kernel knows that it leads nowhere (RTNH_F_DEAD, RTNH_F_LINKDOWN). */
    int is_dead;
    uint32_t table;
    uint32_t priority;
    uint8_t gateway[16];
    uint32_t hops[HOSTS_ROUTE_HOPS];
    uint8_t hop_count;
};

/* A socket for requests and dumps, or one that is told of every change. Close-on-exec and non-blocking. */
int hosts_route_socket(void);
int hosts_route_listener(void);

/* Asks for all links, addresses or routes; `sequence` comes back in the answer. */
int hosts_route_request(int descriptor, int kind, uint32_t sequence);

/* Takes the next datagram of the kernel. Returns its size; 0 for one of somebody else; -1 with errno: EAGAIN when
 * there is none, ENOBUFS when some were lost, EMSGSIZE when it is larger than `capacity`. */
ssize_t hosts_route_receive(int descriptor, void *bytes, size_t capacity);

/* Reads the message at `*offset` and moves on. Returns 1 for a message, 0 at the end, -1 for bytes that are none.
 * `bytes` must be aligned to 4. */
int hosts_route_next(const void *bytes, size_t size, size_t *offset, struct hosts_route_record *record);

/* Whether the kernel has a route to a numeric address, found without a packet. Returns 1 or 0, or -1 with errno:
 * EINVAL for what is no numeric address. */
int hosts_route_exists(const char *address);

#ifdef __cplusplus
}
#endif

#endif
