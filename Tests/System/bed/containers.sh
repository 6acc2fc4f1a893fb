#!/bin/bash
# The drop-in that containers of LXC and Incus have for all services: it removes credentials and parts of the sandbox.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

set_up
mv $key /etc/clientsecretd/key.p8
cat >$configuration <<END
keys:
  apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, credential: apple-key}
clients:
  web:
    client_id: com.example.web
    credential: {unit: app.service, name: secret}
    outputs: [{path: $output}, {push: v}]
targets:
  v: {kind: vault, path: apps/web, endpoint: 'https://192.0.2.1:8200', token_credential: vault-token}
END
settings clientsecretd.service key LoadCredential=apple-key:/etc/clientsecretd/key.p8
service app Type=oneshot LoadCredential=secret:/run/clientsecretd/credentials.sock ExecStart=/bin/true
systemctl enable --quiet --now clientsecretd-push@v.socket
said=$(clientsecretd check 2>&1)
contains "before the start the key's credential is not missing" \
    "clientsecretd.service names it, and was not started since; start it: systemctl restart clientsecretd.service" "$said"
contains "a token's credential that nothing names is" "clientsecretd-push@v.service has no LoadCredential= for vault-token" "$said"
promise "without the drop-in the service starts" systemctl restart clientsecretd
served() { of_status 'c["outputs"][0]["state"]'; }
equal "and has its key" ok "$(served)"
eventually "the status names the token's credential, too" \
    eval 'clientsecretd status | grep -q "write LoadCredential=vault-token:/path/to/file into its .Service. section"'
(umask 077 && echo token >/etc/clientsecretd/vault-token)
settings clientsecretd-push@v.service token LoadCredential=vault-token:/etc/clientsecretd/vault-token
equal "with the line it is not missed" "" "$(clientsecretd check 2>&1 | grep vault-token)"
weaker="the sandbox in effect is weaker than the shipped one"
equal "nothing is weaker" "" "$(clientsecretd check 2>&1 | grep "$weaker"; journal | grep "$weaker")"
equal "and no credential is missed" "" "$(clientsecretd check 2>&1 | grep "does not load")"
systemctl stop clientsecretd.socket clientsecretd

drop_in=/run/systemd/system/service.d/zzz-lxc-service.conf
mkdir -p ${drop_in%/*}
printf '[Service]\nProcSubset=all\nProtectProc=default\nNoNewPrivileges=no\nLoadCredential=\nPrivateNetwork=no\n' >$drop_in
systemctl daemon-reload
systemctl start clientsecretd.socket clientsecretd
said=$(clientsecretd status 2>&1)
contains "the status says what took the key away" "clientsecretd.service names apple-key, and $drop_in removes it" "$said"
contains "and what helps" "whose name comes after zzz-lxc-service.conf" "$said"
for form in "" --json --watch "--watch --json"; do
    # shellcheck disable=SC2086
    contains "and that the sandbox is weaker ($form)" \
        "$weaker: clientsecretd.service: NoNewPrivileges=no, PrivateNetwork=no, ProcSubset=all" \
        "$(timeout 5 clientsecretd status $form 2>&1)"
done
logged() { journal | grep -c "$weaker"; }
eventually "the journal says so, too" eval '[ "$(logged)" = 1 ]'
said=$(clientsecretd check 2>&1)
contains "a check as well" "warning: $weaker" "$said"
contains "with what took the key away" "removes it" "$said"
contains "and what the service that pushes is not passed" \
    "clientsecretd-push@v.service names clientsecretd.yaml and adopted.json and vault-token, and $drop_in removes them" "$said"
contains "with the lines that it takes" "write LoadCredential=clientsecretd.yaml:/etc/clientsecretd/clientsecretd.yaml and " "$said"
contains "and the application's credential" "it does not load the credential secret: $drop_in removes it" "$said"
promise "a renewal" eval 'clientsecretd renew; true'
equal "once" 1 "$(logged)"

# A second daemon runs in a unit of its own, and is judged by that one.
new_key /root/second.p8
cat >/root/second.yaml <<END
state_dir: /var/lib/second
keys:
  apple: {team_id: DEF123GHIJ, key_id: ABC123DEFH, file: /root/second.p8}
clients:
  second: {client_id: com.example.second, outputs: [{path: /run/second/web.jwt}]}
END
service second RuntimeDirectory=second StateDirectory=second NoNewPrivileges=yes \
    'ExecStart=/usr/local/bin/clientsecretd run --config /root/second.yaml --socket /run/second/second.sock'
promise "a second daemon starts" systemctl start second.service
eventually "and names its own unit" eval 'journal second.service | grep -qF "$weaker: second.service: NoNewPrivileges=no"'
equal "and only that" 0 "$(journal second.service | grep "$weaker" | grep -c clientsecretd.service)"
equal "status of it does not name the service" 0 "$(clientsecretd status --socket /run/second/second.sock 2>&1 | grep -c "$weaker")"
systemctl stop second.service

# As the remedy has it.
settings clientsecretd.service zzzz-key LoadCredential=apple-key:/etc/clientsecretd/key.p8
settings app.service zzzz-secret LoadCredential=secret:/run/clientsecretd/credentials.sock
mapfile -t loaded < <(grep ^LoadCredential= /usr/local/lib/systemd/system/clientsecretd-push@.service)
settings clientsecretd-push@v.service zzzz-token LoadCredential=vault-token:/etc/clientsecretd/vault-token "${loaded[@]}"
systemctl restart clientsecretd
equal "with a later drop-in it has its key" ok "$(served)"
eventually "and the service that pushes its configuration" eval 'clientsecretd status | grep -q "the API cannot be reached"'
equal "and no credential is missed" "" "$(clientsecretd check 2>&1 | grep "removes it")"
finish
