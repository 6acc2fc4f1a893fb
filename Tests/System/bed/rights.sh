#!/bin/bash
# Rights that are missing: what is said of them, done literally by root, is all it takes, and takes no right from the
# service. And what root does by hand beside the service leaves it whole.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

is_ok() { [ "$(of_status 'd["state"]')" = ok ]; }
is_failing() { ! is_ok; }
# command: the one that is printed with the reason.
command() { of_status 'd["failure"]["command"] or ""'; }
# rights: of everything that the service needs.
rights() { stat -c '%n %a %U %G' $key /var/lib/clientsecretd /run/clientsecretd/out $output; }

set_up
configure_web
promise "it starts" systemctl start clientsecretd.service
promise "everything is ok" is_ok
refused "the service does not write to what all users share below /run" \
    nsenter --mount --target "$(property MainPID)" touch /run/lock/mine
rights=$(rights)

cp $configuration /etc/clientsecretd/new.yaml
promise "check judges a copy of the configuration with the service's rights" clientsecretd check --config /etc/clientsecretd/new.yaml
rm /etc/clientsecretd/new.yaml

chmod 0000 $key
eventually "a key that nobody may read is noticed" is_failing
said=$(command)
promise "what is said of it works: $said" bash -c "$said"
eventually "and is all it takes" is_ok
equal "the key is guarded as before" "$rights" "$(rights)"
chown root:root $key
chmod 0000 $key
eventually "also of one that the service's group lost" is_failing
equal "which may be any file of root's, so no command opens it" "" "$(command)"
chgrp clientsecretd $key
chmod 0640 $key
eventually "given back, it is used" is_ok

systemctl stop clientsecretd.socket clientsecretd.service
chmod 0700 /etc/clientsecretd
systemctl start clientsecretd.service
clientsecretd check >"$seen" 2>&1
says "a directory that lets nobody through is named" "user \"clientsecretd\" may not read /etc/clientsecretd"
says "with what it needs" "let this user enter it"
equal "and not for another user" 0 "$(grep -c 'run this as' "$seen")"
equal "without a command, which would change it" "" "$(grep chmod "$seen")"
chmod 0755 /etc/clientsecretd
install -d -m 0700 /etc/clientsecretd/clientsecretd.d
clientsecretd check >"$seen" 2>&1
says "one whose files it does not see, too, with a directory's mode" "let that user enter and read it, by its group and mode 0750"
rmdir /etc/clientsecretd/clientsecretd.d
promise "the configuration passes" clientsecretd check
systemctl stop clientsecretd.service
promise "and the service starts" systemctl start clientsecretd.socket clientsecretd.service
eventually "with everything ok" is_ok
chmod 0700 /etc/clientsecretd
eventually "under a daemon that runs, too, it is noticed" is_failing
chmod 0755 /etc/clientsecretd
promise "fixed, it is adopted" systemctl reload clientsecretd.service
eventually "and everything is ok" is_ok

# Root's own hands.
promise "root may mint for a client" clientsecretd mint web
promise "and by flags" clientsecretd mint --key $key --team-id DEF123GHIJ --client-id com.example.web
chmod 0644 $key
said=$(clientsecretd mint --key $key --team-id DEF123GHIJ --client-id com.example.web 2>&1)
contains "what is said of a key that everybody may read keeps the service's right" ": chmod 0640 $key" "$said"
chmod 0640 $key
promise "root may judge without the daemon" clientsecretd health --offline
# A second configuration, root's own, names the service's key.
install -d -m 0700 /root/second
configure /root/second/c.yaml <<END
state_dir: /root/second/state
clients: {shop: {client_id: com.example.shop, outputs: [{path: /root/second/shop.jwt}]}}
END
for command in "run --once" "mint shop" check; do
    # shellcheck disable=SC2086
    refused "root's own configuration may not use it: $command" clientsecretd $command --config /root/second/c.yaml
    says "which names what helps" "copy it to a new file that only root may read"
    equal "and no command that takes it from the service" 0 "$(grep -c chmod "$seen")"
done
rm -r /root/second
systemctl stop clientsecretd.socket clientsecretd.service
useradd --system monitor
promise "run by root, the daemon acts as the service's user" clientsecretd run --once
equal "and leaves everything as the service needs it" "$rights" "$(rights)"
rm -r /var/lib/clientsecretd
promise "also before the service has ever started" clientsecretd run --once
equal "whose user then owns the state directory" "clientsecretd clientsecretd 700" \
    "$(stat -c '%U %G %a' /var/lib/clientsecretd)"
equal "and what it published" "$rights" "$(rights)"
chmod 0600 $configuration
exits "also with a configuration that this user may not read" 77 clientsecretd run --once
contains "which health without a daemon names" "the configuration would not start" "$(clientsecretd health --offline)"
chmod 0644 $configuration

# A drop-in names another configuration, and gives the service a group.
mkdir -p /etc/acme /srv/web
groupadd web
chown clientsecretd /srv/web
configure /etc/acme/apple.yaml <<END
clients:
  web: {client_id: com.example.web, outputs: [{path: /srv/web/g.jwt, group: web, mode: "0640"}]}
END
chmod 0644 /etc/acme/apple.yaml
settings clientsecretd.service acme Environment=CLIENTSECRETD_CONFIG=/etc/acme/apple.yaml SupplementaryGroups=web \
    ReadWritePaths=-/srv/web
promise "root's run of that configuration is the service's too" clientsecretd run --once --config /etc/acme/apple.yaml
equal "and gives the file to the service's group" "clientsecretd web" "$(stat -c '%U %G' /srv/web/g.jwt)"
promise "check judges it with the service's rights" clientsecretd check --config /etc/acme/apple.yaml
cp /etc/acme/apple.yaml /etc/acme/new.yaml
promise "and a copy of it, while the service is stopped" clientsecretd check --config /etc/acme/new.yaml
promise "as health does" clientsecretd health --offline --config /etc/acme/apple.yaml
promise "and doctor" clientsecretd doctor --skip-verify --config /etc/acme/apple.yaml
promise "under systemd it does the same" systemctl start clientsecretd.socket clientsecretd.service
eventually "with everything ok" is_ok
systemctl stop clientsecretd.socket clientsecretd.service
no_settings clientsecretd.service
promise "the service starts" systemctl start clientsecretd.socket clientsecretd.service
eventually "and everything is ok" is_ok
exits "beside the service it does not run" 75 clientsecretd run
equal "and leaves everything as it was" "$rights" "$(rights)"
promise "and the service in peace" is_ok

said=$(runuser -u monitor -- /usr/local/bin/clientsecretd health)
contains "who may not ask is told whom the socket lets in" "group that owns the socket" "$said"
equal "without a command, for whoever put a socket there chose its group" "" "$(grep -o 'usermod [^;]*' <<<"$said")"
usermod --append --groups "$(stat -c %G $socket)" monitor
promise "and may then" runuser -u monitor -- /usr/local/bin/clientsecretd health
finish
