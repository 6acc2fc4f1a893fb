#!/bin/bash
# What is taken from the outputs and still holds a secret: named once, and left to the administrator.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

out=/run/clientsecretd/out
# orphaned: what the journal says of such places.
orphaned() {
    journalctl --sync
    journalctl --quiet --no-pager --output cat --unit clientsecretd.service \
        MESSAGE_ID=3a7e308e3ca54c299f719652540dc2e4
}
# has_named COUNT: so many have been named since the boot.
has_named() { [ "$(orphaned | wc -l)" = "$1" ]; }

install_clientsecretd
make_key
printf 'PORT=80\n' >$out/app.env
chown clientsecretd: $out/app.env
configure_web "      - path: $out/web.json
        format: json
      - path: $out/app.env
        format: env
        variable: WEB
  shop:
    client_id: com.example.shop
    outputs:
      - path: $out/shop.jwt
      - path: $out/app.env
        format: env
        variable: SHOP
      - path: $out/shop.env
        format: env
        variable: SHOP"
promise "it starts" systemctl start clientsecretd.service
contains "the file has both variables" "SHOP=ey" "$(cat $out/app.env)"
equal "nothing is orphaned" "" "$(clientsecretd check 2>&1 | grep 'reads it, remove')"

configure_web
clientsecretd check >/tmp/check 2>&1
promise "check names what would be left" test "$(grep -c 'reads it, remove ' /tmp/check)" = 5
promise "and takes nothing away" test -s $out/shop.jwt
promise "a reload succeeds" clientsecretd reload
cp "$seen" /tmp/reload
grep 'reads it, remove ' /tmp/check | sort >/tmp/checked
grep 'reads it, remove ' /tmp/reload | sort >/tmp/reloaded
promise "and names the same" cmp /tmp/checked /tmp/reloaded
promise "the journal, too" has_named 5
promise "nothing is taken away" test -s $out/shop.jwt
clientsecretd reload >/tmp/again 2>&1
equal "it is said once" "The configuration was adopted." "$(cat /tmp/again)"
promise "in the journal, too" has_named 5
equal "no command takes it from a reader" "" "$(grep -E '(rm|sed) ' /tmp/reloaded)"
rm $out/shop.jwt $out/web.json $out/shop.env
sed -i '/^\(WEB\|SHOP\)=/d' $out/app.env
equal "the files are gone" "app.env web.jwt" "$(cd $out && echo *)"
equal "what was not ours is left" "PORT=80" "$(cat $out/app.env)"
equal "and whose it was" clientsecretd "$(stat -c %U $out/app.env)"

# Between two runs.
configure_web "  shop:
    client_id: com.example.shop
    outputs:
      - path: $out/shop.jwt"
promise "another client is added" clientsecretd reload
systemctl stop clientsecretd.socket clientsecretd.service
configure_web
promise "and taken away while nothing runs" systemctl start clientsecretd.socket clientsecretd.service
eventually "the start names what it leaves" has_named 6
contains "by its path" "$out/shop.jwt" "$(orphaned | tail -n 1)"
promise "it starts again" systemctl restart clientsecretd.service
promise "and says it once" has_named 6
finish
