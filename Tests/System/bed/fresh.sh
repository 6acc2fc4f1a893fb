#!/bin/bash
# A fresh machine: what the README says is all it takes, and how the service then stands there.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

install_clientsecretd
# One key, and the README's ten lines.
make_key
sed -n '/^```yaml$/,/^```$/{/^```/d;p}' /src/README.md >$configuration
promise "enabling the service is all it takes" systemctl enable --now clientsecretd
promise "the secret is there as soon as the service is active" test -s $output
promise "the key signed it" clientsecretd inspect $output --key $key
equal "the service is active" active "$(property ActiveState)"
equal "the daemon runs as its own user" clientsecretd "$(ps -o user:20= -p "$(property MainPID)")"
contains "systemctl status has a line for people" "1 client" "$(property StatusText)"
equal "it starts at the next boot" enabled "$(systemctl is-enabled clientsecretd.service)"
equal "and so does its socket" enabled "$(systemctl is-enabled clientsecretd.socket)"

units=(/usr/local/lib/systemd/system/clientsecretd*)
equal "systemd-analyze has nothing to say about the units" "" "$(systemd-analyze verify "${units[@]/@./@app.}" 2>&1)"
equal "no core is dumped" 0 "$(property LimitCORE)"
equal "nothing is swapped out" 0 "$(property MemorySwapMax)"
equal "no capability" "0000000000000000" "$(awk '$1 == "CapPrm:" { print $2 }' /proc/"$(property MainPID)"/status)"

equal "the status socket is the control group's" "660 clientsecretd clientsecretd-control" "$(stat -c '%a %U %G' $socket)"
useradd --system --groups clientsecretd-control monitor
useradd --system stranger
promise "a member of the control group may look" runuser -u monitor -- /usr/local/bin/clientsecretd status
exits "and nobody else" 77 runuser -u stranger -- /usr/local/bin/clientsecretd status

secret=$(sha256sum <$output)
promise "a reload, which the daemon's user asks for" systemctl reload clientsecretd.service
promise "stopping takes less than five seconds" timeout 5 systemctl stop clientsecretd.service
equal "it ends well" success "$(property Result)"
equal "what it published outlives it" "$secret" "$(sha256sum <$output)"
promise "it starts again" systemctl start clientsecretd.service
promise "it restarts" systemctl restart clientsecretd.service
equal "with the same secret" "$secret" "$(sha256sum <$output)"
equal "one secret was minted in all that time" 1 "$(minted)"

# What is ordered after the service finds its secret, each of many times; the outputs are gone before each start, as after a
# reboot. The environment file is read by root's systemd.
useradd --system consumer
configure_web '      - path: /run/clientsecretd/out/web.env
        format: env
        variable: SECRET'
service consumer Type=oneshot RemainAfterExit=yes User=consumer EnvironmentFile=/run/clientsecretd/out/web.env \
    "ExecStart=/bin/sh -c '[ \"\$\$(cat $output)\" = \"\$SECRET\" ] && [ -n \"\$SECRET\" ]'" \
    '[Unit]' Wants=clientsecretd.service After=clientsecretd.service StartLimitIntervalSec=0
systemctl stop clientsecretd.service
promise "a consumer pulls the service in and finds its secret" systemctl start consumer.service
secret=$(sha256sum <$output)
failures=$(
    for _ in $(seq 8); do
        rm -f /run/clientsecretd/out/*
        systemctl restart clientsecretd.service consumer.service ||
            { systemctl status --no-pager --lines=20 clientsecretd.service consumer.service; ls -la /run/clientsecretd/out; }
    done 2>&1
)
equal "of many starts not one leaves a consumer without its secret" "" "$failures"
equal "nothing was minted by them" "$secret" "$(sha256sum <$output)"
systemctl stop consumer.service

useradd --system app
systemctl enable --quiet --now clientsecretd-writer@app.socket clientsecretd-once.timer
pid=$(property MainPID)
promise "it is uninstalled while it runs" make --silent -C /src uninstall
refused "which ends it" test -e "/proc/$pid"
equal "leaves no unit behind" "" "$(systemctl list-units --all --plain --no-legend 'clientsecretd*')"
equal "nor one that the next boot would look for" "" "$(find /etc/systemd/system -name 'clientsecretd*')"
refused "nor a file of one" systemctl cat clientsecretd.service
promise "but the configuration" test -s $configuration
promise "and the secrets" test -s $output
finish
