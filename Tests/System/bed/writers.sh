#!/bin/bash
# writers.sh DIRECTORY, in a bed: files of other users, written by the writers of the unit files in DIRECTORY/systemd for
# the daemon in DIRECTORY. Writes one line for each thing that was seen; the test says what they have to be.
set -u
cd "$1" || exit 1

install -m 755 clientsecretd /usr/bin/clientsecretd
install -m 644 systemd/*.service systemd/*.socket /etc/systemd/system/
systemd-sysusers "$PWD/systemd/clientsecretd.sysusers" 2>&1 | grep -v ^Creating
systemd-tmpfiles --create "$PWD/systemd/clientsecretd.tmpfiles"
useradd --create-home --shell /bin/sh app
useradd --system stranger
chmod 700 /home/app
mkdir -p /etc/clientsecretd /srv/app /home/app/site /etc/myapp
printf '# the site\r\nPORT=80\r\n' >/srv/app/.env
printf 'NAME="my site"\n' >/home/app/site/.env
printf 'LOG=info\n' >/etc/myapp/env
chown -R app:app /srv/app /home/app/site
chmod 640 /srv/app/.env
chmod 600 /home/app/site/.env /etc/myapp/env
key=/etc/clientsecretd/AuthKey_ABC123DEFG.p8
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out $key 2>/dev/null
chown root:clientsecretd $key && chmod 640 $key
cat >/etc/clientsecretd/clientsecretd.yaml <<END
keys: {apple: {team_id: DEF123GHIJ, file: $key}}
clients:
  web:
    outputs:
      - {path: /srv/app/.env, format: env, variable: SECRET, as: app}
      - {path: /home/app/site/.env, format: env, variable: SECRET, as: app}
      - {path: /etc/myapp/env, format: env, variable: SECRET, as: root}
  own: {outputs: [{path: /run/clientsecretd/out/own.jwt}]}
END
chmod 644 /etc/clientsecretd/clientsecretd.yaml
systemctl daemon-reload

files=(/srv/app/.env /home/app/site/.env /etc/myapp/env)
say() { printf '%s: %s\n' "$1" "${*:2}"; }
# advice: the command that each complaint of check ends with.
advice() { clientsecretd check 2>&1 >/dev/null | sed -n 's/^.*: error: [^;]*; //p' | sed 's/^let [a-z]* read it: //' | sort -u; }
# secrets: whose secret each file holds, and whether it is one and the same.
secrets() {
    sed -n 's/^SECRET=//p' "${files[@]}" | tr -d '\r' | sort -u >/run/secrets
    say "$1" "$(wc -l </run/secrets)" "$(clientsecretd inspect --json - </run/secrets | grep -o '"client_id": *"[^"]*"' | cut -d'"' -f4)"
}
# state CLIENT: of its first output.
state() { clientsecretd status --json | grep -o "\"name\": *\"$1\"[^}]*\"state\": *\"[a-z]*\"" | head -1 | grep -o '[a-z]*"$' | tr -d '"'; }
until_is() { # STATE CLIENT
    for _ in $(seq 300); do
        [ "$(state "$2")" = "$1" ] && return
        sleep 0.1
    done
    say "$2" "never $1, $(state "$2")"
}

systemctl start clientsecretd
say "without writers" "$(state own) $(state web)"
advice | sed 's/^/what helps: /'
advice >/run/advice
bash /run/advice 2>/dev/null
say "sockets" "$(stat -c '%U %a' /run/clientsecretd/writer /run/clientsecretd/writer/*.sock | paste -sd,)"
clientsecretd renew >/dev/null
until_is ok web
say "with them" "$(state own) $(state web), check $(clientsecretd check >/dev/null; echo $?)"
secrets "secrets"
stat -c 'file: %n %U:%G %a' "${files[@]}"
sed 's/^SECRET=[A-Za-z0-9_.-]*/SECRET=.../' "${files[@]}" | cat -A
for unit in app root; do
    pid=$(systemctl show -P MainPID clientsecretd-writer@$unit)
    say "writer of $unit" "$(id -nu "$(awk '/^Uid:/ { print $2 }' /proc/"$pid"/status)"), capability sets that are empty: $(grep -c '^Cap[A-Z][a-z]*:.0*$' /proc/"$pid"/status)" \
        "networks: $(nsenter -t "$pid" -n cat /proc/net/dev | grep -c :)"
done
for user in app stranger; do
    say "asked by $user" "$(echo {} | setpriv --reuid=$user --regid=$user --clear-groups \
        /usr/bin/python3 ask.py /run/clientsecretd/writer/app.sock 2>&1 | tail -1)"
done

# A writer that was killed is started again.
cp /run/secrets /run/before
systemctl kill --signal=KILL clientsecretd-writer@app
clientsecretd renew web >/dev/null
secrets "renewed after a kill"
cmp -s /run/secrets /run/before && echo "the same as before"

# Damage where the daemon can look is noticed at once.
runuser -u app -- sed -i 's/^SECRET=.*/SECRET=gone\r/' /srv/app/.env
for _ in $(seq 300); do grep -q gone /srv/app/.env || break; sleep 0.1; done
secrets "repaired"

# A configuration that the writers cannot read.
chmod 640 /etc/clientsecretd/clientsecretd.yaml
chgrp clientsecretd /etc/clientsecretd/clientsecretd.yaml
advice | sed 's/^/what helps: /'
advice >/run/advice
clientsecretd renew web >/dev/null 2>&1
until_is failed web
say "meanwhile" "$(state own) $(state web)"
bash /run/advice
clientsecretd renew web >/dev/null
secrets "and then"
until_is ok web
say "at last" "$(state own) $(state web)"
find /srv/app /home/app/site /etc/myapp -name '.clientsecretd*'
