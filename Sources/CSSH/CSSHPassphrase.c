#define _GNU_SOURCE
#include "CSSHPassphrase.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/mman.h>

/* libbotan 2's C interface (botan/ffi.h 2.19.3), whose header needs an include path of its own. bcrypt_pbkdf is
 * OpenBSD's; libcrypto does not have it. */
int botan_pwdhash(const char *algorithm, size_t iterations, size_t second, size_t third, uint8_t *out,
                  size_t out_size, const char *passphrase, size_t passphrase_size, const uint8_t *salt,
                  size_t salt_size);

enum {
    /* ssh-keygen's default is 16 to 24 rounds, each about 10 ms; a file may ask for more, but not for an hour. */
    ROUNDS_LIMIT = 4096,
    SALT_LIMIT = 64,
    TAG_SIZE = 16,
    MATERIAL_LIMIT = 64,
};

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

enum hosts_key_status hosts_decrypt(const struct hosts_encrypted *encrypted,
                                    const struct hosts_passphrase *passphrase, uint8_t *plain) {
    const EVP_CIPHER *cipher = cipher_of(encrypted->cipher);
    if (!cipher) return HOSTS_KEY_UNSUPPORTED;
    int has_tag = (EVP_CIPHER_get_flags(cipher) & EVP_CIPH_FLAG_AEAD_CIPHER) != 0;
    size_t block = (size_t)EVP_CIPHER_get_block_size(cipher);
    if (encrypted->text_size == 0 || encrypted->text_size % block != 0) return HOSTS_KEY_MALFORMED;
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
