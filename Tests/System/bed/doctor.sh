#!/bin/bash
# A `.env` whose secret has expired: two commands, and the application runs with a new one. Then each link is broken and named.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

# broken_at WORD: the first broken link, and what helps.
broken_at() {
    clientsecretd doctor --skip-verify --json web 2>/dev/null | python3 -c '
import json, sys
chain = json.load(sys.stdin)["clients"][0]
print(chain["broken"] or "nothing", chain["command"] or "", sep="|")'
}
# state LINK: of the client.
state() {
    clientsecretd doctor --skip-verify --json web 2>/dev/null | python3 -c '
import json, sys
links = json.load(sys.stdin)["clients"][0]["links"]
print(next(link["state"] for link in links if link["link"] == sys.argv[1]))' "$1"
}
held() { environment app AUTH_APPLE_SECRET; }
fingerprint() { printf %s "$1" | sha256sum | head -c 16; }

install_clientsecretd
systemctl start polkit
expired=$(expired_secret)
make_app app "PORT=80\nAUTH_APPLE_SECRET=$expired\n"
service app User=app EnvironmentFile=/srv/app/.env
promise "the application starts with the expired secret" systemctl start app.service
# As it was downloaded.
new_key /root/AuthKey_ABC123DEFG.p8

# At a terminal: the key and the unit that are offered are right, so that yes is all it takes.
questions() {
    script --quiet --return --command "clientsecretd init --from /srv/app/.env --now" /run/typescript <<END


yes
END
}
cd /root || exit 1
promise "three answers set it up" questions
contains "the key in the current directory is offered" "[/root/AuthKey_ABC123DEFG.p8]" "$(tr -d '\r' </run/typescript)"
contains "the unit that names the file is offered" "[app.service]" "$(tr -d '\r' </run/typescript)"
equal "which leaves nothing to do" "" "$(tr -d '\r' </run/typescript | grep -a -e warning: -e error:)"
promise "all links hold" clientsecretd doctor --skip-verify
equal "the process has the new secret" ok "$(state process)"
equal "the journal had no alarm meanwhile" 0 "$(journalctl -u clientsecretd.service | grep -c critical)"
promise "which is another one" test "$(held)" != "$expired"
promise "signed by the key" eval 'held | clientsecretd inspect --key /root/AuthKey_ABC123DEFG.p8 -'
equal "the rest of the file is kept" PORT=80 "$(head -n 1 /srv/app/.env)"
equal "which is the user's, and nobody else's" "app 600" "$(stat -c '%U %a' /srv/app/.env)"
equal "no line of doctor has a secret" 0 "$(clientsecretd doctor --skip-verify 2>&1 | grep -c eyJ)"
contains "but its fingerprint" "sha256:$(fingerprint "$(held)")" "$(clientsecretd doctor --skip-verify)"
promise "another user sees what can be seen" runuser -u nobody -- clientsecretd doctor --skip-verify

# A unit that only starts in the file's directory is not meant then.
systemctl stop app.service
ln -s app.service /etc/systemd/system/front.service
service other User=app WorkingDirectory=/srv/app
promise "a second unit, in the file's directory" systemctl start other.service
systemctl stop other.service
script --quiet --return --command "clientsecretd init --from /srv/app/.env --name shop" /run/typescript <<<$'\n\nno' >/dev/null
contains "the unit that names the file is offered, once for all its names" "[app.service]" "$(tr -d '\r' </run/typescript)"
rm /etc/systemd/system/other.service /etc/systemd/system/front.service
systemctl daemon-reload
systemctl start app.service

# Without a terminal, with flags alone.
systemctl stop clientsecretd.service
rm $configuration /etc/clientsecretd/AuthKey_ABC123DEFG.p8
printf 'PORT=80\nAUTH_APPLE_SECRET=%s\n' "$expired" >/srv/app/.env
rm -rf /var/lib/clientsecretd/*
flags_alone() { example init 3 | sed 's/^clientsecretd doctor$/& --skip-verify/'; }
promise "the manual's commands do the same" does flags_alone
promise "and its second client" does example init 4
promise "is served" clientsecretd doctor --skip-verify shop
promise "and the first one still" clientsecretd doctor --skip-verify web

# What the application holds.
settings app.service old "Environment=AUTH_APPLE_SECRET=$expired" EnvironmentFile=
equal "a variable of the unit hides it, which the process has not read yet" warning "$(state hidden)"
systemctl restart app.service
equal "and then it is the first broken link" "hidden|" "$(broken_at)"
equal "because of what the process holds" broken "$(state process)"
rm /etc/systemd/system/app.service.d/old.conf
systemctl daemon-reload
equal "until it is restarted" "process|systemctl restart app.service" "$(broken_at)"
promise "which helps" systemctl restart app.service
equal "all links hold again" "nothing|" "$(broken_at)"

restart_app() {
    systemctl restart app.service
    main_process app.service >/dev/null
}

# A renewal of which the application is not told.
sed -i '/on_change/,$d' $configuration
promise "without an action" clientsecretd reload
promise "it is renewed" clientsecretd renew web
# Its unit is none of the configuration's, and its settings name the file.
equal "the process still has the one before" "process|systemctl restart app.service" "$(broken_at)"
contains "and why is said" "app.service reads /srv/app/.env when it starts, and nothing restarts it after a renewal" \
    "$(clientsecretd doctor --skip-verify web)"
# A restart may give it the same environment again, as pm2 does.
settings app.service own EnvironmentFile= "Environment=AUTH_APPLE_SECRET=$(held)"
restart_app
equal "of another unit it is not said" "process|" "$(broken_at)"
rm /etc/systemd/system/app.service.d/own.conf
systemctl daemon-reload

# A link that check --fix mends.
chmod 0644 /etc/clientsecretd/AuthKey_ABC123DEFG.p8
contains "a key that others may read" "key|chmod 06" "$(broken_at)"
promise "is fixed" clientsecretd check --fix
finish
