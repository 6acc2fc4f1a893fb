#!/bin/bash
# What the journal holds of the daemon's doings, and how it explains them.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh
set_up
cat >/usr/local/bin/hook <<'END'
#!/bin/sh
echo heard
END
chmod 0755 /usr/local/bin/hook
configure <<END
clients:
  web:
    client_id: com.example.web
    outputs: [{path: $output}]
    on_change: [{exec: [/usr/local/bin/hook]}]
  lost:
    client_id: com.example.lost
    outputs: [{path: /run/clientsecretd/none/lost.jwt}]
END
promise "the service starts" systemctl start clientsecretd

# entry FIELD=VALUE…: the entries of the service that match, as JSON, one to a line.
entry() { journalctl --quiet --output json _SYSTEMD_UNIT=clientsecretd.service "$@"; }
# field NAME: of each entry on standard input.
field() { python3 -c 'import json, sys
for line in sys.stdin: print(json.loads(line).get(sys.argv[1], ""))' "$1"; }
# id EVENT: its message id, the first after the event's name.
id() { sed -n "/ \(case \.\|func \)$1\>/,/\"[0-9a-f]\{32\}\"/s/.*\"\([0-9a-f]\{32\}\)\".*/\1/p" /src/Sources/Daemon/Log/LogMessages.swift; }

eventually "the hook's line is there" eval '[ -n "$(entry MESSAGE_ID=$(id hookPrinted))" ]'
equal "with the action it is of" "exec /usr/local/bin/hook" "$(entry MESSAGE_ID="$(id hookPrinted)" | field CLIENTSECRETD_ACTION)"
minted=$(entry MESSAGE_ID="$(id minted)" CLIENTSECRETD_CLIENT=web)
equal "one secret was minted" 1 "$(wc -l <<<"$minted")"
equal "its key's id is a field" ABC123DEFG "$(field CLIENTSECRETD_KEY_ID <<<"$minted")"
equal "and its fingerprint" "$(of_status 'c["fingerprint"]')" \
    "$(field CLIENTSECRETD_FINGERPRINT <<<"$minted")"
equal "and its urgency" 6 "$(field PRIORITY <<<"$minted")"
equal "the message has no urgency in it" web "$(field MESSAGE <<<"$minted" | cut -d: -f1)"
equal "the entry is the daemon's" "$(property MainPID)" "$(field _PID <<<"$minted")"
equal "a file that was written has its path" "$output" "$(entry MESSAGE_ID="$(id published)" | field CLIENTSECRETD_PATH)"
failing=$(entry MESSAGE_ID="$(id failing)" CLIENTSECRETD_CODE=directory_missing | head -n 1)
equal "what fails has its client" lost "$(field CLIENTSECRETD_CLIENT <<<"$failing")"
equal "and is an error" 3 "$(field PRIORITY <<<"$failing")"
secret=$(<$output)
refused "no secret is in any field" grep -qF "${secret##*.}" <(journalctl --output export)
# Who asked. What a process of another user calls itself, root's among them, the unit's sandbox hides.
clientsecretd renew web >"$seen" &
asker=$!
wait $asker
asked=$(entry MESSAGE_ID="$(id asked)" CLIENTSECRETD_CLIENT=web)
equal "who asked for a renewal is a field" 0 "$(field CLIENTSECRETD_PEER_UID <<<"$asked")"
equal "and by which process" $asker "$(field CLIENTSECRETD_PEER_PID <<<"$asked")"
equal "in words too" "user 0 (process $asker) asked to renew web" "$(field MESSAGE <<<"$asked")"
contains "journalctl -x explains it" "For the client web a new secret was signed with the key" \
    "$(journalctl --quiet --catalog _SYSTEMD_UNIT=clientsecretd.service MESSAGE_ID="$(id minted)" CLIENTSECRETD_CLIENT=web)"
# The guide's own commands.
mapfile -t commands < <(sed -n 's/^    \(journalctl [^#]*\).*/\1/p' /src/docs/journal.md)
promise "the guide asks the journal" test ${#commands[@]} -gt 0
for command in "${commands[@]}"; do
    promise "and finds entries by $command" eval "$command --quiet | grep ."
done
equal "every entry says what kind of event it is" 0 "$(entry | field MESSAGE_ID | grep -c '^$')"

# Where standard error is no journal, each line carries its urgency for whoever reads it.
systemctl stop clientsecretd
mkfifo /run/log.pipe
# Open for writing as well, so that the end of one of the unit's programs is not the end of it.
cat <>/run/log.pipe >/run/piped &
reader=$!
settings clientsecretd.service log StandardError=file:/run/log.pipe
promise "it starts with a program that reads its log" systemctl start clientsecretd
systemctl stop clientsecretd
eventually "which is told how urgent each line is" grep -q "^<6>web: took over sha256:" /run/piped
kill $reader

# journald takes a thousand fields in an entry. What concerns more clients is told all the same.
no_settings clientsecretd.service
rm "$key"
seq 1100 | sed 's|.*|  c&: {outputs: [{path: /run/clientsecretd/out/c&.jwt}]}|; 1iclients:' | configure
promise "it starts with more clients than an entry has room for" systemctl start clientsecretd
eventually "the journal says what their key lacks" \
    eval '[ -n "$(entry MESSAGE_ID=$(id failing) CLIENTSECRETD_CODE=key_missing CLIENTSECRETD_CLIENT=c1)" ]'
finish
