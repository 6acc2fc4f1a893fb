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

promise "the service is active when every client was tried" systemctl start clientsecretd
promise "and its secret there" test -s $output
secret=$(sha256sum <$output)
promise "a good configuration is taken in" systemctl reload clientsecretd
sed -i 's/client_id:/client_ids:/' $configuration
refused "a bad one fails the reload" systemctl reload clientsecretd
contains "the reasons are told" 'did you mean "client_id"' "$(journal)"
equal "the service is active all the same" active "$(property ActiveState)"
contains "and says how it stands" "would not start" "$(property StatusText)"
configure_web
promise "a good one is taken in again" systemctl reload clientsecretd
eventually "and heals" eval '! grep -q "would not start" <<<"$(property StatusText)"'

# The daemon goes on for longer than the watchdog allows, and then hangs.
first=$(property MainPID)
began=$(property ExecMainStartTimestampMonotonic)
outlived() { awk -v began="$began" '{ exit !($1 * 1e6 > began + 4e6) }' /proc/uptime; }
eventually "more time has passed than the watchdog allows" outlived
equal "a daemon whose loop goes round is left alone" "$first" "$(property MainPID)"
kill -STOP "$first"
eventually "one that hangs is killed and started anew" eval '[ "$(property MainPID)" != "$first" ] && systemctl is-active clientsecretd'
contains "by the watchdog" "watchdog" "$(journal)"
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
