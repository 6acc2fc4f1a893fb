#!/bin/bash
# Does what the pages for operators say, as they are installed, section after section on one machine, and sees whether it works.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

before_moving() {
    handmade=$(clientsecretd mint --key "$key" --team-id DEF123GHIJ --client-id com.example.shop --lifetime 180d)
    make_app shop "PORT=80\nAPPLE_CLIENT_SECRET=\"$handmade\"\nDEBUG=1\n"
}
after_moving() {
    eventually "all is well" clientsecretd health
    promise "the variable has a secret of ours" ours /srv/shop/.env --variable APPLE_CLIENT_SECRET
    exits "which is another one" 1 grep -qF "$handmade" /srv/shop/.env
    equal "every other byte is kept" $'PORT=80\nDEBUG=1' "$(grep -v APPLE_CLIENT_SECRET /srv/shop/.env)"
    promise "the hand-made one stays valid" ours - <<<"$handmade"
    # The other half of what is said: without "renew" it is taken over.
    sed -i "s/^APPLE_CLIENT_SECRET=.*/APPLE_CLIENT_SECRET=$handmade/" /srv/shop/.env
    systemctl stop clientsecretd.service
    rm -r /var/lib/clientsecretd
    systemctl start clientsecretd.service
    eventually "all is well" clientsecretd health
    promise "a good one that is there already is taken over" grep -qF "$handmade" /srv/shop/.env
}

before_restoring() {
    older=$(cat "$output")
    cp -a /var/lib/clientsecretd /tmp/backup
    promise "it is renewed" clientsecretd renew web
    newer=$(cat "$output")
    refused "so that the backup is older" [ "$older" = "$newer" ]
    systemctl stop clientsecretd.service
    rm -r /var/lib/clientsecretd
    cp -a /tmp/backup /var/lib/clientsecretd
    printf %s "$older" >"$output"
    count=$(minted)
}
after_restoring() {
    eventually "all is well" clientsecretd health
    promise "with a secret of ours" ours "$output"
    equal "and none was minted" "$count" "$(minted)"
    # One that is due.
    systemctl stop clientsecretd.service
    rm -r /var/lib/clientsecretd
    clientsecretd mint --key "$key" --team-id DEF123GHIJ --client-id com.example.web --lifetime 1h >"$output"
    due=$(cat "$output")
    systemctl start clientsecretd.service
    eventually "all is well" clientsecretd health
    refused "one that is due is replaced" [ "$due" = "$(cat "$output")" ]
}

after_management() {
    eventually "all is well" clientsecretd health
    promise "the addition is served" ours /run/clientsecretd/out/blog.env --variable APPLE_CLIENT_SECRET
    secret=$(cat /run/clientsecretd/out/blog.env)
    printf 'NEW=1\nAPPLE_CLIENT_SECRET=old\n' | runuser -u clientsecretd -- tee /run/clientsecretd/out/blog.env >/dev/null
    repaired() { grep -qxF "$secret" /run/clientsecretd/out/blog.env; }
    eventually "what a tool overwrites is put back" repaired
    promise "and the tool's own lines are kept" grep -qx NEW=1 /run/clientsecretd/out/blog.env
}

after_cron() {
    equal "the service is off" inactive "$(property ActiveState)"
    rm "$output"
    read -r _ _ _ _ _ user program arguments </etc/cron.d/clientsecretd
    read -ra arguments <<<"$arguments"
    promise "what cron runs" runuser -u "$user" -- "/usr/local/bin/${program##*/}" "${arguments[@]}"
    promise "has published" ours "$output"
    equal "as the service's user" clientsecretd "$(stat -c %U "$output")"
    promise "and can be judged without a daemon" clientsecretd health --offline
    systemctl enable --quiet --now clientsecretd.service
}

before_refusal() { before=$(cat "$output"); }
after_refusal() { refused "the secret is a new one" [ "$before" = "$(cat "$output")" ]; }

set_up
configure_web
systemctl enable --quiet --now clientsecretd.service
declare -A tries=(
    ["Moving from a secret minted by hand"]=moving
    ["Restoring a backup or an old snapshot"]=restoring
    ["One file for each app"]=management
    ["Cron"]=cron ["CI"]=""
    ["When Apple refuses"]=refusal
    # Run by guide.sh and ansible.sh.
    ["A container that reads the secret"]="" ["Use the role"]=""
)
try_sections migrating ansible containers troubleshooting
finish
