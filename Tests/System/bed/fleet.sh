#!/bin/bash
# Does what docs/fleet-setup.md and docs/fleet-recovery.md say of three machines from nothing, as it is installed, section after section. Three real members of
# etcd run side by side on addresses of their own; the one systemd is each machine in turn, with that machine's
# directories in place.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

install_clientsecretd
shows_toolchain clientsecretd-store.service
printf '127.0.0.%s.example.com\n' '1 signer1' '2 app17' '3 app18' >/tmp/hosts
cat /etc/hosts >>/tmp/hosts
mount --bind /tmp/hosts /etc/hosts 2>/dev/null || cp /tmp/hosts /etc/hosts
useradd --system etcd

# etcdctl: what restores a backup on signer1 does so for the other two members as well.
cat >/usr/local/bin/etcdctl <<'SCRIPT'
#!/bin/bash
etcdctl=/src/.build/etcd/usr/bin/etcdctl
if [ "$1 $2" = "snapshot restore" ]; then
    for name in app17 app18; do
        arguments=()
        for argument; do
            case $argument in
                signer1) argument=$name ;;
                https://signer1.example.com:*) argument=${argument/signer1/$name} ;;
                /var/lib/etcd/default)
                    argument=/var/lib/etcd/$name
                    rm -rf $argument
                    ;;
            esac
            arguments+=("$argument")
        done
        $etcdctl "${arguments[@]}" || exit
    done
fi
exec $etcdctl "$@"
SCRIPT
chmod 755 /usr/local/bin/etcdctl

# etcd.service: the members of all three machines, of which the guide configures the first; the others differ as it says.
cat >/usr/local/bin/start-members <<'SCRIPT'
#!/bin/bash
set -a
# A member that is lost is lost on all machines at once.
[ -e /var/lib/etcd/default ] || rm -rf /var/lib/etcd/app17 /var/lib/etcd/app18
mkdir -p /var/lib/etcd
. /etc/default/etcd
address=1
for name in signer1 app17 app18; do
    (
        ETCD_NAME=$name
        [ $name = signer1 ] || ETCD_DATA_DIR=/var/lib/etcd/$name
        ETCD_INITIAL_ADVERTISE_PEER_URLS=${ETCD_INITIAL_ADVERTISE_PEER_URLS/signer1/$name}
        ETCD_ADVERTISE_CLIENT_URLS=${ETCD_ADVERTISE_CLIENT_URLS/signer1/$name}
        ETCD_LISTEN_PEER_URLS=${ETCD_LISTEN_PEER_URLS/0.0.0.0/127.0.0.$address}
        ETCD_LISTEN_CLIENT_URLS=${ETCD_LISTEN_CLIENT_URLS/0.0.0.0/127.0.0.$address}
        exec /src/.build/etcd/usr/bin/etcd
    ) &
    address=$((address + 1))
done
wait
SCRIPT
chmod 755 /usr/local/bin/start-members
service etcd ExecStart=/usr/local/bin/start-members

# become MACHINE: that machine's directories in place of those that are there, and its daemon running if it was started once.
cat >/usr/local/bin/become <<'SCRIPT'
#!/bin/bash
current=$(cat /run/current)
[ "$1" != "$current" ] || exit 0
systemctl stop clientsecretd.service clientsecretd-store.socket clientsecretd-store.service 2>/dev/null
for place in /etc/clientsecretd /var/lib/clientsecretd /var/lib/clientsecretd-adopted /run/clientsecretd/out; do
    mkdir -p "/machines/$current" "/machines/$1"
    name=${place//\//_}
    rm -rf "/machines/$current/$name"
    [ ! -e $place ] || mv $place "/machines/$current/$name"
    [ ! -e "/machines/$1/$name" ] || mv "/machines/$1/$name" $place
done
[ -e /etc/clientsecretd ] || mkdir -m 0755 /etc/clientsecretd
systemd-tmpfiles --create clientsecretd.conf
echo "$1" >/run/current
if [ -e /etc/clientsecretd/clientsecretd.yaml ]; then
    systemctl start clientsecretd-store.socket
    systemctl start clientsecretd.service
fi
SCRIPT
# ssh USER@HOST COMMAND…, and scp FILE… USER@HOST:PLACE
cat >/usr/local/bin/ssh <<'SCRIPT'
#!/bin/bash
here=$(cat /run/current)
host=${1#*@}
shift
become "${host%%.*}"
"$@"
status=$?
become "$here"
exit $status
SCRIPT
cat >/usr/local/bin/scp <<'SCRIPT'
#!/bin/bash
host=${!#}
place=${host#*:}
host=${host%%:*}
ssh "$host" cp "${@:1:$#-1}" "$place"
SCRIPT
chmod 755 /usr/local/bin/{become,ssh,scp}
echo signer1 >/run/current

issued_by() { clientsecretd inspect --json "$output" | grep -q "\"key_id\": *\"$1\""; }
same() { [ -s "$output" ] && cmp -s "$output" /tmp/newest; }
newest() { cp "$output" /tmp/newest; }
ctl() { bash -c '. /root/fleet/etcdctl.env && etcdctl "$@"' ctl "$@"; }
holds() { ctl get --prefix /clientsecretd/v1/secret/ | grep -qF "$(cat "$output")"; }

after_certificates() {
    promise "the certificates are the authority's" \
        openssl verify -CAfile /root/fleet/ca.pem /root/fleet/{etcd,administrator,signer1}/client.pem
    equal "and have no CN" "" "$(openssl x509 -in /root/fleet/signer1/client.pem -noout -subject | grep CN)"
}
after_etcd() { :; }
before_users() {
    local commands
    eventually "all members serve" ctl_before endpoint health
    # What the guide says of etcd in general is done while there are no users, and undone.
    commands=$(awk '/^## / { within = $0 == "## What etcd needs" } within' /src/docs/fleet-etcd.md | sed -n 's/^    \(etcdctl \)/\1/p')
    mkdir /tmp/passwords
    openssl rand -hex 16 >/tmp/passwords/password
    promise "a role for one client can be made" env --chdir=/tmp/passwords "${before[@]}" bash -e <<<"$commands"
    equal "of which a follower's reads and no more" "[/clientsecretd/v1/rollout/DEF123GHIJ/com.example.web/
[/clientsecretd/v1/secret/DEF123GHIJ/com.example.web/" \
        "$(ctl_before role get clientsecretd-web | sed -n '/KV Read/,/KV Write/s/^\s*\(\[[^,]*\), .*/\1/p' | sort)"
    equal "and its machine has that role" clientsecretd-web \
        "$(ctl_before user get clientsecretd-app17 | sed -n 's/^Roles: //p')"
    ctl_before user delete clientsecretd-app17 >"$seen"
    ctl_before role delete clientsecretd-web >"$seen"
}
before=(ETCDCTL_API=3
    ETCDCTL_ENDPOINTS="https://signer1.example.com:2379,https://app17.example.com:2379,https://app18.example.com:2379"
    ETCDCTL_CACERT=/root/fleet/ca.pem ETCDCTL_CERT=/root/fleet/administrator/client.pem
    ETCDCTL_KEY=/root/fleet/administrator/client.key)
ctl_before() { env "${before[@]}" etcdctl "$@"; }
after_users() {
    refused "nobody gets in without a user" ctl_before get --prefix /
    promise "the administrator does" ctl get --prefix /
}
before_signer() { new_key AuthKey_ABC123DEFG.p8; }
after_signer() {
    eventually "all is well" clientsecretd health
    eventually "the secret is in etcd" holds
    newest
}
after_followers() {
    for machine in app17 app18; do
        become "$machine"
        eventually "$machine has the signer's secret" same
        eventually "and all is well there" clientsecretd health
        promise "without the private key" test ! -e "$key"
    done
    become signer1
}
after_adding() {
    become app19
    promise "the machine that was added has the secret" same
    become signer1
    refused "and is no user any more" ctl user get clientsecretd-app19
}
before_key() {
    new_key /root/fleet/AuthKey_XYZ123DEFG.p8
}
after_key() {
    eventually "the signer uses the new key" issued_by XYZ123DEFG
    eventually "all is well" clientsecretd health
    eventually "its secret is in etcd" holds
    newest
    for machine in app17 app18; do
        become "$machine"
        eventually "$machine has it" same
        eventually "and all is well there" clientsecretd health
    done
    become signer1
}
# As the guide says at the end of replacing the key.
before_signer_lost() { sed '/^  apple:/d' /etc/clientsecretd/clientsecretd.yaml >/root/fleet/signer.yaml; }
after_signer_lost() {
    become app18
    eventually "the new signer has what the former one left" same
    promise "it renews" clientsecretd renew web
    refused "by itself" same
    eventually "and its secret is in etcd" holds
    newest
    eventually "all is well" clientsecretd health
    become app17
    eventually "and the follower has it" same
    become app18
}
after_etcd_lost() {
    promise "nobody lost a secret" same
    promise "a reload logs in anew" clientsecretd reload
    eventually "the signer puts it there again" holds
    promise "a renewal" clientsecretd renew web
    eventually "is put there, too" holds
    newest
    become app17
    eventually "and received" same
    eventually "all is well" clientsecretd health
}

before_backup() { become app18; }
after_backup() {
    promise "the backup is one of etcd's" ctl snapshot status /root/fleet/etcd.db
    promise "a renewal that it does not know" clientsecretd renew web
    eventually "is put into etcd" holds
    newest
    become app17
    eventually "and received" same
    become app18
}
after_restored() {
    eventually "the restored members serve" ctl endpoint health
    promise "nobody goes back" same
    promise "a reload logs in anew" clientsecretd reload
    eventually "the signer puts the newer secret there" holds
    become app17
    promise "its follower has not gone back" same
    eventually "all is well" clientsecretd health
}

declare -A tries=(
    ["Certificates"]=certificates
    ["etcd"]=etcd
    ["Users of etcd"]=users
    ["The signer"]=signer
    ["The followers"]=followers
    ["Adding and removing a machine"]=adding
    ["Replacing the key of a fleet"]=key
    ["Losing the signer"]=signer_lost
    ["Losing etcd"]=etcd_lost
    ["Backing up etcd"]=backup
    ["Restoring a backup of etcd"]=restored
)
cd /root || exit
try_sections fleet-setup fleet-recovery
finish
