#!/bin/bash
# A release's image under podman and runc: its own user, a read-only root, no capability, no network. The release lies in
# /release.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

guide=/src/docs/kubernetes.md
podman() {
    timeout 120 podman --storage-driver=vfs --root /tmp/storage --runroot /tmp/running --cgroup-manager=cgroupfs \
        --runtime runc "$@"
}
promise "the archive is loaded" podman load --input /release/clientsecretd-*.oci.tar
image=$(podman images --quiet)
equal "each manifest names it by its digest" \
    "$(podman image inspect --format '{{index .RepoTags 0}}@{{.Digest}}' "$image" | sed s/^localhost/registry.example/)" \
    "$(grep -rhoE 'registry.example/clientsecretd[^", }]*' /release/kubernetes /release/ci | sort -u)"

mkdir -p /tmp/volumes/{keys,secrets}
new_key /tmp/volumes/keys/AuthKey_ABC123DEFG.p8
chmod 0400 /tmp/volumes/keys/*
chown -R 10001:10001 /tmp/volumes
block yaml 'keys:' >/tmp/volumes/clientsecretd.yaml
# The limit of processes needs a controller that a bed may not have.
contained() {
    podman run --pids-limit -1 --read-only --cap-drop all --network none --ulimit nofile=1024:1024 \
        --ulimit nproc=1000:1000 \
        --volume /tmp/volumes/keys:/keys:ro --volume /tmp/volumes/secrets:/secrets \
        --volume /tmp/volumes/clientsecretd.yaml:/etc/clientsecretd/clientsecretd.yaml:ro "$@"
}
is_published() { contained --rm "$image" inspect /secrets/web.jwt --key /keys/AuthKey_ABC123DEFG.p8; }
promise "one run publishes" contained --rm "$image" run --once
promise "what its key has signed" is_published
secret=$(sha256sum /tmp/volumes/secrets/web.jwt)

promise "the daemon starts" contained --detach --name daemon "$image"
inside() { podman exec daemon "$@"; }
eventually "it is healthy" inside clientsecretd health
equal "and has kept the secret" "$secret" "$(sha256sum /tmp/volumes/secrets/web.jwt)"
equal "it is a user without an account" "10001 10001" "$(inside sh -c 'echo $(id -u) $(id -g)')"
equal "it has no capability" 0000000000000000 "$(inside sed -n 's/^CapEff:\t//p' /proc/1/status)"
equal "nor a network" lo "$(inside sed -n 's/^ *\([^ ]*\): .*/\1/p' /proc/net/dev)"
equal "its root is read-only" ro "$(inside awk '$2 == "/" { print substr($4, 1, 2) }' /proc/mounts)"
promise "without the key's old secret" rm /tmp/volumes/secrets/web.jwt
eventually "it publishes another" is_published
# podman kills what has not ended by then, and the status is another.
promise "it is stopped" podman stop --time 60 daemon
equal "by itself" 0 "$(podman inspect --format '{{.State.ExitCode}}' daemon)"
promise "the secret stays" is_published
finish
