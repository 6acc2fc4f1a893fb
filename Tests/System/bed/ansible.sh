#!/bin/bash
# The role in etc/ansible on a Debian that has no toolchain, by the page's playbook: in check mode, for the first time, again, and
# with changes. The packages are in /release/apt, which is a signed repository. Then with a package file and no repository.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh
export PYTHONDONTWRITEBYTECODE=1 ANSIBLE_NOCOLOR=1 ANSIBLE_HOME=/root/.ansible
PYTHONPATH=$(echo /src/.build/venv/lib/python3*/site-packages)
export PYTHONPATH

guide=/src/docs/installing.md
mkdir /srv/clientsecretd
mount --bind /release /srv/clientsecretd
rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*
# The machine has the repository, as the guide says.
repository() { block sh 'apt-get update' | grep -v 'apt-get install'; }
promise "the machine has the repository" does repository

mkdir /root/mine
cd /root/mine || exit 1
cp -r /src/etc/ansible/roles .
guide=/src/docs/ansible.md
# Without the two tasks that install a package file, because there is a repository.
block yaml clientsecretd_keys | sed '/clientsecretd[^ ]*\.deb/d' >playbook.yml
new_key key.p8
python3 -c 'import json; print(json.dumps({"apple_key": open("key.p8").read()}))' >vars.json
echo '[web]
localhost ansible_connection=local ansible_python_interpreter=/usr/bin/python3' >hosts
service myapp
systemctl start myapp.service

# plays [ARGUMENT…]: what the run changed, as its last line counts it.
plays() {
    python3 -m ansible playbook --inventory hosts --extra-vars @vars.json playbook.yml "$@" >"$seen" 2>&1 || return
    sed -n 's/^localhost .*changed=\([0-9]*\).*/\1/p' "$seen" | tail -n 1
}
changes() { local count; count=$(plays "$@") && [ "$count" -gt 0 ]; }
changes_nothing() { local count; count=$(plays "$@") && [ "$count" = 0 ]; }
secret() { environment myapp APPLE_CLIENT_SECRET; }

promise "check mode tells that there is something to do" changes --check
refused "and does nothing" command -v clientsecretd
promise "the role sets everything up" changes
command -v clientsecretd >/dev/null || exit 1
equal "and shows no key" 0 "$(grep -cF "$(sed -n 2p key.p8)" "$seen")"
eventually "all is well" clientsecretd health
equal "it starts with the machine" enabled "$(systemctl is-enabled clientsecretd.service)"
equal "the key is for root and the daemon" "640 root clientsecretd" "$(stat -c '%a %U %G' "$key")"
promise "the unit may be restarted by the daemon" clientsecretd renew
eventually "and has the secret" has_secret myapp APPLE_CLIENT_SECRET

first=$(secret)
sed -i 's/variable: APPLE_CLIENT_SECRET/&\n            - {path: \/srv\/shop\/apple.jwt}/' playbook.yml
mkdir -m 0755 /srv/shop
chown clientsecretd: /srv/shop
promise "a changed configuration is taken up" changes
promise "with the lines that the sandbox needs for it" ours /srv/shop/apple.jwt
equal "and nothing else is renewed" "$first" "$(secret)"
promise "another run changes nothing" changes_nothing

cp $configuration /tmp/before
sed -i 's/client_id: com.example.web/client_idd: com.example.web/' playbook.yml
refused "a configuration with a mistake fails the play" plays
says "which names the mistake" "client_idd"
promise "and changes nothing" cmp /tmp/before $configuration
promise "all is well still" clientsecretd health

apt-get remove --yes clientsecretd >/dev/null 2>&1
cp "$(find /release -name clientsecretd_0.1.0_amd64.deb)" .
block yaml clientsecretd_keys | sed '/^  roles:/,$d' >playbook.yml
promise "a package needs no repository" changes
promise "and is installed" command -v clientsecretd
finish
