/* Private keys for user authentication: reading, public part, signing. */
#ifndef HOSTS_CSSH_KEY_H
#define HOSTS_CSSH_KEY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A private key, or what is known of one that cannot be used. Immutable; may be used on any one thread at a
 * time. */
typedef struct hosts_key hosts_key;

enum hosts_key_status {
    HOSTS_KEY_OK = 0,
    HOSTS_KEY_MISSING,
    /* Not readable, not a regular file, or larger than a key can be; errno tells for the first. */
    HOSTS_KEY_UNREADABLE,
    /* Readable by others: ssh refuses such a file, too. */
    HOSTS_KEY_EXPOSED,
    /* The public part is known in the OpenSSH format, not in PEM. */
    HOSTS_KEY_ENCRYPTED,
    /* A kind that this program cannot sign with, e.g. FIDO (sk-*). */
    HOSTS_KEY_UNSUPPORTED,
    HOSTS_KEY_MALFORMED,
    HOSTS_KEY_NO_MEMORY,
    /* Of `hosts_key_unlock` only. */
    HOSTS_KEY_WRONG_PASSPHRASE,
    HOSTS_KEY_NOT_ENCRYPTED,
    /* The file asks for more rounds than anybody would wait for. */
    HOSTS_KEY_TOO_COSTLY,
    /* No memory can be kept out of swap (RLIMIT_MEMLOCK). */
    HOSTS_KEY_NO_LOCKED_MEMORY,
};

/* Reads the private key in `path`: the OpenSSH format, or any PEM that libcrypto reads. Blocks on the file.
 * `*key` is set for OK, and for ENCRYPTED and UNSUPPORTED when the public part is known; free it. */
enum hosts_key_status hosts_key_read(const char *path, hosts_key **key);
/* The same for a text in memory. */
enum hosts_key_status hosts_key_parse(const uint8_t *text, size_t size, hosts_key **key);
/* Reads an encrypted key. The private part of the result lies in memory that is never written to swap or to a core
 * dump; libcrypto sees it only while it signs. Blocks on the file, and computes for 0.2 s and more. `*key` is set
 * for OK only. */
enum hosts_key_status hosts_key_unlock(const char *path, const uint8_t *passphrase, size_t passphrase_size,
                                       hosts_key **key);
void hosts_key_free(hosts_key *key);

/* The public key as on the wire (RFC 4253 section 6.6); belongs to the key. */
const uint8_t *hosts_key_public(const hosts_key *key, size_t *size);

/* Signs for user authentication. `algorithm` is the name in the signed data and chooses the hash of an RSA
 * key. Writes the bare signature, without its algorithm name, to `signature`; `*size` is its capacity and
 * then its length. Returns 0, or -1. */
int hosts_key_sign(const hosts_key *key, const char *algorithm, const uint8_t *data, size_t data_size,
                   uint8_t *signature, size_t *size);

/* Longest bare signature: RSA with 16384 bits. */
enum { HOSTS_SIGNATURE_LIMIT = 2048 };

enum { HOSTS_SHA1_SIZE = 20, HOSTS_SHA256_SIZE = 32 };

/* Return 0, or -1 when libcrypto cannot. */
int hosts_hmac_sha1(const uint8_t *key, size_t key_size, const uint8_t *text, size_t size,
                    uint8_t digest[HOSTS_SHA1_SIZE]);
int hosts_sha256(const uint8_t *text, size_t size, uint8_t digest[HOSTS_SHA256_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
