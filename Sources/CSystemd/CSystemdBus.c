#define _GNU_SOURCE
#include "CSystemdBus.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

struct hosts_bus {
    sd_bus *bus;
    sd_bus_message *message;
    /* Whether the array of ListSessions has been entered. */
    int is_in_list;
};

int hosts_bus_open(const char *address, struct hosts_bus **result) {
    struct hosts_bus *bus = calloc(1, sizeof *bus);
    if (bus == NULL) return -ENOMEM;
    int code = sd_bus_new(&bus->bus);
    if (code >= 0) code = sd_bus_set_address(bus->bus, address);
    if (code >= 0) code = sd_bus_set_bus_client(bus->bus, 1);
    if (code >= 0) code = sd_bus_negotiate_fds(bus->bus, 1);
    if (code >= 0) code = sd_bus_start(bus->bus);
    if (code < 0) {
        hosts_bus_close(bus);
        return code;
    }
    *result = bus;
    return 0;
}

void hosts_bus_close(struct hosts_bus *bus) {
    sd_bus_message_unref(bus->message);
    /* Close, without the flush: that would wait for the peer. */
    sd_bus_close_unref(bus->bus);
    free(bus);
}

int hosts_bus_wait(struct hosts_bus *bus, struct hosts_bus_wait *wait) {
    wait->descriptor = sd_bus_get_fd(bus->bus);
    if (wait->descriptor < 0) return wait->descriptor;
    const int events = sd_bus_get_events(bus->bus);
    if (events < 0) return events;
    wait->events = (short)events;
    wait->until_microseconds = UINT64_MAX;
    const int code = sd_bus_get_timeout(bus->bus, &wait->until_microseconds);
    return code < 0 ? code : 0;
}

static const char *text(const char *string) { return string == NULL ? "" : string; }

int hosts_bus_take(struct hosts_bus *bus, struct hosts_bus_header *header) {
    bus->message = sd_bus_message_unref(bus->message);
    bus->is_in_list = 0;
    int code;
    do {
        code = sd_bus_process(bus->bus, &bus->message);
    } while (code > 0 && bus->message == NULL);
    if (code < 0) return code;
    if (bus->message == NULL) return 0;

    sd_bus_message *message = bus->message;
    uint8_t type = 0;
    code = sd_bus_message_get_type(message, &type);
    if (code < 0) return code;
    *header = (struct hosts_bus_header){
        .kind = HOSTS_BUS_OTHER,
        .sender = text(sd_bus_message_get_sender(message)),
        .path = text(sd_bus_message_get_path(message)),
        .interface = text(sd_bus_message_get_interface(message)),
        .member = text(sd_bus_message_get_member(message)),
        .error = "",
    };
    switch (type) {
        case SD_BUS_MESSAGE_METHOD_RETURN: header->kind = HOSTS_BUS_REPLY; break;
        case SD_BUS_MESSAGE_METHOD_ERROR: header->kind = HOSTS_BUS_ERROR; break;
        case SD_BUS_MESSAGE_SIGNAL: header->kind = HOSTS_BUS_SIGNAL; break;
        default: return 1;
    }
    if (header->kind == HOSTS_BUS_SIGNAL) return 1;
    if (header->kind == HOSTS_BUS_ERROR) header->error = text(sd_bus_message_get_error(message)->name);
    code = sd_bus_message_get_reply_cookie(message, &header->reply_cookie);
    return code < 0 ? code : 1;
}

int hosts_bus_call(struct hosts_bus *bus, const char *destination, const char *path, const char *interface,
                   const char *member, const char *first, const char *second, const char *third, const char *fourth,
                   uint64_t *cookie) {
    const char *const arguments[] = {first, second, third, fourth};
    sd_bus_message *message = NULL;
    int code = sd_bus_message_new_method_call(bus->bus, &message, destination, path, interface, member);
    if (code >= 0) code = sd_bus_message_set_auto_start(message, 0);
    for (int i = 0; i < 4 && arguments[i] != NULL && code >= 0; i++) {
        code = sd_bus_message_append_basic(message, SD_BUS_TYPE_STRING, arguments[i]);
    }
    if (code >= 0) code = sd_bus_send(bus->bus, message, cookie);
    sd_bus_message_unref(message);
    return code < 0 ? code : 0;
}

int hosts_bus_read_flag(struct hosts_bus *bus, int *flag) {
    const int code = sd_bus_message_read(bus->message, "b", flag);
    return code == 0 ? -ENXIO : code;
}

int hosts_bus_read_string(struct hosts_bus *bus, const char **string) {
    const int code = sd_bus_message_read(bus->message, "s", string);
    return code == 0 ? -ENXIO : code;
}

int hosts_bus_read_owner_change(struct hosts_bus *bus, const char **name, const char **owner) {
    const int code = sd_bus_message_read(bus->message, "sss", name, NULL, owner);
    return code == 0 ? -ENXIO : code;
}

int hosts_bus_read_descriptor(struct hosts_bus *bus) {
    int borrowed = -1;
    const int code = sd_bus_message_read(bus->message, "h", &borrowed);
    if (code <= 0) return code == 0 ? -ENXIO : code;
    /* Above the standard ones: a 0 that is closed later would be somebody's input. */
    const int owned = fcntl(borrowed, F_DUPFD_CLOEXEC, 3);
    return owned < 0 ? -errno : owned;
}

/* Reads the variant at hand if it has that type, else steps over it. */
static int read_variant(sd_bus_message *message, const char *type, void *value) {
    char kind = 0;
    const char *contents = NULL;
    int code = sd_bus_message_peek_type(message, &kind, &contents);
    if (code < 0) return code;
    if (kind != SD_BUS_TYPE_VARIANT || contents == NULL || strcmp(contents, type) != 0) {
        return sd_bus_message_skip(message, "v");
    }
    code = sd_bus_message_enter_container(message, SD_BUS_TYPE_VARIANT, type);
    if (code < 0) return code;
    code = sd_bus_message_read_basic(message, type[0], value);
    if (code < 0) return code;
    return sd_bus_message_exit_container(message);
}

/* A property that is wanted: of a basic type, and where it goes. */
struct wanted {
    const char *name;
    const char *type;
    void *value;
};

/* Reads an a{sv}, as GetAll answers it. */
static int read_properties(sd_bus_message *message, const struct wanted *wanted, size_t count) {
    int code = sd_bus_message_enter_container(message, SD_BUS_TYPE_ARRAY, "{sv}");
    if (code <= 0) return code == 0 ? -ENXIO : code;
    while ((code = sd_bus_message_enter_container(message, SD_BUS_TYPE_DICT_ENTRY, "sv")) > 0) {
        const char *name = NULL;
        code = sd_bus_message_read_basic(message, SD_BUS_TYPE_STRING, &name);
        if (code < 0) return code;
        size_t index = 0;
        while (index < count && strcmp(wanted[index].name, name) != 0) index++;
        code = index < count ? read_variant(message, wanted[index].type, wanted[index].value)
                             : sd_bus_message_skip(message, "v");
        if (code < 0) return code;
        code = sd_bus_message_exit_container(message);
        if (code < 0) return code;
    }
    return code;
}

int hosts_login_read_manager(struct hosts_bus *bus, struct hosts_login_manager *manager) {
    const struct wanted wanted[] = {
        {"PreparingForSleep", "b", &manager->is_preparing_for_sleep},
        {"InhibitDelayMaxUSec", "t", &manager->delay_microseconds},
    };
    return read_properties(bus->message, wanted, sizeof wanted / sizeof wanted[0]);
}

int hosts_login_read_session_entry(struct hosts_bus *bus, uint32_t *user, const char **path) {
    if (!bus->is_in_list) {
        const int code = sd_bus_message_enter_container(bus->message, SD_BUS_TYPE_ARRAY, "(susso)");
        if (code <= 0) return code == 0 ? -ENXIO : code;
        bus->is_in_list = 1;
    }
    return sd_bus_message_read(bus->message, "(susso)", NULL, user, NULL, NULL, path);
}

int hosts_login_read_session(struct hosts_bus *bus, struct hosts_login_session *session) {
    *session = (struct hosts_login_session){.type = "", .class_name = "", .state = ""};
    const struct wanted wanted[] = {
        {"Active", "b", &session->is_active},     {"LockedHint", "b", &session->is_locked},
        {"IdleHint", "b", &session->is_idle},     {"Remote", "b", &session->is_remote},
        {"IdleSinceHint", "t", &session->idle_since}, {"Type", "s", &session->type},
        {"Class", "s", &session->class_name},     {"State", "s", &session->state},
    };
    return read_properties(bus->message, wanted, sizeof wanted / sizeof wanted[0]);
}
