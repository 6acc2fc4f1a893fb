#!/bin/bash
# The output is in order and its reader has something else: check and status name what hides it, with file and line.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

# hidden COMMAND…: the warnings that begin with a file and a line, if there is one.
hidden() { "$@" 2>&1 >/dev/null | grep ': warning: ' | grep '^/'; }
# ask: has both commands answer.
ask() { checked=$(hidden clientsecretd check) shown=$(hidden clientsecretd status); }
# named PROMISE BEGINNING: both have such a warning.
named() {
    equal "check names $1" 1 "$(grep -c "^$2: warning: " <<<"$checked")"
    equal "status names $1" 1 "$(grep -c "^$2: warning: " <<<"$shown")"
}

set_up
make_app shop ''
mkdir -p /etc/polkit-1/rules.d
service shop ExecStart='sleep infinity' EnvironmentFile=/srv/shop/.env 'EnvironmentFile=-/etc/shop.d/*.conf' User=shop ExecReload=true
service own User=shop WorkingDirectory=/srv/shop
configure <<'END'
clients:
  web:
    client_id: com.example.web
    outputs: [{path: /srv/shop/.env, format: env, variable: APPLE_CLIENT_SECRET, as: shop}]
    on_change: [{reload: shop.service}, {restart: own.service}]
END
cat >/etc/polkit-1/rules.d/49-shop.rules <<'END'
polkit.addRule(function(action, subject) {
    if (action.id == "org.freedesktop.systemd1.manage-units" && subject.user == "clientsecretd") return polkit.Result.YES;
});
END
systemctl start polkit
systemctl enable --now clientsecretd-writer@shop.socket 2>/dev/null
promise "it starts" systemctl start clientsecretd.service
eventually "the output is written" grep -q '=ey' /srv/shop/.env
promise "the units start" systemctl start shop.service own.service
promise "check is content" clientsecretd check
equal "nothing hides the output" "" "$(hidden clientsecretd check; hidden clientsecretd status)"

# What none but its owner may read is looked at by root all the same, and what never ends is not read.
mkdir -p /etc/shop.d /srv/shop/bootstrap/cache
printf '# later\nAPPLE_CLIENT_SECRET=old\n' >/etc/shop.d/50-shop.conf
settings own.service old 'Environment=A=1 "APPLE_CLIENT_SECRET=old"'
printf 'A=1\nAPPLE_CLIENT_SECRET=old\n' >/srv/shop/.env.local
echo '<?php return [];' >/srv/shop/bootstrap/cache/config.php
mkfifo /srv/shop/.env.production
ln -s /dev/zero /srv/shop/.env.staging
chmod 0600 /srv/shop/.env.local
echo "APPLE_SECRET=$(expired_secret)" >>/srv/shop/.env
ask
named "a later environment file" /etc/shop.d/50-shop.conf:2
named "a variable of the unit" /etc/systemd/system/own.service.d/old.conf:2
named "a file that takes precedence" /srv/shop/.env.local:2
named "the configuration cache" /srv/shop/bootstrap/cache/config.php:1
named "a second secret" /srv/shop/.env:2
equal "whichever configuration the environment names" "$(cut -d: -f1-2 <<<"$shown")" \
    "$(CLIENTSECRETD_CONFIG=/run/none.yaml hidden clientsecretd status | cut -d: -f1-2)"
contains "with its expiry" "expired at 2017-11-06T20:26:40Z" "$checked"
promise "a warning is no error" clientsecretd check
promise "a program gets the document" eval "clientsecretd status --json 2>/dev/null | python3 -m json.tool"
equal "and nothing else" "" "$(hidden clientsecretd status --json)"

# A process that reloads keeps its environment; a file that is mounted on its own stays the old one.
install -o shop -m 0600 /dev/null /run/mounted.env
unshare --mount --propagation private sh -c 'mount --bind /srv/shop/.env /run/mounted.env && exec sleep infinity' &
eventually "the file is mounted" grep -q /run/mounted.env "/proc/$!/mountinfo"
ask
named "a mount of the file" "/proc/$!/mountinfo:[0-9]*"
promise "it is renewed" clientsecretd renew web
ask
named "a mount of the old file" "/proc/$!/mountinfo:[0-9]*"
named "a unit that was not restarted" /etc/systemd/system/shop.service:3
rm -f /etc/shop.d/50-shop.conf
systemctl restart shop.service
equal "until it is" 0 "$(hidden clientsecretd check | grep -c shop.service:3)"

# The file's other lines get no further readers.
sed -i 's/as: shop}/as: shop, mode: "0640"}/' $configuration
clientsecretd reload >"$seen" 2>&1
says "reload names a mode that the file does not get" "mode 0640 is not applied"
says "with the command that widens it" "(runuser -u shop -- chmod 0640 /srv/shop/.env)"
ask
named "such a mode" /srv/shop/.env
runuser -u shop -- chmod 0640 /srv/shop/.env
promise "it is renewed with that mode" clientsecretd renew web
equal "which stays" 640 "$(stat -c %a /srv/shop/.env)"
ask
equal "and nothing is left to name" 0 "$(grep -c 'is not applied' <<<"$checked$shown")"

# A second unit that reads the output, and that on_change does not name.
service worker ExecStart='sleep infinity' EnvironmentFile=/srv/shop/.env User=shop
equal "a unit that does not run is not named" 0 "$(hidden clientsecretd check | grep -c worker.service)"
promise "it starts" systemctl start worker.service
ask
named "a unit that nothing restarts" /etc/systemd/system/worker.service:3
contains "with the line that does" 'write "restart: worker.service" under on_change' "$checked"
mkdir /etc/systemd/system/worker.service.d
printf '[Unit]\nPartOf=own.service\n' >/etc/systemd/system/worker.service.d/part.conf
systemctl daemon-reload
equal "which systemd does where it is part of one that is restarted" 0 "$(hidden clientsecretd check | grep -c worker.service)"
finish
