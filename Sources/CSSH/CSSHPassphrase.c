#define _GNU_SOURCE
#include "CSSHPassphrase.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <string.h>
#include <sys/mman.h>

/* libbotan 2's C interface (botan/ffi.h 2.19.3), whose header needs an include path of its own. bcrypt_pbkdf is
 * OpenBSD's; libcrypto does not have it. */
int botan_pwdhash(const char *algorithm, size_t iterations, size_t second, size_t third, uint8_t *out,
                  size_t out_size, const char *passphrase, size_t passphrase_size, const uint8_t *salt,
                  size_t salt_size);

enum {
    /* ssh-keygen's default is 16 to 24 rounds, each about 10 ms; a file may ask for more, but not for more than
     * somebody waits for. */
    ROUNDS_LIMIT = 512,
    /* Of PKCS #8, where libcrypto's default is 2048; about 4 s. */
    ITERATIONS_LIMIT = 10 * 1000 * 1000,
    SALT_LIMIT = 64,
    TAG_SIZE = 16,
    MATERIAL_LIMIT = 64,
    CHACHA_KEY_SIZE = 32,
    CHACHA_VECTOR_SIZE = 16,
    CHACHA_BLOCK_SIZE = 8,
};

static const char chacha_name[] = "chacha20-poly1305@openssh.com";

static uint32_t number(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static const EVP_CIPHER *cipher_of(const char *name) {
    if (strcmp(name, "aes256-ctr") == 0) return EVP_aes_256_ctr();
    if (strcmp(name, "aes192-ctr") == 0) return EVP_aes_192_ctr();
    if (strcmp(name, "aes128-ctr") == 0) return EVP_aes_128_ctr();
    if (strcmp(name, "aes256-cbc") == 0) return EVP_aes_256_cbc();
    if (strcmp(name, "aes192-cbc") == 0) return EVP_aes_192_cbc();
    if (strcmp(name, "aes128-cbc") == 0) return EVP_aes_128_cbc();
    if (strcmp(name, "aes256-gcm@openssh.com") == 0) return EVP_aes_256_gcm();
    if (strcmp(name, "aes128-gcm@openssh.com") == 0) return EVP_aes_128_gcm();
    if (strcmp(name, "3des-cbc") == 0) return EVP_des_ede3_cbc();
    return NULL;
}

/* The options of bcrypt: a salt and the number of rounds (OpenSSH's PROTOCOL.key, section 2). */
static enum hosts_key_status derive(const struct hosts_encrypted *encrypted,
                                    const struct hosts_passphrase *passphrase, uint8_t *material,
                                    size_t material_size) {
    if (encrypted->options_size < 8) return HOSTS_KEY_MALFORMED;
    size_t salt_size = number(encrypted->options);
    if (salt_size == 0 || salt_size > SALT_LIMIT || salt_size != encrypted->options_size - 8) {
        return HOSTS_KEY_MALFORMED;
    }
    const uint8_t *salt = encrypted->options + 4;
    uint32_t rounds = number(salt + salt_size);
    if (rounds == 0) return HOSTS_KEY_MALFORMED;
    if (rounds > ROUNDS_LIMIT) return HOSTS_KEY_TOO_COSTLY;
    /* A size of 0 would make it look for a NUL. */
    if (passphrase->size == 0) return HOSTS_KEY_WRONG_PASSPHRASE;
    int code = botan_pwdhash("Bcrypt-PBKDF", rounds, 0, 0, material, material_size,
                             (const char *)passphrase->bytes, passphrase->size, salt, salt_size);
    return code == 0 ? HOSTS_KEY_OK : HOSTS_KEY_NO_MEMORY;
}

static enum hosts_key_status run(EVP_CIPHER_CTX *context, const struct hosts_encrypted *encrypted,
                                 uint8_t *plain, int has_tag) {
    int count = 0, rest = 0;
    EVP_CIPHER_CTX_set_padding(context, 0);
    if (has_tag && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, TAG_SIZE, (void *)encrypted->tag) != 1) {
        return HOSTS_KEY_MALFORMED;
    }
    if (EVP_DecryptUpdate(context, plain, &count, encrypted->text, (int)encrypted->text_size) != 1) {
        return HOSTS_KEY_MALFORMED;
    }
    if (EVP_DecryptFinal_ex(context, plain + count, &rest) != 1) {
        return has_tag ? HOSTS_KEY_WRONG_PASSPHRASE : HOSTS_KEY_MALFORMED;
    }
    return HOSTS_KEY_OK;
}

static enum hosts_key_status decrypt_with(const EVP_CIPHER *cipher, const struct hosts_encrypted *encrypted,
                                          const struct hosts_passphrase *passphrase, uint8_t *plain) {
    int has_tag = (EVP_CIPHER_get_flags(cipher) & EVP_CIPH_FLAG_AEAD_CIPHER) != 0;
    size_t block = (size_t)EVP_CIPHER_get_block_size(cipher);
    if (encrypted->text_size % block != 0) return HOSTS_KEY_MALFORMED;
    if (encrypted->tag_size != (has_tag ? (size_t)TAG_SIZE : 0)) return HOSTS_KEY_MALFORMED;
    size_t key_size = (size_t)EVP_CIPHER_get_key_length(cipher);
    size_t vector_size = (size_t)EVP_CIPHER_get_iv_length(cipher);
    uint8_t material[MATERIAL_LIMIT];
    if (key_size + vector_size > sizeof material) return HOSTS_KEY_UNSUPPORTED;
    enum hosts_key_status status = derive(encrypted, passphrase, material, key_size + vector_size);
    if (status == HOSTS_KEY_OK) {
        EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
        status = HOSTS_KEY_NO_MEMORY;
        if (context && EVP_DecryptInit_ex(context, cipher, NULL, material, material + key_size) == 1) {
            status = run(context, encrypted, plain, has_tag);
        }
        EVP_CIPHER_CTX_free(context);
    }
    OPENSSL_cleanse(material, sizeof material);
    return status;
}

/* One run of ChaCha20 from the given block on; the packet number in the rest of the vector is 0 for a file. */
static int chacha(const uint8_t *key, uint8_t block, const uint8_t *text, size_t size, uint8_t *result) {
    uint8_t vector[CHACHA_VECTOR_SIZE] = {block};
    int count = 0;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int done = context && EVP_EncryptInit_ex(context, EVP_chacha20(), NULL, key, vector) == 1 &&
               EVP_EncryptUpdate(context, result, &count, text, (int)size) == 1 && (size_t)count == size;
    EVP_CIPHER_CTX_free(context);
    return done;
}

/* OpenSSH's PROTOCOL.chacha20poly1305: of the two keys a file needs the first one only. Block 0 of its stream is the
 * key of the tag, the text begins with block 1. */
static enum hosts_key_status decrypt_chacha(const struct hosts_encrypted *encrypted,
                                            const struct hosts_passphrase *passphrase, uint8_t *plain) {
    static const uint8_t zero[CHACHA_KEY_SIZE];
    if (encrypted->text_size % CHACHA_BLOCK_SIZE != 0 || encrypted->tag_size != TAG_SIZE) {
        return HOSTS_KEY_MALFORMED;
    }
    uint8_t material[2 * CHACHA_KEY_SIZE], tag_key[CHACHA_KEY_SIZE], tag[TAG_SIZE];
    size_t tag_size = 0;
    enum hosts_key_status status = derive(encrypted, passphrase, material, sizeof material);
    if (status == HOSTS_KEY_OK) {
        status = HOSTS_KEY_NO_MEMORY;
        if (chacha(material, 0, zero, sizeof zero, tag_key) &&
            EVP_Q_mac(NULL, "POLY1305", NULL, NULL, NULL, tag_key, sizeof tag_key, encrypted->text,
                      encrypted->text_size, tag, sizeof tag, &tag_size)) {
            status = HOSTS_KEY_OK;
            if (tag_size != TAG_SIZE || CRYPTO_memcmp(tag, encrypted->tag, TAG_SIZE) != 0) {
                status = HOSTS_KEY_WRONG_PASSPHRASE;
            } else if (!chacha(material, 1, encrypted->text, encrypted->text_size, plain)) {
                status = HOSTS_KEY_NO_MEMORY;
            }
        }
    }
    OPENSSL_cleanse(material, sizeof material);
    OPENSSL_cleanse(tag_key, sizeof tag_key);
    return status;
}

enum hosts_key_status hosts_decrypt(const struct hosts_encrypted *encrypted,
                                    const struct hosts_passphrase *passphrase, uint8_t *plain) {
    if (encrypted->text_size == 0) return HOSTS_KEY_MALFORMED;
    if (strcmp(encrypted->cipher, chacha_name) == 0) return decrypt_chacha(encrypted, passphrase, plain);
    const EVP_CIPHER *cipher = cipher_of(encrypted->cipher);
    return cipher ? decrypt_with(cipher, encrypted, passphrase, plain) : HOSTS_KEY_UNSUPPORTED;
}

/* The iterations that a scheme asks for (RFC 8018); -1 for one without such a number. scrypt is bounded by
 * libcrypto, which gives it 32 MiB. */
static int64_t iterations_of(const X509_ALGOR *scheme) {
    const ASN1_OBJECT *name;
    const void *value;
    int type;
    int64_t count = -1;
    X509_ALGOR_get0(&name, &type, &value, scheme);
    if (type != V_ASN1_SEQUENCE) return -1;
    switch (OBJ_obj2nid(name)) {
    case NID_pbes2: {
        PBE2PARAM *parameters = ASN1_item_unpack(value, ASN1_ITEM_rptr(PBE2PARAM));
        if (parameters) count = iterations_of(parameters->keyfunc);
        PBE2PARAM_free(parameters);
        return count;
    }
    case NID_id_pbkdf2: {
        PBKDF2PARAM *parameters = ASN1_item_unpack(value, ASN1_ITEM_rptr(PBKDF2PARAM));
        /* A number that is too large for the type is too large for anybody. */
        if (parameters && ASN1_INTEGER_get_int64(&count, parameters->iter) != 1) count = INT64_MAX;
        PBKDF2PARAM_free(parameters);
        return count;
    }
    case NID_id_scrypt: return -1;
    default: {
        PBEPARAM *parameters = ASN1_item_unpack(value, ASN1_ITEM_rptr(PBEPARAM));
        if (parameters && ASN1_INTEGER_get_int64(&count, parameters->iter) != 1) count = INT64_MAX;
        PBEPARAM_free(parameters);
        return count;
    }
    }
}

int hosts_is_costly_pkcs8(const uint8_t *der, size_t size) {
    const uint8_t *next = der;
    X509_SIG *encrypted = d2i_X509_SIG(NULL, &next, (long)size);
    if (!encrypted) return 0;
    const X509_ALGOR *scheme;
    X509_SIG_get0(encrypted, &scheme, NULL);
    int is_costly = iterations_of(scheme) > ITERATIONS_LIMIT;
    X509_SIG_free(encrypted);
    return is_costly;
}

void *hosts_locked_allocate(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    if (mlock(memory, size) == 0 && madvise(memory, size, MADV_DONTDUMP) == 0) return memory;
    munmap(memory, size);
    return NULL;
}

void hosts_locked_free(void *memory, size_t size) {
    if (!memory) return;
    OPENSSL_cleanse(memory, size);
    /* Unlocks it, too. */
    munmap(memory, size);
}
