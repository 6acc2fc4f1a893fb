#!/bin/bash
# The sockets are part of the service's life: they outlive its restarts and its refusals, and are gone when it is stopped.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

set_up
service=clientsecretd.service
sockets=(clientsecretd.socket clientsecretd-credentials.socket)
# entries: how many lines the journal has about the service and its socket.
entries() { journalctl --quiet --no-pager --output cat --unit $service --unit clientsecretd.socket | wc -l; }
starts() { journal $service | grep -c '^Starting '; }
states() { systemctl show --property ActiveState --value "$@" | sed '/^$/d' | paste -sd' '; }

# The first configuration there is, and it is refused.
configure_web '    nonsense: 1'
refused "a first configuration that is refused fails the start" systemctl enable --now $service
equal "by its exit code" 78 "$(property ExecMainStatus)"
contains "the status line says why" nonsense "$(property StatusText)"
equal "the sockets are open" "active active" "$(states "${sockets[@]}")"
before=$(starts) lines=$(entries)
for _ in 1 2 3; do clientsecretd health; done >/tmp/polls 2>&1
contains "who polls is told why" "the daemon does not start: $configuration:" "$(head -n 1 /tmp/polls)"
contains "by a status too" "nonsense" "$(clientsecretd status 2>&1)"
promise "and costs a few lines" test $(($(entries) - lines)) -le $((4 * 12))
# More often than systemd starts a service for a socket (TriggerLimitBurst=): then it would close the socket for good.
cat >/usr/local/bin/ask <<'PYTHON'
#!/usr/bin/python3
"""ask METHOD TARGET COUNT: the status codes of so many answers, one after the other, each with its number."""
import collections, socket, sys
answers = collections.Counter()
for _ in range(int(sys.argv[3])):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(60)
        client.connect("/run/clientsecretd/clientsecretd.sock")
        client.sendall(f"{sys.argv[1]} {sys.argv[2]} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".encode())
        answers[client.recv(200).split(b" ")[1].decode()] += 1
        while client.recv(4096):
            pass
for status, count in answers.items():
    print(status, count)
PYTHON
chmod 755 /usr/local/bin/ask
begun=$SECONDS
equal "each of many is answered" "503 200" "$(ask GET /healthz 200 2>&1)"
promise "which has it tried once a second" test $(($(starts) - before)) -le $((SECONDS - begun + 6))
equal "the sockets stay open" "active active" "$(states "${sockets[@]}")"
promise "they can be closed while there is no service" systemctl stop $service
equal "so that nobody has it tried" "inactive inactive" "$(states "${sockets[@]}")"
refused "and opened with it" systemctl start $service
equal "which fails as before" "active active" "$(states "${sockets[@]}")"
configure_web
eventually "once it is fixed the next poll finds a daemon" clientsecretd health
is_active() { [ "$(property ActiveState)" = active ]; }
eventually "the service is active" is_active

# Who waits in the queue while the daemon is away is answered by the next one.
inode=$(stat -c %i $socket)
kill -STOP "$(property MainPID)"
clientsecretd status >/tmp/waited 2>&1 &
client=$!
waits() { [ "$(grep -c "$socket\$" /proc/net/unix)" -ge 2 ]; }
eventually "a client waits" waits
systemctl kill --signal=KILL $service
promise "a restart leaves the sockets alone" systemctl restart $service
equal "the status socket is the same one" "$inode" "$(stat -c %i $socket)"
promise "and who waited has an answer" wait $client

promise "it can be turned off" systemctl disable --now $service
equal "with its sockets" "inactive inactive" "$(states "${sockets[@]}")"
equal "none of which comes back at the next boot" "disabled disabled" \
    "$(systemctl is-enabled "${sockets[@]}" | paste -sd' ')"
before=$(starts)
refused "a poll finds nobody" clientsecretd status
says "and says so" "no daemon can be reached"
equal "and starts nothing" "$before inactive" "$(starts) $(property ActiveState)"
promise "it can be turned on again" systemctl enable --now $service
equal "with its sockets" "active active" "$(states "${sockets[@]}")"
promise "and answers" clientsecretd status

# A hook may send signals to the daemon, and cannot keep it busy with them: its roles are not started again for each.
roles=(clientsecretd-store.socket clientsecretd-push@production.socket)
shows_toolchain clientsecretd-store.service clientsecretd-push@.service
configure_web "      - push: production
store: {endpoints: ['https://127.0.0.1:2379'], user: signer, machine: m1}
targets:
  production: {kind: vault, path: apps/web, endpoint: 'https://127.0.0.1:8200', token_credential: vault-token}"
promise "the sockets of its roles start" systemctl enable --now "${roles[@]}"
echo password >/etc/clientsecretd/store/password
reloads() { journal $service | grep -c '^configuration loaded'; }
connections() { journal clientsecretd-store.service | grep -c '^Started '; }
# It fails, because there is no token for the push.
systemctl reload $service >"$seen" 2>&1
eventually "the store is asked" eval '[ "$(connections)" -gt 0 ]'
before="$(connections)" loaded=$(reloads) begun=$SECONDS
runuser -u clientsecretd -- bash -c "for _ in {1..10000}; do kill -HUP $(property MainPID); done"
promise "one reload in 10 s is carried out" test $(($(reloads) - loaded)) -le $(((SECONDS - begun) / 10 + 1))
eventually "the last signal is not lost" eval '[ $(($(reloads) - loaded)) -ge 2 ]'
equal "the store's connection is kept" "$before" "$(connections)"
equal "the sockets of the roles stay open" "active active" "$(states "${roles[@]}")"
promise "the daemon answers" clientsecretd status
loaded=$(reloads)
promise "root need not wait" kill -HUP "$(property MainPID)"
eventually "for a reload by a signal" eval '[ "$(reloads)" -gt "$loaded" ]'
systemctl disable --now "${roles[@]}"
configure_web
promise "without roles" systemctl reload $service

# A socket that systemd has given up is named, with what brings it back.
mkdir -p /etc/systemd/system/clientsecretd-push@broken.socket.d
printf '[Socket]\nExecStartPre=/bin/false\n' >/etc/systemd/system/clientsecretd-push@broken.socket.d/override.conf
systemctl daemon-reload
refused "a socket fails" systemctl start clientsecretd-push@broken.socket
for form in "" --json --watch "--watch --json"; do
    # shellcheck disable=SC2086
    contains "a status names it ($form)" "clientsecretd-push@broken.socket has failed" "$(timeout 5 clientsecretd status $form 2>&1)"
done
promise "and the document stays one" python3 -m json.tool <(clientsecretd status --json 2>/dev/null)
no_settings clientsecretd-push@broken.socket
promise "what helps" bash -c "$(clientsecretd status | sed -n 's/^ *fix: \(systemctl reset-failed clientsecretd-push.*\)/\1/p')"
equal "brings it back" "active" "$(states clientsecretd-push@broken.socket)"
refused "and a status names it no more" grep -q broken <(clientsecretd status)
systemctl stop clientsecretd-push@broken.socket

# One that is active, and whose file is gone: to enable it does nothing.
systemctl start clientsecretd-push@gone.socket clientsecretd-verify.socket
rm /run/clientsecretd/push/gone.sock /run/clientsecretd/verify.sock
for unit in clientsecretd-push@gone.socket clientsecretd-verify.socket; do
    contains "a status names $unit" "$unit is active, and its file" "$(clientsecretd status 2>&1)"
    contains "doctor too" "$unit is active, and its file" "$(clientsecretd doctor --skip-verify 2>&1)"
    promise "what helps" bash -c "$(clientsecretd status 2>&1 | sed -n "s/^ *fix: \(systemctl reset-failed $unit.*\)/\1/p")"
done
promise "brings both back" test -S /run/clientsecretd/push/gone.sock -a -S /run/clientsecretd/verify.sock
systemctl stop clientsecretd-push@gone.socket clientsecretd-verify.socket

# One of the daemon's own, which systemd does not start while the service runs.
for unit in "${sockets[@]}"; do
    for _ in 1 2 3 4 5 6; do systemctl restart "$unit" 2>/dev/null; done
    equal "$unit fails" failed "$(states "$unit")"
    promise "what helps" bash -c "$(clientsecretd status 2>&1 | sed -n "s/^ *fix: \(systemctl reset-failed $unit.*\)/\1/p")"
    equal "brings $unit back" "active active" "$(states "$unit" $service)"
    eventually "with the daemon" clientsecretd status
done
rm $socket
contains "a socket that is gone while the service runs is named" "the service runs, and its socket is gone" \
    "$(clientsecretd status 2>&1)"
refused "by check too" clientsecretd check
promise "what helps" bash -c "$(clientsecretd health | grep -o 'systemctl stop [^;]*')"
eventually "brings it back" clientsecretd status

# One that is masked: the daemon starts without it, and what is left of its file leads nowhere.
systemctl stop $service "${sockets[@]}"
systemctl mask clientsecretd.socket 2>/dev/null
promise "the service starts without its socket" systemctl start $service
helps="systemctl unmask clientsecretd.socket && systemctl restart clientsecretd.service"
for command in status health check "doctor --skip-verify"; do
    # shellcheck disable=SC2086
    contains "$command names a socket that is masked" \
        "clientsecretd.socket is masked: unmask it, if it is meant to run ($helps)" "$(clientsecretd $command 2>&1)"
done
refused "check fails" clientsecretd check
promise "what helps" bash -c "$helps"
eventually "brings it back" clientsecretd status

# A daemon that is started while the journal is away writes to it once it is back.
journals=(systemd-journald.socket systemd-journald-dev-log.socket systemd-journald.service)
systemctl stop "${journals[@]}"
equal "the journal is away" inactive "$(property ActiveState systemd-journald.service)"
promise "the service starts without it" systemctl restart $service
systemctl start "${journals[@]}"
systemctl reload $service
before=$(minted)
clientsecretd renew >/dev/null
is_read() { [ "$(minted)" -gt "$before" ]; }
eventually "and is read again once it is back" is_read
contains "with the number of what nobody has read" "log events before the last one are lost" \
    "$(journal $service)"
finish
