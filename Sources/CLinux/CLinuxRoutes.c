#define _GNU_SOURCE
#include "CLinuxRoutes.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int open_socket(uint32_t groups) {
    const int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (descriptor < 0) return -1;
    const struct sockaddr_nl name = {.nl_family = AF_NETLINK, .nl_groups = groups};
    if (bind(descriptor, (const struct sockaddr *)&name, sizeof name) == 0) return descriptor;
    const int code = errno;
    close(descriptor);
    errno = code;
    return -1;
}

int hosts_route_socket(void) { return open_socket(0); }

int hosts_route_listener(void) {
    return open_socket(RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE |
                       RTMGRP_IPV6_ROUTE);
}

int hosts_route_request(int descriptor, int kind, uint32_t sequence) {
    /* The largest of the three headers; the others begin with the same byte, the family. */
    struct {
        struct nlmsghdr header;
        struct ifinfomsg body;
    } request = {0};
    size_t size;
    switch (kind) {
        case HOSTS_ROUTE_LINK:
            request.header.nlmsg_type = RTM_GETLINK;
            size = sizeof(struct ifinfomsg);
            break;
        case HOSTS_ROUTE_ADDRESS:
            request.header.nlmsg_type = RTM_GETADDR;
            size = sizeof(struct ifaddrmsg);
            break;
        case HOSTS_ROUTE_ROUTE:
            request.header.nlmsg_type = RTM_GETROUTE;
            size = sizeof(struct rtmsg);
            break;
        default: errno = EINVAL; return -1;
    }
    request.header.nlmsg_len = NLMSG_LENGTH(size);
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request.header.nlmsg_seq = sequence;
    const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t sent;
    do {
        sent = sendto(descriptor, &request, request.header.nlmsg_len, 0, (const struct sockaddr *)&kernel,
                      sizeof kernel);
    } while (sent < 0 && errno == EINTR);
    return sent < 0 ? -1 : 0;
}

ssize_t hosts_route_receive(int descriptor, void *bytes, size_t capacity) {
    struct sockaddr_nl sender = {0};
    struct iovec part = {.iov_base = bytes, .iov_len = capacity};
    struct msghdr message = {
        .msg_name = &sender, .msg_namelen = sizeof sender, .msg_iov = &part, .msg_iovlen = 1};
    ssize_t size;
    do {
        size = recvmsg(descriptor, &message, 0);
    } while (size < 0 && errno == EINTR);
    if (size < 0) return -1;
    /* Other processes can send to the address of the socket, too. */
    if (message.msg_namelen != sizeof sender || sender.nl_pid != 0) return 0;
    if (message.msg_flags & MSG_TRUNC) {
        errno = EMSGSIZE;
        return -1;
    }
    return size;
}

static void copy_address(uint8_t *address, const struct rtattr *attribute, uint8_t version) {
    const size_t length = version == 4 ? 4 : 16;
    if (RTA_PAYLOAD(attribute) >= length) memcpy(address, RTA_DATA(attribute), length);
}

static uint32_t number(const struct rtattr *attribute) {
    uint32_t value = 0;
    if (RTA_PAYLOAD(attribute) >= sizeof value) memcpy(&value, RTA_DATA(attribute), sizeof value);
    return value;
}

static uint8_t version_of(uint8_t family) { return family == AF_INET ? 4 : family == AF_INET6 ? 6 : 0; }

static void read_link(const struct ifinfomsg *link, struct hosts_route_record *record) {
    record->kind = HOSTS_ROUTE_LINK;
    record->interface = (uint32_t)link->ifi_index;
    record->is_up = (link->ifi_flags & IFF_UP) != 0;
    record->is_running = (link->ifi_flags & IFF_RUNNING) != 0;
    record->is_loopback = (link->ifi_flags & IFF_LOOPBACK) != 0;
}

static void read_address(const struct ifaddrmsg *address, size_t size, struct hosts_route_record *record) {
    record->version = version_of(address->ifa_family);
    if (record->version == 0) return;
    record->kind = HOSTS_ROUTE_ADDRESS;
    record->interface = address->ifa_index;
    record->prefix_length = address->ifa_prefixlen;
    record->address_length = record->version == 4 ? 4 : 16;
    uint32_t flags = address->ifa_flags;
    int is_local_known = 0;
    const struct rtattr *attribute = (const struct rtattr *)((const char *)address + NLMSG_ALIGN(sizeof *address));
    for (int left = (int)size; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
        switch (attribute->rta_type) {
            case IFA_FLAGS: flags = number(attribute); break;
            /* On a line with two ends IFA_ADDRESS is the other one. */
            case IFA_LOCAL:
                copy_address(record->address, attribute, record->version);
                is_local_known = 1;
                break;
            case IFA_ADDRESS:
                if (!is_local_known) copy_address(record->address, attribute, record->version);
                break;
            default: break;
        }
    }
    record->is_tentative = (flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED)) != 0;
}

static void add_hop(struct hosts_route_record *record, uint32_t interface) {
    if (record->hop_count < HOSTS_ROUTE_HOPS) record->hops[record->hop_count++] = interface;
}

static void read_hops(const struct rtattr *attribute, struct hosts_route_record *record) {
    const char *bytes = RTA_DATA(attribute);
    size_t left = RTA_PAYLOAD(attribute);
    struct rtnexthop hop;
    while (left >= sizeof hop) {
        memcpy(&hop, bytes, sizeof hop);
        const size_t length = RTNH_ALIGN(hop.rtnh_len);
        if (hop.rtnh_len < sizeof hop || length > left) return;
        add_hop(record, (uint32_t)hop.rtnh_ifindex);
        bytes += length;
        left -= length;
    }
}

static void read_route(const struct rtmsg *route, size_t size, struct hosts_route_record *record) {
    record->version = version_of(route->rtm_family);
    if (record->version == 0) return;
    record->kind = HOSTS_ROUTE_ROUTE;
    record->prefix_length = route->rtm_dst_len;
    record->table = route->rtm_table;
    record->is_dead = (route->rtm_flags & (RTNH_F_DEAD | RTNH_F_LINKDOWN)) != 0;
    const struct rtattr *attribute = (const struct rtattr *)((const char *)route + NLMSG_ALIGN(sizeof *route));
    for (int left = (int)size; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
        switch (attribute->rta_type) {
            case RTA_DST:
                copy_address(record->address, attribute, record->version);
                record->address_length = record->version == 4 ? 4 : 16;
                break;
            case RTA_GATEWAY: copy_address(record->gateway, attribute, record->version); break;
            case RTA_OIF: add_hop(record, number(attribute)); break;
            case RTA_MULTIPATH: read_hops(attribute, record); break;
            case RTA_TABLE: record->table = number(attribute); break;
            case RTA_PRIORITY: record->priority = number(attribute); break;
            default: break;
        }
    }
    record->is_unicast = route->rtm_type == RTN_UNICAST && record->table != RT_TABLE_LOCAL &&
                         route->rtm_src_len == 0 && (route->rtm_flags & RTM_F_CLONED) == 0;
}

int hosts_route_next(const void *bytes, size_t size, size_t *offset, struct hosts_route_record *record) {
    if (*offset >= size) return 0;
    const size_t left = size - *offset;
    const struct nlmsghdr *header = (const void *)((const char *)bytes + *offset);
    if (left < sizeof *header || header->nlmsg_len < sizeof *header || header->nlmsg_len > left) return -1;
    const size_t payload = header->nlmsg_len - NLMSG_HDRLEN;
    *offset += NLMSG_ALIGN(header->nlmsg_len);

    *record = (struct hosts_route_record){
        .kind = HOSTS_ROUTE_OTHER,
        .sequence = header->nlmsg_seq,
        .is_interrupted = (header->nlmsg_flags & NLM_F_DUMP_INTR) != 0,
    };
    const void *body = NLMSG_DATA(header);
    switch (header->nlmsg_type) {
        case NLMSG_DONE: {
            record->kind = HOSTS_ROUTE_DONE;
            return 1;
        }
        case NLMSG_ERROR: {
            if (payload < sizeof(struct nlmsgerr)) return -1;
            const int error = ((const struct nlmsgerr *)body)->error;
            record->kind = error == 0 ? HOSTS_ROUTE_OTHER : HOSTS_ROUTE_ERROR;
            record->error = error > -4096 && error < 0 ? -error : EIO;
            return 1;
        }
        case RTM_NEWLINK:
        case RTM_DELLINK: {
            if (payload < sizeof(struct ifinfomsg)) return -1;
            record->is_removal = header->nlmsg_type == RTM_DELLINK;
            read_link(body, record);
            return 1;
        }
        case RTM_NEWADDR:
        case RTM_DELADDR: {
            const size_t fixed = NLMSG_ALIGN(sizeof(struct ifaddrmsg));
            if (payload < fixed) return -1;
            record->is_removal = header->nlmsg_type == RTM_DELADDR;
            read_address(body, payload - fixed, record);
            return 1;
        }
        case RTM_NEWROUTE:
        case RTM_DELROUTE: {
            const size_t fixed = NLMSG_ALIGN(sizeof(struct rtmsg));
            if (payload < fixed) return -1;
            record->is_removal = header->nlmsg_type == RTM_DELROUTE;
            read_route(body, payload - fixed, record);
            return 1;
        }
        default: return 1;
    }
}

int hosts_route_exists(const char *address) {
    const struct addrinfo hints = {
        .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM};
    struct addrinfo *found = NULL;
    /* Any port does: connecting a datagram socket sends nothing. */
    if (getaddrinfo(address, "22", &hints, &found) != 0) {
        errno = EINVAL;
        return -1;
    }
    int answer = -1;
    int code = EAFNOSUPPORT;
    const int descriptor = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor >= 0) {
        answer = connect(descriptor, found->ai_addr, found->ai_addrlen) == 0;
        code = errno;
        close(descriptor);
    } else {
        code = errno;
    }
    freeaddrinfo(found);
    if (answer == 1) return 1;
    switch (code) {
        /* No route; none but one that refuses; no address to come from; no such protocol on this machine. */
        case ENETUNREACH:
        case EHOSTUNREACH:
        case ENETDOWN:
        case EACCES:
        case EPERM:
        case EINVAL:
        case EADDRNOTAVAIL:
        case EAFNOSUPPORT: return 0;
        default: errno = code; return -1;
    }
}
