#!/bin/bash
# Units that load their secret from the daemon when they start.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

install_clientsecretd
# Two keys that are not there yet.
rm -f $key
spare=/etc/clientsecretd/AuthKey_SPARE12345.p8
configure <<END
  spare: {team_id: DEF123GHIJ, file: $spare}
defaults: {key: apple}
clients:
  web:
    credential: {unit: app.service, name: secret}
    outputs: [{path: $output}]
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
settings clientsecretd.service quick RestartSec=100ms

# unit NAME [LINE…]: a service that keeps what it was given in /run/seen, by its name (where an alias starts it, %n may
# be the alias).
unit() {
    local name=$1 file=$1.service
    [ "${name%@}" = "$name" ] || file=%n
    shift
    service "$name" Type=oneshot LoadCredential=secret:/run/clientsecretd/credentials.sock "$@" \
        "ExecStart=/bin/sh -c 'cat \"\$\$CREDENTIALS_DIRECTORY/secret\" >\"/run/seen/\$\$0\"' $file"
}
unit app
unit twice 'ExecStartPre=/bin/sh -c "cat $$CREDENTIALS_DIRECTORY/secret >/run/seen/before"'
unit app@ User=nobody
unit other
unit late
sed 's/=secret:/=another:/' /etc/systemd/system/other.service >/etc/systemd/system/named.service
ln -s app.service /etc/systemd/system/alias.service
mkdir --mode 777 /run/seen
systemctl daemon-reload

start() { timeout 60 systemctl start "$@" 2>/dev/null; }
is() { [ "$(systemctl is-active "$2")" = "$1" ]; }
# got UNIT: a secret of which client, nothing, or how its start failed.
got() {
    local file=/run/seen/$1
    if [ -s "$file" ]; then
        clientsecretd inspect --json "$file" 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["client_id"])'
    elif [ -e "$file" ]; then
        echo EMPTY
    else
        echo "no start, $(property ExecMainStatus "$1")"
    fi
}
# place FILE: a key, as an administrator puts it there.
place() {
    make_key "$1.new"
    mv "$1.new" "$1"
}

systemctl start clientsecretd-credentials.socket
equal "the socket alone does not start the daemon" "active inactive" \
    "$(systemctl is-active clientsecretd-credentials.socket clientsecretd.service | paste -sd' ')"
start app.service &
waiting=$!
eventually "a unit that asks does" is active clientsecretd
# asked: a unit is connected to the daemon's socket, and has no answer.
asked() { grep -q '^[^ ]* [^ ]* [^ ]* [^ ]* 0001 03 .*/clientsecretd/credentials.sock$' /proc/net/unix; }
eventually "and is not answered before the first secret" asked
equal "for which it waits" activating "$(systemctl is-active app.service)"
place "$key"
wait $waiting
equal "which it then gets" web "$(got app.service)"
promise "it is the published one" cmp /run/seen/app.service $output
start twice.service
equal "each command of a unit gets it" twice "$(got twice.service)"
promise "the same for each" cmp /run/seen/before /run/seen/twice.service
while read -r name wanted; do
    start "$name"
    equal "what $name gets" "$wanted" "$(got "$name")"
done <<'END'
app@one.service all
app@an\x2dinstance.service one
app@x\x2dy.service all
other.service no start, 243
named.service no start, 243
END
rm /run/seen/app.service
start alias.service
equal "a unit started by an alias gets its own" web "$(got app.service)"

clientsecretd renew web >/dev/null
start app.service
promise "after a renewal a unit gets the new secret" cmp /run/seen/app.service $output

rm -f /run/seen/*
systemctl stop clientsecretd 2>/dev/null
start app.service
equal "where the daemon was stopped, its socket is closed too" "no start, 243" "$(got app.service)"
systemctl start clientsecretd-credentials.socket
start app.service
equal "with the socket it is started by a unit that asks" web "$(got app.service)"
eventually "and stays" is active clientsecretd

# Its file is gone while systemd listens there: no unit could start, and to enable the socket does nothing.
rm /run/clientsecretd/credentials.sock
for command in status check "doctor --skip-verify web"; do
    # shellcheck disable=SC2086
    contains "$command names a socket whose file is gone" "its file /run/clientsecretd/credentials.sock is gone" \
        "$(clientsecretd $command 2>&1)"
done
clientsecretd check --fix >/run/fixed 2>&1
promise "check --fix brings it back" test -S /run/clientsecretd/credentials.sock
eventually "with the daemon" is active clientsecretd
rm -f /run/seen/*
start app.service
equal "and units get their secrets" web "$(got app.service)"
systemctl mask clientsecretd-credentials.socket 2>/dev/null
contains "check names one that is masked" "clientsecretd-credentials.socket is masked" "$(clientsecretd check 2>&1)"
systemctl unmask clientsecretd-credentials.socket 2>/dev/null

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
    equal "a user's unit gets nothing from a socket of mode $mode" "243" \
        "$(ls /run/seen)$(as_user systemctl --user show -P ExecMainStatus app.service)"
done
chmod 600 /run/clientsecretd/credentials.sock
systemctl stop user@5

# While a unit waits.
start late.service &
waiting=$!
eventually "a unit waits for a key" asked
systemctl stop clientsecretd 2>/dev/null
wait $waiting
equal "where the daemon stops meanwhile its start fails" "no start, 243" "$(got late.service)"
systemctl reset-failed
systemctl start clientsecretd
start late.service &
waiting=$!
eventually "it waits again" asked
for _ in 1 2; do
    killed=$(property MainPID)
    systemctl kill --kill-whom=main --signal=KILL clientsecretd
    back() { [ "$(property MainPID)" != "$killed" ] && is active clientsecretd; }
    eventually "a daemon that is killed meanwhile is back" back
done
equal "and the unit still waits" activating "$(systemctl is-active late.service)"
place "$spare"
wait $waiting
equal "until its secret is there" late "$(got late.service)"

rm -f /run/seen/*
systemctl stop clientsecretd 2>/dev/null
mv $configuration /etc/clientsecretd/aside
rm -r /var/lib/clientsecretd-adopted
systemctl start clientsecretd-credentials.socket
start app.service
equal "a daemon that refuses to start refuses the unit" "no start, 243" "$(got app.service)"
eventually "and has failed" is failed clientsecretd
equal "which leaves the socket as it is" active "$(systemctl is-active clientsecretd-credentials.socket)"
mv /etc/clientsecretd/aside $configuration
systemctl reset-failed
start app.service
equal "so that the unit starts once that is fixed" web "$(got app.service)"

# systemd asks by the unit's own name, whatever name it is started by.
sed -i 's/unit: app.service/unit: alias.service/' $configuration
refused "a credential of an alias fails a reload" clientsecretd reload
words='alias.service: its next start would fail: systemd asks for its credential as app.service'
says "which says why" "$words"
refused "check does not pass" clientsecretd check
says "and names the line" "$configuration:$(grep -n alias.service $configuration | cut -d: -f1):5: error: $words"
systemctl restart clientsecretd
is_said() { clientsecretd health | grep -qF "$words"; }
eventually "and health says so after a start, too" is_said
sed -i 's/unit: alias.service/unit: app.service/' $configuration
promise "until it is corrected" clientsecretd reload

said=$(journal)
equal "each secret that was given away is in the journal" 12 "$(grep -c 'gave sha256' <<<"$said")"
equal "and each refusal" "$(sed 's/^/refused /' <<'END'
a credential to the user 5, because only root's systemd is served; load it from a system unit
late.service the credential "secret", because there is no secret yet and the daemon stops; start the unit again
named.service the credential "another", because no client has it; write "credential: {unit: named.service, name: another}" under its client
other.service the credential "secret", because no client has it; write "credential: {unit: other.service, name: secret}" under its client
END
)" "$(grep '^refused ' <<<"$said" | sort -u)"
finish
