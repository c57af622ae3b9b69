/* The encodings of keys and signatures: OpenSSH's private key format (its PROTOCOL.key), RFC 4253 public
 * keys, and RFC 5656 signatures. */
#ifndef HOSTS_CSSH_KEY_FORMAT_H
#define HOSTS_CSSH_KEY_FORMAT_H

#include <openssl/evp.h>
#include <stddef.h>
#include <stdint.h>

#include "CSSHKey.h"
#include "CSSHPassphrase.h"

struct hosts_openssh_key {
    /* NULL when the key is encrypted or of a kind that cannot be used. */
    EVP_PKEY *pkey;
    /* In clear text even when the key is encrypted. */
    uint8_t *public_blob;
    size_t public_size;
};

int hosts_is_openssh_key(const uint8_t *text, size_t size);
/* Whatever is set in `key` belongs to the caller, also on failure. NULL `passphrase`: an encrypted key stays so. */
enum hosts_key_status hosts_parse_openssh_key(const uint8_t *text, size_t size,
                                              const struct hosts_passphrase *passphrase,
                                              struct hosts_openssh_key *key);

/* The public key as on the wire, to be freed; NULL for a kind that SSH does not know, or without memory. */
uint8_t *hosts_public_blob(EVP_PKEY *pkey, size_t *size);

/* From the DER of libcrypto to `mpint r, mpint s`. `*size`: capacity, then length. Returns 0, or -1. */
int hosts_ecdsa_wire_signature(const uint8_t *der, size_t der_size, uint8_t *signature, size_t *size);

#endif
