#!/bin/bash
# What the service manager is told: readiness, reloads, and a daemon that hangs. Why one does not start is shown by sockets.sh.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh
set_up
configure_web
settings clientsecretd.service quick WatchdogSec=3 RestartSec=100ms

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
finish
