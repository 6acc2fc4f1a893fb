// Users and groups: the account database's entries, and the user that a thread acts as.
//
// Scalars only, and -errno for every failure, as in events.h.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Makes the calling thread act as this user; its saved and real user, and other threads, do not change. The C library's own
// function would change every thread.
int clinux_thread_acts_as(uint32_t user);

// The same with that user's groups, as the account database has them, and `more` of them; and the way back.
int clinux_thread_acts_as_account(
    const char *name, uint32_t user, uint32_t group, const uint32_t *more, size_t more_count);
int clinux_thread_acts_as_before(uint32_t user, uint32_t group, const uint32_t *groups, size_t count);

// Whether this thread may give a file to any owner and group (CAP_CHOWN): 1 or 0. Root in a unit without capabilities may not.
int clinux_may_change_owners(void);

// Root becomes this user for good, with the groups that the account database gives it and `more` of them: this thread and
// those that it starts.
int clinux_become_user(
    const char *name, uint32_t user, uint32_t group, const uint32_t *more, size_t more_count);

// Accounts, by the name `wanted` or, if that is NULL, by number. Each stores what is not known yet; `name` may be NULL. 1 found,
// 0 unknown, -errno when the account database cannot be read. Names of up to CLINUX_ACCOUNT_NAME - 1 bytes.
#define CLINUX_ACCOUNT_NAME 256
int clinux_find_user(const char *wanted, uint32_t *user, char *name, uint32_t *group);
int clinux_find_group(const char *wanted, uint32_t *group, char *name);

// The groups of a process that this user just started, of which there is room for CLINUX_MOST_GROUPS: their number, or -errno.
#define CLINUX_MOST_GROUPS 1024
int clinux_user_groups(const char *name, uint32_t primary, uint32_t *groups);
