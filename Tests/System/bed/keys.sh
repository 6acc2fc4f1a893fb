#!/bin/bash
# A wrong key that is copied over the right one under its name.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh
install_clientsecretd
make_key
make_key /etc/clientsecretd/wrong.p8
configure_web
systemctl start clientsecretd
cp -p $key /tmp/right.p8
# print FILE: the key's name, as it is shown.
print() { echo "sha256:$(openssl pkey -in "$1" -pubout -outform DER | sha256sum | head -c 16)"; }
words="ABC123DEFG was $(print $key) and is $(print /etc/clientsecretd/wrong.p8)"
promise "all is well" clientsecretd health
cp /etc/clientsecretd/wrong.p8 $key
eventually "the wrong key's secrets are published" clientsecretd inspect $output --key /etc/clientsecretd/wrong.p8
said() { clientsecretd status 2>&1 | grep -qF -e "$words"; }
eventually "the status says that the key has changed, and which was which" said
contains "and what helps" "restore the previous file" "$(clientsecretd status 2>&1)"
contains "the journal does, too" "$words" \
    "$(journalctl --quiet --output cat --unit clientsecretd.service MESSAGE_ID=1240f13238da4c178fd7f2176a15f851)"
equal "health warns" 1 "$(clientsecretd health >/dev/null 2>&1; echo $?)"
contains "check calls it a mistake" "probably by mistake" "$(clientsecretd check 2>&1)"
contains "and names both" "$words" "$(clientsecretd check 2>&1)"
refused "it is a problem" clientsecretd check
systemctl restart clientsecretd
eventually "after a restart it is said still" said
cp /tmp/right.p8 $key
eventually "with the old file back its secrets are published again" clientsecretd inspect $output --key /tmp/right.p8
eventually "and all is well" clientsecretd health
promise "by check, too" clientsecretd check
promise "which the journal says" journalctl --quiet --grep "previous key is back" --unit clientsecretd.service
systemctl stop clientsecretd
cp /etc/clientsecretd/wrong.p8 $key
contains "a key that was replaced while nothing ran is told by check" "$words" "$(clientsecretd check 2>&1)"
systemctl start clientsecretd
eventually "and by the daemon at its start" said
finish
