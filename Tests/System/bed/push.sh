#!/bin/bash
# The service that pushes for the daemon: its socket, its token, its sandbox, with a stand-in for Vault on loopback.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

set_up
mkdir /tmp/api
# It serves until its input ends.
setsid /src/.build/venv/bin/python /src/Tests/Support/push/stand-in.py /tmp/api >/tmp/api/address < <(sleep infinity) &
eventually "the stand-in listens" test -s /tmp/api/address
install -m 0644 /tmp/api/ca.pem /etc/ssl/stand-in.pem
token() { (umask 077 && echo "$1" >/etc/clientsecretd/vault-token); }

network=/usr/local/libexec/clientsecretd/clientsecretd-network
shows_toolchain clientsecretd-push@.service

configure_web "      - push: production"
cat >>$configuration <<END
targets:
  production:
    kind: vault
    path: apps/web
    endpoint: $(cat /tmp/api/address)
    ca_file: /etc/ssl/stand-in.pem
    token_credential: vault-token
END
socket=/run/clientsecretd/push/production.sock
contains "a check says what enables it" "systemctl enable --now clientsecretd-push@production.socket" "$(clientsecretd check 2>&1)"

promise "the daemon starts" systemctl start clientsecretd.service
eventually "and misses it" eval 'clientsecretd status --json | grep -q push_service_missing'

# As the guide has it: the drop-in, and at a terminal, where the token is typed, the commands.
guide=/usr/local/share/doc/clientsecretd/push.md
drop_in=/etc/systemd/system/clientsecretd-push@production.service.d
mkdir -p $drop_in
block ini LoadCredential | sed 's/supabase/vault/g' >$drop_in/token.conf
block sh 'install -m 0600' | sed 's/supabase/vault/g' >/tmp/commands
promise "the guide has commands" test -s /tmp/commands
echo token-of-the-tests >/tmp/typed
promise "the guide's commands" script --quiet --return --command "bash -e /tmp/commands" /dev/null </tmp/typed
equal "keep the token" "600 token-of-the-tests" "$(stat -c %a /etc/clientsecretd/vault-token) $(cat /etc/clientsecretd/vault-token)"
promise "the socket listens" systemctl is-active clientsecretd-push@production.socket
equal "the daemon's user alone may connect" "600 clientsecretd" "$(stat -c '%a %U' $socket)"
equal "a check says so no more" "" "$(clientsecretd check 2>&1 | grep push@)"
install -m 0644 /tmp/api/ca.pem /etc/clientsecretd/api.pem
sed -i 's,/etc/ssl/stand-in.pem,/etc/clientsecretd/api.pem,' $configuration
contains "a check says that the service does not see a file" \
    "does not see /etc/clientsecretd/api.pem (InaccessiblePaths=/etc/clientsecretd); put it below /etc/ssl" "$(clientsecretd check 2>&1)"
install -m 0600 /tmp/api/ca.pem /etc/ssl/api.pem
sed -i 's,/etc/clientsecretd/api.pem,/etc/ssl/api.pem,' $configuration
contains "and that its user may not read one" "the user of clientsecretd-push@production.service may not read /etc/ssl/api.pem" \
    "$(clientsecretd check 2>&1)"
sed -i 's,/etc/ssl/api.pem,/etc/ssl/stand-in.pem,' $configuration
rm /etc/clientsecretd/api.pem /etc/ssl/api.pem
equal "then nothing is in the way" "" "$(clientsecretd check 2>&1 | grep push@)"

chmod 0620 /etc/clientsecretd/vault-token
chgrp games /etc/clientsecretd/vault-token
contains "a check names a token that others can change, which systemd passes on" \
    "/etc/clientsecretd/vault-token: the file is writable by its group" "$(clientsecretd check 2>&1)"
chmod 0600 /etc/clientsecretd/vault-token
equal "and no more when it is closed" "" "$(clientsecretd check 2>&1 | grep vault-token)"

asks_at $socket
shows_verified() { [ "$(of_status 'next(o for o in c["outputs"] if o.get("target") == "production").get("verified")')" = "$1" ]; }
same() { cmp -s "$output" /tmp/api/held; }
eventually "the push is verified" shows_verified True
promise "the API holds what the file holds" same
promise "all is well" clientsecretd health
question='{"do":"read","client_secret":"'$(clientsecretd mint --key $key --team-id DEF123GHIJ --client-id com.example.web)'"}'
refused "nobody else may" runuser -u nobody -- ask "$question"
contains "the daemon's user is answered" '"holds":false' "$(runuser -u clientsecretd -- ask "$question")"
by_hand() { block sh '"do":"publish"' | sed 's/supabase/vault/g'; }
contains "and by hand, as the guide has it, it is pushed" '"result":"published"' "$(does by_hand)"
secret=$(cat $output)

token ""
contains "a check names an empty token, which systemd passes on" "/etc/clientsecretd/vault-token is empty or not text" \
    "$(clientsecretd check 2>&1)"
refused "and fails" clientsecretd check
# Each request is handed the token as it is then.
token wrong
refused "a renewal with a token that is refused fails" clientsecretd renew
contains "the status says so" "the API refuses the token" "$(clientsecretd status)"
equal "the file has the new secret all the same" "1" "$(clientsecretd status --json | grep -c push_credentials_refused)"
token token-of-the-tests
promise "with the right one it goes on" clientsecretd renew
promise "and the API holds it" same
equal "neither secret nor token is in the journal" "" \
    "$(journalctl --quiet --no-pager --output cat | grep -F -e "$secret" -e "$(cat $output)" -e token-of-the-tests)"

# A service that cannot start gives no answer: status says why, as check does.
# silent LINE…: with these settings of the unit a renewal is not pushed.
silent() {
    settings clientsecretd-push@production.service start "$@"
    refused "a renewal fails with $*" clientsecretd renew
    equal "because the service is silent" "1" "$(clientsecretd status --json | grep -c push_service_silent)"
}
silent User=csp.production
for command in check status; do
    contains "$command says why it cannot start" "systemd accepts no user name this long or with such characters" \
        "$(clientsecretd $command 2>&1)"
done
silent DynamicUser=no User=nosuch
for command in check status; do
    contains "$command names a user that does not exist" "User=nosuch names a user that does not exist" \
        "$(clientsecretd $command 2>&1)"
done
silent ExecStart= ExecStart=/etc/hostname
contains "what systemd alone knows is said" "systemd could not start clientsecretd-push@production.service: exit status 203" \
    "$(clientsecretd status)"
rm $drop_in/start.conf
systemctl daemon-reload
promise "then it goes on" clientsecretd renew
promise "and the API has the secret" same

# After a mistake, or without a configuration at all, the daemon goes on with the text that it has last adopted, and so does
# this service. At a start the daemon looks whether the API holds what was last put there.
cp $configuration /tmp/good.yaml
# restarted: a start at which the API holds something else than the daemon has put there
restarted() {
    systemctl stop clientsecretd.service 'clientsecretd-push@*.service'
    systemctl reset-failed
    echo '{"do":"publish","client_secret":"'"$(clientsecretd mint --key "$key" --team-id DEF123GHIJ --client-id com.example.web)"'"}' |
        CREDENTIALS_DIRECTORY=/tmp/by-hand $network push production --config /tmp/good.yaml >/dev/null
    same && return 1
    systemctl start clientsecretd.service
}
install -D -m 0600 /etc/clientsecretd/vault-token /tmp/by-hand/vault-token
echo '  - [' >>$configuration
promise "with a mistake in it the daemon starts" restarted
contains "with what was adopted before" "would not start" "$(clientsecretd status)"
# What contradicts the push of a moment ago is a stale read for five minutes.
eventually "and what is there is read" shows_verified False
rm $configuration
promise "so it does without a configuration" restarted
eventually "and what is there is read" shows_verified False
cp /tmp/good.yaml $configuration
promise "and with a good one again" clientsecretd reload
eventually "all is well" clientsecretd health

# A target is moved and a mistake made elsewhere in one go: the daemon keeps its configuration, and so does this service.
sed -i -e 's,path: apps/web,path: apps/moved,' -e 's,client_id:,cilent_id:,' $configuration
refused "a moved target with a mistake elsewhere is not loaded" clientsecretd reload
promise "a secret that is renewed then" clientsecretd renew
promise "is pushed to the former place" same
equal "and to no other" "" "$(grep -F apps/moved /tmp/api/log)"
cp /tmp/good.yaml $configuration
promise "and with the good one again" clientsecretd reload
eventually "all is well" clientsecretd health

# What the program could see and do if it were taken over: another instance, whose program looks around while a third stays.
looks
for instance in look stay; do
    arguments=stay
    [ $instance = stay ] || arguments="/etc/clientsecretd/vault-token $key $output"
    settings clientsecretd-push@$instance.service test ExecStart= "ExecStart=/usr/local/bin/look $arguments" \
        StandardOutput=truncate:/run/$instance LoadCredential=token:/etc/clientsecretd/vault-token
done
promise "an instance stays" systemctl start clientsecretd-push@stay.service
eventually "and runs" grep -qx looked /run/stay
pid=$(property MainPID clientsecretd-push@stay.service)
promise "the program that looks around runs" systemctl start clientsecretd-push@look.service
eventually "to its end" grep -qx looked /run/look
equal "it was handed its token and the configuration alone" "adopted.json clientsecretd.yaml token" \
    "$(sed -n 's/^was handed //p' /run/look | xargs)"
equal "it reads, writes, disturbs and reaches nothing else" "" "$(looked /run/look)"
equal "the other one runs on" "$pid" "$(property MainPID clientsecretd-push@stay.service)"
refused "as another user" [ "$(grep '^user ' /run/look)" = "$(grep '^user ' /run/stay)" ]
equal "what a target does not need is open to no other" "" \
    "$(systemctl show -p IPAddressAllow clientsecretd-push@look.service | grep -E '127\.0\.0\.0/8')"

systemctl stop clientsecretd-push@production.socket
equal "the socket goes with its unit" "" "$(ls $socket 2>/dev/null)"

# What `init` writes is all it takes.
systemctl stop clientsecretd.service 'clientsecretd-push@*.service'
rm -r $configuration /etc/systemd/system/clientsecretd-push@production.service.d
systemctl daemon-reload
promise "init writes a target" clientsecretd init --yes --now --team-id DEF123GHIJ --client-id com.example.web --key "$key" \
    --push vault --set path=apps/shop --set "endpoint=$(cat /tmp/api/address)" --set ca_file=/etc/ssl/stand-in.pem \
    --token-file /etc/clientsecretd/vault-token
eventually "and the API has the secret" grep -qx "POST /v1/secret/data/apps/shop 200" /tmp/api/log
eventually "all is well again" clientsecretd health
finish
