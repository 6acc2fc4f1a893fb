# shellcheck shell=bash
# What the bed's scripts have in common; sourced by each as /src/Tests/System/bed/prelude.sh. The repository lies at
# /src, the binary that was built at /built.
#
# A promise that holds is told as "kept: …", one that does not as "broken: …" with what was seen indented below it; the
# test that started the script records each. A script ends with `finish`: one that ends before it has failed.
set -u
export LC_ALL=C.UTF-8 NO_COLOR=1 SYSTEMD_PAGER="" SYSTEMD_COLORS=0

key=/etc/clientsecretd/AuthKey_ABC123DEFG.p8
configuration=/etc/clientsecretd/clientsecretd.yaml
output=/run/clientsecretd/out/web.jwt
# shellcheck disable=SC2034
socket=/run/clientsecretd/clientsecretd.sock
seen=$(mktemp)

kept() { echo "kept: $1"; }

# broken PROMISE: with what the last command wrote, and what the daemon said of late.
broken() {
    echo "broken: $1"
    { tail -n 40 "$seen"; journalctl --quiet --no-pager --lines 15 --output cat --unit clientsecretd.service; } |
        sed 's/^/    /'
}

# promise PROMISE COMMAND…: the command succeeds.
promise() {
    local what=$1
    shift
    if "$@" >"$seen" 2>&1; then kept "$what"; else broken "$what ($*)"; fi
}

# refused PROMISE COMMAND…: the command fails. A file lacks a text by `exits PROMISE 1 grep …`: grep fails for a missing file, too.
refused() {
    local what=$1
    shift
    if "$@" >"$seen" 2>&1; then broken "$what ($*)"; else kept "$what"; fi
}

# equal PROMISE WANTED FOUND
equal() {
    if [ "$2" = "$3" ]; then kept "$1"; else
        echo "wanted: $2" >"$seen"
        echo "found:  $3" >>"$seen"
        broken "$1"
    fi
}

# exits PROMISE STATUS COMMAND…: the command ends with that status, and not merely with some failure.
exits() {
    local what=$1 wanted=$2
    shift 2
    "$@" >"$seen" 2>&1
    equal "$what" "$wanted" $?
}

# contains PROMISE PART TEXT: the text holds the part, letter by letter.
contains() {
    if grep -qF -e "$2" <<<"$3"; then kept "$1"; else
        printf 'wanted: %s\nin:     %s\n' "$2" "$3" >"$seen"
        broken "$1"
    fi
}

# says PROMISE PART: what the last command of a promise wrote holds the part.
says() { contains "$1" "$2" "$(cat "$seen")"; }

# eventually PROMISE COMMAND…: the command succeeds before long; it is tried again for two minutes, which is there to end a
# script that waits for nothing. What does not come at once is asked for less often, because asking takes processor time.
eventually() {
    local what=$1 began=$SECONDS
    shift
    until "$@" >"$seen" 2>&1; do
        [ $((SECONDS - began)) -lt 120 ] || { broken "$what ($*)"; return 1; }
        if [ $((SECONDS - began)) -lt 2 ]; then sleep 0.05; else sleep 0.3; fi
    done
    kept "$what"
}

# block KIND TEXT: the block of that kind in the page $guide that holds the text.
# shellcheck disable=SC2154
block() {
    awk -v kind="$1" -v text="$2" '
        /^```/ { if (within && index(block, text)) printf "%s", block; within = $0 == "```" kind; block = ""; next }
        within { block = block $0 "\n" }' "$guide"
}

# example SECTION NUMBER: that block of commands in the section of docs/commands*.md.
example() {
    awk -v section="## $1" -v wanted="$2" '
        FNR == 1 || /^## / { here = $0 == section; count = 0 }
        /^```sh/ { within = here && ++count == wanted; next } /^```/ { within = 0 } within' /src/docs/commands*.md
}

# does COMMAND…: runs the commands that it prints, as block and example do. If a page has none, that is a failure.
does() {
    local commands
    commands=$("$@")
    [ -n "$commands" ] && bash -e <<<"$commands"
}

# try_sections PAGE…: does what the sections of these pages, as they are installed, say that say to do something. `tries` has a word for each of them;
# before_WORD, if there is one, makes what the reader has already; after_WORD looks whether the page's promise is kept.
try_sections() {
    local page section sections
    local pages=("${@/#/\/usr\/local\/share\/doc\/clientsecretd\/}")
    pages=("${pages[@]/%/.md}")
    sections=$(for page in "${pages[@]}"; do python3 /src/Tests/System/bed/guide.py "$page" || exit; done) || exit 1
    equal "all sections are tried" "$(printf '%s\n' "${!tries[@]}" | sort)" "$(sort <<<"$sections")"
    for page in "${pages[@]}"; do
        while read -r section; do
            [ "${tries[$section]-}" ] || continue
            ! declare -F "before_${tries[$section]}" >/dev/null || "before_${tries[$section]}"
            python3 /src/Tests/System/bed/guide.py "$page" "$section" >/tmp/section || exit 1
            promise "what \"$section\" says can be done" bash /tmp/section </dev/null
            "after_${tries[$section]}"
        done < <(python3 /src/Tests/System/bed/guide.py "$page")
    done
}

finish() {
    echo finished
    exit 0
}

# install_clientsecretd: as the README says, with the binary that was built.
install_clientsecretd() {
    make --silent -C /src install binary=/built/clientsecretd >"$seen" 2>&1 || broken "make install succeeds"
    PATH=/usr/local/bin:$PATH
}

# shows_toolchain UNIT…: a debug build of the network program needs the toolchain's libraries, which its units do not see.
shows_toolchain() {
    local libraries unit
    libraries=$(ldd /usr/local/libexec/clientsecretd/clientsecretd-network |
        awk '$3 ~ /^\// && $3 !~ /^\/(usr|lib)/ { sub("/[^/]*$", "", $3); print "-" $3 }' | sort -u | xargs)
    [ "$libraries" ] || return 0
    for unit; do settings "$unit" libraries "BindReadOnlyPaths=$libraries"; done
}

# new_key PATH: a key in Apple's form.
new_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null; }

# make_key [PATH]: one that the daemon may read.
make_key() {
    new_key "${1-$key}"
    chown root:clientsecretd "${1-$key}"
    chmod 0640 "${1-$key}"
}

# set_up: installed, with a key and no configuration.
set_up() {
    install_clientsecretd
    make_key
}

# configure [PATH]: the keys section, then what standard input holds, as the configuration.
configure() {
    {
        printf 'keys:\n  apple:\n    team_id: DEF123GHIJ\n    file: %s\n' "$key"
        cat
    } >"${1-$configuration}"
}

# configure_web [LINES]: one client with one output, and below them these lines.
configure_web() {
    configure <<END
clients:
  web:
    client_id: com.example.web
    outputs:
      - path: $output
        mode: "0644"
${1-}
END
}

# make_app NAME TEXT: a user with a directory below /srv, and in it a dotenv file that nobody else reads.
make_app() {
    useradd --system "$1"
    install -d -o "$1" -g "$1" -m 0750 "/srv/$1"
    printf %b "$2" >"/srv/$1/.env"
    chown "$1:" "/srv/$1/.env"
    chmod 0600 "/srv/$1/.env"
}

# service NAME [LINE…]: a unit with these settings below [Service], which goes on running unless they say what it starts.
service() {
    local unit=/etc/systemd/system/$1.service
    shift
    printf '%s\n' '[Service]' "$@" >"$unit"
    grep -q ^ExecStart= "$unit" || sed -i '1a ExecStart=/usr/bin/sleep infinity' "$unit"
    systemctl daemon-reload
}

# settings UNIT NAME LINE…: a drop-in of that name with these settings below [Service].
settings() {
    local directory=/etc/systemd/system/$1.d name=$2
    shift 2
    mkdir -p "$directory"
    printf '%s\n' '[Service]' "$@" >"$directory/$name.conf"
    systemctl daemon-reload
}

# no_settings UNIT…: removes all drop-ins of these units.
no_settings() {
    local unit
    for unit; do rm -rf "/etc/systemd/system/$unit.d"; done
    systemctl daemon-reload
}

# property NAME [UNIT]: what systemd says.
property() { systemctl show --property "$1" --value "${2-clientsecretd.service}"; }

# main_process UNIT: the number of its process, once its program is executed: a service of Type=simple counts as started
# before that, and has systemd's environment and root directory until then.
main_process() {
    local pid
    pid=$(property MainPID "$1")
    while [ "$(readlink "/proc/$pid/exe")" = "$(readlink /proc/1/exe)" ]; do sleep 0.01; done
    echo "$pid"
}

# environment UNIT VARIABLE: what the unit's process has.
environment() { tr '\0' '\n' <"/proc/$(main_process "$1.service")/environ" | sed -n "s/^$2=//p"; }

# ours [ARGUMENT…]: whether a secret was signed by our key.
ours() { clientsecretd inspect --key "$key" "$@"; }
# has_secret UNIT VARIABLE: whether the unit's process has such a one.
has_secret() { environment "$@" | ours -; }

# expired_secret: a secret that has expired long ago, and that nobody signed.
expired_secret() {
    local claims='{"iss":"DEF123GHIJ","iat":1500000000,"exp":1510000000,"aud":"https://appleid.apple.com","sub":"com.example.web"}'
    base64url() { base64 -w0 | tr '+/' '-_' | tr -d '='; }
    printf %s.%s.%s "$(printf '{"alg":"ES256","kid":"ABC123DEFG"}' | base64url)" "$(printf %s "$claims" | base64url)" \
        "$(head -c 64 /dev/zero | base64url)"
}

# stands_in_for_apple PYTHON…: a server that knows the client web and its key; its address is in /tmp/apple/address.
stands_in_for_apple() {
    openssl pkey -in "$key" -pubout -out /tmp/key.pub
    mkdir /tmp/apple
    setsid "$@" /src/Tests/Support/apple/stand-in.py /tmp/apple --key ABC123DEFG:DEF123GHIJ:/tmp/key.pub \
        --client com.example.web:DEF123GHIJ >/tmp/apple/address </dev/null &
    eventually "a stand-in for Apple listens" test -s /tmp/apple/address
}

# of_status EXPRESSION [CLIENT]: what the status says, in Python's words: d is the document, c a client, web unless told otherwise.
of_status() {
    clientsecretd status --json | python3 -c 'import json, sys
d = json.load(sys.stdin)
c = next((c for c in d["clients"] if c["name"] == sys.argv[2]), None)
print(eval(sys.argv[1]))' "$1" "${2-web}"
}

# journal [UNIT]: what it holds of one.
journal() { journalctl --quiet --no-pager --output cat --unit "${1-clientsecretd.service}"; }
# minted: how many secrets this boot's daemons have made.
minted() { journal | grep -c ': minted '; }

# asks_at SOCKET: makes the program /usr/local/bin/ask, which sends a line to that socket and prints what comes back.
asks_at() {
    cat >/usr/local/bin/ask <<PYTHON
#!/usr/bin/python3
import socket, sys
service = socket.socket(socket.AF_UNIX)
service.settimeout(60)
service.connect("$1")
service.sendall(sys.argv[1].encode() + b"\\n")
service.shutdown(socket.SHUT_WR)
for line in service.makefile(): print(line, end="")
PYTHON
    chmod 755 /usr/local/bin/ask
}

# looks: makes the program /usr/local/bin/look, which tells what a network service that was taken over could read, write,
# disturb and reach (see look.py), and gives it something to reach: this machine, and a cloud's metadata.
looks() {
    install -m 0755 /src/Tests/System/bed/look.py /usr/local/bin/look
    ip address add 169.254.169.254/32 dev lo
    python3 -c 'import socket, time
four, six = socket.socket(), socket.socket(socket.AF_INET6)
six.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
four.bind(("0.0.0.0", 9999)), six.bind(("::", 9999))
four.listen(50), six.listen(50)
open("/run/listens", "w").close()
time.sleep(600)' &
    eventually "there is something to reach" test -e /run/listens
    promise "outside a sandbox it is reached" python3 -c 'import socket; socket.create_connection(("169.254.169.254", 9999), 5)'
}

# looked FILE: what the program that looked around could do, but for what it was handed and who it is.
looked() { grep -v -e '^user ' -e '^was handed ' -e '^looked$' "$1"; }
