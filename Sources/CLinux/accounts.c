#define _GNU_SOURCE
#include "accounts.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_GROUPS = CLINUX_MOST_GROUPS };

int clinux_user_groups(const char *name, uint32_t primary, uint32_t *groups) {
    int count = MOST_GROUPS;
    return getgrouplist(name, primary, groups, &count) < 0 ? -E2BIG : count;
}

// System calls only: glibc's functions change every thread, and wait for all of them, of which one may hang on a disk.

static int set_groups(const char *name, uint32_t primary, const uint32_t *more, size_t more_count) {
    gid_t groups[MOST_GROUPS];
    int count = clinux_user_groups(name, primary, groups);
    if (count < 0) return count;
    if (more_count > (size_t)(MOST_GROUPS - count)) return -E2BIG;
    for (size_t index = 0; index < more_count; index++) groups[count++] = more[index];
    return syscall(SYS_setgroups, (size_t)count, groups) < 0 ? -errno : 0;
}

static int set_group(uint32_t real, uint32_t effective, uint32_t saved) {
    return syscall(SYS_setresgid, real, effective, saved) < 0 ? -errno : 0;
}

static int set_user(uint32_t real, uint32_t effective, uint32_t saved) {
    return syscall(SYS_setresuid, real, effective, saved) < 0 ? -errno : 0;
}

int clinux_thread_acts_as(uint32_t user) { return set_user(-1, user, -1); }

int clinux_thread_acts_as_account(
    const char *name, uint32_t user, uint32_t group, const uint32_t *more, size_t more_count) {
    int error = set_groups(name, group, more, more_count);
    if (!error) error = set_group(-1, group, -1);
    return error ? error : clinux_thread_acts_as(user);
}

int clinux_thread_acts_as_before(uint32_t user, uint32_t group, const uint32_t *groups, size_t count) {
    int error = clinux_thread_acts_as(user);
    if (!error) error = set_group(-1, group, -1);
    if (error) return error;
    return syscall(SYS_setgroups, count, groups) < 0 ? -errno : 0;
}

int clinux_may_change_owners(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
    return syscall(SYS_capget, &header, data) == 0 && (data[0].effective & (1U << CAP_CHOWN)) != 0;
}

int clinux_become_user(
    const char *name, uint32_t user, uint32_t group, const uint32_t *more, size_t more_count) {
    int error = set_groups(name, group, more, more_count);
    if (!error) error = set_group(group, group, group);
    return error ? error : set_user(user, user, user);
}

// One lookup with a buffer that grows as the entry needs, up to a mebibyte: groups list their members.
enum { FIRST_BUFFER = 4096, LARGEST_BUFFER = 1 << 20 };

static int account_result(int error, int found) {
    if (found) return 1;
    switch (error) {
    case 0: case ENOENT: case ESRCH: case EBADF: case EPERM: return 0; // the ways of getpwnam(3) to say "unknown"
    default: return -error;
    }
}

static int copy_name(char *into, const char *name) {
    if (strlen(name) >= CLINUX_ACCOUNT_NAME) return -ENAMETOOLONG;
    strcpy(into, name);
    return 1;
}

int clinux_find_user(const char *wanted, uint32_t *user, char *name, uint32_t *group) {
    for (size_t size = FIRST_BUFFER;; size *= 4) {
        char *buffer = malloc(size);
        if (!buffer) return -ENOMEM;
        struct passwd entry, *found = NULL;
        int error = wanted ? getpwnam_r(wanted, &entry, buffer, size, &found)
                           : getpwuid_r(*user, &entry, buffer, size, &found);
        int answer = account_result(error, found != NULL);
        if (found) {
            *user = entry.pw_uid;
            *group = entry.pw_gid;
            if (name) answer = copy_name(name, entry.pw_name);
        }
        free(buffer);
        if (answer != -ERANGE || size >= LARGEST_BUFFER) return answer;
    }
}

int clinux_find_group(const char *wanted, uint32_t *group, char *name) {
    for (size_t size = FIRST_BUFFER;; size *= 4) {
        char *buffer = malloc(size);
        if (!buffer) return -ENOMEM;
        struct group entry, *found = NULL;
        int error = wanted ? getgrnam_r(wanted, &entry, buffer, size, &found)
                           : getgrgid_r(*group, &entry, buffer, size, &found);
        int answer = account_result(error, found != NULL);
        if (found) {
            *group = entry.gr_gid;
            if (name) answer = copy_name(name, entry.gr_name);
        }
        free(buffer);
        if (answer != -ERANGE || size >= LARGEST_BUFFER) return answer;
    }
}
