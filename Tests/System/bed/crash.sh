#!/bin/bash
# A daemon that is killed, and one whose configuration is refused.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

install_clientsecretd
make_key
configure_web
systemctl start clientsecretd.service clientsecretd.socket
secret=$(cat $output)
pid=$(property MainPID)
kill -KILL "$pid"
restarted() { [ "$(property MainPID)" -ne 0 ] && [ "$(property MainPID)" != "$pid" ] && [ "$(property ActiveState)" = active ]; }
eventually "a daemon that is killed is started again" restarted
equal "with the same secret" "$secret" "$(cat $output)"
equal "and nothing minted anew" 1 "$(minted)"
equal "and nothing left behind" "" "$(find /run/clientsecretd /var/lib/clientsecretd -name '.clientsecretd-*' ! -name '*.lock')"

# The configuration's text is refused, and nothing was kept to go on with: nothing is gained by trying again.
cp $configuration /tmp/good
echo 'nonsense' >>$configuration
systemctl stop clientsecretd.service
rm -r /var/lib/clientsecretd-adopted
refused "a bad configuration fails a start" systemctl restart clientsecretd.service
equal "by its exit code" 78 "$(property ExecMainStatus)"
equal "and is not tried again" "failed 0" "$(property ActiveState) $(property NRestarts)"
equal "the socket is open for clients" active "$(property ActiveState clientsecretd.socket)"
equal "what was published stays" "$secret" "$(cat $output)"
cp /tmp/good $configuration
promise "once it is fixed, systemctl start is enough" systemctl start clientsecretd.service
promise "and clients are let in" clientsecretd status
equal "through systemd's socket" active "$(property ActiveState clientsecretd.socket)"
equal "with the same secret" "$secret" "$(cat $output)"
finish
