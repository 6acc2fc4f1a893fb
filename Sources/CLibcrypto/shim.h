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
#include <openssl/pem.h>
#include <openssl/x509.h>

/* Macros do not import into Swift: each that is needed is a function here. */

static inline void *shim_secure_zalloc(size_t count) {
    return OPENSSL_secure_zalloc(count);
}

static inline void shim_secure_clear_free(void *memory, size_t count) {
    OPENSSL_secure_clear_free(memory, count);
}

static inline void shim_free(void *memory) {
    OPENSSL_free(memory);
}

/* What EVP_PKEY_fromdata makes: both halves. */
static inline int shim_keypair(void) {
    return EVP_PKEY_KEYPAIR;
}

/* The parameters of a key on P-256, its scalar in secure memory; NULL without memory. In C because the builder keeps the
   pointers that it is given until the parameters are made, and a Swift text is at its address for one call only. */
static inline OSSL_PARAM *shim_p256_parameters(const BIGNUM *scalar, const unsigned char *point, size_t length) {
    OSSL_PARAM *parameters = NULL;
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    if (builder == NULL) return NULL;
    if (OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, SN_X9_62_prime256v1, 0)
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, scalar)
        && OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, length))
        parameters = OSSL_PARAM_BLD_to_param(builder);
    OSSL_PARAM_BLD_free(builder);
    return parameters;
}

/* What EVP_PKEY_fromdata makes of a public half. */
static inline int shim_public_key(void) {
    return EVP_PKEY_PUBLIC_KEY;
}

/* The parameters of an RSA key's public half; NULL without memory. */
static inline OSSL_PARAM *shim_rsa_parameters(const BIGNUM *modulus, const BIGNUM *exponent) {
    OSSL_PARAM *parameters = NULL;
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    if (builder == NULL) return NULL;
    if (OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus)
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent))
        parameters = OSSL_PARAM_BLD_to_param(builder);
    OSSL_PARAM_BLD_free(builder);
    return parameters;
}
