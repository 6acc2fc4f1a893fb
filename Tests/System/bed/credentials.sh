#!/bin/bash
# credentials.sh DIRECTORY, in a bed: units that load their secret from the daemon in DIRECTORY, with its unit files in
# DIRECTORY/systemd. Writes one line for each thing that was seen; the test says what they have to be.
set -u
cd "$1" || exit 1

install -m 755 clientsecretd /usr/bin/clientsecretd
install -m 644 systemd/*.service systemd/*.socket /etc/systemd/system/
systemd-sysusers "$PWD/systemd/clientsecretd.sysusers" 2>&1 | grep -v ^Creating
systemd-tmpfiles --create "$PWD/systemd/clientsecretd.tmpfiles"
mkdir -p /etc/clientsecretd /run/seen
key=/etc/clientsecretd/AuthKey_ABC123DEFG.p8 spare=/etc/clientsecretd/AuthKey_SPARE12345.p8
cat >/etc/clientsecretd/clientsecretd.yaml <<END
keys:
  apple: {team_id: DEF123GHIJ, file: $key}
  spare: {team_id: DEF123GHIJ, file: $spare}
defaults: {key: apple}
clients:
  web:
    credential: {unit: app.service, name: secret}
    outputs: [{path: /run/clientsecretd/out/web.jwt}]
  twice:
    credential: {unit: twice.service, name: secret}
  all:
    credential: {unit: app@.service, name: secret}
  one:
    credential: {unit: 'app@an\x2dinstance.service', name: secret}
  late:
    key: spare
    credential: {unit: late.service, name: secret}
END
mkdir /etc/systemd/system/clientsecretd.service.d
printf '[Service]\nRestartSec=100ms\n' >/etc/systemd/system/clientsecretd.service.d/quick.conf

# unit NAME [LINE]...: a service that keeps what it was given in /run/seen.
unit() {
    local name=$1
    shift
    cat >"/etc/systemd/system/$name" <<END
[Service]
Type=oneshot
LoadCredential=secret:/run/clientsecretd/credentials.sock
ExecStart=/bin/sh -c 'cat "\$\$CREDENTIALS_DIRECTORY/secret" >"/run/seen/\$\$0"' %n
$(printf '%s\n' "$@")
END
}
unit app.service
unit twice.service 'ExecStartPre=/bin/sh -c "cat $$CREDENTIALS_DIRECTORY/secret >/run/seen/before"'
unit app@.service User=nobody
unit other.service
unit late.service
sed 's/=secret:/=another:/' /etc/systemd/system/other.service >/etc/systemd/system/named.service
ln -s app.service /etc/systemd/system/alias.service
chmod 777 /run/seen
systemctl daemon-reload

start() { timeout 60 systemctl start "$@" 2>/dev/null; }
say() { printf '%s: %s\n' "$1" "${*:2}"; }
# What a unit got: a secret of which client, nothing, or how its start failed.
got() {
    local file=/run/seen/$1 status
    if [ -s "$file" ]; then
        clientsecretd inspect --json "$file" 2>/dev/null | grep -o '"client_id": *"[^"]*"' | cut -d'"' -f4
    elif [ -e "$file" ]; then
        echo EMPTY
    else
        status=$(systemctl show -P ExecMainStatus "$1")
        echo "no start, $status"
    fi
}
# place FILE: a key, as an administrator puts it there.
place() {
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.new" 2>/dev/null
    chown clientsecretd: "$1.new" && chmod 400 "$1.new" && mv "$1.new" "$1"
}
until_is() { # STATE UNIT
    for _ in $(seq 300); do
        [ "$(systemctl is-active "$2")" = "$1" ] && return
        sleep 0.1
    done
    say "$2" "never $1"
}

systemctl start clientsecretd-credentials.socket
say "the socket alone" "$(systemctl is-active clientsecretd-credentials.socket clientsecretd.service | paste -sd' ')"
start app.service &
waiting=$!
until_is active clientsecretd
sleep 0.5
say "a start before the first secret" "$(systemctl is-active app.service)"
place "$key"
wait $waiting
say "then" "$(got app.service)"
cmp -s /run/seen/app.service /run/clientsecretd/out/web.jwt && say "the published secret" same
start twice.service
cmp -s /run/seen/before /run/seen/twice.service && say "for each command" "$(got twice.service)"
systemd-analyze verify clientsecretd-credentials.socket
for name in app@one.service 'app@an\x2dinstance.service' 'app@x\x2dy.service' other.service named.service; do
    start "$name"
    say "$name" "$(got "$name")"
done
rm /run/seen/app.service
start alias.service
say "by an alias" "$(got alias.service)"

clientsecretd renew web >/dev/null
start app.service
cmp -s /run/seen/app.service /run/clientsecretd/out/web.jwt && say "after a renewal" same

rm -f /run/seen/*
systemctl stop clientsecretd 2>/dev/null
start app.service
say "the daemon stopped" "$(got app.service)"
until_is active clientsecretd

# A user's own service manager is not root's, neither at a closed door nor at an open one.
cp /etc/systemd/system/app.service /etc/systemd/user/
mkdir -p /run/user/5
chown games /run/user/5
systemctl start user@5
as_user() { setpriv --reuid=games --regid=games --clear-groups env XDG_RUNTIME_DIR=/run/user/5 "$@"; }
for mode in 600 666; do
    chmod $mode /run/clientsecretd/credentials.sock
    rm -f /run/seen/*
    as_user systemctl --user start app.service 2>/dev/null
    say "a user's unit" "$(ls /run/seen) $(as_user systemctl --user show -P ExecMainStatus app.service)"
done
chmod 600 /run/clientsecretd/credentials.sock
systemctl stop user@5

# While a unit waits.
start late.service &
waiting=$!
until_is activating late.service
sleep 0.3
systemctl stop clientsecretd 2>/dev/null
wait $waiting
say "stopped meanwhile" "$(got late.service)"
systemctl reset-failed
systemctl start clientsecretd
start late.service &
waiting=$!
until_is activating late.service
sleep 0.3
for _ in 1 2; do
    systemctl kill --kill-whom=main --signal=KILL clientsecretd
    sleep 0.5
    until_is active clientsecretd
done
say "killed meanwhile" "$(systemctl is-active late.service)"
place "$spare"
wait $waiting
say "then" "$(got late.service)"

# A daemon that refuses to start leaves the socket as it is.
rm -f /run/seen/*
systemctl stop clientsecretd 2>/dev/null
mv /etc/clientsecretd/clientsecretd.yaml /etc/clientsecretd/aside
start app.service
say "no configuration" "$(got app.service)"
until_is failed clientsecretd
say "the socket" "$(systemctl is-active clientsecretd-credentials.socket)"
mv /etc/clientsecretd/aside /etc/clientsecretd/clientsecretd.yaml
systemctl reset-failed
start app.service
say "mended" "$(got app.service)"

journalctl -u clientsecretd -o cat | grep -c 'gave sha256' | sed 's/^/served: /'
journalctl -u clientsecretd -o cat | grep 'refused ' | sort -u
