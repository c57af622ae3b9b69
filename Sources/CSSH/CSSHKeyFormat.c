#define _GNU_SOURCE
#include "CSSHKeyFormat.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/param_build.h>
#include <stdlib.h>
#include <string.h>

static const char begin_line[] = "-----BEGIN OPENSSH PRIVATE KEY-----";
static const char end_line[] = "-----END OPENSSH PRIVATE KEY-----";
static const char magic[] = "openssh-key-v1";

enum {
    ED25519_SIZE = 32,
    /* Largest number in a key: RSA with 16384 bits. */
    NUMBER_LIMIT = 2049,
};

/* Reading. */

struct reader {
    const uint8_t *next;
    size_t left;
};

static int read_number(struct reader *reader, uint32_t *number) {
    if (reader->left < 4) return -1;
    const uint8_t *p = reader->next;
    *number = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    reader->next += 4;
    reader->left -= 4;
    return 0;
}

static int read_string(struct reader *reader, struct reader *string) {
    uint32_t size;
    if (read_number(reader, &size) != 0 || size > reader->left) return -1;
    string->next = reader->next;
    string->left = size;
    reader->next += size;
    reader->left -= size;
    return 0;
}

static int is_text(const struct reader *string, const char *text) {
    return string->left == strlen(text) && memcmp(string->next, text, string->left) == 0;
}

static BIGNUM *read_mpint(struct reader *reader) {
    struct reader string;
    if (read_string(reader, &string) != 0 || string.left > NUMBER_LIMIT) return NULL;
    return BN_bin2bn(string.next, (int)string.left, NULL);
}

/* Base64 between the two lines; the result is cleansed and freed by the caller. */
static uint8_t *decode_armour(const uint8_t *text, size_t size, size_t *decoded_size) {
    const uint8_t *start = text + sizeof begin_line - 1;
    size_t left = size - (sizeof begin_line - 1);
    const uint8_t *end = memmem(start, left, end_line, sizeof end_line - 1);
    EVP_ENCODE_CTX *context = end ? EVP_ENCODE_CTX_new() : NULL;
    uint8_t *bytes = context ? malloc((size_t)(end - start) + 4) : NULL;
    int count = 0, rest = 0, failed = 1;
    if (bytes) {
        EVP_DecodeInit(context);
        failed = EVP_DecodeUpdate(context, bytes, &count, start, (int)(end - start)) < 0 ||
                 EVP_DecodeFinal(context, bytes + count, &rest) != 1;
    }
    EVP_ENCODE_CTX_free(context);
    *decoded_size = (size_t)(count + rest);
    if (!failed) return bytes;
    /* What was decoded before the damage may be a whole key. */
    if (bytes) OPENSSL_cleanse(bytes, (size_t)(end - start));
    free(bytes);
    return NULL;
}

/* Building private keys. */

static EVP_PKEY *build(const char *type, OSSL_PARAM_BLD *builder) {
    OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY_CTX *context = parameters ? EVP_PKEY_CTX_new_from_name(NULL, type, NULL) : NULL;
    EVP_PKEY *pkey = NULL;
    if (context && EVP_PKEY_fromdata_init(context) == 1) {
        EVP_PKEY_fromdata(context, &pkey, EVP_PKEY_KEYPAIR, parameters);
    }
    EVP_PKEY_CTX_free(context);
    /* OSSL_PARAM_free erases only what lies in the secure heap (3.0, crypto/params_dup.c). */
    for (OSSL_PARAM *next = parameters; next && next->key; next++) {
        OPENSSL_cleanse(next->data, next->data_size);
    }
    OSSL_PARAM_free(parameters);
    return pkey;
}

static EVP_PKEY *read_ed25519(struct reader *reader) {
    struct reader public_key, private_key;
    if (read_string(reader, &public_key) != 0 || read_string(reader, &private_key) != 0) return NULL;
    /* The private string is the seed and then the public key again. */
    if (public_key.left != ED25519_SIZE || private_key.left != 2 * ED25519_SIZE) return NULL;
    if (memcmp(private_key.next + ED25519_SIZE, public_key.next, ED25519_SIZE) != 0) return NULL;
    return EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, private_key.next, ED25519_SIZE);
}

static EVP_PKEY *read_ecdsa(struct reader *reader) {
    static const struct {
        const char *curve;
        const char *group;
    } curves[] = {{"nistp256", "P-256"}, {"nistp384", "P-384"}, {"nistp521", "P-521"}};
    struct reader curve, point;
    if (read_string(reader, &curve) != 0 || read_string(reader, &point) != 0) return NULL;
    const char *group = NULL;
    for (size_t i = 0; i < sizeof curves / sizeof curves[0]; i++) {
        if (is_text(&curve, curves[i].curve)) group = curves[i].group;
    }
    BIGNUM *secret = group ? read_mpint(reader) : NULL;
    OSSL_PARAM_BLD *builder = secret ? OSSL_PARAM_BLD_new() : NULL;
    EVP_PKEY *pkey = NULL;
    if (builder && OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, group, 0) == 1 &&
        OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point.next, point.left) == 1 &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, secret) == 1) {
        pkey = build("EC", builder);
    }
    OSSL_PARAM_BLD_free(builder);
    BN_clear_free(secret);
    return pkey;
}

/* secret mod (prime - 1): libcrypto wants it for the fast path, the file does not hold it. */
static BIGNUM *reduced_exponent(const BIGNUM *secret, const BIGNUM *prime, BN_CTX *context) {
    BIGNUM *result = BN_dup(prime);
    if (result && BN_sub_word(result, 1) == 1 && BN_mod(result, secret, result, context) == 1) return result;
    BN_clear_free(result);
    return NULL;
}

static EVP_PKEY *read_rsa(struct reader *reader) {
    enum { N, E, D, IQMP, P, Q, DP, DQ, COUNT };
    static const char *const names[COUNT] = {
        OSSL_PKEY_PARAM_RSA_N,       OSSL_PKEY_PARAM_RSA_E,        OSSL_PKEY_PARAM_RSA_D,
        OSSL_PKEY_PARAM_RSA_COEFFICIENT1, OSSL_PKEY_PARAM_RSA_FACTOR1, OSSL_PKEY_PARAM_RSA_FACTOR2,
        OSSL_PKEY_PARAM_RSA_EXPONENT1, OSSL_PKEY_PARAM_RSA_EXPONENT2};
    BIGNUM *numbers[COUNT] = {NULL};
    EVP_PKEY *pkey = NULL;
    BN_CTX *context = BN_CTX_new();
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    if (!context || !builder) goto done;
    for (int i = N; i <= Q; i++) {
        numbers[i] = read_mpint(reader);
        if (!numbers[i]) goto done;
    }
    numbers[DP] = reduced_exponent(numbers[D], numbers[P], context);
    numbers[DQ] = reduced_exponent(numbers[D], numbers[Q], context);
    for (int i = 0; i < COUNT; i++) {
        if (!numbers[i] || OSSL_PARAM_BLD_push_BN(builder, names[i], numbers[i]) != 1) goto done;
    }
    pkey = build("RSA", builder);
done:
    OSSL_PARAM_BLD_free(builder);
    BN_CTX_free(context);
    for (int i = 0; i < COUNT; i++) BN_clear_free(numbers[i]);
    return pkey;
}

static enum hosts_key_status read_private(struct reader *reader, EVP_PKEY **pkey) {
    uint32_t first, second;
    struct reader type;
    if (read_number(reader, &first) != 0 || read_number(reader, &second) != 0) return HOSTS_KEY_MALFORMED;
    if (first != second || read_string(reader, &type) != 0) return HOSTS_KEY_MALFORMED;
    if (is_text(&type, "ssh-ed25519")) {
        *pkey = read_ed25519(reader);
    } else if (type.left > 11 && memcmp(type.next, "ecdsa-sha2-", 11) == 0) {
        *pkey = read_ecdsa(reader);
    } else if (is_text(&type, "ssh-rsa")) {
        *pkey = read_rsa(reader);
    } else {
        return HOSTS_KEY_UNSUPPORTED;
    }
    return *pkey ? HOSTS_KEY_OK : HOSTS_KEY_MALFORMED;
}

int hosts_is_openssh_key(const uint8_t *text, size_t size) {
    return size > sizeof begin_line && memcmp(text, begin_line, sizeof begin_line - 1) == 0;
}

static enum hosts_key_status read_encrypted(const struct hosts_encrypted *encrypted,
                                            const struct hosts_passphrase *passphrase, EVP_PKEY **pkey) {
    uint8_t *plain = hosts_locked_allocate(encrypted->text_size + 1);
    if (!plain) return HOSTS_KEY_NO_LOCKED_MEMORY;
    enum hosts_key_status status = hosts_decrypt(encrypted, passphrase, plain);
    if (status == HOSTS_KEY_OK) {
        struct reader reader = {plain, encrypted->text_size};
        /* Two numbers that are the same tell a right passphrase. */
        status = reader.left >= 8 && memcmp(plain, plain + 4, 4) == 0 ? read_private(&reader, pkey)
                                                                      : HOSTS_KEY_WRONG_PASSPHRASE;
    }
    hosts_locked_free(plain, encrypted->text_size + 1);
    return status;
}

/* The two halves stand in the file independently; a signature by another key than the one that is offered would
 * look like a refusal. */
static enum hosts_key_status check_halves(struct hosts_openssh_key *key) {
    size_t size = 0;
    uint8_t *blob = hosts_public_blob(key->pkey, &size);
    if (!blob) return HOSTS_KEY_NO_MEMORY;
    int is_same = size == key->public_size && memcmp(blob, key->public_blob, size) == 0;
    free(blob);
    return is_same ? HOSTS_KEY_OK : HOSTS_KEY_MALFORMED;
}

static enum hosts_key_status read_container(struct reader *reader, const struct hosts_passphrase *passphrase,
                                            struct hosts_openssh_key *key) {
    struct reader cipher, kdf, options, public_key, private_part;
    uint32_t count;
    if (reader->left < sizeof magic || memcmp(reader->next, magic, sizeof magic) != 0) {
        return HOSTS_KEY_MALFORMED;
    }
    reader->next += sizeof magic;
    reader->left -= sizeof magic;
    if (read_string(reader, &cipher) != 0 || read_string(reader, &kdf) != 0 ||
        read_string(reader, &options) != 0 || read_number(reader, &count) != 0 || count != 1 ||
        read_string(reader, &public_key) != 0 || read_string(reader, &private_part) != 0 ||
        public_key.left == 0) {
        return HOSTS_KEY_MALFORMED;
    }
    key->public_blob = malloc(public_key.left);
    if (!key->public_blob) return HOSTS_KEY_NO_MEMORY;
    memcpy(key->public_blob, public_key.next, public_key.left);
    key->public_size = public_key.left;
    if (is_text(&cipher, "none")) return read_private(&private_part, &key->pkey);
    if (!passphrase) return HOSTS_KEY_ENCRYPTED;
    struct hosts_encrypted encrypted = {.options = options.next,
                                        .options_size = options.left,
                                        .text = private_part.next,
                                        .text_size = private_part.left,
                                        .tag = reader->next,
                                        .tag_size = reader->left};
    if (!is_text(&kdf, "bcrypt") || cipher.left >= sizeof encrypted.cipher) return HOSTS_KEY_UNSUPPORTED;
    memcpy(encrypted.cipher, cipher.next, cipher.left);
    return read_encrypted(&encrypted, passphrase, &key->pkey);
}

enum hosts_key_status hosts_parse_openssh_key(const uint8_t *text, size_t size,
                                              const struct hosts_passphrase *passphrase,
                                              struct hosts_openssh_key *key) {
    size_t decoded_size = 0;
    uint8_t *decoded = decode_armour(text, size, &decoded_size);
    if (!decoded) return HOSTS_KEY_MALFORMED;
    struct reader reader = {decoded, decoded_size};
    enum hosts_key_status status = read_container(&reader, passphrase, key);
    if (status == HOSTS_KEY_OK) status = check_halves(key);
    if (status != HOSTS_KEY_OK) {
        EVP_PKEY_free(key->pkey);
        key->pkey = NULL;
    }
    OPENSSL_cleanse(decoded, decoded_size);
    free(decoded);
    return status;
}

/* Writing. */

struct writer {
    uint8_t *bytes;
    size_t size;
    size_t capacity;
};

static int write_string(struct writer *writer, const void *bytes, size_t size) {
    if (writer->capacity - writer->size < 4 || writer->capacity - writer->size - 4 < size) return -1;
    uint8_t *p = writer->bytes + writer->size;
    p[0] = (uint8_t)(size >> 24);
    p[1] = (uint8_t)(size >> 16);
    p[2] = (uint8_t)(size >> 8);
    p[3] = (uint8_t)size;
    memcpy(p + 4, bytes, size);
    writer->size += 4 + size;
    return 0;
}

static int write_text(struct writer *writer, const char *text) {
    return write_string(writer, text, strlen(text));
}

/* RFC 4251 section 5: big-endian, and a leading zero where the first bit would mean a negative number. */
static int write_mpint(struct writer *writer, const BIGNUM *number) {
    uint8_t bytes[NUMBER_LIMIT] = {0};
    int size = BN_num_bytes(number);
    if (size >= NUMBER_LIMIT) return -1;
    BN_bn2bin(number, bytes + 1);
    int has_sign_bit = size > 0 && (bytes[1] & 0x80) != 0;
    return write_string(writer, has_sign_bit ? bytes : bytes + 1, (size_t)size + (size_t)has_sign_bit);
}

static int write_ed25519(struct writer *writer, EVP_PKEY *pkey) {
    uint8_t bytes[ED25519_SIZE];
    size_t size = sizeof bytes;
    if (EVP_PKEY_get_raw_public_key(pkey, bytes, &size) != 1) return -1;
    return write_text(writer, "ssh-ed25519") == 0 && write_string(writer, bytes, size) == 0 ? 0 : -1;
}

static int write_rsa(struct writer *writer, EVP_PKEY *pkey) {
    BIGNUM *modulus = NULL, *exponent = NULL;
    int code = -1;
    if (EVP_PKEY_get_bn_param(pkey, OSSL_PKEY_PARAM_RSA_N, &modulus) == 1 &&
        EVP_PKEY_get_bn_param(pkey, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1 &&
        write_text(writer, "ssh-rsa") == 0 && write_mpint(writer, exponent) == 0 &&
        write_mpint(writer, modulus) == 0) {
        code = 0;
    }
    BN_free(modulus);
    BN_free(exponent);
    return code;
}

static int write_ecdsa(struct writer *writer, EVP_PKEY *pkey) {
    static const struct {
        const char *group;
        const char *type;
        const char *curve;
    } curves[] = {{"prime256v1", "ecdsa-sha2-nistp256", "nistp256"},
                  {"secp384r1", "ecdsa-sha2-nistp384", "nistp384"},
                  {"secp521r1", "ecdsa-sha2-nistp521", "nistp521"}};
    char group[64];
    BIGNUM *x = NULL, *y = NULL;
    /* 0x04, then x and y at the length of the field (SEC 1 section 2.3.3): built by hand, as the key may ask
     * for the compressed form. */
    uint8_t point[1 + 2 * 66] = {4};
    int code = -1;
    int width = (EVP_PKEY_get_bits(pkey) + 7) / 8;
    if (width > 66 || EVP_PKEY_get_group_name(pkey, group, sizeof group, NULL) != 1) return -1;
    if (EVP_PKEY_get_bn_param(pkey, OSSL_PKEY_PARAM_EC_PUB_X, &x) == 1 &&
        EVP_PKEY_get_bn_param(pkey, OSSL_PKEY_PARAM_EC_PUB_Y, &y) == 1 &&
        BN_bn2binpad(x, point + 1, width) == width && BN_bn2binpad(y, point + 1 + width, width) == width) {
        for (size_t i = 0; i < sizeof curves / sizeof curves[0]; i++) {
            if (strcmp(group, curves[i].group) != 0) continue;
            code = write_text(writer, curves[i].type) == 0 && write_text(writer, curves[i].curve) == 0 &&
                           write_string(writer, point, 1 + 2 * (size_t)width) == 0
                       ? 0
                       : -1;
        }
    }
    BN_free(x);
    BN_free(y);
    return code;
}

uint8_t *hosts_public_blob(EVP_PKEY *pkey, size_t *size) {
    struct writer writer = {.capacity = 2 * NUMBER_LIMIT + 64};
    writer.bytes = malloc(writer.capacity);
    if (!writer.bytes) return NULL;
    int code = -1;
    switch (EVP_PKEY_get_base_id(pkey)) {
    case EVP_PKEY_ED25519: code = write_ed25519(&writer, pkey); break;
    case EVP_PKEY_EC: code = write_ecdsa(&writer, pkey); break;
    case EVP_PKEY_RSA: code = write_rsa(&writer, pkey); break;
    default: break;
    }
    *size = writer.size;
    if (code == 0) return writer.bytes;
    free(writer.bytes);
    return NULL;
}

int hosts_ecdsa_wire_signature(const uint8_t *der, size_t der_size, uint8_t *signature, size_t *size) {
    const uint8_t *next = der;
    ECDSA_SIG *parsed = d2i_ECDSA_SIG(NULL, &next, (long)der_size);
    if (!parsed) return -1;
    struct writer writer = {.bytes = signature, .capacity = *size};
    int code = write_mpint(&writer, ECDSA_SIG_get0_r(parsed)) == 0 &&
                       write_mpint(&writer, ECDSA_SIG_get0_s(parsed)) == 0
                   ? 0
                   : -1;
    ECDSA_SIG_free(parsed);
    *size = writer.size;
    return code;
}
