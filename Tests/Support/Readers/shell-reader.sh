#!/bin/sh
# shell-reader.sh DIRECTORY SHELL: sources every *.env in it as `set -a; . FILE` does and leaves the environment, each
# variable ended by a NUL, in FILE.SHELL; no such file for one that the shell cannot read. Finds no programs: what looks like a
# command in a file is none.
cd "$1" || exit 1
for file in *.env; do
    # bash carries out what is before an error.
    "/bin/$2" -n "$file" 2>/dev/null || continue
    if env -i PATH=/nonexistent "/bin/$2" -c 'set -a; . "./$1" >/dev/null 2>&1 </dev/null
        set +a; PATH=/nonexistent exec /usr/bin/env -0' sh "$file" >"$file.$2.part" 2>/dev/null; then
        mv "$file.$2.part" "$file.$2"
    else
        rm "$file.$2.part"
    fi
done
