#!/bin/bash
# Start order: whatever is ordered after the service finds its secret, readable by itself, each of many times. The outputs
# are gone before each start, as after a reboot.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

install_clientsecretd
make_key
useradd --system consumer
configure_web '      - path: /run/clientsecretd/out/web.env
        format: env
        variable: SECRET'
cat >/etc/systemd/system/consumer.service <<END
[Unit]
Wants=clientsecretd.service
After=clientsecretd.service
StartLimitIntervalSec=0
[Service]
Type=oneshot
RemainAfterExit=yes
User=consumer
EnvironmentFile=/run/clientsecretd/out/web.env
ExecStart=/bin/sh -c '[ "\$\$(cat $output)" = "\$SECRET" ] && [ -n "\$SECRET" ]'
END
# The environment file is read by root's systemd.
systemctl daemon-reload
promise "a consumer pulls the service in and finds its secret" systemctl start consumer.service
secret=$(cat $output)
failures=$(
    for _ in $(seq 25); do
        rm -f /run/clientsecretd/out/*
        systemctl restart clientsecretd.service consumer.service ||
            { systemctl status --no-pager --lines=20 clientsecretd.service consumer.service; ls -la /run/clientsecretd/out; }
    done 2>&1
)
equal "of many starts not one leaves a consumer without its secret" "" "$failures"
equal "nothing was minted by them" "$secret" "$(cat $output)"
finish
