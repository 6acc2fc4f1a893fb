#!/bin/bash
# The packages on a Debian that has no toolchain: what the guide says, then upgrade, downgrade, removal, purge. The packages lie
# in /release/apt, which is a signed repository.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh
export DEBIAN_FRONTEND=noninteractive

guide=/src/docs/quickstart.md
version() { dpkg-query --show --showformat='${Version}' clientsecretd; }
# unit_states STATE: how many of the units that are enabled are so.
unit_states() {
    systemctl show --property ActiveState --value clientsecretd.service clientsecretd.socket \
        clientsecretd-credentials.socket | grep -cx "$1"
}
# files: everything that packages, the daemon and systemd make in places that outlive a boot, and sockets and secrets.
files() {
    find /etc /usr /var /opt /srv /root /home /run/clientsecretd -xdev \( -path /var/lib/dpkg -o -path /var/lib/apt \
        -o -path /var/cache -o -path /var/log -o -path '/etc/*-' -o -path /etc/ld.so.cache \) -prune -o -print 2>/dev/null |
        sort
}
# repacked VERSION: the two packages as that version, in a directory of its own.
repacked() {
    local package
    mkdir "/tmp/$1"
    for package in clientsecretd clientsecretd-network; do
        dpkg-deb --raw-extract "$(echo /release/apt/"${package}"_*.deb)" "/tmp/$1/$package"
        sed -i "s/^Version: .*/Version: $1/; s/(= [^)]*)/(= $1)/" "/tmp/$1/$package/DEBIAN/control"
        dpkg-deb --root-owner-group -Znone --build "/tmp/$1/$package" "/tmp/$1/${package}_$1_all.deb"
        rm -r "/tmp/$1/$package"
    done
}

refused "there is no toolchain here" command -v swift
equal "nor anything of Swift's" "" "$(find / -xdev -name 'libswift*')"
files >/tmp/before
old=$(dpkg-deb --field /release/apt/clientsecretd_*.deb Version)
promise "a newer version can be packed" repacked "$old+1"
# A clone in which the packages were built.
mkdir -p /tmp/clone/.build
ln -s /release/apt /tmp/clone/.build/deb
cd /tmp/clone || exit 1
# As root, and without the first line, which built them.
installation() { block sh 'make deb' | sed '/^make deb /d; s/^sudo //'; }
promise "it is installed" does installation
equal "nothing runs without a configuration" 3 "$(unit_states inactive)"
equal "everything is enabled" 3 "$(systemctl is-enabled clientsecretd.service clientsecretd.socket \
    clientsecretd-credentials.socket | grep -cx enabled)"
refused "but the timer, which is another way" systemctl is-enabled clientsecretd-once.timer
promise "a start with the machine" systemctl start clientsecretd.service
equal "is none then, and no failure" 3 "$(unit_states inactive)"
promise "the journal's explanations are there" sh -c 'journalctl --list-catalog | grep ^ef8d0d3f90c641cbb91272e381f9d145'

# An application that runs without a secret so far, and the guide's two commands.
service myapp
systemctl start myapp
mkdir /tmp/mine
cd /tmp/mine || exit 1
new_key AuthKey_ABC123DEFG.p8
without=$(does block sh 'import jwt')
promise "a secret that Python printed is a good one" clientsecretd inspect --key AuthKey_ABC123DEFG.p8 - <<<"$without"
promise "the key is put where the guide says" does block sh 'install -o root'
promise "the second command does the rest" does block sh 'clientsecretd init'
file=/run/clientsecretd/out/web.env
promise "the key signed what is published" clientsecretd inspect $file --variable APPLE_CLIENT_SECRET --key $key
its_secret=(myapp APPLE_CLIENT_SECRET)
eventually "the application has it in its environment" has_secret "${its_secret[@]}"
promise "check finds nothing missing" clientsecretd check
eventually "all is well" clientsecretd health
# polkit, which the package recommends, lets the daemon restart it.
first=$(environment "${its_secret[@]}")
promise "it renews" clientsecretd renew
has_another() { has_secret "${its_secret[@]}" && [ "$(environment "${its_secret[@]}")" != "$first" ]; }
eventually "and the application has the new secret" has_another

# verify COMMAND's complaint is done as it stands.
mkdir /srv/clientsecretd
mount --bind /release /srv/clientsecretd
cd /srv/clientsecretd || exit 1
complaint=$(clientsecretd verify 2>&1)
contains "what asks Apple is not installed" "apt-get install ./clientsecretd-network_*.deb" "$complaint"
rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*
guide=/src/docs/installing.md
promise "the release has the checksums that its key signed" does block sh 'gpgv --keyring'
mkdir -p /etc/apt/keyrings
cp clientsecretd.gpg /etc/apt/keyrings
echo 'deb [signed-by=/etc/apt/keyrings/clientsecretd.gpg] file:/tmp/tampered ./' >/etc/apt/sources.list.d/clientsecretd.list
# tampered COMMAND: apt's only source is a copy of the repository in which that was done.
tampered() {
    rm -rf /tmp/tampered /var/lib/apt/lists/*
    cp -r apt /tmp/tampered
    (cd /tmp/tampered && bash -e -c "$1")
}
tampered 'echo >>Packages; gzip --force --keep Packages'
refused "apt takes no other list of packages" apt-get update
tampered 'sed -i s/stable/other/ Release InRelease'
refused "nor another signed text" apt-get update
tampered 'rm InRelease Release.gpg'
refused "nor one without a signature" apt-get update
tampered 'echo >>clientsecretd-network_*.deb'
promise "the list is the signed one" apt-get update
refused "but not the package" apt-get install --yes clientsecretd-network
rm -r /etc/apt/keyrings /tmp/tampered /var/lib/apt/lists/*
promise "the release is a signed repository" does block sh 'apt-get update'
cd / || exit 1
promise "and what helps was that" test -x /usr/libexec/clientsecretd/clientsecretd-network
equal "its socket listens" active "$(property ActiveState clientsecretd-verify.socket)"
contains "and is run, but for a network" "cannot be resolved" "$(timeout 60 clientsecretd verify 2>&1)"
stands_in_for_apple python3 -B
environment "${its_secret[@]}" >/tmp/environment
promise "which accepts what the application has" clientsecretd verify /tmp/environment \
    --endpoint "$(cat /tmp/apple/address)" --ca-file /tmp/apple/ca.pem

useradd --system app
mkdir /srv/app
chown app: /srv/app
promise "a writer is turned on" systemctl enable --now clientsecretd-writer@app.socket
promise "and a place behind an API" systemctl enable --now clientsecretd-push@production.socket
sed -i '/variable: APPLE_CLIENT_SECRET/a \      - {path: /srv/app/.env, format: env, variable: SECRET, as: app}' $configuration
promise "an output is added" systemctl reload clientsecretd
promise "which is written" grep -q ^SECRET= /srv/app/.env

secret=$(sha256sum $file /srv/app/.env)
made=$(minted)
inodes() { stat -c '%i %n' $file && find /run/clientsecretd -type s -printf '%i %p\n' | sort -k 2; }
places=$(inodes)
equal "so many sockets are there" 5 "$(grep -c '\.sock$' <<<"$places")"
# changes VERSION COMMAND…: to that version, under clients.
changes() {
    local to=$1 pid
    shift
    pid=$(property MainPID)
    rm -f /tmp/enough
    (
        failures=0
        while [ ! -e /tmp/enough ]; do clientsecretd status >/dev/null 2>>/tmp/complaints || failures=$((failures + 1)); done
        echo $failures >/tmp/failures
    ) &
    clients=$!
    promise "it changes to $to" "$@"
    touch /tmp/enough
    wait $clients
    cp /tmp/complaints "$seen"
    equal "nobody is turned away meanwhile" 0 "$(cat /tmp/failures)"
    equal "it is that version" "$to" "$(version)"
    refused "the daemon is another process" test "$pid" = "$(property MainPID)"
    equal "which runs what is installed" /usr/bin/clientsecretd "$(readlink "/proc/$(property MainPID)/exe")"
    equal "and nobody runs what was" "" "$(readlink /proc/[0-9]*/exe | grep 'clientsecretd.*(deleted)')"
    equal "the sockets and the output are the same ones" "$places" "$(inodes)"
    equal "with the same secret" "$secret" "$(sha256sum $file /srv/app/.env)"
    equal "and none was minted" "$made" "$(minted)"
    eventually "all is well" clientsecretd health
    # From the begin of its stop to the end of its start, in microseconds.
    pause=$(($(property ActiveEnterTimestampMonotonic) - $(property ActiveExitTimestampMonotonic)))
    # Which says little on a machine that does other things as well, so that the limit is a wide one.
    promise "the service was away for $((pause / 1000)) ms" test $pause -gt 0 -a $pause -lt 10000000
}
cd "/tmp/$old+1" || exit 1
changes "$old+1" does block sh './clientsecretd-network_*.deb'
cd /release/apt || exit 1
changes "$old" apt-get install --yes --allow-downgrades ./clientsecretd_*.deb ./clientsecretd-network_*.deb
systemctl restart myapp
eventually "the application has its secret still" has_secret "${its_secret[@]}"

# A service that runs for as long as the daemon is connected, because of which its socket could not be started again.
promise "handing on through etcd is turned on" systemctl enable --now clientsecretd-store.socket
cp $configuration /tmp/configuration
(umask 077 && echo secret >/etc/clientsecretd/store/password)
printf 'store: {endpoints: ["https://127.0.0.1:2379"], user: signer}\n' >>$configuration
systemctl reload clientsecretd >/dev/null 2>&1
is_connected() { [ "$(property ActiveState clientsecretd-store.service)" = active ]; }
eventually "and its service runs" is_connected
places=$(inodes)
equal "with one more socket" 6 "$(grep -c '\.sock$' <<<"$places")"
served=$(property MainPID clientsecretd-store.service)
promise "both are installed again" apt-get install --yes --reinstall ./clientsecretd_*.deb ./clientsecretd-network_*.deb
equal "all sockets are the same ones" "$places" "$(inodes)"
is_replaced() { is_connected && [ "$(property MainPID clientsecretd-store.service)" != "$served" ]; }
eventually "and the service is another process" is_replaced
cp /tmp/configuration $configuration
rm /etc/clientsecretd/store/password
promise "a reload works after it" systemctl reload clientsecretd
eventually "and all is well without the store" clientsecretd health

promise "it is removed" apt-get remove --yes clientsecretd
equal "and nothing of it runs" "" "$(systemctl list-units --plain --no-legend --state active 'clientsecretd*')"
refused "nor could be" systemctl cat clientsecretd.service
equal "what is published stays" "$secret" "$(sha256sum $file /srv/app/.env)"
promise "and the configuration" test -s $configuration
promise "another installation" apt-get install --yes /release/apt/clientsecretd_*.deb
eventually "goes on where it was" clientsecretd health
equal "with the same secret" "$secret" "$(sha256sum $file /srv/app/.env)"
equal "and none was minted" "$made" "$(minted)"

promise "it is purged" apt-get purge --yes clientsecretd clientsecretd-network
rm -r /etc/systemd/system/myapp.service* /etc/polkit-1/rules.d/50-clientsecretd.rules /srv/app /etc/apt/sources.list.d/clientsecretd.list /etc/apt/keyrings
umount /srv/clientsecretd
rmdir /srv/clientsecretd
equal "what people have made is left, and nothing else" \
    "/etc/clientsecretd,$key,$configuration" "$(files | comm -13 /tmp/before - | paste -sd,)"
equal "nothing of it is known to systemd" "" "$(systemctl list-unit-files --no-legend 'clientsecretd*')"
finish
