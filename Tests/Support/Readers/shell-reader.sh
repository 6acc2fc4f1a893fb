#!/bin/sh
# shell-reader.sh DIRECTORY: sources every *.env in it as `set -a; . FILE` does and leaves the environment, each variable
# ended by a NUL, in FILE.shell; no such file for one that a shell cannot read. Finds no programs: what looks like a command
# in a file is none.
cd "$1" || exit 1
for file in *.env; do
    env -i PATH=/nonexistent /bin/sh -c 'set -a; . "./$1" >/dev/null 2>&1 </dev/null
        set +a; PATH=/nonexistent exec /usr/bin/env -0' sh "$file" >"$file.shell.part" 2>/dev/null &&
        mv "$file.shell.part" "$file.shell" || rm "$file.shell.part"
done
