#define _GNU_SOURCE
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

static int result(int value) { return value < 0 ? -errno : value; }

static int open_component(int directory, const char *name, int flags, unsigned mode) {
    struct open_how how = {
        .flags = (uint64_t)(flags | O_NOFOLLOW | O_CLOEXEC),
        .mode = mode,
        .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    int descriptor;
    do descriptor = (int)syscall(SYS_openat2, directory, name, &how, sizeof how);
    while (descriptor < 0 && errno == EINTR);
    // Kernels before 5.6 lack the call, and the sandboxes of older container engines answer EPERM to unknown calls. O_NOFOLLOW
    // promises the same for a single component.
    if (descriptor < 0 && (errno == ENOSYS || errno == EPERM)) {
        do descriptor = openat(directory, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
        while (descriptor < 0 && errno == EINTR);
    }
    return result(descriptor);
}

int clinux_path_root(void) { return result(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)); }

int clinux_path_step(int directory, const char *name, int as_directory) {
    return open_component(directory, name, O_PATH | (as_directory ? O_DIRECTORY : 0), 0);
}

int clinux_path_open_to_read(int directory, const char *name) {
    return open_component(directory, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
}

int clinux_path_open_directory(int directory) {
    return open_component(directory, ".", O_RDONLY | O_DIRECTORY, 0);
}

int clinux_path_create(int directory, const char *name, unsigned mode) {
    return open_component(directory, name, O_WRONLY | O_CREAT | O_EXCL, mode);
}

int clinux_path_takes_block(const char *path) {
    int file = open(path, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (file < 0) return -errno;
    int result = write(file, "", 1) < 0 ? -errno : 0;
    close(file);
    return result;
}

static int64_t nanoseconds(struct statx_timestamp time) { return time.tv_sec * 1000000000 + time.tv_nsec; }

static int look(int descriptor, const char *name, int flags, struct clinux_status *status) {
    struct statx found;
    if (statx(descriptor, name, flags, STATX_BASIC_STATS, &found) < 0) return -errno;
    *status = (struct clinux_status){
        .device = makedev(found.stx_dev_major, found.stx_dev_minor),
        .inode = found.stx_ino,
        .size = found.stx_size,
        .modified = nanoseconds(found.stx_mtime),
        .changed = nanoseconds(found.stx_ctime),
        .mode = found.stx_mode,
        .owner = found.stx_uid,
        .group = found.stx_gid,
        .links = found.stx_nlink,
        .mount_root = (found.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0,
        .immutable = (found.stx_attributes & STATX_ATTR_IMMUTABLE) != 0,
        .append_only = (found.stx_attributes & STATX_ATTR_APPEND) != 0,
    };
    return 0;
}

int clinux_path_look(int descriptor, struct clinux_status *status) {
    return look(descriptor, "", AT_EMPTY_PATH, status);
}

int clinux_path_look_at(int directory, const char *name, int ask_server, struct clinux_status *status) {
    int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
    return look(directory, name, ask_server ? flags | AT_STATX_FORCE_SYNC : flags, status);
}

int clinux_path_look_whole(const char *path, struct clinux_status *status) {
    return look(AT_FDCWD, path, AT_NO_AUTOMOUNT, status);
}

int clinux_path_read_link(int descriptor, void *buffer, size_t size) {
    return result((int)readlinkat(descriptor, "", buffer, size));
}

int clinux_path_is_on_proc(int descriptor) {
    struct statfs found;
    if (fstatfs(descriptor, &found) < 0) return -errno;
    return found.f_type == PROC_SUPER_MAGIC;
}

int clinux_path_may_execute(int descriptor) {
    if (syscall(SYS_faccessat2, descriptor, "", X_OK, AT_EACCESS | AT_EMPTY_PATH) == 0) return 1;
    if (errno == EACCES) return 0;
    // Kernels before 5.8 lack this call. There the program's own path through /proc answers, but only with the real user's
    // rights.
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    if (access(path, X_OK) == 0) return 1;
    return errno == EACCES ? 0 : -errno;
}

int clinux_path_has_access_list(const char *path) {
    return lgetxattr(path, "system.posix_acl_access", NULL, 0) > 0;
}

int clinux_path_remove(int directory, const char *name) { return result(unlinkat(directory, name, 0)); }

int clinux_path_rename(int directory, const char *from, const char *to, int how) {
    unsigned flags = how == CLINUX_RENAME_NEW ? RENAME_NOREPLACE : how == CLINUX_RENAME_EXCHANGE ? RENAME_EXCHANGE : 0;
    return result(renameat2(directory, from, directory, to, flags));
}

int64_t clinux_file_read(int descriptor, void *buffer, size_t size, int64_t offset) {
    ssize_t count;
    do count = pread(descriptor, buffer, size, offset);
    while (count < 0 && errno == EINTR);
    return count < 0 ? -errno : count;
}

int clinux_file_set_group(int descriptor, uint32_t group) { return result(fchown(descriptor, (uid_t)-1, group)); }

int clinux_file_set_mode(int descriptor, uint32_t mode) { return result(fchmod(descriptor, mode)); }

int clinux_file_sync(int descriptor) {
    int status;
    do status = fsync(descriptor);
    while (status < 0 && errno == EINTR);
    return result(status);
}

int clinux_file_sync_all(int descriptor) { return result(syncfs(descriptor)); }

int clinux_file_has_writer(int descriptor) {
    struct statfs found;
    if (fstatfs(descriptor, &found) < 0) return -errno;
    // There the server grants leases: that it refuses one says nothing about writers.
    switch ((uint32_t)found.f_type) {
    case 0x6969: case 0x517B: case 0xFF534D42: case 0xFE534D42: return -EOPNOTSUPP;
    default: break;
    }
    // If a program opens the file while the lease is held, the kernel sends a signal. SIGIO would end this process; SIGURG is
    // ignored.
    if (fcntl(descriptor, F_SETSIG, SIGURG) < 0) return -errno;
    if (fcntl(descriptor, F_SETLEASE, F_RDLCK) < 0) return errno == EAGAIN ? 1 : -errno;
    fcntl(descriptor, F_SETLEASE, F_UNLCK);
    return 0;
}

int64_t clinux_attribute_names(int descriptor, void *buffer, size_t size) {
    ssize_t count = flistxattr(descriptor, buffer, size);
    return count < 0 ? -errno : count;
}

int64_t clinux_attribute_get(int descriptor, const char *name, void *buffer, size_t size) {
    ssize_t count = fgetxattr(descriptor, name, buffer, size);
    if (count < 0 && errno == EBADF) {
        // An O_PATH handle answers only through its path in /proc.
        char path[32];
        snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
        count = getxattr(path, name, buffer, size);
    }
    return count < 0 ? -errno : count;
}

int clinux_attribute_set(int descriptor, const char *name, const void *buffer, size_t size) {
    return result(fsetxattr(descriptor, name, buffer, size, 0));
}

int clinux_attribute_remove(int descriptor, const char *name) { return result(fremovexattr(descriptor, name)); }
