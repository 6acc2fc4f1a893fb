// Unix sockets, and the processes at their other end.
//
// Scalars only, and -errno for every failure, as in events.h.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Unix stream sockets.
// Binds without taking anything over. The name appears with its mode.
int clinux_unix_listen(const char *path, uint32_t mode, int backlog);
int clinux_unix_accept(int listener);
// The timeout holds for connecting and for each later read and write; 0: none.
int clinux_unix_connect(const char *path, int64_t timeout_seconds);
// The kind of a socket: CLINUX_SOCKET_…, whether it listens for streams, and whether it is bound to a loopback address.
#define CLINUX_SOCKET_OTHER 0
#define CLINUX_SOCKET_UNIX 1
#define CLINUX_SOCKET_INTERNET 2
int clinux_socket_kind(int descriptor, int *is_listening, int *is_on_loopback);
// The path to which a Unix socket was bound, with a NUL, into `size` bytes; returns its length. 0: it has none, or it does not fit.
int clinux_socket_path(int descriptor, char *path, size_t size);
// Gives a mode and a group (group < 0: the one it has) to the socket of this device and inode at the path. -ESTALE: something
// else is there.
int clinux_socket_permit(const char *path, uint64_t device, uint64_t inode, uint32_t mode, int64_t group);
// The length of the address to which the peer has bound its end, in the form of sun_path; 0 when it has bound none. An abstract
// one begins with a NUL. `address` has room for CLINUX_UNIX_ADDRESS bytes.
#define CLINUX_UNIX_ADDRESS 108
int clinux_peer_address(int descriptor, void *address);
int clinux_peer_identity(int descriptor, uint32_t *user, uint32_t *group, int32_t *process);
// The number of supplementary groups the peer had when it connected; at most `capacity` are stored.
int clinux_peer_groups(int descriptor, uint32_t *groups, int capacity);

// Unix datagram sockets that send and never wait.
int clinux_datagram_create(void);
// Sets its target from now on: an absolute path, or an abstract address with '@' for its NUL; -EAFNOSUPPORT for anything else.
int clinux_datagram_connect(int descriptor, const char *address);
// Sends everything or nothing, with a copy of the descriptor `passed` (-1: none). -EAGAIN: the receiver's queue is full. Then the
// socket becomes writable once there is room.
int clinux_datagram_send(int descriptor, const void *bytes, size_t count, int passed);
