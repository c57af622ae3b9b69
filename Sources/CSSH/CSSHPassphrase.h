/* What a passphrase is for: the cipher of OpenSSH's private key format, and memory for what it protects. */
#ifndef HOSTS_CSSH_PASSPHRASE_H
#define HOSTS_CSSH_PASSPHRASE_H

#include <stddef.h>
#include <stdint.h>

#include "CSSHKey.h"

struct hosts_passphrase {
    const uint8_t *bytes;
    size_t size;
};

/* How the private part is encrypted: names and options as they stand in the file; the part may be followed by a
 * tag. */
struct hosts_encrypted {
    char cipher[64];
    const uint8_t *options;
    size_t options_size;
    const uint8_t *text;
    size_t text_size;
    const uint8_t *tag;
    size_t tag_size;
};

/* Decrypts into `plain`, which has room for `text_size` bytes. Whether the passphrase was right is seen in what
 * comes out, but for ciphers with a tag. Takes as long as the file's rounds ask for: 0.2 s by default. */
enum hosts_key_status hosts_decrypt(const struct hosts_encrypted *encrypted,
                                    const struct hosts_passphrase *passphrase, uint8_t *plain);

/* Whether an encrypted PKCS #8 key, in DER, asks for more iterations than anybody would wait for. */
int hosts_is_costly_pkcs8(const uint8_t *der, size_t size);

/* Memory that is never written to swap or to a core dump, and is erased when it is given back. NULL: the limit on
 * locked memory is used up (RLIMIT_MEMLOCK), or there is none left. */
void *hosts_locked_allocate(size_t size);
void hosts_locked_free(void *memory, size_t size);

#endif
