#define _GNU_SOURCE
#include "CSSHKey.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "CSSHKeyFormat.h"

enum {
    /* Larger than the text of an RSA key of 16384 bits. */
    KEY_TEXT_LIMIT = 64 * 1024,
};

struct hosts_key {
    /* NULL for a key that was unlocked. */
    EVP_PKEY *pkey;
    /* The private key of one that was unlocked, in DER, in locked memory. */
    uint8_t *der;
    size_t der_size;
    uint8_t *public_blob;
    size_t public_size;
};

void hosts_key_free(hosts_key *key) {
    if (!key) return;
    EVP_PKEY_free(key->pkey);
    hosts_locked_free(key->der, key->der_size);
    free(key->public_blob);
    free(key);
}

const uint8_t *hosts_key_public(const hosts_key *key, size_t *size) {
    *size = key->public_size;
    return key->public_blob;
}

static hosts_key *make_key(EVP_PKEY *pkey, uint8_t *blob, size_t size) {
    hosts_key *key = calloc(1, sizeof *key);
    if (!key) return NULL;
    key->pkey = pkey;
    key->public_blob = blob;
    key->public_size = size;
    return key;
}

struct passphrase_wish {
    /* NULL: there is nobody to ask. */
    const struct hosts_passphrase *passphrase;
    int was_asked;
};

/* Called by libcrypto when the text is encrypted. */
static int give_passphrase(char *buffer, int size, int is_writing, void *context) {
    (void)is_writing;
    struct passphrase_wish *wish = context;
    wish->was_asked = 1;
    if (!wish->passphrase || wish->passphrase->size > (size_t)size) return -1;
    memcpy(buffer, wish->passphrase->bytes, wish->passphrase->size);
    return (int)wish->passphrase->size;
}

/* Whether to decrypt it would take too long; whatever cannot be read is left to libcrypto. */
static int is_costly(BIO *bio) {
    char *name = NULL, *header = NULL;
    unsigned char *der = NULL;
    long size = 0;
    if (PEM_read_bio(bio, &name, &header, &der, &size) != 1) return 0;
    int is_costly = strcmp(name, PEM_STRING_PKCS8) == 0 && hosts_is_costly_pkcs8(der, (size_t)size);
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_clear_free(der, (size_t)size);
    return is_costly;
}

static enum hosts_key_status parse_pem(const uint8_t *text, size_t size,
                                       const struct hosts_passphrase *passphrase, hosts_key **key) {
    struct passphrase_wish wish = {.passphrase = passphrase};
    BIO *bio = BIO_new_mem_buf(text, (int)size);
    if (!bio) return HOSTS_KEY_NO_MEMORY;
    if (passphrase && is_costly(bio)) {
        BIO_free(bio);
        return HOSTS_KEY_TOO_COSTLY;
    }
    /* From the beginning again. */
    BIO_reset(bio);
    EVP_PKEY *pkey = PEM_read_bio_PrivateKey(bio, NULL, give_passphrase, &wish);
    BIO_free(bio);
    if (!pkey) {
        if (!wish.was_asked) return HOSTS_KEY_MALFORMED;
        return passphrase ? HOSTS_KEY_WRONG_PASSPHRASE : HOSTS_KEY_ENCRYPTED;
    }
    size_t blob_size = 0;
    uint8_t *blob = hosts_public_blob(pkey, &blob_size);
    if (blob) *key = make_key(pkey, blob, blob_size);
    if (*key) return passphrase && !wish.was_asked ? HOSTS_KEY_NOT_ENCRYPTED : HOSTS_KEY_OK;
    enum hosts_key_status status = blob ? HOSTS_KEY_NO_MEMORY : HOSTS_KEY_UNSUPPORTED;
    EVP_PKEY_free(pkey);
    free(blob);
    return status;
}

static enum hosts_key_status parse(const uint8_t *text, size_t size,
                                   const struct hosts_passphrase *passphrase, hosts_key **key) {
    *key = NULL;
    if (size > KEY_TEXT_LIMIT) return HOSTS_KEY_MALFORMED;
    if (!hosts_is_openssh_key(text, size)) return parse_pem(text, size, passphrase, key);
    struct hosts_openssh_key parsed = {0};
    enum hosts_key_status status = hosts_parse_openssh_key(text, size, passphrase, &parsed);
    if (parsed.public_blob) *key = make_key(parsed.pkey, parsed.public_blob, parsed.public_size);
    if (*key) return status;
    EVP_PKEY_free(parsed.pkey);
    free(parsed.public_blob);
    return status == HOSTS_KEY_OK ? HOSTS_KEY_NO_MEMORY : status;
}

enum hosts_key_status hosts_key_parse(const uint8_t *text, size_t size, hosts_key **key) {
    return parse(text, size, NULL, key);
}

/* The text of a key file of KEY_TEXT_LIMIT bytes at most; cleansed and freed by the caller. */
static enum hosts_key_status read_text(const char *path, uint8_t **text, size_t *size) {
    *text = NULL;
    *size = 0;
    /* Non-blocking, so that a named pipe does not hold us. */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        return errno == ENOENT || errno == ENOTDIR ? HOSTS_KEY_MISSING : HOSTS_KEY_UNREADABLE;
    }
    struct stat stat;
    enum hosts_key_status status = HOSTS_KEY_UNREADABLE;
    if (fstat(descriptor, &stat) != 0) goto done;
    errno = EINVAL;
    if (!S_ISREG(stat.st_mode) || stat.st_size > KEY_TEXT_LIMIT) goto done;
    if (stat.st_uid == getuid() && (stat.st_mode & 077) != 0) {
        status = HOSTS_KEY_EXPOSED;
        goto done;
    }
    *text = malloc(KEY_TEXT_LIMIT);
    if (!*text) {
        status = HOSTS_KEY_NO_MEMORY;
        goto done;
    }
    ssize_t count;
    while ((count = read(descriptor, *text + *size, KEY_TEXT_LIMIT - *size)) != 0) {
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) goto done;
        *size += (size_t)count;
    }
    status = HOSTS_KEY_OK;
done:
    close(descriptor);
    return status;
}

static void forget_text(uint8_t *text) {
    if (text) OPENSSL_cleanse(text, KEY_TEXT_LIMIT);
    free(text);
}

enum hosts_key_status hosts_key_read(const char *path, hosts_key **key) {
    uint8_t *text;
    size_t size;
    *key = NULL;
    enum hosts_key_status status = read_text(path, &text, &size);
    if (status == HOSTS_KEY_OK) status = hosts_key_parse(text, size, key);
    int code = errno;
    forget_text(text);
    errno = code;
    return status;
}

/* Moves the private key to locked memory. */
static enum hosts_key_status seal(hosts_key *key) {
    int size = i2d_PrivateKey(key->pkey, NULL);
    if (size <= 0) return HOSTS_KEY_UNSUPPORTED;
    key->der = hosts_locked_allocate((size_t)size);
    if (!key->der) return HOSTS_KEY_NO_LOCKED_MEMORY;
    key->der_size = (size_t)size;
    uint8_t *next = key->der;
    if (i2d_PrivateKey(key->pkey, &next) != size) return HOSTS_KEY_UNSUPPORTED;
    /* libcrypto erases what it frees of a private key. */
    EVP_PKEY_free(key->pkey);
    key->pkey = NULL;
    return HOSTS_KEY_OK;
}

enum hosts_key_status hosts_key_unlock(const char *path, const uint8_t *passphrase, size_t passphrase_size,
                                       hosts_key **key) {
    uint8_t *text;
    size_t size;
    struct hosts_passphrase given = {passphrase, passphrase_size};
    hosts_key *plain = NULL;
    *key = NULL;
    enum hosts_key_status status = read_text(path, &text, &size);
    if (status == HOSTS_KEY_OK) status = hosts_key_parse(text, size, &plain);
    if (status == HOSTS_KEY_ENCRYPTED) {
        hosts_key_free(plain);
        plain = NULL;
        status = parse(text, size, &given, &plain);
        if (status == HOSTS_KEY_OK) status = seal(plain);
    } else if (status == HOSTS_KEY_OK) {
        status = HOSTS_KEY_NOT_ENCRYPTED;
    }
    forget_text(text);
    if (status == HOSTS_KEY_OK) {
        *key = plain;
    } else {
        hosts_key_free(plain);
    }
    return status;
}

/* NULL: the algorithm hashes by itself (Ed25519). `*known` is cleared for a name that is none of ours. */
static const EVP_MD *hash_of(const char *algorithm, int *known) {
    *known = 1;
    if (strcmp(algorithm, "ssh-ed25519") == 0) return NULL;
    if (strcmp(algorithm, "ecdsa-sha2-nistp256") == 0) return EVP_sha256();
    if (strcmp(algorithm, "ecdsa-sha2-nistp384") == 0) return EVP_sha384();
    if (strcmp(algorithm, "ecdsa-sha2-nistp521") == 0) return EVP_sha512();
    if (strcmp(algorithm, "rsa-sha2-512") == 0) return EVP_sha512();
    if (strcmp(algorithm, "rsa-sha2-256") == 0) return EVP_sha256();
    *known = 0;
    return NULL;
}

static int sign_with(EVP_PKEY *pkey, const EVP_MD *hash, const uint8_t *data, size_t data_size,
                     uint8_t *signature, size_t *size) {
    uint8_t raw[HOSTS_SIGNATURE_LIMIT];
    size_t raw_size = sizeof raw;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (!context) return -1;
    int done = EVP_DigestSignInit(context, NULL, hash, NULL, pkey) == 1 &&
               EVP_DigestSign(context, raw, &raw_size, data, data_size) == 1;
    EVP_MD_CTX_free(context);
    if (!done) return -1;
    if (EVP_PKEY_get_base_id(pkey) == EVP_PKEY_EC) {
        return hosts_ecdsa_wire_signature(raw, raw_size, signature, size);
    }
    if (raw_size > *size) return -1;
    memcpy(signature, raw, raw_size);
    *size = raw_size;
    return 0;
}

int hosts_key_sign(const hosts_key *key, const char *algorithm, const uint8_t *data, size_t data_size,
                   uint8_t *signature, size_t *size) {
    int known = 0;
    const EVP_MD *hash = hash_of(algorithm, &known);
    if (!known) return -1;
    if (key->pkey) return sign_with(key->pkey, hash, data, data_size, signature, size);
    if (!key->der) return -1;
    const uint8_t *next = key->der;
    EVP_PKEY *pkey = d2i_AutoPrivateKey(NULL, &next, (long)key->der_size);
    if (!pkey) return -1;
    int code = sign_with(pkey, hash, data, data_size, signature, size);
    EVP_PKEY_free(pkey);
    return code;
}

int hosts_hmac_sha1(const uint8_t *key, size_t key_size, const uint8_t *text, size_t size,
                    uint8_t digest[HOSTS_SHA1_SIZE]) {
    unsigned length = HOSTS_SHA1_SIZE;
    return HMAC(EVP_sha1(), key, (int)key_size, text, size, digest, &length) ? 0 : -1;
}

int hosts_sha256(const uint8_t *text, size_t size, uint8_t digest[HOSTS_SHA256_SIZE]) {
    unsigned length = HOSTS_SHA256_SIZE;
    return EVP_Digest(text, size, digest, &length, EVP_sha256(), NULL) == 1 ? 0 : -1;
}
