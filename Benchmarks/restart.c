// restart DIRECTORY COUNT KEY: what a plain program needs to read what the daemon reads when it starts over COUNT clients
// that have one valid secret each: it reads every state record and every output, on two threads, and verifies each output's
// signature with libcrypto and the public half of KEY, a PEM file. Prints the seconds that took.
#define _GNU_SOURCE
#include <fcntl.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { threads = 2 };

static const char *directory;
static atomic_int next;
static int count;
static EVP_PKEY *key;
static EVP_MD *sha256;

static void fail(const char *what, int number) {
    fprintf(stderr, "restart: c%d: %s\n", number, what);
    exit(1);
}

static size_t read_file(const char *folder, int number, const char *ending, char *bytes, size_t size) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s/c%d%s", directory, folder, number, ending);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) fail("open", number);
    ssize_t length = read(file, bytes, size);
    if (length <= 0) fail("read", number);
    close(file);
    return (size_t)length;
}

// The bytes of a base64url text of 86 characters without padding: r and s.
static void signature_bytes(const char *text, unsigned char *bytes) {
    char padded[88];
    for (int index = 0; index < 86; index++)
        padded[index] = text[index] == '-' ? '+' : text[index] == '_' ? '/' : text[index];
    memcpy(padded + 86, "==", 2);
    unsigned char decoded[66];
    EVP_DecodeBlock(decoded, (unsigned char *)padded, 88);
    memcpy(bytes, decoded, 64);
}

static void *work(void *unused) {
    (void)unused;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(key, NULL);
    EVP_PKEY_verify_init(context);
    for (;;) {
        int number = atomic_fetch_add(&next, 1);
        if (number >= count) break;
        number++;
        char record[65536], token[65536];
        read_file("state/clients", number, ".state", record, sizeof record);
        size_t length = read_file("out", number, ".jwt", token, sizeof token);
        char *dot = memrchr(token, '.', length);
        if (dot == NULL || token + length - dot < 87) fail("no token", number);
        unsigned char raw[64], digest[32], der[80], *end = der;
        signature_bytes(dot + 1, raw);
        ECDSA_SIG *signature = ECDSA_SIG_new();
        ECDSA_SIG_set0(signature, BN_bin2bn(raw, 32, NULL), BN_bin2bn(raw + 32, 32, NULL));
        size_t size = (size_t)i2d_ECDSA_SIG(signature, &end);
        ECDSA_SIG_free(signature);
        EVP_Digest(token, (size_t)(dot - token), digest, NULL, sha256, NULL);
        if (EVP_PKEY_verify(context, der, size, digest, sizeof digest) != 1) fail("not signed by this key", number);
    }
    EVP_PKEY_CTX_free(context);
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 4) return 64;
    directory = argv[1];
    count = atoi(argv[2]);
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    FILE *file = fopen(argv[3], "r");
    if (file == NULL || (key = PEM_read_PrivateKey(file, NULL, NULL, NULL)) == NULL) fail(argv[3], 0);
    fclose(file);
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    pthread_t pool[threads];
    for (int index = 0; index < threads; index++)
        if (pthread_create(&pool[index], NULL, work, NULL) != 0) fail("thread", index);
    for (int index = 0; index < threads; index++) pthread_join(pool[index], NULL);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("%.3f\n", (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9);
}
