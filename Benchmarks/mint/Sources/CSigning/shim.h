#pragma once
#include <openssl/bn.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>

/* A context that signs with the key in a PEM file, ready for any number of signatures; NULL when there is no such key. */
static inline EVP_PKEY_CTX *signing_context(const char *path) {
    FILE *file = fopen(path, "re");
    if (file == NULL) return NULL;
    EVP_PKEY *key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
    fclose(file);
    EVP_PKEY_CTX *context = key == NULL ? NULL : EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    EVP_PKEY_free(key);
    return context != NULL && EVP_PKEY_sign_init(context) == 1 ? context : NULL;
}

/* Signs a digest: r and s with 32 bytes each into `signature`. Returns 1 when it is done. */
static inline int sign_digest(EVP_PKEY_CTX *context, const unsigned char *digest, unsigned char *signature) {
    unsigned char der[72];
    size_t length = sizeof der;
    if (EVP_PKEY_sign(context, der, &length, digest, 32) != 1) return 0;
    const unsigned char *position = der;
    ECDSA_SIG *numbers = d2i_ECDSA_SIG(NULL, &position, (long)length);
    if (numbers == NULL) return 0;
    int done = BN_bn2binpad(ECDSA_SIG_get0_r(numbers), signature, 32) == 32
        && BN_bn2binpad(ECDSA_SIG_get0_s(numbers), signature + 32, 32) == 32;
    ECDSA_SIG_free(numbers);
    return done;
}
