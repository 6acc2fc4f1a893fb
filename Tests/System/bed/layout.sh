#!/bin/bash
# What root's systemd makes and gives away by its path lies where the daemon's user, a hook among what runs as it, cannot put
# another thing in its place.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

set_up
useradd --system app
configure_web "    on_change:
      - exec: [/usr/local/bin/attack]"
# Below its own directory a hook may do as it likes: this says whether it could elsewhere.
cat >/usr/local/bin/attack <<'END'
#!/bin/sh
{ mv /run/clientsecretd/writer /run/clientsecretd/moved || mkdir /run/clientsecretd/mine; } &&
    echo done >/run/clientsecretd/out/attack || echo refused >/run/clientsecretd/out/attack
END
chmod 755 /usr/local/bin/attack

# paths: of everything that root makes or gives away by path for the service: directories of tmpfiles.d, sockets, the state
# directory.
paths() {
    systemd-tmpfiles --cat-config | awk '$1 ~ /^[a-zA-Z]/ && $2 ~ /clientsecretd/ { print $2 }'
    for unit in /usr/local/lib/systemd/system/clientsecretd*.socket; do
        unit=${unit##*/}
        systemctl show --property Listen --value "${unit/@./@app.}" | sed -n 's/^\(\/.*\) (Stream)$/\1/p'
    done
    echo /var/lib/clientsecretd
}
# replaceable: those of them that the daemon's user could rename, or put something in the way of.
replaceable() {
    local path directory
    for path in $(paths); do
        directory=$path
        while [ "$directory" != / ]; do
            directory=$(dirname "$directory")
            ! runuser -u clientsecretd -- test -w "$directory" || echo "$path: $directory"
        done
    done
}

promise "the service starts" systemctl start clientsecretd.service
promise "and a writer's socket" systemctl start clientsecretd-writer@app.socket
equal "there are as many paths as there should be" 12 "$(paths | sort -u | wc -l)"
equal "the daemon's user can put nothing in the place of what root gives away" "" "$(replaceable)"
equal "nor a hook, which runs as that user" refused "$(cat /run/clientsecretd/out/attack)"
equal "the directory is root's" "root 755" "$(stat -c '%U %a' /run/clientsecretd)"
equal "that of the secrets is the daemon's" "clientsecretd 755" "$(stat -c '%U %a' /run/clientsecretd/out)"

# Before there was only one directory, and it belonged to the daemon's user.
chown clientsecretd: /run/clientsecretd
promise "an upgrade takes up the new layout" make --silent -C /src install binary=/built/clientsecretd
equal "the directory is root's then" "root 755" "$(stat -c '%U %a' /run/clientsecretd)"
promise "and the daemon goes on" clientsecretd renew

# The sockets are not passed: the daemon may make none beside what is root's.
systemctl stop clientsecretd.service
systemctl mask clientsecretd.socket 2>/dev/null
promise "without its socket the service starts" systemctl start clientsecretd.service
contains "and says why it cannot be asked" "degraded: $socket: the socket cannot be used (permission denied)" \
    "$(property StatusText)"
remedy=$(property StatusText | grep -o 'systemctl unmask [^;)]*')
promise "and what helps, if it is wanted ($remedy)" sh -c "$remedy"
promise "and then a restart" systemctl restart clientsecretd.service
promise "which does" clientsecretd status
finish
