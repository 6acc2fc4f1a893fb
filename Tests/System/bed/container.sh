#!/bin/bash
# The guide for containers, as it is installed: the daemon as a user without an account, on mounts as Kubernetes makes them.
source /src/Tests/System/bed/prelude.sh

guide=/usr/local/share/doc/clientsecretd/container.md
# block KIND TEXT: the guide's block of that kind that holds the text.
block() {
    python3 - $guide "$@" <<'END'
import re, sys
guide, kind, text = sys.argv[1:]
found = [block for block in re.findall(rf"^```{kind}\n(.*?)^```$", open(guide).read(), re.M | re.S) if text in block]
assert len(found) == 1, (kind, text, len(found))
print(found[0], end="")
END
}

install_clientsecretd
block yaml trusted_directories >/tmp/configuration
block yaml 'kind: Pod' >/tmp/pod
for place in $(sed -n 's/^trusted_directories: \[\(.*\)\]$/\1/p' /tmp/configuration | tr -d ,); do
    promise "the pod mounts $place" grep -qE "mountPath: $place(,|})" /tmp/pod
done
contains "the pod has the test's group" "fsGroup: 20001" "$(cat /tmp/pod)"
contains "and its user" "runAsUser: 10001" "$(cat /tmp/pod)"

# The rest is the container: a /run in which nobody has made anything, and what the image and the mounts bring.
cat >/tmp/container <<'END'
source /src/Tests/System/bed/prelude.sh
PATH=/usr/local/bin:$PATH
mount --bind /run/bed /mnt
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/bed
mount --move /mnt /run/bed
mkdir /keys /secrets /etc/clientsecretd.pod
mount -t tmpfs -o mode=3777,gid=20001 tmpfs /keys
mount -t tmpfs -o mode=2777,gid=20001 tmpfs /secrets
mkdir -m 2755 /keys/..2026_01_01
ln -s ..2026_01_01 /keys/..data
ln -s ..data/AuthKey_ABC123DEFG.p8 /keys/AuthKey_ABC123DEFG.p8
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out /keys/..2026_01_01/AuthKey_ABC123DEFG.p8 2>/dev/null
chown root:20001 /keys/..2026_01_01 /keys/..2026_01_01/AuthKey_ABC123DEFG.p8
chmod 0440 /keys/..2026_01_01/AuthKey_ABC123DEFG.p8
install -m 0644 -g 20001 $1 $configuration
bash -e <(grep -o 'install -d .*' /tmp/image) || echo "broken: the image can be made"
exec setpriv --reuid=10001 --regid=10001 --groups=20001 --no-new-privs --bounding-set=-all clientsecretd run
END
block dockerfile FROM >/tmp/image
# enter USER COMMAND…: as another process of the pod.
enter() {
    local user=$1
    shift
    nsenter --target "$daemon" --mount --pid -- setpriv --reuid="$user" --regid="$user" --groups=20001 -- "$@"
}
# started CONFIGURATION: the daemon as the first process of the container.
started() {
    env --ignore-environment PATH="$PATH" unshare --mount --propagation private --pid --fork --mount-proc \
        bash /tmp/container "$1" >/tmp/log 2>&1 &
    container=$!
    is_there() { daemon=$(pgrep --parent $container) && enter 10001 /usr/bin/test -S $socket; }
    eventually "the daemon is there" is_there
}
ended() {
    kill -TERM "$daemon"
    wait $container
}

started /tmp/configuration
is_ready() { enter 10002 /usr/bin/test -e /secrets/web.jwt && enter 10001 /usr/local/bin/clientsecretd health; }
eventually "all is well" is_ready
equal "the secret is the group's" "640 10001 20001" "$(enter 10002 /usr/bin/stat -c '%a %u %g' /secrets/web.jwt)"
promise "the application reads it" enter 10002 /bin/cat /secrets/web.jwt
contains "check names the places" "/secrets: trusted" "$(enter 10001 /usr/local/bin/clientsecretd check 2>&1)"
promise "and finds nothing missing" enter 10001 /usr/local/bin/clientsecretd check
promise "it renews" enter 10001 /usr/local/bin/clientsecretd renew
ended
rm -r /keys /secrets

grep -v trusted_directories /tmp/configuration >/tmp/untrusting
started /tmp/untrusting
is_refused() { enter 10001 /usr/local/bin/clientsecretd status; grep -q 'others could read or replace the key' /tmp/log; }
eventually "without the list the key is refused" is_refused
ended
finish
