// Debian's libtomlplusplus is built with exceptions and used as a shared library (pkg-config's own flags).
#define TOML_HEADER_ONLY 0
#define TOML_SHARED_LIB 1
#include "CTOML.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <toml++/toml.h>
#include <vector>

// The tree is copied out of toml++ once, so that every accessor is a plain read that cannot throw.
struct hosts_toml_node {
    hosts_toml_kind kind = HOSTS_TOML_OTHER;
    hosts_toml_position position = {0, 0};
    std::string key;
    hosts_toml_position key_position = {0, 0};
    std::string text;
    int64_t integer = 0;
    double number = 0;
    bool boolean = false;
    std::vector<std::unique_ptr<hosts_toml_node>> children;
};

struct hosts_toml_document {
    std::unique_ptr<hosts_toml_node> root;
    std::string error;
    hosts_toml_position error_position = {0, 0};
    bool failed = false;
};

namespace {

hosts_toml_position position_of(const toml::source_region &region) {
    return {region.begin.line, region.begin.column};
}

bool stands_before(const std::unique_ptr<hosts_toml_node> &left, const std::unique_ptr<hosts_toml_node> &right) {
    if (left->key_position.line != right->key_position.line)
        return left->key_position.line < right->key_position.line;
    return left->key_position.column < right->key_position.column;
}

struct nested_too_deeply {
    hosts_toml_position position;
};

std::unique_ptr<hosts_toml_node> copy(const toml::node &source, int depth = 0) {
    if (depth > HOSTS_TOML_DEPTH_LIMIT) throw nested_too_deeply{position_of(source.source())};
    auto node = std::make_unique<hosts_toml_node>();
    node->position = position_of(source.source());
    if (const auto *table = source.as_table()) {
        node->kind = HOSTS_TOML_TABLE;
        for (const auto &[key, value] : *table) {
            auto child = copy(value, depth + 1);
            child->key = std::string(key.str());
            child->key_position = position_of(key.source());
            node->children.push_back(std::move(child));
        }
        // toml++ keeps a table sorted by key; people read a file from top to bottom.
        std::sort(node->children.begin(), node->children.end(), stands_before);
    } else if (const auto *array = source.as_array()) {
        node->kind = HOSTS_TOML_ARRAY;
        for (const auto &value : *array) node->children.push_back(copy(value, depth + 1));
    } else if (const auto *string = source.as_string()) {
        node->kind = HOSTS_TOML_STRING;
        node->text = string->get();
    } else if (const auto *integer = source.as_integer()) {
        node->kind = HOSTS_TOML_INTEGER;
        node->integer = integer->get();
    } else if (const auto *number = source.as_floating_point()) {
        node->kind = HOSTS_TOML_FLOAT;
        node->number = number->get();
    } else if (const auto *boolean = source.as_boolean()) {
        node->kind = HOSTS_TOML_BOOLEAN;
        node->boolean = boolean->get();
    }
    return node;
}

}  // namespace

extern "C" {

hosts_toml_document *hosts_toml_parse(const char *text, size_t length) {
    auto *document = new (std::nothrow) hosts_toml_document;
    if (document == nullptr) return nullptr;
    try {
        const toml::table table = toml::parse(std::string_view(text, length));
        document->root = copy(table);
    } catch (const toml::parse_error &error) {
        document->failed = true;
        document->error = std::string(error.description());
        document->error_position = position_of(error.source());
    } catch (const nested_too_deeply &error) {
        document->failed = true;
        document->error = "tables and arrays are nested too deeply";
        document->error_position = error.position;
    } catch (const std::exception &error) {
        document->failed = true;
        document->error = error.what();
    }
    return document;
}

void hosts_toml_free(hosts_toml_document *document) { delete document; }

const char *hosts_toml_error(const hosts_toml_document *document) {
    return document->failed ? document->error.c_str() : nullptr;
}

hosts_toml_position hosts_toml_error_position(const hosts_toml_document *document) {
    return document->error_position;
}

const hosts_toml_node *hosts_toml_root(const hosts_toml_document *document) { return document->root.get(); }

hosts_toml_kind hosts_toml_node_kind(const hosts_toml_node *node) { return node->kind; }

hosts_toml_position hosts_toml_node_position(const hosts_toml_node *node) { return node->position; }

size_t hosts_toml_count(const hosts_toml_node *node) { return node->children.size(); }

const hosts_toml_node *hosts_toml_child(const hosts_toml_node *node, size_t index) {
    return node->children[index].get();
}

const char *hosts_toml_key(const hosts_toml_node *table, size_t index, size_t *length) {
    const std::string &key = table->children[index]->key;
    *length = key.size();
    return key.data();
}

hosts_toml_position hosts_toml_key_position(const hosts_toml_node *table, size_t index) {
    return table->children[index]->key_position;
}

const char *hosts_toml_string(const hosts_toml_node *node, size_t *length) {
    *length = node->text.size();
    return node->text.data();
}

int64_t hosts_toml_integer(const hosts_toml_node *node) { return node->integer; }

double hosts_toml_float(const hosts_toml_node *node) { return node->number; }

bool hosts_toml_boolean(const hosts_toml_node *node) { return node->boolean; }
}
