#!/bin/bash
# Does what the pages say, as they are installed, section after section on one machine, and sees whether it works. Before and after
# a section come the two functions that belong to it: what the reader has already, and what the guide promises. At the end all is
# well, also as after a reboot.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

# secret_of CLIENT: reads a secret from standard input; whether our key signed it for that client.
secret_of() { clientsecretd inspect --json --key "$key" - | grep -q "\"client_id\": *\"com.example.$1\""; }
# holds CLIENT TEXT
holds() { secret_of "$1" <<<"$2"; }
is_ok() { [ "$(of_status 'c["state"]' "$1")" = ok ]; }
# failing_clients: the clients that are not ok.
failing_clients() { of_status '" ".join(c["name"] for c in d["clients"] if c["state"] != "ok")'; }
all_ok() { [ -z "$(failing_clients)" ] && clientsecretd health; }
# reboot [UNIT…]: nothing lies below /run, and the units are started as with the machine.
reboot() {
    local writers
    mapfile -t writers < <(systemctl list-units --plain --no-legend 'clientsecretd-writer@*.socket' | awk '{ print $1 }')
    systemctl stop clientsecretd.service 'clientsecretd-writer@*' "$@"
    rm -r /run/clientsecretd
    # Another start of the machine than the one that the daemon has kept.
    echo 0 >/var/lib/clientsecretd/boot
    systemd-tmpfiles --create
    systemctl start clientsecretd.service "${writers[@]}" "$@"
}

before_environment_file() {
    service myapp 'Environment=PORT=80 APPLE_CLIENT_SECRET=old'
    systemctl start myapp.service
}
after_environment_file() {
    local first second pid
    eventually "the client is ok" is_ok myapp
    first=$(environment myapp APPLE_CLIENT_SECRET)
    promise "the application has its secret" holds myapp "$first"
    equal "and its other variables" 80 "$(environment myapp PORT)"
    equal "nobody else can read the file" "600 clientsecretd" "$(stat -c '%a %U' /run/clientsecretd/out/myapp.env)"
    promise "a renewal waits until the application has been restarted" clientsecretd renew myapp
    second=$(environment myapp APPLE_CLIENT_SECRET)
    promise "which has the new secret" [ "$second" != "$first" ]
    promise "of the same client" holds myapp "$second"
    promise "check finds nothing missing" clientsecretd check
    # The application may be the first to start, when nothing lies there yet.
    systemctl stop myapp.service clientsecretd.service
    rm /run/clientsecretd/out/myapp.env
    promise "the application's start waits for the daemon's" systemctl start myapp.service
    # It has it at once, and is restarted for it once more, as is all that lost its file.
    has_its_secret() { holds myapp "$(environment myapp APPLE_CLIENT_SECRET)"; }
    eventually "so that it has its secret" has_its_secret
    eventually "and the client is ok" is_ok myapp
}

before_group() {
    useradd --system --groups www-data reader
    useradd --system stranger
}
after_group() {
    local file=/run/clientsecretd/www/apple.jwt
    eventually "the client is ok" is_ok www
    equal "the file is the group's" "640 clientsecretd www-data" "$(stat -c '%a %U %G' "$file")"
    promise "a member reads it" runuser -u reader -- cat "$file"
    refused "and nobody else" runuser -u stranger -- cat "$file"
    promise "check finds nothing missing" clientsecretd check
    promise "it is renewed" clientsecretd renew www
    equal "and stays the group's" "640 clientsecretd www-data" "$(stat -c '%a %U %G' "$file")"
    promise "a reboot makes the directory again" reboot
    promise "so that a member reads it" runuser -u reader -- cat "$file"
}

# A root directory of its own with the machine's programs in it stands for the container.
before_container() {
    mkdir -p /var/lib/machines/shop/secrets /var/lib/machines/shop/usr
    for name in bin lib lib64; do ln -s usr/"$name" /var/lib/machines/shop/"$name"; done
    mkdir /var/lib/machines/shop/etc
    # The container has accounts of its own, of which the machine knows nothing.
    echo 'root:x:0:0::/:/bin/sh' >/var/lib/machines/shop/etc/passwd
    echo 'shop:x:10001:20001::/:/bin/sh' >>/var/lib/machines/shop/etc/passwd
    echo 'shop:x:20001:' >/var/lib/machines/shop/etc/group
    service shop RootDirectory=/var/lib/machines/shop BindReadOnlyPaths=/usr MountAPIVFS=yes
}
inside() { nsenter --target "$(main_process shop.service)" --mount --root --setuid 10001 --setgid 20001 -- "$@"; }
after_container() {
    local first second
    eventually "the client is ok" is_ok shop
    first=$(inside /bin/cat /secrets/apple.jwt)
    promise "the container reads its secret" holds shop "$first"
    refused "and writes nothing there" inside /bin/touch /secrets/mine
    promise "it comes up after a reboot" reboot shop.service
    equal "which has changed nothing" "$first" "$(inside /bin/cat /secrets/apple.jwt)"
    promise "check finds nothing missing" clientsecretd check
    promise "it is renewed" clientsecretd renew shop
    second=$(inside /bin/cat /secrets/apple.jwt)
    promise "and the running container sees the new one" [ "$second" != "$first" ]
    promise "of the same client" holds shop "$second"
}

before_dotenv() {
    make_app app 'PORT=80\r\nAUTH_APPLE_SECRET="old"\r\nDEBUG=1\r\n'
}
after_dotenv() {
    eventually "the client is ok" is_ok app
    promise "the variable is set" holds app "$(sed -n 's/^AUTH_APPLE_SECRET=\(.*\)\r$/\1/p' /srv/app/.env)"
    equal "and every other byte is kept" $'PORT=80\r\nDEBUG=1\r' "$(grep -v AUTH_APPLE_SECRET /srv/app/.env)"
    equal "the file is the application's" "600 app app" "$(stat -c '%a %U %G' /srv/app/.env)"
    promise "it is renewed" clientsecretd renew app
    promise "by the writer" holds app "$(sed -n 's/^AUTH_APPLE_SECRET=\(.*\)\r$/\1/p' /srv/app/.env)"
}

before_root_file() {
    mkdir /etc/legacy
    printf 'LISTEN=80\n' >/etc/legacy/apple.conf
    chmod 640 /etc/legacy/apple.conf
}
after_root_file() {
    eventually "the client is ok" is_ok legacy
    promise "the variable is set" holds legacy "$(sed -n 's/^CLIENT_SECRET=//p' /etc/legacy/apple.conf)"
    equal "and the rest is kept" LISTEN=80 "$(grep -v CLIENT_SECRET /etc/legacy/apple.conf)"
    equal "the file keeps owner, group and mode" "640 root root" "$(stat -c '%a %U %G' /etc/legacy/apple.conf)"
    promise "it is renewed" clientsecretd renew legacy
}

before_credential() {
    service api DynamicUser=yes \
        'ExecStart=/bin/sh -c "cp $CREDENTIALS_DIRECTORY/apple-client-secret /run/api/seen && exec sleep infinity"' \
        RuntimeDirectory=api
}
after_credential() {
    local first second
    eventually "the unit has started" test -s /run/api/seen
    first=$(cat /run/api/seen)
    promise "the unit has its secret" holds api "$first"
    refused "which lies in no other file" grep -rlF -e "$first" /run/clientsecretd /etc /srv
    eventually "the client is ok" is_ok api
    promise "a renewal waits until the unit has been restarted" clientsecretd renew api
    read_anew() { second=$(cat /run/api/seen) && [ -n "$second" ] && [ "$second" != "$first" ]; }
    eventually "which has the new secret" read_anew
    promise "of the same client" holds api "$second"
    # The unit starts with the machine, the daemon only then.
    systemctl stop api.service clientsecretd.service
    promise "the unit's start starts the daemon" systemctl start api.service
    eventually "and it has its secret" read_anew
    equal "of those before" "$second" "$(cat /run/api/seen)"
}

after_port() {
    local at=http://127.0.0.1:9467
    get() { curl --silent --show-error --fail-with-body --max-time 20 "$@"; }
    contains "Prometheus reads the metrics" 'clientsecretd_secret_expiry_timestamp_seconds{client="web"}' "$(get "$at"/metrics)"
    equal "a load balancer the health" ok "$(get "$at"/healthz)"
    equal "and whether it is ready" ready "$(get "$at"/readyz)"
    promise "the socket outlives a restart" systemctl restart clientsecretd.service
    promise "and is answered again" get "$at"/readyz
    promise "the status socket still answers" clientsecretd status
}

# What sends mail writes it into a file.
before_mail() {
    printf '%s\n' '#!/bin/sh' '{ echo "$2"; cat; } >>/tmp/mail' >/usr/local/bin/mail
    chmod 755 /usr/local/bin/mail
}
after_mail() {
    mailed() { grep -q "^clientsecretd on .* is $1\$" /tmp/mail; }
    promise "the test mail arrives" mailed ok
    promise "check finds nothing missing" clientsecretd check
    chmod 644 "$key"
    eventually "a key that everybody may read is mailed" mailed degraded
    # The subject is there before the status was asked for.
    eventually "with what helps" grep -q "chmod 0640 $key" /tmp/mail
    chmod 640 "$key"
    eventually "every client is well" all_ok
}

after_daemon_gone() {
    promise "the timer waits" systemctl is-active --quiet clientsecretd-health.timer
    promise "while all is well, nothing is mailed" systemctl start clientsecretd-health.service
    refused "as no mail shows" mailed unhealthy
    mv "$output" /root/kept
    systemctl stop clientsecretd.service clientsecretd.socket
    refused "without a daemon and a secret the check fails" systemctl start clientsecretd-health.service
    eventually "which is mailed" mailed unhealthy
    mv /root/kept "$output"
    promise "the daemon starts again" systemctl start clientsecretd.socket clientsecretd.service
    eventually "every client is well" all_ok
}

before_window() {
    cat >/etc/clientsecretd/clientsecretd.d/window.yaml <<END
clients:
  soon:
    client_id: com.example.soon
    lifetime: 90d
    renew_before: 85d
    outputs: [{path: /run/clientsecretd/out/soon.jwt}]
  later:
    client_id: com.example.later
    lifetime: 90d
    renew_before: 75d
    outputs: [{path: /run/clientsecretd/out/later.jwt}]
END
    clientsecretd reload
    cp /run/clientsecretd/out/soon.jwt /run/clientsecretd/out/later.jwt /tmp
}
after_window() {
    contains "the next window is known" Sun "$(systemctl list-timers --all clientsecretd-window.timer)"
    promise "a window" systemctl start clientsecretd-window.service
    refused "renews what is due before the next one" cmp /tmp/soon.jwt /run/clientsecretd/out/soon.jwt
    promise "and leaves the rest" cmp /tmp/later.jwt /run/clientsecretd/out/later.jwt
}

# Once its process runs, its start takes longer than a renewal.
before_path() {
    service site 'ExecStart=/usr/bin/sleep infinity' 'ExecStartPost=/usr/bin/sleep 5'
}
after_path() {
    local first count
    eventually "the client is ok" is_ok site
    systemctl start site.service
    first=$(environment site APPLE_CLIENT_SECRET)
    promise "the application has its secret" holds site "$first"
    promise "it is renewed" clientsecretd renew site
    has_last() { [ "$(environment site APPLE_CLIENT_SECRET)" = "$(sed -n 's/^APPLE_CLIENT_SECRET=//p' /run/clientsecretd/out/site.env)" ]; }
    eventually "and the application has the new one" has_last
    promise "it is renewed again before its unit has started" clientsecretd renew site
    eventually "and the application has the last one" has_last
    promise "of the same client" holds site "$(environment site APPLE_CLIENT_SECRET)"
    eventually "its unit has started" systemctl is-active --quiet site.service
    equal "nobody says that nothing restarts it" 0 \
        "$(clientsecretd check 2>&1 | cat - <(clientsecretd doctor --skip-verify site 2>&1) | grep -c 'nothing restarts')"
    systemctl stop site.service
    runs() { journalctl --quiet --output cat --unit site-secret.service | grep -c '^Finished'; }
    count=$(runs)
    promise "it is renewed" clientsecretd renew site
    ran() { [ "$(runs)" -gt "$count" ]; }
    eventually "and noticed" ran
    equal "a stopped application stays stopped" inactive "$(property ActiveState site.service)"
}

before_replacing() {
    new_key AuthKey_XYZ987WVUT.p8
    chmod 600 AuthKey_XYZ987WVUT.p8
    clientsecretd status --json >/tmp/before
}
# key_ids: of all secrets, each once.
key_ids() { clientsecretd status --json | grep -o '"key_id": *"[A-Z0-9]*"' | sort -u | grep -o '[A-Z0-9]*"$' | paste -sd' '; }
after_replacing() {
    key=/etc/clientsecretd/AuthKey_XYZ987WVUT.p8
    eventually "every client is well" all_ok
    equal "with the new key" 'XYZ987WVUT"' "$(key_ids)"
    promise "which signed what is published" holds web "$(cat "$output")"
    promise "and what an application was started with" holds myapp "$(environment myapp APPLE_CLIENT_SECRET)"
    refused "the old key is gone" test -e /etc/clientsecretd/AuthKey_ABC123DEFG.p8
}

before_encrypted_key() {
    cp "$key" /root/kept.p8
    key=/root/kept.p8
}
after_encrypted_key() {
    refused "the plain key is gone" test -e /etc/clientsecretd/AuthKey_XYZ987WVUT.p8
    eventually "every client is well" all_ok
    promise "the secret is signed by the key" secret_of web <"$output"
    exits "which lies nowhere in plain text" 1 grep -qF "$(sed -n 2p "$key")" /etc/clientsecretd/apple-key.cred
    equal "the service is active" active "$(property ActiveState)"
    promise "it renews" clientsecretd renew web
    promise "it restarts" systemctl restart clientsecretd.service
    refused "check finds the key that is no file" grep apple-key <(clientsecretd check 2>&1)
    systemctl stop clientsecretd.service
    refused "check cannot see it while the service is down" clientsecretd check
    says "and says so" "start it and check again (systemctl start clientsecretd.service)"
    promise "it starts again" systemctl start clientsecretd.service
}

before_upgrading() {
    sha256sum /run/clientsecretd/out/* >/tmp/before
    install -m 755 /built/clientsecretd /usr/local/bin/clientsecretd
}
after_upgrading() {
    equal "the daemon is the new program" /usr/local/bin/clientsecretd "$(readlink "/proc/$(property MainPID)/exe")"
    promise "nothing was minted by it" sha256sum --check --quiet /tmp/before
}

set_up
cd /root || exit 1
configure <<END
clients:
  web: {client_id: com.example.web, outputs: [{path: $output}]}
END
promise "the service is enabled and starts" systemctl enable --now clientsecretd
promise "check finds nothing missing" clientsecretd check
promise "the secret is published" holds web "$(cat "$output")"
declare -A tries=(
    ["An app with an environment file"]=environment_file
    ["A group of readers"]=group
    ["A container that reads the secret"]=container
    ["The app's own dotenv file"]=dotenv
    ["A file that belongs to root"]=root_file
    ["A credential of the unit"]=credential
    ["A port for Prometheus"]=port
    ["A weekly window"]=window
    ["Restart without polkit"]=path
    ["Mail"]=mail
    ["If the daemon itself is gone"]=daemon_gone
    ["Replacing a key"]=replacing
    ["The key as an encrypted credential"]=encrypted_key
    # Run by operations.sh or by none.
    ["Cron"]="" ["CI"]="" ["node_exporter"]="" ["Scrape it"]="" ["Webhook"]="" ["Without systemd"]=""
)
try_sections service outputs containers prometheus alerts keys

guide=/src/docs/installing.md
before_upgrading
promise "a restart after an upgrade" does block sh 'restart clientsecretd
clientsecretd status'
after_upgrading

eventually "everything is well in the end" all_ok
equal "as all clients say" "" "$(failing_clients)"
promise "a reboot" reboot myapp.service shop.service api.service site.service
eventually "changes nothing about that" all_ok
finish
