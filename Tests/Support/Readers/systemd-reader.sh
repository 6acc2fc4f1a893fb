#!/bin/bash
# systemd-reader.sh DIRECTORY, in a bed: starts a service with EnvironmentFile= for every *.env in it and leaves
# its environment, each variable ended by a NUL, in FILE.systemd; no such file for one that cannot be read.
cd "$1" || exit 1
units=()
for file in *.env; do
    unit=reader-${file%.env}.service
    cat >"/run/systemd/system/$unit" <<END
[Unit]
DefaultDependencies=no
[Service]
Type=oneshot
StandardOutput=file:$1/$file.systemd
EnvironmentFile=$1/$file
ExecStart=/usr/bin/env -0
END
    units+=("$unit")
done
systemctl daemon-reload
systemctl start "${units[@]}" 2>/dev/null
# A file that is not accepted fails its unit before anything is written.
for file in *.env; do [ -s "$file.systemd" ] || rm -f "$file.systemd"; done
exit 0
