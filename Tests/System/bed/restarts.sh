#!/bin/bash
# What a restart leads to: applications that do not come up again, or not for long, and units that are stopped.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh
set_up
rules=/etc/polkit-1/rules.d/50-clientsecretd.rules

# unit VERB NAME [LINE…]: a service, and a client that does this with it.
clients=
unit() {
    service "${@:2}"
    clients+="  $2:
    client_id: com.example.$2
    outputs: [{path: /run/clientsecretd/out/$2.jwt}]
    on_change: [$1: $2.service]
"
}
# Each is whole as long as /run/broken is not there.
sound() { printf 'ExecStart=/bin/sh -c "[ ! -e /run/broken ] || { sleep 1; exit %s; }; exec sleep infinity"' "$1"; }
unit restart refusing "ExecStartPre=/usr/bin/test ! -e /run/broken"
unit restart dying "$(sound 1)"
unit restart ending "$(sound 0)"
unit restart looping "$(sound 1)" Restart=always RestartSec=100ms "[Unit]" StartLimitIntervalSec=0
unit restart conditional "[Unit]" ConditionPathExists=!/run/broken "[Install]" WantedBy=bed.target
unit reload_or_restart either "$(sound 1)"
unit reload reloaded ExecReload=/bin/true
unit restart work Type=oneshot "ExecStart=/usr/bin/touch /run/worked"
unit restart stopped
units=(refusing dying ending looping conditional either)
# systemd forgets a stopped unit that nothing wants.
systemctl enable --quiet conditional
systemctl start "${units[@]}" reloaded stopped
systemctl stop stopped
configure <<<"clients:
$clients"
mkdir -p "${rules%/*}"
runuser -u clientsecretd -- /usr/local/bin/clientsecretd check 2>&1 | grep -o 'polkit\.addRule(.*});' >$rules
allowed() { ! clientsecretd check 2>&1 | grep -q addRule; }
eventually "with the lines that check names nothing is missing" allowed

# delivered CLIENT: whether its application was told, as the status says.
delivered() { of_status 'c["delivered"]' "$1"; }
# state CLIENT: its own state and why.
state() { of_status 'c["state"], c["last_error"]' "$1"; }
active() { for name in "${units[@]}" reloaded; do systemctl is-active --quiet "$name" || return; done; }

promise "the service starts" systemctl start clientsecretd
served() { for name in "${units[@]}" reloaded stopped work; do [ "$(delivered "$name")" = True ] || return; done; }
eventually "every application is told" served
promise "all of them run" active
equal "what is stopped stays stopped" inactive "$(systemctl is-active stopped)"
refused "and what does its work when somebody starts it is not started" test -e /run/worked

touch /run/broken
refused "a renewal says that applications are down" clientsecretd renew
refused "nor does another attempt say otherwise" clientsecretd renew --deliver-only "${units[@]}"
for name in "${units[@]}"; do
    equal "an application that is down was not told ($name)" False "$(delivered "$name")"
    contains "and status says so" degraded "$(state "$name")"
done
contains "a start that failed is told" "refusing.service: its job failed" "$(state refusing)"
contains "a service that died" "dying.service: the unit ended or failed afterwards" "$(state dying)"
contains "one that ended well" "ending.service: the unit ended or failed afterwards" "$(state ending)"
contains "one that a condition keeps down" "conditional.service: its job failed: a condition" "$(state conditional)"
contains "one that systemd starts over and over" "looping.service: the unit ended or failed afterwards" "$(state looping)"
exits "health says so, too" 1 clientsecretd health
equal "what is stopped was told all the same" "inactive True" "$(systemctl is-active stopped) $(delivered stopped)"
equal "and what can reload" True "$(delivered reloaded)"

rm /run/broken
promise "fixed, they are told" clientsecretd renew --deliver-only
promise "and run" active
promise "all of them" served
equal "what is stopped still is" inactive "$(systemctl is-active stopped)"

# The order has stopped it, and the daemon that gave the order has gone.
touch /run/broken
refused "a renewal whose unit may not start again" clientsecretd renew conditional
promise "the daemon restarts" systemctl restart clientsecretd
refused "is not done by a restart of the daemon" clientsecretd renew --deliver-only conditional
equal "the unit is not one that somebody has stopped" "inactive False" "$(systemctl is-active conditional) $(delivered conditional)"
rm /run/broken
promise "once it may start, the application is told" clientsecretd renew --deliver-only conditional
promise "and runs" systemctl is-active --quiet conditional

# A unit that has failed cannot be reloaded, and nobody is told that it was.
systemctl kill --signal=KILL reloaded
failed() { systemctl is-failed --quiet reloaded; }
eventually "the application is killed" failed
refused "a reload is not done" clientsecretd renew reloaded
contains "which is told with what helps" "reloaded.service: the unit is not running" "$(state reloaded)"
contains "by its command" "systemctl start reloaded.service" "$(clientsecretd status)"
promise "it is done literally" systemctl start reloaded.service
promise "and then the application is told" clientsecretd renew --deliver-only reloaded

finish
