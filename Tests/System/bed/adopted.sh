#!/bin/bash
# A mistake in the configuration, or none there at all, and then a start: the daemon goes on with what was last adopted.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

set_up
useradd --system app
mkdir -p /srv/app
chown app:app /srv/app
# A unit that waits for its file, and one that waits for its credential.
service file Type=oneshot "ExecStart=/bin/cat $output" '[Unit]' Wants=clientsecretd.service After=clientsecretd.service
service credential Type=oneshot LoadCredential=secret:/run/clientsecretd/credentials.sock 'ExecStart=/bin/cat %d/secret'

good() {
    configure_web "      - {path: /srv/app/apple.env, format: env, variable: SECRET, as: app}
    credential: {unit: credential.service, name: secret}"
}
kept=/var/lib/clientsecretd-adopted/etc-clientsecretd-clientsecretd.yaml.json
is() { [ "$(of_status 'd["state"]')" = "$1" ]; }
# reboot: /run is emptied of what the daemon publishes, and everything of its stops and starts.
reboot() {
    systemctl stop clientsecretd.service clientsecretd.socket clientsecretd-credentials.socket 'clientsecretd-writer@*'
    rm -rf /run/clientsecretd/out/*
    # Another start of the machine than the one that the daemon has kept.
    echo 0 >/var/lib/clientsecretd/boot
    systemctl reset-failed
    systemctl start clientsecretd-writer@app.socket clientsecretd.socket clientsecretd-credentials.socket
}

good
promise "the writer is there" systemctl enable --now clientsecretd-writer@app.socket
promise "a good configuration starts" systemctl start clientsecretd.service
eventually "and all is well" is ok
equal "its text is kept by root, for everybody to read" "root:root 644,root:root 755" \
    "$(stat -c '%U:%G %a' $kept /var/lib/clientsecretd-adopted | paste -sd,)"
contains "whole" "com.example.web" "$(cat $kept)"
as_daemon() { setpriv --reuid=clientsecretd --regid=clientsecretd --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all "$@"; }
refused "the daemon's user cannot write to it" as_daemon sh -c "echo >>$kept"
refused "nor take it away" as_daemon rm -f $kept
refused "nor the directory" as_daemon mv /var/lib/clientsecretd-adopted /var/lib/clientsecretd-gone
refused "nor keep one itself" as_daemon clientsecretd keep-configuration
secret=$(cat $output)

# A typo in March, a reboot in May.
good
sed -i 's/client_id:/client_ids:/; s/format:/formt:/' $configuration
reboot
promise "after a typo and a reboot an application that waits for its file starts" systemctl start file.service
equal "with the secret from before" "$secret" "$(cat $output)"
promise "so does one that waits for its credential" systemctl start credential.service
equal "the daemon is active" active "$(property ActiveState)"
equal "and degraded" degraded "$(of_status 'd["state"]')"
contains "the status says that the text would not start" "would not start" "$(of_status 'd["reason"]["message"] if isinstance(d["reason"], dict) else d["reason"]')"
contains "systemd's status line too" "would not start" "$(property StatusText)"
runuser -u app -- sed -i 's/^SECRET=.*/SECRET=gone/' /srv/app/apple.env
eventually "another user's file is repaired" grep -q "^SECRET=$secret" /srv/app/apple.env

good
advice() { clientsecretd status | grep -q 'clientsecretd reload'; }
eventually "once it is fixed, the status says what helps" advice
equal "which is not done by itself" degraded "$(of_status 'd["state"]')"
promise "reload" clientsecretd reload
eventually "and all is well" is ok

# What a reload has adopted is kept as well, from the .d directory too.
mkdir -p /etc/clientsecretd/clientsecretd.d
printf 'clients:\n  shop:\n    outputs:\n      - path: /run/clientsecretd/out/shop.jwt\n' >/etc/clientsecretd/clientsecretd.d/shop.yaml
promise "systemctl reload adopts a file more" systemctl reload clientsecretd.service
sed -i 's/out/ouut/; s/outputs/output/' /etc/clientsecretd/clientsecretd.d/shop.yaml
reboot
promise "a typo in it, and it starts" systemctl start clientsecretd.service
equal "with the client that was last adopted" "shop web" "$(of_status '" ".join(sorted(c["name"] for c in d["clients"]))')"
contains "the file with the mistake is named" "clientsecretd.d/shop.yaml:" "$(of_status 'd["config"]["error"]')"
rm -r /etc/clientsecretd/clientsecretd.d
good
sed -i 's|/srv/app/apple.env|/nowhere/apple.env|' $configuration
exits "one that cannot be served is adopted and kept" 1 clientsecretd reload
contains "by who asks as root" /nowhere/apple.env "$(cat $kept)"

# Text that a group may read: the writer of a user in that group reads the copy too.
groupadd confread
usermod --append --groups confread clientsecretd
usermod --append --groups confread app
good
chown root:confread $configuration
chmod 0640 $configuration
reboot
systemctl start clientsecretd.service
equal "what a group may read is kept for that group" "root:confread 640" "$(stat -c '%U:%G %a' $kept)"
refused "and for no other user" runuser -u nobody -- cat $kept
echo nonsense >>$configuration
reboot
promise "after a typo and a reboot it starts" systemctl start clientsecretd.service
secret=$(cat $output)
runuser -u app -- sed -i 's/^SECRET=.*/SECRET=gone/' /srv/app/apple.env
eventually "and that user's file is repaired" grep -q "^SECRET=$secret" /srv/app/apple.env
chown root:root $kept
chmod 0600 $kept
runuser -u app -- sed -i 's/^SECRET=.*/SECRET=gone/' /srv/app/apple.env
says_copy() { clientsecretd status | grep -q 'this user may not read the copy of the last good one'; }
eventually "a copy that the writer may not read is named" says_copy
contains "with what helps" "fix: correct the configuration and reload it" "$(clientsecretd status)"
good
promise "which does" clientsecretd reload
eventually "and that user's file is repaired again" grep -q "^SECRET=$secret" /srv/app/apple.env

# One that the daemon may not read is never kept.
good
chmod 0600 $configuration
printf '# secret\n' >>$configuration
systemctl restart clientsecretd.service
exits "what the daemon may not read is not kept" 1 grep -q '# secret' $kept
contains "and the copy from before stays" com.example.web "$(cat $kept)"
chmod 0644 $configuration

# One that the daemon's user could change decides nothing for others: root does not keep it, the daemon does.
rm -r /var/lib/clientsecretd-adopted
good
chown clientsecretd $configuration
systemctl restart clientsecretd.service
refused "a text of the daemon's own is not root's to keep" test -e $kept
eventually "but its own" test -s /var/lib/clientsecretd/adopted/etc-clientsecretd-clientsecretd.yaml.json
echo nonsense >>$configuration
reboot
promise "and starts with that" systemctl start clientsecretd.service
finish
