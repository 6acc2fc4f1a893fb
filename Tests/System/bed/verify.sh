#!/bin/bash
# The service that asks Apple for the daemon: its socket, its sandbox, its verdicts, with the stand-in on loopback.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

set_up
stands_in_for_apple /src/.build/venv/bin/python
install -m 0644 /tmp/apple/ca.pem /etc/ssl/stand-in.pem

network=/usr/local/libexec/clientsecretd/clientsecretd-network
shows_toolchain clientsecretd-verify@.service
# runs EXECSTART [LINE]: what the service runs. The stand-in is on this machine, as a proxy might be.
runs() { settings clientsecretd-verify@.service test ExecStart= "ExecStart=$1" "${2-IPAddressAllow=localhost}"; }

asks_at /run/clientsecretd/verify.sock
# question CLIENT_ID SECRET
question() { printf '{"client_id":"%s","client_secret":"%s"}' "$1" "$2"; }

configure_web "    verify: true"
# By its name, which only the files in the sandbox resolve.
address=$(sed s/127.0.0.1/localhost/ /tmp/apple/address)
runs "$network verify --endpoint $address --ca-file /etc/ssl/stand-in.pem"
promise "the socket starts" systemctl enable --quiet --now clientsecretd-verify.socket
equal "the daemon alone may connect" "600 clientsecretd" "$(stat -c '%a %U' /run/clientsecretd/verify.sock)"
refused "nobody else may" runuser -u nobody -- ask "$(question com.example.web x.y.z)"

secret=$(clientsecretd mint --key $key --team-id DEF123GHIJ --client-id com.example.web)
daemon_asks() { runuser -u clientsecretd -- ask "$(question "$@")"; }
contains "a good secret is accepted" '"verdict":"accepted"' "$(daemon_asks com.example.web "$secret")"
contains "what is no request is not known" '"reason":"malformed_request"' "$(daemon_asks '' '')"

# One at a time: while one connection says nothing, another is turned away, and the first one is not waited for for ever.
runuser -u clientsecretd -- python3 -c 'import socket, sys
idle = socket.socket(socket.AF_UNIX); idle.connect("/run/clientsecretd/verify.sock")
print("connected", flush=True); idle.recv(1)' >/tmp/idle &
eventually "one is connected" grep -q connected /tmp/idle
eventually "and served" sh -c "systemctl list-units --plain --no-legend 'clientsecretd-verify@*' | grep -q running"
equal "a second one is turned away" "" "$(daemon_asks com.example.web "$secret" 2>/dev/null)"
eventually "the silent one is ended" sh -c "! systemctl list-units --plain --no-legend 'clientsecretd-verify@*' | grep -q running"
contains "then the next is served" '"verdict":"accepted"' "$(daemon_asks com.example.web "$secret")"

# The daemon itself, by its unit. Its start allows the address that the service's command line names.
verdict() { [ "$(of_status '(c["verification"] or {}).get("verdict")')" = "$1" ]; }
runs "$network verify --endpoint $address --ca-file /etc/ssl/stand-in.pem" ""
equal "a check misses nothing" "" "$(clientsecretd check 2>&1 | grep verif)"
promise "the daemon starts with a client whose secrets are tried" systemctl start clientsecretd.service
eventually "its secret is accepted" verdict accepted
contains "at an address that the daemon's start has allowed" "127.0.0.0/8" \
    "$(cat /run/systemd/system/clientsecretd-verify@.service.d/clientsecretd-addresses.conf)"
settings clientsecretd-verify@.service z IPAddressAllow= IPAddressAllow=17.0.0.0/8
contains "a check names the file that takes it back" "clientsecretd-verify@.service may not connect to this machine" \
    "$(clientsecretd check 2>&1)"
rm /etc/systemd/system/clientsecretd-verify@.service.d/z.conf
# systemd listens and does not answer: of a reload, or at a start.
allowed=/run/systemd/system/clientsecretd-verify@.service.d/clientsecretd-addresses.conf
python3 -c 'import socket, time
mute = socket.socket(socket.AF_UNIX); mute.bind("/run/mute"); mute.listen(64)
while True: time.sleep(60)' &
mute=$!
eventually "something listens" test -S /run/mute
mount --bind /run/mute /run/systemd/private
clientsecretd keep-configuration >/run/kept 2>&1
promise "what systemd does not answer takes nothing away" test -s "$allowed"
contains "and for which user to keep the configuration is not guessed" "cannot ask systemd which user runs the daemon" "$(cat /run/kept)"
clientsecretd keep-configuration --daemon-user clientsecretd >/run/kept 2>&1
promise "nor does it where the user is known" test -s "$allowed"
contains "nor is anything judged for a guessed user" "cannot ask systemd which user runs the daemon" "$(clientsecretd check 2>&1)"
umount /run/systemd/private
kill $mute
systemctl daemon-reload
equal "the daemon's own unit has no network" "AF_UNIX" "$(property RestrictAddressFamilies)"
equal "nor a way to it" "yes" "$(property PrivateNetwork)"

# What the program could see and do if it were taken over. The request is read first, or the answer would be lost with it.
cat >/usr/local/bin/see <<'SCRIPT'
#!/bin/sh
cat >/dev/null
for path in /etc/clientsecretd /etc/clientsecretd/* /run/clientsecretd/* /run/clientsecretd/out/* /var/lib/clientsecretd; do
    [ ! -e "$path" ] || echo "sees $path"
done
find / -xdev -maxdepth 2 -not -path '/usr/*' -not -path '/proc/*' -not -path '/sys/*' -not -path '/dev/*'
SCRIPT
chmod 755 /usr/local/bin/see
runs /usr/local/bin/see ""
found=$(daemon_asks com.example.web "$secret")
contains "it sees programs" "/usr" "$found"
equal "and nothing of the daemon's" "" "$(grep -e clientsecretd -e sees <<<"$found")"
equal "no home, nor what others write" "" "$(grep -E '^/(home|root|srv|tmp|var|run)/' <<<"$found" | grep -v '^/var/tmp$')"
looks
runs '/bin/sh -c "cat >/dev/null; exec /usr/local/bin/look"' ""
promise "a reload takes back what another command line needed" systemctl reload clientsecretd.service
daemon_asks com.example.web "$secret" >/run/looked
equal "it reads, writes, disturbs and reaches nothing else" "" "$(looked /run/looked)"
contains "after it has looked" looked "$(cat /run/looked)"

systemctl disable --quiet --now clientsecretd-verify.socket
equal "the socket goes with its unit" "" "$(ls /run/clientsecretd/verify.sock 2>/dev/null)"
# Without a daemon. Its sandbox has no network, so that a program which it starts could not ask.
systemctl stop clientsecretd.socket clientsecretd.service clientsecretd-verify.socket
rm -f /run/clientsecretd/verify.sock /var/lib/clientsecretd/clients/* $output
systemctl start clientsecretd-once.service
contains "run --once without a network wants the socket" "systemctl enable --now clientsecretd-verify.socket" \
    "$(journal clientsecretd-once.service)"
promise "and publishes all the same" test -s $output
finish
