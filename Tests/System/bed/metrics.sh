#!/bin/bash
# metrics_file, written by the service as its user and in its sandbox, read by node_exporter's user by way of a link.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

install_clientsecretd
make_key
# As Debian's package lays it down.
exporters=/var/lib/prometheus/node-exporter
useradd --system prometheus
mkdir -p $exporters
chown prometheus /var/lib/prometheus
configure_web "metrics_file: $exporters/clientsecretd.prom"
refused "a path that another user may turn elsewhere is nothing for check" clientsecretd check
contains "which names the link to make" \
    "ln -s /run/clientsecretd/out/clientsecretd.prom $exporters/clientsecretd.prom" "$(clientsecretd check 2>&1)"
promise "the service starts all the same" systemctl start clientsecretd.service
promise "and publishes" test -s $output
says_what_it_lacks() { property StatusText | grep -q '^degraded: .*the metrics_file cannot be written'; }
eventually "and says what it lacks" says_what_it_lacks

# What the guide says, as it stands there.
guide=/src/docs/monitoring.md
sed -i "s|^metrics_file: .*|$(grep '^metrics_file: ' $guide)|" $configuration
promise "the guide's link is made and the service reloaded" bash -e <<<"$(sed -n '/^ln -s /,/^```$/{/^```/d;p}' $guide)"
promise "with the link check is content" clientsecretd check
contains "the guide's command shows the metrics" 'clientsecretd_state{state="ok"} 1' \
    "$(eval "$(grep '^curl --unix-socket' $guide)" 2>"$seen")"
eventually "and node_exporter's user reads that all is well" \
    runuser -u prometheus -- grep -qxF 'clientsecretd_state{state="ok"} 1' $exporters/clientsecretd.prom
promise "it stops" systemctl stop clientsecretd.service
equal "and leaves nothing but times" 6 "$(grep -v '^#' $exporters/clientsecretd.prom | grep -c _timestamp_seconds)"
equal "and nothing else" "" "$(grep -v '^#' $exporters/clientsecretd.prom | grep -v _timestamp_seconds)"
finish
