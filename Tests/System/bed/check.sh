#!/bin/bash
# What `clientsecretd check` says of the service: on a fresh machine, and of everything that the
# sandboxes of the units keep from what the configuration names. What it advises is done as it stands there.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

# On a fresh machine, with the README's configuration.
PATH=/usr/local/bin:$PATH
promise "the installation" make --silent -C /src install binary=/built/clientsecretd
make_key
sed -n '/^```yaml$/,/^```$/{/^```/d;p}' /src/README.md >$configuration
equal "the state directory is not there yet" "" "$(ls -d /var/lib/clientsecretd 2>/dev/null)"
contains "check says who makes it" "/var/lib/clientsecretd: systemd would create it" "$(clientsecretd check)"
promise "it starts" systemctl start clientsecretd
promise "the secret is there" test -s $output
reboot="warning: clientsecretd.service does not start after a reboot; systemctl enable clientsecretd.service"
contains "check says that a reboot ends it" "$reboot" "$(clientsecretd check 2>&1)"
contains "so does doctor" "$reboot" "$(clientsecretd doctor --skip-verify 2>&1)"
promise "check --fix enables it" clientsecretd check --fix
equal "with its sockets" "enabled enabled enabled" \
    "$(systemctl is-enabled clientsecretd.service clientsecretd.socket clientsecretd-credentials.socket | xargs)"
equal "and nothing is said" 0 "$(clientsecretd check 2>&1 | grep -c reboot)"

# missing: the commands that check prints for drop-ins.
missing() { clientsecretd check 2>&1 >/dev/null | grep '^(umask 022 && mkdir -p '; }
# advice WORDS: the command that the complaint with these words ends with.
advice() { clientsecretd check 2>&1 >/dev/null | grep -F -e "$1" | sed 's/^.*; //; s/^.*, and put it there: //'; }
# complaint PROMISE WORDS…: check fails and says all of these.
complaint() {
    local what=$1 words
    shift
    refused "$what" clientsecretd check
    for words; do says "$what" "$words"; done
}
# told: before long; an application is told after the restart.
told() {
    for _ in $(seq 300); do
        clientsecretd health && return
        sleep 0.2
    done
    return 1
}
# good: check finds nothing, the service starts with it, and all is well.
good() {
    clientsecretd check && systemctl restart clientsecretd && told
}
# hidden PROMISE WORDS…: the daemon starts, is not well, and says all of these.
hidden() {
    local what=$1 words
    shift
    promise "the daemon starts" systemctl restart clientsecretd
    eventually "$what" bash -c '! clientsecretd health'
    for words; do contains "$what" "$words" "$(clientsecretd status)"; done
}
# outputs FILE…: the configuration with these.
outputs() {
    { sed '/- path:/,$d' /src/README.md | sed -n '/^```yaml$/,${/^```/d;p}'; printf '      - path: %s\n' "$@"; } >$configuration
}

install -d -o clientsecretd /srv/own "/srv/b 50%"
outputs /srv/own/web.jwt '/srv/b 50%/web.jwt' /srv/own/other.jwt
complaint "an output outside of the sandbox is noticed" \
    "clientsecretd.service may not write to /srv/own (ProtectSystem=strict)" "yaml:9:15: error" \
    "with systemctl edit clientsecretd.service"
drop_in=/etc/systemd/system/clientsecretd.service.d
equal "check names the lines and the command" "(umask 022 && mkdir -p $drop_in && \
printf '%s\\n' '' '[Service]' 'ReadWritePaths=\"-/srv/b 50%%\"' ReadWritePaths=-/srv/own >>$drop_in/outputs.conf) && \
systemctl daemon-reload && systemctl try-restart clientsecretd.service" "$(missing)"
bash <(missing)
promise "which is all that was missing" good
rm -r /srv/own
promise "the service starts without the directory too" systemctl restart clientsecretd.service
no_settings clientsecretd.service

settings clientsecretd.service volume ReadWritePaths=/srv/volume
outputs $output
complaint "a path that is not there and without which the service does not start" \
    "it does not start without /srv/volume, which ReadWritePaths= names" "ReadWritePaths=-/srv/volume"
refused "as it does not" systemctl restart clientsecretd
settings clientsecretd.service volume ReadWritePaths=-/srv/volume
promise "the \"-\" fixes it" good
no_settings clientsecretd.service

# A link is replaced in the directory of its target: the one that it is in says nothing.
mkdir /etc/site /srv/closed
ln -s /run/clientsecretd/out/site.jwt /etc/site/web.jwt
outputs /etc/site/web.jwt
promise "root's link to a directory of the daemon" good
promise "is written there" test -s /run/clientsecretd/out/site.jwt
ln -sf /srv/closed/web.jwt /etc/site/web.jwt
complaint "root's link to a directory of root's" "/srv/closed (permission denied); /srv/closed belongs to root"
ln -sf /srv/other/web.jwt /etc/site/web.jwt
install -d -o clientsecretd /srv/other
complaint "root's link to a directory outside of the sandbox" "may not write to /srv/other (ProtectSystem=strict)"
promise "check --fix runs the line for it" clientsecretd check --fix
promise "with the line for it" good
promise "is written there as well" test -s /srv/other/web.jwt
outputs "$output"
rm -r /etc/site /srv/closed /srv/other
no_settings clientsecretd.service

# The same of a helper's unit: the configuration says which are used.
settings clientsecretd-verify@.service ca LoadCredential=ca:/srv/none.pem
promise "a helper that is not used is not looked at" good
sed -i 's|^  web:|  web:\n    verify: true|' $configuration
complaint "what keeps the service that asks Apple from its start is noticed" \
    "clientsecretd-verify@.service: its next start would fail: it does not start without /srv/none.pem" \
    /etc/systemd/system/clientsecretd-verify@.service.d/ca.conf:2
no_settings clientsecretd-verify@.service
outputs $output

# The same of what the unit's next start reads, while the daemon runs.
settings clientsecretd.service k LoadCredential=other:/etc/clientsecretd/other.p8
complaint "a credential's file that is not there" \
    "clientsecretd.service: its next start would fail: it does not start without /etc/clientsecretd/other.p8" \
    "which LoadCredential= names; put it back, or correct that line in /etc/systemd/system/clientsecretd.service.d/k.conf:2"
process=$(property MainPID)
refused "check --fix has no command against that" clientsecretd check --fix
equal "so that the daemon still runs" "$process" "$(property MainPID)"
equal "no restart is printed" 0 "$(clientsecretd check 2>&1 | grep -c -e 'systemctl restart' -e try-restart)"
# A key that comes by this credential: the daemon runs without it, and only a start passes it.
cp $configuration /run/before.yaml
sed -i 's|^clients:|  other: {team_id: DEF123GHIJ, key_id: ABC123DEFH, credential: other}\nclients:\n  two: {client_id: com.example.two, key: other, outputs: [{path: /run/clientsecretd/out/two.jwt}]}|' $configuration
sed -i 's|^  web:|  web:\n    key: apple|' $configuration
refused "the daemon cannot serve its client" clientsecretd reload
refused "and check knows no fix" clientsecretd check --fix
equal "that stops the daemon" "$process" "$(property MainPID)"
make_key /etc/clientsecretd/other.p8
refused "with the file back" clientsecretd check
says "it is started again" "systemctl restart clientsecretd.service"
promise "which --fix does" clientsecretd check --fix
cp /run/before.yaml $configuration
rm /etc/clientsecretd/other.p8
no_settings clientsecretd.service
promise "without all that" good

# An application's unit that has a credential of the right name from elsewhere.
service app LoadCredential=token:/etc/hostname
systemctl start app.service
configure <<END
clients:
  web: {credential: {unit: app.service, name: token}}
  broken: {client_id: com.example.broken, outputs: [{path: /run/clientsecretd/out/b.jwt}], on_change: [{restart: none.service}]}
END
promise "the daemon serves a credential" systemctl restart clientsecretd
elsewhere="it takes the credential token from /etc/hostname, by LoadCredential= (/etc/systemd/system/app.service:3), and not from the daemon"
complaint "a credential from elsewhere is not the daemon's" "$elsewhere" "LoadCredential=token:/run/clientsecretd/credentials.sock"
contains "status says so" "$elsewhere" "$(clientsecretd status 2>&1)"
contains "and doctor" "$elsewhere" "$(clientsecretd doctor --skip-verify 2>&1)"
refused "--fix lets the unit load the daemon's, although another client fails" clientsecretd check --fix
equal "and restarts it" eyJ "$(head -c 3 /run/credentials/app.service/token)"
systemctl stop app.service
rm -r /etc/systemd/system/app.service*
systemctl daemon-reload
outputs $output
systemctl restart clientsecretd

# Below /home, and in a /tmp that is the service's own.
install -d -o clientsecretd /home/site
outputs /home/site/web.jwt
complaint "what is written below /home would not be seen" "(ProtectHome=yes)"
hidden "the daemon names the same cause" \
    "other programs do not see what clientsecretd.service writes to /home/site (ProtectHome=yes)" "(clientsecretd check)"
bash <(missing)
promise "with the lines it is" good
promise "from outside" test -s /home/site/web.jwt
mv /home/site /home/site.old
install -d -o clientsecretd /home/site
moved="clientsecretd.service was started before this /home/site was created, and does not write there until it is restarted"
complaint "a directory that took its place" "$moved" "systemctl restart clientsecretd.service"
contains "doctor says so" "$moved" "$(clientsecretd doctor --skip-verify)"
promise "--fix restarts it" clientsecretd check --fix
eventually "and the output is there" test -s /home/site/web.jwt
no_settings clientsecretd.service
outputs /tmp/web.jwt
complaint "nor what is written to /tmp" "(PrivateTmp=yes); write another path, such as /run/clientsecretd/out/web.jwt"
ln -s /tmp /srv/link
outputs /srv/link/web.jwt
hidden "the daemon does not call a file well that a link leads there" "/srv/link/web.jwt: the unit's sandbox does not allow it: \
other programs do not see what clientsecretd.service writes to /tmp (PrivateTmp=yes)"
rm /srv/link
outputs /tmp/web.jwt
systemctl start dbus.service
bus=$(systemctl show --value --property MainPID dbus.service)
kill -STOP "$bus"
promise "the daemon starts where the bus does not answer" systemctl restart clientsecretd
promise "and knows of no sandbox" clientsecretd health
kill -CONT "$bus"
eventually "it asks again" bash -c 'clientsecretd status | grep -qF "writes to /tmp (PrivateTmp=yes)"'
refused "nor does reload" clientsecretd reload
refused "nor health without it" clientsecretd health --offline
outputs $output
echo 'metrics_file: /tmp/web.prom' >>$configuration
complaint "nor metrics" "(PrivateTmp=yes)"
hidden "of which the daemon says the same" "writes to /tmp (PrivateTmp=yes)"
outputs $output
printf 'state_dir: /tmp/state\n' >>$configuration
complaint "nor what is remembered there, of which a reboot would leave nothing" \
    "(PrivateTmp=yes); leave \"state_dir\" out, or write another path"
hidden "which the daemon does not use" "writes to /tmp/state (PrivateTmp=yes)"
# Secrets that another program copies here.
outputs $output
clientsecretd mint web >/tmp/src.jwt
chmod 0644 /tmp/src.jwt
follower="$(clientsecretd public-key)
clients:
  copied: {client_id: com.example.web, outputs: [{path: /run/clientsecretd/out/copied.jwt}], from: {path: /tmp/src.jwt}}"
echo "$follower" >$configuration
complaint "nor a source" "does not see /tmp/src.jwt (PrivateTmp=yes)"
hidden "which the daemon does not call empty" "does not see /tmp/src.jwt (PrivateTmp=yes)"
install -d /home/keys
mv $key /home/keys
outputs $output
sed -i 's|file: .*|file: /home/keys/AuthKey_ABC123DEFG.p8|' $configuration
complaint "a key below /home is not seen" "does not see /home/keys/AuthKey_ABC123DEFG.p8 (ProtectHome=yes)" \
    'write "file: /etc/clientsecretd/AuthKey_ABC123DEFG.p8"' "yaml:4:11: error"
hidden "nor called missing" "does not see /home/keys/AuthKey_ABC123DEFG.p8 (ProtectHome=yes)"
install -m 0640 -o root -g clientsecretd /home/keys/AuthKey_ABC123DEFG.p8 /etc/clientsecretd
sed -i 's|file: .*|file: /etc/clientsecretd/AuthKey_ABC123DEFG.p8|' $configuration
promise "in its new place it is" good
printf '#!/bin/sh\n' >/home/keys/hook
chmod 755 /home/keys/hook
printf '    on_change:\n      - exec: [/home/keys/hook]\n' >>$configuration
complaint "nor is a program below /home" "does not see /home/keys/hook (ProtectHome=yes)" 'write "exec: [/usr/local/bin/hook]"'
promise "which the daemon is to run" systemctl restart clientsecretd
clientsecretd renew >/dev/null 2>&1
contains "and knows not to see" "does not see /home/keys/hook (ProtectHome=yes)" "$(clientsecretd status)"
install -m 0755 /home/keys/hook /usr/local/bin/hook
sed -i 's|/home/keys/hook|/usr/local/bin/hook|' $configuration
promise "in its new place it is" good

# What a setting hides where it should be is not to be put there: the setting goes.
outputs $output
for setting in InaccessiblePaths=-/etc/clientsecretd TemporaryFileSystem=/etc:ro; do
    settings clientsecretd.service hiding "$setting"
    removal="remove $(sed 's/=-/=/; s/:ro$//' <<<"$setting") in /etc/systemd/system/clientsecretd.service.d/hiding.conf:2"
    complaint "a directory that $setting hides" "does not see $configuration (" "; $removal, and restart clientsecretd.service"
    equal "nothing is to be put there" 0 "$(grep -c 'put it' "$seen")"
    promise "the daemon starts with the last good configuration" systemctl restart clientsecretd
    contains "and names the setting" "error: $configuration: the unit's sandbox does not allow it: clientsecretd.service does not see" \
        "$(clientsecretd status)"
    equal "and no other cause" 0 "$(clientsecretd status | grep -c -e 'may not read' -e 'no such file' -e 'put it')"
    no_settings clientsecretd.service
    promise "without it" good
done

# The writers' units are judged by their own settings.
make_app app 'A=1\n'
configure <<END
clients:
  web: {outputs: [{path: /srv/app/.env, format: env, variable: SECRET, as: app}]}
END
chmod 644 $configuration
complaint "a writer's socket that is not there" "systemctl enable --now clientsecretd-writer@app.socket"
equal "and is enabled by one command" 1 "$(grep -c 'systemctl enable' "$seen")"
systemctl start clientsecretd-writer@app.socket
promise "one that is there for now is no mistake" clientsecretd check
says "but is said" "warning: the writer of user \"app\" does not start after a reboot; systemctl enable clientsecretd-writer@app.socket"
bash <(advice "after a reboot") 2>/dev/null
equal "and helped" "" "$(clientsecretd check 2>&1 >/dev/null | grep -v 'is no longer an output')"
settings clientsecretd-writer@.service narrow ProtectSystem=strict
systemctl stop clientsecretd-writer@app.service
complaint "a writer's sandbox" "clientsecretd-writer@app.service may not write to /srv/app (ProtectSystem=strict)"
bash <(missing)
promise "which is fixed in the writer's unit" good
# What the machine has mounted read-only no setting opens.
no_settings clientsecretd-writer@.service clientsecretd-writer@app.service
settings clientsecretd.service rw ReadWritePaths=-/srv
install -d -o clientsecretd /srv/mounted
for place in /srv/app /srv/mounted; do mount --bind $place $place && mount -o remount,ro,bind $place; done
cp $configuration /run/before.yaml
echo '  own: {client_id: com.example.own, outputs: [{path: /srv/mounted/web.jwt}]}' >>$configuration
systemctl stop clientsecretd-writer@app.service
complaint "a mount that is read-only" "; the mount at /srv/app is read-only: mount it writable, or write another path" \
    "; the mount at /srv/mounted is read-only here: mount it writable and restart the daemon, or write another path"
equal "for which no line is printed" "" "$(missing)"
promise "the daemon starts" systemctl restart clientsecretd
eventually "and does not blame the sandbox" \
    bash -c 'clientsecretd status | grep -q "fix: the mount at /srv/mounted is read-only here: mount it writable and restart the daemon, or write another"'
refused "the writer cannot write there" clientsecretd renew web
eventually "nor is its sandbox blamed" bash -c 'clientsecretd status | grep -q "fix: mount it writable, or write another path$"'
umount /srv/app /srv/mounted
cp /run/before.yaml $configuration
systemctl stop clientsecretd-writer@app.service
promise "mounted writable it is" good
no_settings clientsecretd.service
# At a path that ProtectSystem= names itself, ReadWritePaths= has no effect.
mkdir -p /boot
sed -i 's|/srv/app/.env, format: env, variable: SECRET, as: app|/boot/web.jwt, as: root|' $configuration
systemctl enable --quiet --now clientsecretd-writer@root.socket
complaint "a place that a setting names" "may not write to /boot (ProtectSystem=yes); write another path"
refused "for which --fix has no line" clientsecretd check --fix
equal "and adds none" "" "$(ls /etc/systemd/system/clientsecretd-writer@root.service.d 2>/dev/null)"
systemctl disable --quiet --now clientsecretd-writer@root.socket

# Whoever runs it.
useradd --system stranger
outputs $output
refused "somebody else may not do what the service may" runuser -u stranger -- /usr/local/bin/clientsecretd check
equal "and is told whom to ask" "This user is not the service's, so it cannot judge everything. Run: sudo clientsecretd check" \
    "$(head -n 1 "$seen")"
equal "not what would help that user" 0 "$(grep -c -e stranger -e 'runs the commands above' "$seen")"
for command in "mint web" public-key "run --once"; do
    # shellcheck disable=SC2086
    exits "nor $command" 77 runuser -u stranger -- /usr/local/bin/clientsecretd $command
    says "which asks for root" "; use sudo, or run it as a user who may read the file"
    equal "and not for the key" 0 "$(grep -c -e 'let only' -e 'as: ' "$seen")"
done
promise "the service's own user judges like root" runuser -u clientsecretd -- /usr/local/bin/clientsecretd check
# systemd without a message bus is asked by root all the same.
outputs /srv/own/web.jwt
install -d -o clientsecretd /srv/own
systemctl stop dbus.socket dbus.service
complaint "without a bus root asks systemd itself" "may not write to /srv/own"

# Under systemd the socket unit decides who may open the socket.
groupadd operators
echo 'control_group: operators' >>$configuration
contains "a group that the socket does not let in is named" "write SocketGroup=operators into the [Socket] section" \
    "$(clientsecretd check 2>&1)"
sed -i 's/^control_group: .*/control_group: clientsecretd-control/' $configuration
equal "one that it lets in is not" 0 "$(clientsecretd check 2>&1 | grep -c SocketGroup=)"

finish
