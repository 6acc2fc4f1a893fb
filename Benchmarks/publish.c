// publish DIRECTORY COUNT [delivered]: what a plain program needs for the files that the daemon writes for COUNT
// clients with one output each. As many outputs and state records are made beside their target, written, given their
// mode, synced and renamed, and their directory is synced after each, on eight threads. Prints the seconds that took.
//
// That is the least by which each of these files is whole and durable before the next thing is done for its client:
// the record before the output, the output before an action. The program has nothing else to do: it makes no secret,
// reads no configuration, looks for no file first and reads none back. What the daemon takes longer is what all of
// that costs. With `delivered` it writes each record once more after the last output, as the daemon does after an
// action, to keep what it delivered. In a directory that it was run in before it replaces what is there, as a renewal
// does.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { threads = 8, output_size = 300, record_size = 850 };

static int directories[2];
static atomic_int next;
static int count;
static bool records_only;

static void must(int result, const char *what) {
    if (result < 0) {
        perror(what);
        exit(1);
    }
}

static void write_file(int directory, int number, size_t size) {
    char content[1024], temporary[64], name[64];
    memset(content, 'x', sizeof content);
    snprintf(temporary, sizeof temporary, ".tmp-%d", number);
    snprintf(name, sizeof name, "c%d", number);
    int file = openat(directory, temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    must(file, "open");
    if (write(file, content, size) != (ssize_t)size) must(-1, "write");
    must(fchmod(file, 0600), "fchmod");
    must(fsync(file), "fsync");
    must(close(file), "close");
    must(renameat(directory, temporary, directory, name), "rename");
    must(fsync(directory), "fsync of the directory");
}

static void *write_files(void *unused) {
    (void)unused;
    for (;;) {
        int number = atomic_fetch_add(&next, 1);
        if (number >= count) return NULL;
        // As the daemon does: kept first, published then.
        write_file(directories[0], number, record_size);
        if (!records_only) write_file(directories[1], number, output_size);
    }
}

static void write_on_all_threads(void) {
    pthread_t pool[threads];
    atomic_store(&next, 0);
    for (int index = 0; index < threads; index++) must(-pthread_create(&pool[index], NULL, write_files, NULL), "thread");
    for (int index = 0; index < threads; index++) pthread_join(pool[index], NULL);
}

int main(int argc, char **argv) {
    bool delivered = argc == 4 && strcmp(argv[3], "delivered") == 0;
    if (argc != 3 && !delivered) return 64;
    count = atoi(argv[2]);
    const char *names[] = {"state", "out"};
    for (int index = 0; index < 2; index++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[1], names[index]);
        if (mkdir(path, 0700) < 0 && errno != EEXIST) must(-1, "mkdir");
        directories[index] = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        must(directories[index], "open");
    }
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    write_on_all_threads();
    if (delivered) {
        records_only = true;
        write_on_all_threads();
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("%.2f\n", (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9);
}
