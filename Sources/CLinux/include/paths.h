// Files by descriptor: one component at a time, and the facts about a descriptor.
//
// Every function returns -errno when it fails. Names are single components; none of these follows a link. The one
// struct is this header's own, so no other module can come to own it.
#pragma once
#include <stddef.h>
#include <stdint.h>

// The part of statx(2) that the rules need. Times in nanoseconds since 1970.
struct clinux_status {
    uint64_t device, inode, size;
    int64_t modified, changed;
    uint32_t mode, owner, group, links;
    uint32_t mount_root, immutable, append_only;
};

int clinux_path_root(void);
// A handle on the file of this name, of any kind; it reads nothing and waits for nothing. As a directory: -ENOTDIR for all else,
// and an automount point is mounted.
int clinux_path_step(int directory, const char *name, int as_directory);
// Never waits for a FIFO's writer or for a terminal.
int clinux_path_open_to_read(int directory, const char *name);
// The directory itself, opened so that it can be listed and synced.
int clinux_path_open_directory(int directory);
// A new file with these permission bits, as far as the umask lets it have them.
int clinux_path_create(int directory, const char *name, unsigned mode);
// Whether the directory at a path takes a block for a file of this process's user: makes one without a name, which is gone again.
// 0, -ENOSPC, -EDQUOT, or another -errno if that is unknown.
int clinux_path_takes_block(const char *path);
int clinux_path_look(int descriptor, struct clinux_status *status);
// The status of the directory's entry of this name, links not followed; takes no descriptor. With ask_server a network file
// system does not answer from memory.
int clinux_path_look_at(int directory, const char *name, int ask_server, struct clinux_status *status);
// The status of the path's target, links followed.
int clinux_path_look_whole(const char *path, struct clinux_status *status);
int clinux_path_read_link(int descriptor, void *buffer, size_t size);
// Whether the descriptor is on procfs, on which a link's text does not show its target.
int clinux_path_is_on_proc(int descriptor);
int clinux_path_may_execute(int descriptor);
// 1 if a POSIX access list of a path, which may be a link, grants more than its mode. 0 also if that is unknown.
int clinux_path_has_access_list(const char *path);
int clinux_path_remove(int directory, const char *name);

enum { CLINUX_RENAME_OVER = 0, CLINUX_RENAME_NEW = 1, CLINUX_RENAME_EXCHANGE = 2 };
int clinux_path_rename(int directory, const char *from, const char *to, int how);

int64_t clinux_file_read(int descriptor, void *buffer, size_t size, int64_t offset);
int clinux_file_set_group(int descriptor, uint32_t group);
int clinux_file_set_mode(int descriptor, uint32_t mode);
int clinux_file_sync(int descriptor);
int clinux_file_sync_all(int descriptor);
// 1 if any process has the file open for writing, 0 if none has; -errno if that is unknown, as without leases. The descriptor is
// open only for reading, and the file belongs to this process's user.
int clinux_file_has_writer(int descriptor);

int64_t clinux_attribute_names(int descriptor, void *buffer, size_t size);
int64_t clinux_attribute_get(int descriptor, const char *name, void *buffer, size_t size);
int clinux_attribute_set(int descriptor, const char *name, const void *buffer, size_t size);
int clinux_attribute_remove(int descriptor, const char *name);
