#!/bin/bash
# Units told of a new secret over the bus, by the service's own user: with the rules of polkit's that `check` names and
# without them, each verb, and each way in which systemd does not do it.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh
set_up
rules=/etc/polkit-1/rules.d/50-clientsecretd.rules
mkdir /run/saw

for name in restarted plain; do service $name; done
service reloaded "ExecReload=/usr/bin/touch /run/saw/reload"
service either "ExecReload=/usr/bin/touch /run/saw/either"
# The main process notes the signal; the other would die of it.
cat >/run/signalled <<'END'
sleep infinity &
trap 'touch /run/saw/signal' HUP
while :; do wait; done
END
service signalled "ExecStart=/bin/bash /run/signalled"
service oneshot Type=oneshot "ExecStart=/usr/bin/touch /run/saw/start"
service stopped "ExecStart=/usr/bin/touch /run/saw/stopped" "ExecReload=/usr/bin/touch /run/saw/stopped"
service failing Type=oneshot ExecStart=/bin/false
service late Type=oneshot TimeoutStartSec=2 "[Unit]" JobRunningTimeoutSec=1
service needy Type=oneshot ExecStart=/bin/true "[Unit]" Requires=failing.service After=failing.service
service slow Type=oneshot
service skipped Type=oneshot "ExecStart=/usr/bin/touch /run/saw/skipped" "[Unit]" ConditionPathExists=/run/none
ln -s /dev/null /etc/systemd/system/masked.service
systemctl daemon-reload
systemctl start restarted reloaded either signalled plain

clients=
# tell CLIENT ACTION: a client that tells its application so.
tell() {
    clients+="  $1:
    client_id: com.example.$1
    outputs: [{path: /run/clientsecretd/out/$1.jwt}]
    on_change: [{$2}]
"
}
tell restart "restart: restarted.service"
tell reload "reload: reloaded.service"
tell either "reload_or_restart: either.service"
tell signal "signal: {unit: signalled.service, signal: SIGHUP}"
tell start "start: oneshot.service"
tell stopped-restart "restart: stopped.service"
tell stopped-reload "reload: stopped.service"
tell stopped-either "reload_or_restart: stopped.service"
tell stopped-signal "signal: {unit: stopped.service, signal: SIGHUP}"
good=$clients
tell failing "start: failing.service"
tell late "start: late.service"
tell needy "start: needy.service"
tell slow "start: slow.service"
tell skipped "start: skipped.service"
tell masked "start: masked.service"
tell idle "restart: masked.service"
tell unreloadable "reload: plain.service"
tell nosuch "restart: nosuch.service"
configure <<<"clients:
$clients"

# action CLIENT: how its action stands, and why.
action() { of_status '" ".join((c["actions"][0]["state"], c["actions"][0]["error"] or "", c["last_error"] or ""))' "$1"; }
stands() { [[ $(action "$1") == $2* ]]; }
# told CLIENT: whether its application counts as told.
told() { [ "$(of_status 'c["delivered"]' "$1")" = True ]; }
pid() { property MainPID "$1.service"; }

promise "the service starts although nothing permits its actions" systemctl start clientsecretd
for name in restart reload either signal start; do
    eventually "without a rule systemd refuses to $name" stands $name \
        "failed $(sed -n "s/^tell $name \"\(.*\)\"/\1/p" "$0" | sed 's/:.*//') "
    contains "and status says so of $name" "the daemon's user may not do this" "$(action $name)"
done
for name in stopped-restart stopped-reload stopped-either stopped-signal; do
    eventually "what is stopped needs no rule and counts as told ($name)" told $name
    eventually "but that its rule is missing is said before it runs ($name)" stands $name failed
    contains "as it is of the others" "the daemon's user may not do this" "$(action $name)"
done
eventually "a unit that does not exist is told apart" stands nosuch "failed restart nosuch.service: there is no such unit"
eventually "the last of the orders was refused" stands slow "failed start slow.service: the daemon's user may not"
equal "nothing was done to what runs" "" "$(ls /run/saw)"
contains "the journal says the whole rule" "else add it: (umask 022 && printf '%s\\n' '' 'polkit.addRule(" \
    "$(journalctl --quiet --output cat --unit clientsecretd.service CLIENTSECRETD_CODE=unit_not_permitted)"

# The same rules by whoever asks: root on behalf of the service's user, or that user.
clientsecretd check >/run/check.root 2>&1
runuser -u clientsecretd -- /usr/local/bin/clientsecretd check >/run/check.user 2>&1
named() { grep -o 'polkit\.addRule(.*});' "$1" | sort -u; }
equal "check names the same rules to root and to the service's user" "$(named /run/check.user)" "$(named /run/check.root)"
equal "one for each action that is refused, but not for the one that its unit never takes" 14 "$(named /run/check.root | wc -l)"
equal "check touches nothing" "" "$(ls /run/saw)"
contains "init names the rule for what it writes" "$(named /run/check.root | grep -F restarted.service | grep try-restart)" \
    "$(clientsecretd init --config /tmp/first.yaml --team-id DEF123GHIJ --client-id com.example.web --key $key \
        --output $output --restart restarted.service 2>&1)"
# A polkit that reads no such rules.
printf '#!/bin/sh\necho "pkaction version 0.105"\n' >/run/pkaction
chmod 755 /run/pkaction
mount --bind /run/pkaction /usr/bin/pkaction
clientsecretd check >/run/check.old 2>&1
umount /usr/bin/pkaction
equal "no rule is named that polkit would ignore" "" "$(named /run/check.old)"
contains "but what helps" "polkit 0.105 ignores the rule that would allow it" "$(cat /run/check.old)"
# The daemon notices the rules, too, and delivers what waits for them.
before=$(pid restarted)
child=$(pgrep -P "$(pid signalled)")
either=$(pid either)
mkdir -p "${rules%/*}"
named /run/check.root >$rules
settled() { ! clientsecretd check 2>&1 | grep -q "the daemon's user may not do this"; }
eventually "with those lines check has none to name" settled
contains "and warns of the masked unit" "start masked.service: the unit is masked" "$(clientsecretd check 2>&1)"
contains "also where a stopped one is to be restarted" "warning: restart masked.service: the unit is masked: it is stopped too" \
    "$(clientsecretd check 2>&1)"

clientsecretd renew --deliver-only >/run/renewed 2>&1 &
eventually "a start is waited for" eval '[ "$(systemctl is-active slow.service)" = activating ]'
promise "as long as it lasts" kill -0 $!
# The rules alone had the daemon start it, too: whichever starts still come until the answer are stopped as well.
while kill -0 $! 2>/dev/null; do
    systemctl stop slow.service
    sleep 0.2
done
wait
for name in restart reload either signal start; do
    eventually "with its rule systemd does it ($name)" stands $name ok
done
refused "the unit was restarted" [ "$before" = "$(pid restarted)" ]
promise "the signal went to the main process alone" kill -0 "$child"
equal "one that can reload was not restarted" "$either" "$(pid either)"
eventually "each did its part" eval '[ "$(ls /run/saw | xargs)" = "either reload signal start" ]'
equal "what is stopped stays stopped" inactive "$(systemctl is-active stopped.service)"
while read -r name words; do
    contains "told apart: $name" "$words" "$(action "$name")"
done <<'END'
failing its job failed
late its job took too long
needy a unit that it needs failed
slow its job was canceled
skipped its job failed: a condition in its unit file is not met, so it was not started
masked the unit is masked
unreloadable systemd refused this
nosuch there is no such unit
END

alone() { [ -z "$(busctl list --no-legend | awk '$3 == "clientsecretd"')" ]; }
eventually "no connection to the bus is kept" alone

# A rule that is there and does not apply is named, and not added again.
printf 'polkit.addRule(function(action, subject) { return polkit.Result.NO; });\n' >"${rules%/*}/10-none.rules"
overruled() { clientsecretd check 2>&1 | grep -q "$rules has the rule, and it does not apply"; }
eventually "a rule that an earlier file overrules is named" overruled
clientsecretd check --fix >/run/check.fix 2>&1
equal "check --fix does not add it again" "$(named /run/check.root)" "$(sort <$rules)"
rm "${rules%/*}/10-none.rules"
eventually "without that file it applies" settled

# A unit that is masked after it was told: without a daemon, too, monitoring hears of it before the next renewal does.
lone=/run/lone
mkdir -m 0700 $lone $lone/state
new_key $lone/AuthKey_ABC123DEFG.p8
chmod 0600 $lone/AuthKey_ABC123DEFG.p8
printf '%s\n' "[Service]" Type=oneshot "ExecStart=/bin/true" >/run/systemd/system/lone.service
systemctl daemon-reload
cat >$lone/c.yaml <<END
keys: {apple: {team_id: DEF123GHIJ, file: $lone/AuthKey_ABC123DEFG.p8}}
state_dir: $lone/state
clients:
  lone:
    outputs: [{path: $lone/lone.jwt}]
    on_change: [{start: lone.service}]
END
lone() { clientsecretd "$@" --config $lone/c.yaml --socket $lone/status.sock 2>&1; }
promise "a single run tells a unit" lone run --once
promise "which health without a daemon finds well" lone health --offline
systemctl mask lone.service 2>/dev/null
contains "and names once it is masked" "WARNING - start lone.service: the unit is masked" "$(lone health --offline)"
contains "as the next single run does" "start lone.service: the unit is masked" "$(lone run --once)"
systemctl unmask lone.service 2>/dev/null

# Neither polkit nor the bus.
configure <<<"clients:
$good"
systemctl reload clientsecretd
mv /usr/share/dbus-1/system-services/org.freedesktop.PolicyKit1.service /tmp
systemctl stop polkit.service
systemctl reload dbus.service
clientsecretd renew restart >/dev/null 2>&1
contains "that polkit is missing is told apart" "polkit is not installed" "$(action restart)"
contains "by check too" "apt-get install polkitd, which then reads the rule that $rules has" "$(clientsecretd check 2>&1)"
systemctl stop dbus.socket dbus.service
clientsecretd renew reload >/dev/null 2>&1
contains "that there is no bus is told apart" "systemd cannot be asked over the bus" "$(action reload)"
promise "what was published is there all the same" test -s /run/clientsecretd/out/reload.jwt
finish
