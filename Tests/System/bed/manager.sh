#!/bin/bash
# What the service manager is told: readiness, reloads, a daemon that hangs, and why one ended.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh
install_clientsecretd
make_key
configure_web
mkdir -p /etc/systemd/system/clientsecretd.service.d
printf '[Service]\nWatchdogSec=3\nRestartSec=100ms\n' >/etc/systemd/system/clientsecretd.service.d/quick.conf
systemctl daemon-reload

# told: every assignment that the daemon sent while `watched` ran.
watched() {
    strace --quiet=all --follow-forks --attach="$(property MainPID)" --trace=sendto,sendmsg --string-limit=300 \
        --output=/run/trace &
    local tracer=$!
    until grep -q "TracerPid:.*$tracer" "/proc/$(property MainPID)/status"; do sleep 0.05; done
    "$@" >"$seen" 2>&1
    local status=$?
    kill $tracer
    wait $tracer 2>/dev/null
    return $status
}
told() { grep -oE '(RELOADING=1.nMONOTONIC_USEC=[0-9]+|READY=1|STATUS=[^"\\]*|WATCHDOG=1)' /run/trace | grep -vE 'STATUS|WATCHDOG' |
    sed 's/[0-9]\{5,\}/TIME/' | xargs; }

promise "the service is active when every client was tried" systemctl start clientsecretd
promise "and its secret there" test -s $output
secret=$(sha256sum <$output)
promise "a good configuration is taken in" watched systemctl reload clientsecretd
equal "a reload begins with its time and ends with READY" 'RELOADING=1nMONOTONIC_USEC=TIME READY=1' "$(told)"
sed -i 's/client_id:/client_ids:/' $configuration
refused "a bad one fails the reload" watched systemctl reload clientsecretd
equal "which ends with READY as well" 'RELOADING=1nMONOTONIC_USEC=TIME READY=1' "$(told)"
contains "the reasons are told" 'did you mean "client_id"' "$(journalctl --quiet --output cat --unit clientsecretd.service)"
equal "the service is active all the same" active "$(property ActiveState)"
contains "and says how it stands" "would not start" "$(property StatusText)"
configure_web
hung_up() {
    systemctl kill --kill-whom=main --signal=HUP clientsecretd
    until grep -q READY=1 /run/trace; do sleep 0.05; done
}
watched hung_up
equal "a SIGHUP is a reload too" 'RELOADING=1nMONOTONIC_USEC=TIME READY=1' "$(told)"
eventually "and heals" eval '! grep -q "would not start" <<<"$(property StatusText)"'

# The daemon goes on for longer than the watchdog allows, and then hangs.
first=$(property MainPID)
began=$(property ExecMainStartTimestampMonotonic)
outlived() { awk -v began="$began" '{ exit !($1 * 1e6 > began + 4e6) }' /proc/uptime; }
eventually "more time has passed than the watchdog allows" outlived
equal "a daemon whose loop goes round is left alone" "$first" "$(property MainPID)"
kill -STOP "$first"
eventually "one that hangs is killed and started anew" eval '[ "$(property MainPID)" != "$first" ] && systemctl is-active clientsecretd'
contains "by the watchdog" "watchdog" "$(journalctl --quiet --output cat --unit clientsecretd.service)"
equal "what was published is untouched" "$secret" "$(sha256sum <$output)"
equal "and nothing was minted anew" 1 "$(minted)"
kill -KILL "$(property MainPID)"
eventually "one that is killed is started anew" eval 'systemctl is-active clientsecretd && [ "$(property NRestarts)" = 2 ]'
equal "and mints nothing either" "1 $secret" "$(minted) $(sha256sum <$output)"

# Why it ended is there to read after it did.
systemctl stop clientsecretd
rm -r /var/lib/clientsecretd-adopted
sed -i 's/client_id:/client_ids:/' $configuration
refused "a bad configuration does not start" systemctl start clientsecretd
equal "with its exit status" 78 "$(property ExecMainStatus)"
contains "and the status line says why" "client_ids" "$(property StatusText)"
finish
