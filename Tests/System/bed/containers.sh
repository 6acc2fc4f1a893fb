#!/bin/bash
# The drop-in that containers of LXC and Incus have for all services: it takes credentials and parts of the sandbox away.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

install_clientsecretd
make_key
mv $key /etc/clientsecretd/key.p8
cat >$configuration <<END
keys:
  apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, credential: apple-key}
clients:
  web:
    client_id: com.example.web
    credential: {unit: app.service, name: secret}
    outputs: [{path: $output}]
END
mkdir -p /etc/systemd/system/clientsecretd.service.d
printf '[Service]\nLoadCredential=apple-key:/etc/clientsecretd/key.p8\n' >/etc/systemd/system/clientsecretd.service.d/key.conf
printf '[Service]\nType=oneshot\nLoadCredential=secret:/run/clientsecretd/credentials.sock\nExecStart=/bin/true\n' \
    >/etc/systemd/system/app.service
systemctl daemon-reload
promise "without the drop-in the service starts" systemctl start clientsecretd
promise "and all is well" clientsecretd health
weaker="the sandbox in effect is weaker than the shipped one"
equal "nothing is weaker" "" "$(clientsecretd check 2>&1 | grep "$weaker"; journalctl -q -o cat -u clientsecretd | grep "$weaker")"
equal "and no credential is missed" "" "$(clientsecretd check 2>&1 | grep "does not load")"
systemctl stop clientsecretd.socket clientsecretd

drop_in=/run/systemd/system/service.d/zzz-lxc-service.conf
mkdir -p ${drop_in%/*}
printf '[Service]\nProcSubset=all\nProtectProc=default\nNoNewPrivileges=no\nLoadCredential=\nPrivateNetwork=no\n' >$drop_in
systemctl daemon-reload
systemctl start clientsecretd.socket clientsecretd
said=$(clientsecretd status 2>&1)
contains "the status says what took the key away" "clientsecretd.service names apple-key, and $drop_in takes it away" "$said"
contains "and what helps" "whose name comes after zzz-lxc-service.conf" "$said"
contains "and that the sandbox is weaker" "$weaker: clientsecretd.service: NoNewPrivileges=no, PrivateNetwork=no, ProcSubset=all" "$said"
logged() { journalctl -q -o cat -u clientsecretd | grep -c "$weaker"; }
eventually "the journal says so, too" eval '[ "$(logged)" = 1 ]'
said=$(clientsecretd check 2>&1)
contains "a check as well" "warning: $weaker" "$said"
contains "with what took the key away" "takes it away" "$said"
contains "and the application's credential" "app.service does not load the credential secret: $drop_in takes it away" "$said"
promise "a renewal" eval 'clientsecretd renew; true'
equal "once" 1 "$(logged)"

# As the remedy has it.
for unit in clientsecretd.service app.service; do mkdir -p /etc/systemd/system/$unit.d; done
cp /etc/systemd/system/clientsecretd.service.d/key.conf /etc/systemd/system/clientsecretd.service.d/zzzz-key.conf
printf '[Service]\nLoadCredential=secret:/run/clientsecretd/credentials.sock\n' >/etc/systemd/system/app.service.d/zzzz-secret.conf
systemctl daemon-reload
systemctl restart clientsecretd
promise "with a later drop-in all is well" clientsecretd health
equal "and no credential is missed" "" "$(clientsecretd check 2>&1 | grep "takes it away")"
finish
