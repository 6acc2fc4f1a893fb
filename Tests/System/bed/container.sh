#!/bin/bash
# What the image and the manifests say, in namespaces: the program from its package, as a user without an account, on a read-only
# root and mounts as Kubernetes makes them. The packages lie in /packages.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

guide=/src/docs/kubernetes.md
image=/src/etc/container/Containerfile
manifests=/src/etc/kubernetes
promise "the packages are installed" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes /packages/clientsecretd_*.deb /packages/clientsecretd-network_*.deb
promise "the image's user is one without an account" grep -qx 'USER 10001:10001' $image
refused "here too" getent passwd 10001
# Nor has the image a machine id.
rm /etc/machine-id
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

# The pod's volumes, as an orchestrator makes them: open to the group, and to others.
volumes=/tmp/volumes
mkdir -p $volumes/keys/..2026_01_01 $volumes/token
for volume in secrets sockets nothing; do mkdir -m 2777 $volumes/$volume; done
ln -s ..2026_01_01 $volumes/keys/..data
ln -s ..data/AuthKey_ABC123DEFG.p8 $volumes/keys/AuthKey_ABC123DEFG.p8
key=$volumes/keys/..2026_01_01/AuthKey_ABC123DEFG.p8
new_key $key
chmod 0440 $key
chmod 2755 $volumes/keys/..2026_01_01
chmod 3777 $volumes/keys
chgrp -R 20001 $volumes
touch /etc/clientsecretd/clientsecretd.yaml

# mounts MANIFEST CONTAINER: the volumes of a container by their names and places.
mounts() {
    awk -v container="$2" '/- name: / { within = $0 ~ "name: " container "$" } within && /mountPath:/' $manifests/"$1".yaml |
        sed 's/.*{name: \([a-z]*\), mountPath: \([^ ,}]*\)/\1 \2 /'
}
# A container: nothing can be written but what its pod mounts, and the pod's /dev/shm.
cat >/tmp/container <<'END'
mount --bind /tmp/shm /dev/shm
mount -t tmpfs tmpfs /run
while read -r volume place rest; do
    [ -e "$place" ] || mkdir -p "$place"
    mount --bind "/tmp/volumes/$volume" "$place"
    [[ $rest != *"readOnly: true"* ]] || mount -o remount,bind,ro "$place"
done <"$1"
shift
mount -t tmpfs -o ro tmpfs /tmp
mount -o remount,bind,ro /run
mount -o remount,bind,ro /
exec setpriv --reuid=10001 --regid=10001 --groups=20001 --no-new-privs --bounding-set=-all "$@"
END
# contained MANIFEST CONTAINER CONFIGURATION COMMAND…: runs that as the first process of the manifest's container.
contained() {
    mounts "$1" "$2" >"/tmp/mounts.$2"
    install -m 0644 -g 20001 "$3" $volumes/configuration
    env --ignore-environment PATH="$PATH" "${environment[@]}" unshare --mount --propagation private --pid --fork \
        --mount-proc bash /tmp/container "/tmp/mounts.$2" "${@:4}"
}
# A pod's /dev/shm begins empty.
new_pod() {
    rm -rf /tmp/shm
    mkdir -m 1777 /tmp/shm
}
# enter_of PROCESS USER COMMAND…: as another process of that process's container.
enter_of() {
    local process=$1 user=$2
    shift 2
    nsenter --target "$process" --mount --pid -- env --ignore-environment PATH="$PATH" "${environment[@]}" \
        setpriv --reuid="$user" --regid="$user" --groups=20001 -- "$@"
}
enter() { enter_of "$daemon" "$@"; }
# started MANIFEST CONFIGURATION: the daemon as the first process of its container.
started() {
    new_pod
    contained "$1" clientsecretd "$2" "$command" run >/tmp/log 2>&1 &
    container=$!
    is_there() { daemon=$(first_process "$container") && enter 10001 sh -c 'test -S $CLIENTSECRETD_SOCKET'; }
    eventually "the daemon is there" is_there
}
# first_process SHELL: of the container that it waits for.
first_process() { pgrep --parent "$(pgrep --parent "$1" --full unshare || echo "$1")"; }
ended() {
    kill -TERM "$daemon"
    wait $container
}
# probe MANIFEST: what the daemon's container is asked there.
probe() { sed -n "s/^ *exec: {command: \[sh, -c, '\(.*\)'\]}$/\1/p" $manifests/"$1".yaml; }
is_ready() { enter 10002 test -e /secrets/web.jwt && enter 10001 clientsecretd health; }
# What an orchestrator asks, in both manifests in which the daemon stays.
for manifest in sidecar deployment; do
    asked=$(probe $manifest)
    promise "$manifest asks something" test -n "$asked"
    rm -f $volumes/secrets/*
    new_pod
    exits "$manifest: without a secret and a daemon, no" 1 \
        contained $manifest clientsecretd /tmp/configuration sh -c "$asked"
    started $manifest /tmp/configuration
    eventually "$manifest: all is well" is_ready
    exits "$manifest: then yes" 0 enter 10001 sh -c "$asked"
    cp -p $key /tmp/key
    echo broken >$key
    is_degraded() { enter 10001 clientsecretd health; [ $? = 1 ]; }
    eventually "$manifest: without its key it has a secret and is degraded" is_degraded
    exits "$manifest: still yes" 0 enter 10001 sh -c "$asked"
    cat /tmp/key >$key
    eventually "$manifest: all is well again" is_ready
    ended
done
new_pod
exits "the secret that is there serves until the daemon does" 0 \
    contained sidecar clientsecretd /tmp/configuration sh -c "$(probe sidecar)"

rm $volumes/secrets/*
started sidecar /tmp/configuration
eventually "all is well" is_ready
refused "the root is read-only" enter 10001 touch /etc/clientsecretd/mine
equal "the secret is the group's" "640 10001 20001" "$(enter 10002 stat -c '%a %u %g' /secrets/web.jwt)"
promise "the application reads it" enter 10002 cat /secrets/web.jwt
refused "and not what the daemon keeps" enter 10002 ls /dev/shm/clientsecretd
contains "check names the places" "/secrets: trusted" "$(enter 10001 clientsecretd check 2>&1)"
promise "and finds nothing missing" enter 10001 clientsecretd check
promise "it renews" enter 10001 clientsecretd renew
equal "and has nothing to complain of" "" "$(grep -E 'cannot|degraded|critical' /tmp/log)"
ended

rm $volumes/secrets/*
new_pod
arguments=$(sed -n 's/^ *args: \[\(.*\)\]$/\1/p' $manifests/init.yaml | tr -d ,)
read -ra arguments <<<"$arguments"
promise "as an init container (${arguments[*]})" \
    contained init clientsecretd /tmp/configuration "$command" "${arguments[@]}"
promise "it ends once the secret is there" test -s $volumes/secrets/web.jwt

rm $volumes/secrets/*
grep -v trusted_directories /tmp/configuration >/tmp/untrusting
started sidecar /tmp/untrusting
is_refused() { enter 10001 clientsecretd status; grep -q 'other users can read or replace the key' /tmp/log; }
eventually "without the list the key is refused" is_refused
exits "and the pod is not started" 1 enter 10001 sh -c "$(probe sidecar)"
ended

# The manifest that pushes: an address at which nobody answers stands in for the cluster.
manifest=$manifests/push.yaml
yaml=$(sed -n '/clientsecretd.yaml: |/,/^---/{s/^    //p}' $manifest)
# shellcheck disable=SC2001
sed 's|kind: kubernetes.*}|kind: http, url: "http://127.0.0.1:9/", body: "{{client_secret}}"}|' <<<"$yaml" >/tmp/pushing
promise "the pushing configuration names the target" grep -q 'cluster: {kind: http' /tmp/pushing
environment+=("$(sed -n 's/^ *- {name: \(CLIENTSECRETD_SOCKET\), value: \(.*\)}$/\1=\2/p' $manifest)")
read -r network < <(sed -n 's/^ *command: \[\(.*\)\]$/\1/p' $manifest)
read -ra arguments < <(sed -n 's/^ *args: \[\(.*\)\]$/\1/p' $manifest | tr -d ,)
started push /tmp/pushing
pushing() { [[ $(enter 10001 clientsecretd status --json) == *"\"code\":\"$1\""* ]]; }
eventually "without the other container the daemon misses it" pushing push_service_missing
contains "and says what to run" "with the arguments ${arguments[*]}" "$(enter 10001 clientsecretd status)"
equal "it is asked what the others are" "$(probe sidecar)" "$(probe push)"
contained push push /tmp/pushing "$network" "${arguments[@]}" 2>/tmp/listener &
pushers=$!
it_listens() { pusher=$(first_process "$pushers") && enter 10001 test -S "${arguments[1]}"; }
eventually "it listens" it_listens
equal "for its own user" "600 10001" "$(enter 10001 stat -c '%a %u' "${arguments[1]}")"
refused "the API that is not there is tried" enter 10001 clientsecretd renew
promise "and named" pushing push_unreachable
# They have one user, without whom the daemon gives nothing, and one /dev/shm, in which it keeps its secrets.
promise "the daemon keeps its secret in the pod's memory" enter 10001 test -s /dev/shm/clientsecretd/clients/web.state
equal "where the other container does not see it" "" "$(enter_of "$pusher" 10001 find /dev/shm /keys -type f 2>/dev/null)"
refused "nor can it write there" enter_of "$pusher" 10001 touch /dev/shm/mine
kill -TERM "$pusher"
wait $pushers
ended
finish
