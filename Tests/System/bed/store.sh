#!/bin/bash
# The service that hands secrets on through etcd: its socket, what it is handed, its sandbox, with three members of etcd.
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
answers=1
# order WORDS: gives the cluster an order and prints its answer.
order() {
    echo "$1" >&3
    answers=$((answers + 1))
    until [ "$(wc -l </tmp/answers)" -ge $answers ]; do sleep 0.05; done
    tail -n 1 /tmp/answers
}

shows_toolchain clientsecretd-store.service

# This machine mints web, and receives shop, whose key another one has.
make_key /root/AuthKey_XYZ123DEFG.p8
public=$(openssl pkey -in /root/AuthKey_XYZ123DEFG.p8 -pubout -outform DER | base64 -w 0)
shop=/run/clientsecretd/out/shop.jwt
cat >$configuration <<END
keys:
  apple: {team_id: DEF123GHIJ, file: $key}
  other: {team_id: DEF123GHIJ, key_id: XYZ123DEFG, public_key: $public}
clients:
  web:
    key: apple
    client_id: com.example.web
    outputs: [{path: $output}]
  shop:
    key: other
    client_id: com.example.shop
    outputs: [{path: $shop}]
store:
  endpoints: $endpoints
  user: signer
END
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
# Of two secrets of one second the greater fingerprint counts, not the later secret: so each is minted in a second of its own.
await_second_after() { until [ "$(date +%s)" -gt "$(stat -c %Y "$1" 2>/dev/null || echo 0)" ]; do sleep 0.05; done; }
renew_web() { await_second_after "$output" && clientsecretd renew web; }
# The other signer puts a secret into etcd.
put_shop() {
    await_second_after /tmp/shop.jwt
    clientsecretd mint --key /root/AuthKey_XYZ123DEFG.p8 --team-id DEF123GHIJ --client-id com.example.shop >/tmp/shop.jwt
    printf '{"v":1,"token":"%s"}' "$(cat /tmp/shop.jwt)" >/tmp/value
    order "put /clientsecretd/v1/secret/DEF123GHIJ/com.example.shop/$(keyprint <<<"$public") /tmp/value" >/dev/null
}
put_shop
shares() { [ -s "$output" ] && order "ctl get --prefix /clientsecretd/v1/secret/DEF123GHIJ/com.example.web/" | grep -qF "$(cat "$output")"; }
receives() { cmp -s <(tr -d '\n' <"$shop") <(tr -d '\n' </tmp/shop.jwt); }
promise "the daemon starts" systemctl start clientsecretd.service
eventually "what it mints is in etcd" shares
eventually "what another signer put there is received" receives
eventually "all is well" clientsecretd health
web=$(cat $output)

asks_at $socket
question='{"do":"read","keys":["secret/DEF123GHIJ/com.example.shop/'$(keyprint <<<"$public")'"]}'
refused "nobody else may ask" runuser -u nobody -- ask "$question"

# Killed, it is started anew with the next question.
pid=$(property MainPID clientsecretd-store.service)
promise "the service is killed" systemctl kill --signal=KILL clientsecretd-store.service
promise "a renewal goes on without it" renew_web
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
promise "a renewal" renew_web
eventually "is put there with them" shares
login client
settings clientsecretd-store.service override LoadCredential=store-password:/etc/etcd-password

equal "no secret is in the journal" "" \
    "$(journalctl --quiet --no-pager --output cat | grep -F -e "$web" -e "$(cat $output)" -e "$(cat $shop)")"

# The sandbox, as systemd sees the loaded unit.
equal "it speaks IP alone" "AF_INET AF_INET6" "$(property RestrictAddressFamilies clientsecretd-store.service)"

# What the program could see and do if it were taken over: the same unit, whose program looks around.
looks
sed "s|^ExecStart=.*|ExecStart=/usr/local/bin/look /etc/etcd-password $key $output\nStandardOutput=truncate:/run/look|" \
    "$(property FragmentPath clientsecretd-store.service)" >/etc/systemd/system/look.service
systemctl daemon-reload
promise "the program that looks around runs" systemctl start look.service
eventually "to its end" grep -qx looked /run/look
equal "it was handed the configuration and the files of the directory" "adopted.json clientsecretd.yaml store_ca.pem store_client.key store_client.pem" \
    "$(sed -n 's/^was handed //p' /run/look | xargs)"
equal "it reads, writes, disturbs and reaches nothing else" "" "$(looked /run/look)"

systemctl stop clientsecretd-store.socket
equal "the socket goes with its unit" "" "$(ls $socket 2>/dev/null)"
finish
