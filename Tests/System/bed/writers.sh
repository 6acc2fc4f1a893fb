#!/bin/bash
# Files of other users, written by the writers that systemd starts for a daemon that runs as its own user.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

set_up
useradd --create-home --shell /bin/sh app
useradd --system stranger
chmod 700 /home/app
mkdir -p /srv/app /home/app/site /etc/myapp
printf '# the site\r\nPORT=80\r\n' >/srv/app/.env
printf 'NAME="my site"\n' >/home/app/site/.env
printf 'LOG=info\n' >/etc/myapp/env
chown -R app:app /srv/app /home/app/site
chmod 640 /srv/app/.env
chmod 600 /home/app/site/.env /etc/myapp/env
configure <<END
clients:
  web:
    outputs:
      - {path: /srv/app/.env, format: env, variable: SECRET, as: app}
      - {path: /home/app/site/.env, format: env, variable: SECRET, as: app}
      - {path: /etc/myapp/env, format: env, variable: SECRET, as: root}
  own: {outputs: [{path: /run/clientsecretd/out/own.jwt}]}
END
chmod 644 $configuration
files=(/srv/app/.env /home/app/site/.env /etc/myapp/env)

# advice: the command that each complaint of check ends with.
advice() { clientsecretd check 2>&1 >/dev/null | sed -n 's/^.*: error: [^;]*; //p' | sed 's/^[a-z][^:]*: //' | sort -u; }
# follow: does what check advises.
follow() { bash <(advice) 2>/dev/null; }
# secrets: whose secret the files hold, one and the same.
secrets() {
    sed -n 's/^SECRET=//p' "${files[@]}" | tr -d '\r' | sort -u >/run/secrets
    echo "$(wc -l </run/secrets) $(clientsecretd inspect --json - </run/secrets | python3 -c 'import json, sys; print(json.load(sys.stdin)["client_id"])')"
}
# states: of each client's first output, in the order of their names.
states() { of_status '" ".join(c["outputs"][0]["state"] for c in sorted(d["clients"], key=lambda c: c["name"]))'; }
are() { [ "$(states)" = "$1" ]; }
field() { awk -v name="$2:" '$1 == name { print $2 }' "/proc/$1/status"; }
networks() { nsenter --target "$1" --net cat /proc/net/dev | grep -c :; }

systemctl start clientsecretd
equal "without writers the others are served" "ok failed" "$(states)"
equal "check says what is missing" "systemctl enable --now clientsecretd-writer@app.socket
systemctl enable --now clientsecretd-writer@root.socket" "$(advice)"
follow
equal "the writers' sockets are the daemon's, in a directory of root's" "root 755,clientsecretd 600,clientsecretd 600" \
    "$(stat -c '%U %a' /run/clientsecretd/writer /run/clientsecretd/writer/*.sock | paste -sd,)"
clientsecretd renew >/dev/null
eventually "with them all are served" are "ok ok"
promise "and check is content" clientsecretd check
equal "all files have one secret" "1 web" "$(secrets)"
equal "each file keeps its owner and mode" "app:app 640,app:app 600,root:root 600" "$(stat -c '%U:%G %a' "${files[@]}" | paste -sd,)"
equal "and every other byte" '# the site^M$
PORT=80^M$
SECRET=...^M$
NAME="my site"$
SECRET=...$
LOG=info$
SECRET=...$' "$(sed 's/^SECRET=[A-Za-z0-9_.-]*/SECRET=.../' "${files[@]}" | cat -A)"
for user in app root; do
    pid=$(property MainPID clientsecretd-writer@$user)
    equal "the writer of $user runs as that user" "$user" "$(id -nu "$(field "$pid" Uid)")"
    equal "the writer of $user has no capability" 5 "$(grep -c '^Cap[A-Z][a-z]*:.0*$' "/proc/$pid/status")"
    equal "the writer of $user has no network but its own loopback" 1 "$(networks "$pid")"
done
for user in app stranger; do
    contains "$user may not ask a writer" "Permission denied" "$(echo {} | setpriv --reuid=$user --regid=$user --clear-groups \
        /usr/bin/python3 /src/Tests/Support/ask-user-writer.py /run/clientsecretd/writer/app.sock 2>&1 | tail -1)"
done

# Its own user may stop it. Both files of one writer are waited for once.
systemctl kill --signal=STOP clientsecretd-writer@app
status=0
timeout 30 clientsecretd health --offline >/dev/null || status=$?
promise "health without the daemon answers although a writer does not" test $status -ne 124
systemctl kill --signal=CONT clientsecretd-writer@app

cp /run/secrets /run/before
systemctl kill --signal=KILL clientsecretd-writer@app
# A request that the dying writer takes along is made again a second later.
ended() { [ "$(property ActiveState clientsecretd-writer@app)" != active ]; }
eventually "it ends" ended
clientsecretd renew web >/dev/null
renewed() { [ "$(secrets)" = "1 web" ] && ! cmp -s /run/secrets /run/before; }
eventually "a writer that was killed is started again, and writes the new secret" renewed

# Root without capabilities is in no group but its own.
chgrp app /etc/myapp/env
chmod 640 /etc/myapp/env
contains "check knows that root's writer may not keep the group of a file" "SupplementaryGroups=app" "$(clientsecretd check 2>&1)"
refused "and does not call that in order" clientsecretd check
promise "check --fix gives its writer that group" clientsecretd check --fix
contains "in a drop-in of that writer only" "SupplementaryGroups=app" "$(cat /etc/systemd/system/clientsecretd-writer@root.service.d/outputs.conf)"
clientsecretd renew >/dev/null
equal "and the file keeps its group" "root:app 640" "$(stat -c '%U:%G %a' /etc/myapp/env)"
equal "and has the new secret" "1 web" "$(secrets)"

# A writer that cannot start: nothing waits for it, and systemd does not start it again and again.
settings clientsecretd-writer@app.service gone ReadWritePaths=/srv/gone
systemctl stop clientsecretd-writer@app
starts() { journalctl --unit clientsecretd-writer@app --output cat --no-pager | grep -c '^Starting'; }
before=$(starts) began=$SECONDS
clientsecretd check >/dev/null 2>&1
systemctl restart clientsecretd
promise "a writer that cannot start is not waited for" [ $((SECONDS - began)) -lt 20 ]
sleep 5
promise "and is started a few times, not hundreds" [ $(($(starts) - before)) -lt 40 ]
no_settings clientsecretd-writer@app.service
clientsecretd renew >/dev/null
equal "and writes as soon as it can" "1 web" "$(secrets)"

# A process keeps the user and groups of its start, and requests may come more often than it would end without any.
groupadd web
systemctl restart clientsecretd-writer@app
clientsecretd check >/dev/null 2>&1
was=$(property MainPID clientsecretd-writer@app)
usermod --append --groups web app
chgrp web /srv/app/.env
refused "a writer that was started before its user joined a group may not give a file to it" clientsecretd renew web
eventually "the next one may" are "ok ok"
equal "without a restart by hand" "1 web" "$(secrets)"
refused "and is another process" [ "$was" = "$(property MainPID clientsecretd-writer@app)" ]
equal "the file keeps its group" "app:web" "$(stat -c %U:%G /srv/app/.env)"

equal "and nothing is left behind" "" "$(find /srv/app /home/app/site /etc/myapp -name '.clientsecretd*')"
finish
