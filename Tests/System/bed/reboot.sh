#!/bin/bash
# reboot.sh TIMES, in beds that share /kept: the state directory and the configuration are the same after each boot, and
# /run is empty. A consumer that is started with the machine finds its secret.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

install_clientsecretd
mkdir -p /kept/etc /kept/state
mount --bind /kept/etc /etc/clientsecretd
if [ ! -e $configuration ]; then
    make_key
    configure_web
    promise "nothing is published yet" test ! -e $output
fi
chown clientsecretd: /kept/state
mkdir -p /var/lib/clientsecretd
mount --bind /kept/state /var/lib/clientsecretd
useradd --system consumer
cat >/etc/systemd/system/consumer.service <<END
[Unit]
Wants=clientsecretd.service
After=clientsecretd.service
[Service]
Type=oneshot
User=consumer
StandardOutput=file:/run/consumed
ExecStart=/bin/cat $output
[Install]
WantedBy=multi-user.target
END
systemctl daemon-reload
systemctl enable clientsecretd.service consumer.service 2>/dev/null
# What a boot does, after this script's own units are there.
promise "the machine comes up" systemctl start multi-user.target
eventually "the consumer has read its secret" test -s /run/consumed
equal "which is what is published" "$(cat $output)" "$(cat /run/consumed)"
if [ -e /kept/first ]; then
    equal "a reboot mints nothing" "$(cat /kept/first)" "$(cat $output)"
    equal "as the journal says" 0 "$(minted)"
else
    cp $output /kept/first
fi
finish
