#!/bin/bash
# Reload: the verdict, its reasons, what goes on meanwhile, and what becomes of clients.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

# two OTHER: the configuration of web and of OTHER, each with its own file.
two() {
    configure_web "  $1:
    client_id: com.example.$1
    outputs:
      - path: /run/clientsecretd/out/$1.jwt"
}
# names: the clients that the daemon knows.
names() { clientsecretd status --json | python3 -c 'import json, sys; print(*[c["name"] for c in json.load(sys.stdin)["clients"]])'; }

install_clientsecretd
make_key
configure_web
systemctl start clientsecretd.service
pid=$(property MainPID)
web=$(sha256sum <$output)
inode=$(stat -c %i $output)

two shop
promise "a good configuration is adopted" systemctl reload clientsecretd.service
equal "when reload returns, the new client is known" "shop web" "$(names)"
eventually "and gets its file" test -s /run/clientsecretd/out/shop.jwt
equal "the other client's file was not touched" "$inode $web" "$(stat -c %i $output) $(sha256sum <$output)"
shop=$(sha256sum </run/clientsecretd/out/shop.jwt)

cp $configuration /tmp/good
printf '    lifetme: 3d\n' >>$configuration
refused "a bad configuration fails the reload" systemctl reload clientsecretd.service
contains "with its reasons in the journal" "lifetme" "$(journalctl --quiet --output cat --unit clientsecretd.service)"
contains "and for who asks himself" "$configuration:" "$(clientsecretd reload 2>&1)"
equal "by the exit code of a configuration" 78 "$(clientsecretd reload >/dev/null 2>&1; echo $?)"
equal "the service stays active" active "$(property ActiveState)"
equal "and is the same" "$pid" "$(property MainPID)"
equal "the old configuration stays in force" "shop web" "$(names)"
contains "the status says that a restart would fail" "would not start" "$(clientsecretd status 2>&1; systemctl status clientsecretd.service)"
rm $output
eventually "and what it keeps is still repaired" test -s $output

cp /tmp/good $configuration
promise "fixed, it is adopted" systemctl reload clientsecretd.service

# The same without a verdict.
two club
promise "SIGHUP is taken" systemctl kill --kill-whom=main --signal=HUP clientsecretd.service
known() { [ "$(names)" = "club web" ]; }
eventually "and does the same" known
eventually "a client that is added gets its file" test -s /run/clientsecretd/out/club.jwt
equal "a removed client's file stays" "$shop" "$(sha256sum </run/clientsecretd/out/shop.jwt)"
echo mine >/run/clientsecretd/out/shop.jwt
# Whatever would be repaired is repaired before this one.
rm $output
eventually "the others are still watched" test -s $output
# Nothing must happen: a repair comes within a second.
sleep 1
equal "and a removed client's is not" mine "$(cat /run/clientsecretd/out/shop.jwt)"

# A changed client alone is renewed.
club=$(sha256sum </run/clientsecretd/out/club.jwt)
sed -i 's/com.example.club/com.example.clubs/' $configuration
systemctl reload clientsecretd.service
changed() { [ "$(sha256sum </run/clientsecretd/out/club.jwt)" != "$club" ]; }
eventually "a changed client gets a secret that fits" changed
equal "and the other keeps its own" "$web" "$(sha256sum <$output)"
equal "all of it without a restart" "$pid" "$(property MainPID)"

# A client that cannot be served: adopted, and told.
two gone
sed -i 's|/run/clientsecretd/out/gone.jwt|/nowhere/gone.jwt|' $configuration
refused "a configuration that passes but cannot be served fails the reload" systemctl reload clientsecretd.service
equal "and is adopted" "gone web" "$(names)"
contains "by who asks, the client is named" "gone" "$(clientsecretd reload 2>&1)"

# Actions are looked at before they are needed.
configure_web "    on_change:
      - restart: nosuch.service"
refused "a unit that does not exist fails the reload" systemctl reload clientsecretd.service
contains "which names it and its client" 'client "web": restart nosuch.service: there is no such unit' \
    "$(clientsecretd reload 2>&1)"
configure_web "    on_change:
      - exec: [/usr/local/bin/nosuch]"
contains "so does a program" 'client "web": exec /usr/local/bin/nosuch: could not be started' "$(clientsecretd reload 2>&1)"
printf '[Service]\nExecStart=/bin/sleep infinity\n' >/etc/systemd/system/quiet.service
configure_web "    on_change:
      - restart: quiet.service"
contains "and a rule that is missing, also while there is nothing to restart" "systemd may not do this" \
    "$(clientsecretd reload 2>&1)"
contains "the status says so" "restart quiet.service: systemd may not do this" "$(clientsecretd status 2>&1)"
systemctl restart clientsecretd.service
eventually "after a start, too" eval 'clientsecretd status 2>&1 | grep -qF "systemd may not do this"'
mkdir -p /etc/polkit-1/rules.d
clientsecretd check 2>&1 | grep -o 'polkit\.addRule(.*' >/etc/polkit-1/rules.d/50-clientsecretd.rules
eventually "with the rule it is over" clientsecretd health
promise "and a reload succeeds" systemctl reload clientsecretd.service
finish
