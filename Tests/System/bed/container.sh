#!/bin/bash
# What the image and the manifests say, in namespaces: the program from its package, as a user without an account, on a read-only
# root and mounts as Kubernetes makes them. The packages lie in /packages.
source /src/Tests/System/bed/prelude.sh

guide=/src/docs/container.md
image=/src/etc/container/Containerfile
manifests=/src/etc/kubernetes
promise "the packages are installed" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes /packages/clientsecretd_*.deb /packages/clientsecretd-network_*.deb
promise "the image's user is one without an account" grep -qx 'USER 10001:10001' $image
refused "here too" getent passwd 10001
read -ra environment < <(sed -n 's/^ENV //p' $image)
command=$(sed -n 's/^ENTRYPOINT \["\(.*\)"\]$/\1/p' $image)
equal "the image runs the program" /usr/bin/clientsecretd "$command"
awk '/^```/ { within = $0 == "```yaml"; next } within' $guide >/tmp/configuration
for manifest in sidecar deployment init; do
    for place in $(sed -n 's/^trusted_directories: \[\(.*\)\]$/\1/p' /tmp/configuration | tr -d ,); do
        promise "$manifest mounts $place" grep -qE "mountPath: $place(,|})" $manifests/$manifest.yaml
    done
    promise "$manifest has the test's group" grep -q 'fsGroup: 20001' $manifests/$manifest.yaml
    promise "$manifest has a read-only root" grep -q 'readOnlyRootFilesystem: true' $manifests/$manifest.yaml
done

# The rest is the container: nothing can be written but what an orchestrator mounts.
mkdir /keys /secrets
cat >/tmp/container <<'END'
mount -t tmpfs -o mode=3777,gid=20001 tmpfs /keys
mount --bind /tmp/secrets /secrets
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mkdir -m 2755 /keys/..2026_01_01
ln -s ..2026_01_01 /keys/..data
ln -s ..data/AuthKey_ABC123DEFG.p8 /keys/AuthKey_ABC123DEFG.p8
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out /keys/..2026_01_01/AuthKey_ABC123DEFG.p8 2>/dev/null
chown root:20001 /keys/..2026_01_01 /keys/..2026_01_01/AuthKey_ABC123DEFG.p8
chmod 0440 /keys/..2026_01_01/AuthKey_ABC123DEFG.p8
install -m 0644 -g 20001 "$1" /etc/clientsecretd/clientsecretd.yaml
shift
mount -t tmpfs -o ro tmpfs /tmp
mount -t tmpfs -o ro tmpfs /run
mount -o remount,bind,ro /
exec setpriv --reuid=10001 --regid=10001 --groups=20001 --no-new-privs --bounding-set=-all "$@"
END
mkdir /tmp/secrets
chgrp 20001 /tmp/secrets
chmod 2777 /tmp/secrets
contained=(env --ignore-environment PATH="$PATH" "${environment[@]}" unshare --mount --propagation private --pid --fork
    --mount-proc bash /tmp/container)
# enter USER COMMAND…: as another process of the pod.
enter() {
    local user=$1
    shift
    nsenter --target "$daemon" --mount --pid -- env --ignore-environment PATH="$PATH" "${environment[@]}" \
        setpriv --reuid="$user" --regid="$user" --groups=20001 -- "$@"
}
# started CONFIGURATION: the daemon as the first process of the container.
started() {
    "${contained[@]}" "$1" "$command" run >/tmp/log 2>&1 &
    container=$!
    is_there() { daemon=$(pgrep --parent $container) && enter 10001 test -S /dev/shm/clientsecretd.sock; }
    eventually "the daemon is there" is_there
}
ended() {
    kill -TERM "$daemon"
    wait $container
}

started /tmp/configuration
is_ready() { enter 10002 test -e /secrets/web.jwt && enter 10001 clientsecretd health; }
eventually "all is well" is_ready
refused "the root is read-only" enter 10001 touch /etc/clientsecretd/mine
equal "the secret is the group's" "640 10001 20001" "$(enter 10002 stat -c '%a %u %g' /secrets/web.jwt)"
promise "the application reads it" enter 10002 cat /secrets/web.jwt
contains "check names the places" "/secrets: trusted" "$(enter 10001 clientsecretd check 2>&1)"
promise "and finds nothing missing" enter 10001 clientsecretd check
promise "it renews" enter 10001 clientsecretd renew
equal "and has nothing to complain of" "" "$(grep -E 'cannot|degraded|critical' /tmp/log)"
ended

rm /tmp/secrets/*
arguments=$(sed -n 's/^ *args: \[\(.*\)\]$/\1/p' $manifests/init.yaml | tr -d ,)
read -ra arguments <<<"$arguments"
promise "as an init container (${arguments[*]})" "${contained[@]}" /tmp/configuration "$command" "${arguments[@]}"
promise "it ends once the secret is there" test -s /tmp/secrets/web.jwt

rm /tmp/secrets/*
grep -v trusted_directories /tmp/configuration >/tmp/untrusting
started /tmp/untrusting
is_refused() { enter 10001 clientsecretd status; grep -q 'others could read or replace the key' /tmp/log; }
eventually "without the list the key is refused" is_refused
ended

# The manifest that pushes, with the image's own place for sockets: an address at which nobody answers stands in for the cluster.
manifest=$manifests/push.yaml
yaml=$(sed -n '/clientsecretd.yaml: |/,/^---/{s/^    //p}' $manifest)
sed 's|kind: kubernetes.*}|kind: http, url: "http://127.0.0.1:9/", body: "{{client_secret}}"}|' <<<"$yaml" >/tmp/pushing
promise "the pushing configuration names the target" grep -q 'cluster: {kind: http' /tmp/pushing
read -r network < <(sed -n 's/^ *command: \[\(.*\)\]$/\1/p' $manifest)
read -ra arguments < <(sed -n 's/^ *args: \[\(.*\)\]$/\1/p' $manifest | tr -d ,)
sockets=${arguments[1]%/push/*}
promise "both containers see the sockets" test 2 = "$(grep -c "mountPath: $sockets}" $manifest)"
started /tmp/pushing
pushing() { [[ $(enter 10001 clientsecretd status --json) == *"\"code\":\"$1\""* ]]; }
eventually "without the other container the daemon misses it" pushing push_service_missing
contains "and says what to run" "clientsecretd-network listen /dev/shm/push/cluster.sock push cluster" \
    "$(enter 10001 clientsecretd status)"
enter 10001 "$network" "${arguments[0]}" "/dev/shm/${arguments[1]#"$sockets/"}" "${arguments[@]:2}" 2>/tmp/listener &
eventually "it listens" enter 10001 test -S /dev/shm/push/cluster.sock
equal "for its own user" "600 10001" "$(enter 10001 stat -c '%a %u' /dev/shm/push/cluster.sock)"
refused "the API that is not there is tried" enter 10001 clientsecretd renew
promise "and named" pushing push_unreachable
kill -TERM "$(enter 10001 pgrep -f 'clientsecretd-network listen' | head -n 1)" 2>/dev/null || kill %?listen 2>/dev/null
ended
finish
