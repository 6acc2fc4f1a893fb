#pragma once
#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/param_build.h>
#include <openssl/x509.h>

/* Macros do not import into Swift: each that is needed stands here as a function. */

static inline void *shim_secure_zalloc(size_t count) {
    return OPENSSL_secure_zalloc(count);
}

static inline void shim_secure_clear_free(void *memory, size_t count) {
    OPENSSL_secure_clear_free(memory, count);
}

static inline void shim_free(void *memory) {
    OPENSSL_free(memory);
}

/* Overwrites what the functions called before have left on the stack: as much as they may have used below this frame. */
__attribute__((noinline, unused)) static void shim_wipe_stack(void) {
    unsigned char used[32768];
    OPENSSL_cleanse(used, sizeof used);
}

/* What EVP_PKEY_fromdata makes: both halves. */
static inline int shim_keypair(void) {
    return EVP_PKEY_KEYPAIR;
}
