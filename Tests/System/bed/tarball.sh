#!/bin/bash
# The tarball on a machine that has no package of it, as the guide says. It lies in /tarball.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

guide=/src/docs/installing.md
# files: what lies where the tarball has files, but for copies of the accounts.
files() { find /etc /usr -xdev ! -type d ! -path '/etc/*-' | sort; }

files >/tmp/before
cd /tarball || exit 1
promise "it is unpacked" does block sh --strip-components
equal "nothing of the machine's changed hands" "root root 755" "$(stat -c '%U %G %a' /usr/bin)"
make_key
service myapp EnvironmentFile=/run/clientsecretd/out/web.env
configure <<END
clients:
  web:
    client_id: com.example.web
    outputs: [{path: /run/clientsecretd/out/web.env, format: env, variable: APPLE_CLIENT_SECRET}]
END
promise "it starts" systemctl restart clientsecretd
promise "and an application with it" systemctl start myapp
promise "and publishes" clientsecretd inspect /run/clientsecretd/out/web.env --variable APPLE_CLIENT_SECRET --key $key
eventually "which the application has in its environment" has_secret myapp APPLE_CLIENT_SECRET
systemctl stop myapp
rm /etc/systemd/system/myapp.service
promise "all is well" clientsecretd health
contains "what asks Apple runs, but for a network" "cannot be resolved" "$(timeout 60 clientsecretd verify 2>&1)"
# newest NAME: the newest version of that library's symbols which the programs need.
newest() {
    grep -aohE "\b$1_[0-9]+(\.[0-9]+)*" /usr/bin/clientsecretd /usr/libexec/clientsecretd/clientsecretd-network |
        sort -uV | tail -n 1
}
guide_text=$(tr '\n' ' ' <$guide)
contains "the guide names the glibc that it needs" "glibc $(newest GLIBC | cut -d_ -f2) or newer" "$guide_text"
contains "the guide names the libsystemd that it needs" "libsystemd $(newest LIBSYSTEMD | cut -d_ -f2) or newer" "$guide_text"
contains "and OpenSSL" "OpenSSL $(newest OPENSSL | sed 's/OPENSSL_\([0-9]*\)\..*/\1/') " "$guide_text"
contains "and curl's symbols" "\`$(newest CURL_OPENSSL)\`" "$guide_text"
# By the table of libstdc++'s manual 3.4.29 came with GCC 11.1.
equal "and, by its symbols, the C++ library" GLIBCXX_3.4.29 "$(newest GLIBCXX)"
contains "of GCC 11" "C++ library of GCC 11 or newer" "$guide_text"
before=$(property MainPID)
promise "a newer one is unpacked over it" does block sh --strip-components
promise "and taken up" systemctl restart clientsecretd
promise "by a new process" test "$(property MainPID)" != "$before"
promise "which is well" clientsecretd health
promise "a writer is turned on" systemctl enable --now clientsecretd-writer@nobody.socket
promise "it is removed" does block sh xargs
equal "but for what people have made no file is left" "$key,$configuration" \
    "$(files | comm -13 /tmp/before - | paste -sd,)"
finish
