#!/bin/bash
# The service that hands secrets on through etcd: its socket and what it is handed, with three members of etcd. Its sandbox is that
# of the service that pushes (InstallTests).
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

set_up
mkdir /tmp/etcd
mkfifo /tmp/orders
exec 3<>/tmp/orders
# It serves until its input ends, which is with the bed.
setsid python3 /src/Tests/Support/etcd/cluster.py /tmp/etcd /src/.build/etcd/usr/bin </tmp/orders >/tmp/answers 2>/tmp/cluster.log &
eventually "etcd serves" test -s /tmp/answers
endpoints=$(python3 -c 'import json; print(json.loads(open("/tmp/answers").readline())["endpoints"])')
# order WORDS: gives the cluster an order and prints its answer.
order() {
    local answers
    answers=$(wc -l </tmp/answers)
    echo "$1" >&3
    until [ "$(wc -l </tmp/answers)" -gt "$answers" ]; do sleep 0.05; done
    tail -n 1 /tmp/answers
}

shows_toolchain clientsecretd-store.service

configure_web 'store:
  endpoints: '"$endpoints"'
  user: signer'
socket=/run/clientsecretd/store.sock
contains "a check says what enables it" "systemctl enable --now clientsecretd-store.socket" "$(clientsecretd check 2>&1)"

promise "the socket starts" systemctl enable --now clientsecretd-store.socket
equal "the daemon's user alone may connect" "600 clientsecretd" "$(stat -c '%a %U' $socket)"
equal "the directory for what it is handed is root's alone" "700 root" "$(stat -c '%a %U' /etc/clientsecretd/store)"
equal "a check says so no more" "" "$(clientsecretd check 2>&1 | grep store.socket)"

# As docs/fleet-etcd.md has it.
login() { # login CERTIFICATE: what this machine logs in with
    install -m 0600 /tmp/etcd/ca.pem /etc/clientsecretd/store/ca.pem
    install -m 0600 "/tmp/etcd/$1.pem" /etc/clientsecretd/store/client.pem
    install -m 0600 "/tmp/etcd/$1.key" /etc/clientsecretd/store/client.key
}
login client
(umask 077 && echo signer >/etc/clientsecretd/store/password)

# As the guide finds out where a key's secrets lie.
keyprint() { eval "$(sed -n 's/^    echo MFkw… | //p' /src/docs/fleet-protocol.md)"; }
place=/clientsecretd/v1/secret/DEF123GHIJ/com.example.web/$(openssl pkey -in $key -pubout -outform DER | base64 -w 0 | keyprint)
shares() { [ -s "$output" ] && order "ctl get $place" | grep -qF "$(cat "$output")"; }
promise "the daemon starts" systemctl start clientsecretd.service
eventually "what it mints is in etcd" shares
eventually "all is well" clientsecretd health
web=$(cat $output)
equal "it was handed the configuration and the files of the directory" \
    "adopted.json clientsecretd.yaml store_ca.pem store_client.key store_client.pem store_password" \
    "$(find /run/credentials/clientsecretd-store.service -type f -printf '%f\n' | sort | xargs)"

# Killed, it is started anew with the next question.
pid=$(property MainPID clientsecretd-store.service)
promise "the service is killed" systemctl kill --signal=KILL clientsecretd-store.service
promise "a renewal goes on without it" clientsecretd renew web
eventually "and is put there by a new one" shares
refused "which is another process" test "$pid" = "$(property MainPID clientsecretd-store.service)"
eventually "all is well again" clientsecretd health

# What it is handed is read anew at a reload.
status_says() { clientsecretd status | grep -qF "$1"; }
login expired
refused "with an expired certificate a reload is no success" systemctl reload clientsecretd.service
eventually "and etcd refuses it" status_says "etcd refuses this machine's certificate"
refused "which is no health" clientsecretd health
login client
promise "with a renewed one, too" systemctl reload clientsecretd.service
eventually "and all is well" clientsecretd health

rm /etc/clientsecretd/store/password
refused "nor without the password" systemctl reload clientsecretd.service
eventually "and it is named" status_says 'there is no "password_file" for the user'
(umask 077 && echo signer >/etc/etcd-password)

# Everything from elsewhere, and nothing in the directory.
mkdir -m 0700 /etc/elsewhere
mv /etc/clientsecretd/store/* /etc/elsewhere/
handed=(store-password:/etc/etcd-password store-ca:/etc/elsewhere/ca.pem store-certificate:/etc/elsewhere/client.pem
    store-key:/etc/elsewhere/client.key)
settings clientsecretd-store.service override "${handed[@]/#/LoadCredential=}"
promise "with all of them from elsewhere a reload" systemctl reload clientsecretd.service
eventually "finds all well" clientsecretd health
promise "a renewal" clientsecretd renew web
eventually "is put there with them" shares

equal "no secret is in the journal" "" \
    "$(journalctl --quiet --no-pager --output cat | grep -F -e "$web" -e "$(cat $output)")"

systemctl stop clientsecretd-store.socket
equal "the socket goes with its unit" "" "$(ls $socket 2>/dev/null)"
finish
