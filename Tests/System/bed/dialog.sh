#!/bin/bash
# `init` as a person meets it: at a terminal, for the service of a machine that has nothing of it yet. What it shows is what it
# writes, and that is all it takes.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh
install_clientsecretd
printf '%s\n' '[Service]' 'ExecStart=/usr/bin/sleep infinity' >/etc/systemd/system/app.service
systemctl daemon-reload
make_key
printf '// mine\n' >/etc/polkit-1/rules.d/50-clientsecretd.rules

# A terminal that is high enough for all that is shown.
terminal() { tmux -u -S /tmp/terminal -f /dev/null "$@"; }
screen() { terminal capture-pane -p -J; }
cat >/tmp/session <<'END_OF_SESSION'
clientsecretd init
echo "ended with $?"
exec sleep infinity
END_OF_SESSION
promise "there is a terminal" terminal new-session -d -x 160 -y 150 'exec sh /tmp/session'

# answer QUESTION WORDS: types them once the question is the last line, as a person does.
answer() {
    local question=$1
    is_asked() { [[ $(screen | sed '/^$/d' | tail -n 1) == "$question"* ]] || { screen; false; }; }
    eventually "it asks: $question" is_asked || finish
    [ -z "$2" ] || terminal send-keys -l "$2"
    terminal send-keys Enter
}
answer "The key file from Apple" "$key"
answer "The team's id" DEF123GHIJ
answer "The Services ID or App ID" com.example.web
answer "One of these [1]:" 1
answer "The variable [APPLE_CLIENT_SECRET]:" ""
# Neither there nor in the service's sandbox.
answer "The file [/run/clientsecretd/out/web.env]:" /srv/clientsecretd/web.env
answer "The unit that reads it" app.service

agreement="Write this? (yes or no)"
is_asked() { screen | grep -qF "$agreement"; }
eventually "it shows what it would write" is_asked
refused "and has written nothing" test -e $configuration
touch /tmp/before
screen >/tmp/shown
# shown PATH HEADING: what was shown as that file's text, but for the empty line below it.
shown() {
    awk -v heading="$1 $2" '$0 == heading { within = 1; next } within && !/^(    .*)?$/ { exit } within' /tmp/shown |
        sed 's/^    //' | sed '$d'
}
answer "$agreement" yes
has_ended() { screen | grep -q '^ended with'; }
eventually "it ends" has_ended
equal "well" "ended with 0" "$(screen | grep '^ended with')"
contains "with what check says" "web: would mint a new secret" "$(screen)"

files="/etc/clientsecretd/clientsecretd.yaml
/etc/polkit-1/rules.d/50-clientsecretd.rules
/etc/systemd/system/app.service.d/clientsecretd.conf
/etc/systemd/system/clientsecretd.service.d/outputs.conf
/etc/tmpfiles.d/clientsecretd-outputs.conf"
equal "configuration, rule, both drop-ins and the directory's line were shown" "$files" \
    "$(sed -n 's/ would hold.*:$//p' /tmp/shown | sort)"
equal "and nothing else was written" "$files" "$(find /etc -type f -newer /tmp/before | sort)"
for file in $files; do
    [ "$file" != /etc/polkit-1/rules.d/50-clientsecretd.rules ] || continue
    equal "$file holds what was shown" "$(shown "$file" "would hold:")" "$(cat "$file")"
done
rules=/etc/polkit-1/rules.d/50-clientsecretd.rules
equal "and what stood in a file stays above it" "// mine
$(shown $rules "would hold besides what is there:")" "$(cat $rules)"
contains "the configuration has the answers" "variable: APPLE_CLIENT_SECRET" "$(cat $configuration)"
contains "the unit reads the file" EnvironmentFile=/srv/clientsecretd/web.env \
    "$(cat /etc/systemd/system/app.service.d/clientsecretd.conf)"
contains "the sandbox is opened for it" ReadWritePaths=-/srv/clientsecretd \
    "$(cat /etc/systemd/system/clientsecretd.service.d/outputs.conf)"
contains "its directory is made" "d /srv/clientsecretd " "$(cat /etc/tmpfiles.d/clientsecretd-outputs.conf)"
contains "polkit lets the daemon restart the unit" app.service "$(cat $rules)"

promise "the service starts" systemctl enable --now clientsecretd.service
promise "with the application" systemctl start app.service
is_published() { clientsecretd inspect --key "$key" /srv/clientsecretd/web.env --variable APPLE_CLIENT_SECRET; }
eventually "the secret is published" is_published
eventually "all is well" clientsecretd health
promise "a renewal restarts the application" clientsecretd renew web
# environment: of the application's process, once its program is executed.
has_new() {
    local pid secret
    pid=$(property MainPID app.service)
    secret=$(cut -d = -f 2 /srv/clientsecretd/web.env)
    [ -n "$secret" ] && tr '\0' '\n' <"/proc/$pid/environ" | grep -qxF "APPLE_CLIENT_SECRET=$secret"
}
eventually "which has the new secret" has_new
finish
