#!/bin/bash
# What `init` writes is all it takes: the service starts, and the application reads its secret.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh
set_up
init=(clientsecretd init --team-id DEF123GHIJ --client-id com.example.web --key "$key")
anew() {
    systemctl stop clientsecretd.service
    rm -f $configuration /etc/systemd/system/*.service.d/clientsecretd.conf
    systemctl daemon-reload
}
secret() { environment app SECRET; }

service app
printf '// mine\n' >/etc/polkit-1/rules.d/50-clientsecretd.rules
promise "an environment file" "${init[@]}" --output /run/clientsecretd/out/web.env --format env --variable SECRET --restart app.service
promise "the service starts" systemctl start clientsecretd.service
promise "and the application" systemctl start app.service
# The first secret is told of as well: the unit may be about to be restarted.
eventually "which has its secret" has_secret app SECRET
eventually "the client is ok" clientsecretd health
refused "a configuration of another daemon lacks a state directory" "${init[@]}" --config /root/other.yaml --output /root/other.jwt
says "it gets a socket of its own" "run --socket /root/other.sock --config /root/other.yaml"
says "and is told of the directory" "write \"state_dir\" with another directory into it, because"
first=$(secret)
promise "a renewal restarts it, as polkit lets it" clientsecretd renew web
changed() { has_secret app SECRET && [ "$(secret)" != "$first" ]; }
eventually "so that it has the new one" changed
equal "what stood in the rules stays" "// mine" "$(head -n 1 /etc/polkit-1/rules.d/50-clientsecretd.rules)"

anew
promise "the same again" "${init[@]}" --output /run/clientsecretd/out/web.env --format env --variable SECRET --restart app.service
equal "adds no rule twice" 1 "$(grep -c addRule /etc/polkit-1/rules.d/50-clientsecretd.rules)"

# A wrong answer that is corrected in the configuration only: the unit takes what it took, until it starts again.
drop_in=/etc/systemd/system/app.service.d/clientsecretd.conf
promise "the service starts" systemctl start clientsecretd.service
systemctl restart app.service
eventually "the application has its secret" has_secret app SECRET
sed -i 's,out/web.env,out/app.env,' $configuration
former="it reads /run/clientsecretd/out/web.env ($drop_in:6), which is no output"
refused "an output that the unit does not read is found" clientsecretd check --fix
says "with the unit's line" "$former"
contains "of which reload warns" "$former" "$(clientsecretd reload 2>&1)"
eventually "the other file is written" ours /run/clientsecretd/out/app.env
contains "doctor has the unit read it" "fix: replace that line with EnvironmentFile=/run/clientsecretd/out/app.env, then run" \
    "$(clientsecretd doctor --skip-verify)"
mv $configuration /root/old.yaml
refused "init is asked again" "${init[@]}" --output /run/clientsecretd/out/shop.env --format env --variable SECRET --restart app.service
equal "and adds its line" EnvironmentFile=/run/clientsecretd/out/shop.env "$(grep EnvironmentFile= $drop_in | tail -n 1)"
says "the earlier one is left to the person" "$former"

# The manual's examples.
anew
promise "the manual's first commands" does example Examples 1
promise "after which the secret is there" ours $output
promise "and how it looks at it" does example Examples 2
says "the journal is explained" "a new secret was signed with the key"
cd /etc/clientsecretd || exit 1
promise "how a secret is minted by hand" does example mint 1
cp "$seen" /tmp/minted
promise "which is the key's" ours /tmp/minted
cd /tmp || exit 1
promise "how a sign-in begins" does example authorize-url 1
contains "at Apple" "https://appleid.apple.com/auth/authorize?" "$(cat /tmp/sign-in.url)"
anew
cp /etc/systemd/system/app.service /etc/systemd/system/myapp.service
promise "how an environment file is set up" does example init 1
promise "the service starts" systemctl start clientsecretd.service
promise "and has written it" ours /run/clientsecretd/out/web.env --variable APPLE_CLIENT_SECRET

anew
promise "a file outside the sandbox" "${init[@]}" --output /srv/clientsecretd/web.json --format json
promise "the service starts" systemctl start clientsecretd.service
promise "and has written it" test -s /srv/clientsecretd/web.json
equal "with the line that check would name" "ReadWritePaths=-/srv/clientsecretd" \
    "$(grep ReadWritePaths /etc/systemd/system/clientsecretd.service.d/outputs.conf)"
promise "another one while the service runs" clientsecretd init --now --name shop --client-id com.example.shop --output /srv/shop/shop.jwt
promise "has been written too" test -s /srv/shop/shop.jwt
rm -r /etc/clientsecretd/clientsecretd.d

anew
service app DynamicUser=yes RuntimeDirectory=app 'ExecStartPre=/bin/sh -c "cp $CREDENTIALS_DIRECTORY/apple /run/app/seen"'
no_settings app.service
promise "a credential" "${init[@]}" --credential apple --restart app.service
promise "the service starts" systemctl start clientsecretd.service clientsecretd-credentials.socket
promise "and the unit" systemctl restart app.service
eventually "with its secret" ours /run/app/seen
sed -i 's/name: apple/name: other/' $configuration
refused "a credential with another name is found" clientsecretd check
says "with the unit's line" "it loads the credential apple ($drop_in:6), which no client gives it, and not other"
equal "no restart is printed" 0 "$(clientsecretd doctor --skip-verify | grep -c 'systemctl restart app')"

anew
service app
service cache Type=oneshot ExecStart=/bin/false
refused "an action that fails is in the exit status" "${init[@]}" --now --output /run/clientsecretd/out/web.jwt --start cache.service
says "with its reason" "start cache.service: its job failed"
equal "and something is missing" 0 "$(grep -c 'Nothing is missing' "$seen")"

anew
make_key /root/AuthKey_ABC123DEFH.p8
promise "a key of the service's group where the service sees no file" clientsecretd init --now --team-id DEF123GHIJ \
    --client-id com.example.web --key /root/AuthKey_ABC123DEFH.p8 --output /run/clientsecretd/out/h.jwt
promise "is copied, so that it signs" clientsecretd inspect --key /etc/clientsecretd/AuthKey_ABC123DEFH.p8 /run/clientsecretd/out/h.jwt

anew
make_app app 'PORT=80\nAUTH_APPLE_SECRET=old\n'
refused "a file of another user's" "${init[@]}" --output /srv/app/.env --format env --variable AUTH_APPLE_SECRET
says "is for --as" "(owner: app). Add --as app, or use --output with another directory"
promise "a dotenv file of the application's, as in the manual" does example init 2
promise "the service starts" systemctl start clientsecretd.service
eventually "the variable is set" does example inspect 1
equal "and the rest kept" PORT=80 "$(grep -v AUTH_APPLE_SECRET /srv/app/.env)"

anew
mkdir -p /etc/systemd/system/clientsecretd.service.d
printf '[Service]\nExecStartPre=/bin/false\n' >/etc/systemd/system/clientsecretd.service.d/fails.conf
systemctl daemon-reload
refused "a service that does not start is in the exit status" "${init[@]}" --now --output /run/clientsecretd/out/web.jwt
says "with the client" "the service does not answer, or has not loaded client \"web\""
equal "and does not end well" 0 "$(grep -c 'Nothing is missing' "$seen")"
rm /etc/systemd/system/clientsecretd.service.d/fails.conf

anew
systemctl disable --now clientsecretd-writer@app.socket
systemctl mask clientsecretd-writer@app.socket clientsecretd.service
refused "what is masked is not started" "${init[@]}" --now --output /srv/app/.env --format env --variable AUTH_APPLE_SECRET --as app
says "the service is named, with what to do" "  clientsecretd.service is masked: unmask it"
says "and systemctl names the socket" "this failed: systemctl enable --now clientsecretd-writer@app.socket"
systemctl unmask clientsecretd-writer@app.socket clientsecretd.service

anew
rm -r /etc/systemd/system/app.service.d
printf '[Unit]\n' >/run/elsewhere
mkdir /etc/systemd/system/app.service.d
ln -s /run/elsewhere /etc/systemd/system/app.service.d/clientsecretd.conf
chown nobody /run/elsewhere
refused "a stranger's file is not written to" "${init[@]}" --output /run/clientsecretd/out/web.env --format env --variable SECRET \
    --restart app.service
equal "and left" "[Unit]" "$(cat /run/elsewhere)"
refused "nor is there a configuration then" test -e $configuration

anew
userdel clientsecretd
refused "a service whose user is missing" "${init[@]}" --output /run/clientsecretd/out/web.jwt
equal "is reported before the step that points at it" "the service runs as this user,as shown above" \
    "$(grep -o 'the service runs as this user\|as shown above' "$seen" | paste -sd,)"
finish
