#!/bin/bash
# What a service has from its start on: its credentials, its groups and the directories that it may write to. What changes later takes a restart, and
# that is what `check` and the daemon say.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

install_clientsecretd
file=/etc/clientsecretd/apple-key
mkdir /root/keys
for id in OLDKEYID11 NEWKEYID22; do new_key /root/keys/AuthKey_$id.p8; done
# use KEYID: the configuration has that key.
use() {
    install -m 0600 "/root/keys/AuthKey_$1.p8" $file
    cat >$configuration <<END
keys: {apple: {team_id: DEF123GHIJ, key_id: $1, credential: apple-key}}
clients:
  web:
    client_id: com.example.web
    outputs: [{path: $output, mode: "0600"}]
END
}
later="clientsecretd.service may do this after a restart"

settings clientsecretd.service key LoadCredential=apple-key:$file
use OLDKEYID11
promise "it starts" systemctl start clientsecretd
promise "and all is well" clientsecretd health
before=$(cat $output)
use NEWKEYID22
refused "check finds that the credential's file has changed" clientsecretd check
says "and which restart it takes" "$file has changed since clientsecretd.service was started, and systemd passes credentials \
only at a start; systemctl restart clientsecretd.service"
refused "a reload cannot serve the client" systemctl reload clientsecretd
contains "for that reason" "what it passed then is the key of OLDKEYID11" "$(clientsecretd status)"
equal "what is published stays" "$before" "$(cat $output)"
contains "doctor names the file, too" "$file has changed since" "$(clientsecretd doctor --skip-verify)"
promise "check --fix restarts the service" clientsecretd check --fix
eventually "and all is well" clientsecretd health
promise "with a secret of the new key" clientsecretd inspect $output --key /root/keys/AuthKey_NEWKEYID22.p8
equal "which nobody takes for a changed one" 0 "$(journal | grep -c 'different key')"
cp $configuration /etc/clientsecretd/new.yaml
promise "a copy of the configuration is judged with the service's credential" \
    clientsecretd check --config /etc/clientsecretd/new.yaml
rm /etc/clientsecretd/new.yaml

no_settings clientsecretd.service
refused "check finds that the next start is not passed the credential" clientsecretd check
says "by the unit's settings" "clientsecretd.service has no LoadCredential= for apple-key, so only the process that runs still has it"
settings clientsecretd.service key LoadCredential=apple-key:$file
promise "with the line back, nothing is missing" clientsecretd check

usermod --append --groups www-data clientsecretd
sed -i 's|mode: "0600"|group: www-data, mode: "0640"|' $configuration
refused "check finds that the service lacks a group of its user" clientsecretd check
says "until it is restarted" "www-data: clientsecretd.service was started before its user was in this group; systemctl restart"
refused "a reload cannot give it the group" systemctl reload clientsecretd
contains "which the status says" "$later" "$(clientsecretd status)"
promise "check --fix restarts the service" clientsecretd check --fix
eventually "and all is well" clientsecretd health
equal "with the file given to the group" www-data "$(stat -c %G $output)"

install -d -o clientsecretd /srv/own
settings clientsecretd.service own ReadWritePaths=-/srv/own
sed -i "s|path: $output, group: www-data|path: /srv/own/web.jwt|" $configuration
refused "a reload opens no directory" systemctl reload clientsecretd
contains "which the status says" "$later" "$(clientsecretd status)"
promise "check --fix restarts the service" clientsecretd check --fix
eventually "and all is well" clientsecretd health
equal "no line was added that is there already" "./key.conf ./own.conf" \
    "$(cd /etc/systemd/system/clientsecretd.service.d && echo ./*)"
finish
