#!/bin/bash
# A daemon without systemd, as in a container or under another supervisor: it makes its own layout below /run.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

# This script has a /run of its own, in which nobody has made anything.
if [ -z "${BARE-}" ]; then
    BARE=1 exec unshare --mount --propagation private bash -c '
        mount --bind /run/bed /mnt && mount -t tmpfs -o mode=755 tmpfs /run && mkdir /run/bed && mount --move /mnt /run/bed &&
        exec bash "$0"' "$0"
fi
install_clientsecretd
useradd --system clientsecretd
make_key
# The daemon is root here, and nobody else has to do with its key.
chown root: $key
chmod 0600 $key
make_app app 'PORT=80\n'
exits "no service can be started now" 64 \
    clientsecretd init --now --key $key --team-id DEF123GHIJ --client-id com.example.web --output $output
says "for systemd does not run" "systemd does not run here; leave out --now"
promise "nothing is written" test ! -e $configuration
configure <<END
clients:
  app:
    outputs: [{path: /srv/app/.env, format: env, variable: SECRET, as: app}]
    on_change: [{exec: [/usr/bin/touch, ran]}]
  web:
    outputs: [{path: $output, mode: "0644"}]
END

umask 077
mkdir /tmp/private
cd /tmp/private || exit 1
# started [COMMAND…]: the daemon, by way of that command; waits until it is ready.
started() {
    env -u NOTIFY_SOCKET -u JOURNAL_STREAM -u INVOCATION_ID -u SYSTEMD_EXEC_PID "$@" \
        clientsecretd run 2>/tmp/log &
    daemon=$!
}
ended() { kill -TERM "$(pgrep -o -x -u "${1-root}" clientsecretd)" && wait "$daemon"; }
modes() { stat -c '%U %a' /run/clientsecretd /run/clientsecretd/out | paste -sd,; }

started strace --follow-forks --seccomp-bpf --output=/tmp/calls \
    --trace=chmod,fchmodat,chown,lchown,fchownat,chdir
eventually "it serves everything" clientsecretd health
equal "below a directory that it has made, whatever the umask" "root 755,root 755" "$(modes)"
eventually "by the writer that it starts itself" grep -q ^SECRET= /srv/app/.env
promise "a hook does not run where the daemon was started" test ! -e /tmp/private/ran
equal "the status socket has its mode" socket "$(stat -c %F $socket)"
exits "which nobody has given it by its name" 1 grep -E '"[^"]*(clientsecretd\.sock|credentials\.sock)"' /tmp/calls
promise "it stops" ended
equal "and takes its socket away" "$output" "$(find /run/clientsecretd ! -type d)"

rm -r /run/clientsecretd /srv/app
# Not root, and no place for it.
chown -R clientsecretd: /var/lib/clientsecretd $key
started setpriv --reuid=clientsecretd --regid=clientsecretd --clear-groups
says_why() { grep -qF "$socket: the socket cannot be used" /tmp/log; }
eventually "a user who may not make it goes without, and says why" says_why
promise "it stops" ended clientsecretd
finish
