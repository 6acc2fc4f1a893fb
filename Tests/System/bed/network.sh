#!/bin/bash
# What the service asks the kernel for, with the sandbox taken away, so that nothing is merely refused.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

install_clientsecretd
make_key
configure_web
mkdir -p /etc/systemd/system/clientsecretd.service.d
cat >/etc/systemd/system/clientsecretd.service.d/trace.conf <<END
[Service]
# -D: the daemon stays the service's main process.
ExecStart=
ExecStart=/usr/bin/strace -D -f -o /var/lib/clientsecretd/trace -e trace=%%network /usr/local/bin/clientsecretd run
SystemCallFilter=
RestrictAddressFamilies=
PrivateNetwork=no
END
systemctl daemon-reload
promise "the service runs under strace" systemctl start clientsecretd.service
promise "it renews" clientsecretd renew
promise "it reloads" systemctl reload clientsecretd.service
promise "it shows its state" clientsecretd status
promise "it stops" systemctl stop clientsecretd.service
trace=/var/lib/clientsecretd/trace
promise "the trace is one" grep -q 'socket(AF_UNIX' $trace
equal "no socket of another family was ever asked for" "" "$(grep -E '(socket|socketpair)\(' $trace | grep -vE '\(AF_UNIX')"
equal "and no address of another" "" "$(grep -E 'AF_INET|AF_NETLINK|AF_PACKET' $trace)"
finish
