extension ErrorCase {
    /// Values of keys, clients and outputs.
    static let ofValues = #"""
        ## bad names
        keys:
          my key: {team_id: DEF123GHIJ, file: /etc/k/AuthKey_ABC123DEFG.p8}
        clients:
          ../web: {lifetime: 1, @out}
          '': {@out}
        ->
        c.yaml:2:3: error: "my key" is not a name; use at most 64 letters, digits, ".", "-" and "_"
        c.yaml:4:3: error: "../web" is not a name; use at most 64 letters, digits, ".", "-" and "_"
        c.yaml:4:22: error: "1" has no unit; write 1s, 1m, 1h or 1d
        c.yaml:5:3: error: an empty text is not a name; use at most 64 letters, digits, ".", "-" and "_"
        ## ids
        keys:
          apple:
            team_id: def123ghij
            key_id: ABC123
            file: /etc/k/key.p8
          banana:
            team_id: Example Inc.
            key_id: abc123defg
            file: /etc/k/key.p8
        clients: {web: {key: apple, client_id: "com.example web", @out}}
        ->
        c.yaml:3:14: error: "def123ghij" is not a team id; did you mean "DEF123GHIJ"?
        c.yaml:4:13: error: "ABC123" is not a key id; write its ten characters A–Z and 0–9 (it is in the name of the file, AuthKey_<KEYID>.p8)
        c.yaml:7:14: error: "Example Inc." is not a team id; write its ten characters A–Z and 0–9 (Apple shows it next to your name)
        c.yaml:8:13: error: "abc123defg" is not a key id; did you mean "ABC123DEFG"?
        c.yaml:10:40: error: "com.example web" is not a Services ID or App ID; write it as Apple shows it, such as com.example.web
        ## ids in each other's place
        keys:
          apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, file: /etc/k/key.p8}
          same: {team_id: XYZ123GHIJ, key_id: XYZ123GHIJ, file: /etc/k/other.p8}
          turned: {team_id: ABC123DEFX, key_id: DEF123GHIX, file: /etc/k/AuthKey_ABC123DEFX.p8}
        clients:
          team: {key: apple, client_id: DEF123GHIJ, outputs: [{path: /run/a}]}
          key: {key: apple, client_id: ABC123DEFG, outputs: [{path: /run/b}]}
          prefix: {key: apple, client_id: DEF123GHIJ.com.example.web, outputs: [{path: /run/c}]}
          other: {key: apple, client_id: ABC123DEFX, outputs: [{path: /run/d}]}
          strange: {key: apple, client_id: ABC123DEFX.com.example.web, outputs: [{path: /run/e}]}
          small: {key: apple, client_id: searchads.27478e71-3bb0-4588-998c-182e2b405577, outputs: [{path: /run/f}]}
        ->
        c.yaml:3:19: error: key "same" has the same id as "team_id" and as "key_id"; write the team id, which Apple shows under Membership, as "team_id"
        c.yaml:4:21: error: "team_id" is the key id in the file's name; write the team id, which Apple shows under Membership
        c.yaml:4:41: warning: key id DEF123GHIX is not the one in the file's name, ABC123DEFX; write the one that Apple shows for this key
        c.yaml:6:33: error: client id DEF123GHIJ is the team id of key "apple"; write the Services ID or App ID as Apple shows it under Identifiers, such as com.example.web
        c.yaml:7:32: error: client id ABC123DEFG is the key id of key "apple"; write the Services ID or App ID as Apple shows it under Identifiers, such as com.example.web
        c.yaml:8:35: error: client id DEF123GHIJ.com.example.web begins with the team id; write "com.example.web", without the prefix that profiles and entitlements show
        c.yaml:9:34: warning: client id ABC123DEFX looks like the id of a team or a key; write the Services ID or App ID as Apple shows it under Identifiers, such as com.example.web
        c.yaml:10:36: warning: client id ABC123DEFX.com.example.web begins with ABC123DEFX, which looks like the id of a team; write it without the prefix that profiles and entitlements show
        c.yaml:11:34: warning: client id searchads.27478e71-3bb0-4588-998c-182e2b405577 looks like one of Apple Ads; write SEARCHADS. and the id, in capitals, and "kind: apple_ads"
        ## settings that do not fit the kind
        keys:
          apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, file: /etc/k/key.p8}
          ads: {team_id: SEARCHADS.1, key_id: bacaebda-e219-41ee-a907-e2c25b24d1b2, file: /etc/k/ads.pem}
        defaults: {key: apple, lifetime: 400d}
        clients:
          a: {client_id: SEARCHADS.1, lifetime: max, outputs: [{path: /run/a}]}
          b: {kind: apple_ads, key: ads, client_id: com.example.web, lifetime: 180d, outputs: [{path: /run/b}]}
          c: {kind: apple_ads, client_id: SEARCHADS.1, lifetime: max, outputs: [{path: /run/c}]}
          d: {kind: music, client_id: com.example.web, lifetime: 183d, outputs: [{path: /run/d}]}
          e: {kind: maps, origin: [https://a.example, https://b.example], outputs: [{path: /run/e}]}
          f: {kind: maps, scope: all, lifetime: max, outputs: [{path: /run/f}]}
          g: {kind: musik, lifetime: max, outputs: [{path: /run/g}]}
          h: {kind: music, origin: https://a.example/, lifetime: max, outputs: [{path: /run/h}]}
          i: {kind: music, origin: http://a.example, lifetime: max, outputs: [{path: /run/i}]}
          j: {kind: maps, scope: mapkit_js, verify: true, lifetime: max, outputs: [{path: /run/j}]}
          k: {kind: apple_ads, key: ads, lifetime: max, outputs: [{path: /run/k}]}
          l: {kind: music, origin: "https://WWW.example.com:443", lifetime: max, outputs: [{path: /run/l}]}
        ->
        c.yaml:4:34: error: "400d" is longer than is minted; write 366d or less, or max
        c.yaml:6:18: error: client "a": client id SEARCHADS.1 fits kind apple_ads, not sign_in; write "kind: apple_ads", or the Services ID or App ID, such as com.example.web
        c.yaml:7:45: error: client "b": client id com.example.web fits kind sign_in, not apple_ads; write "kind: sign_in", or the client id from Apple Ads, which begins with SEARCHADS.
        c.yaml:7:72: error: "180d" is longer than Apple accepts; write 179d23h55m or less, or max
        c.yaml:8:13: error: client "c" has kind apple_ads, but its key "apple" does not fit: team id DEF123GHIJ fits kind sign_in, music or maps, not apple_ads; write another key or kind
        c.yaml:9:31: error: client "d": a token of kind music has no client id; remove "client_id"
        c.yaml:9:58: error: "183d" is longer than Apple accepts; write 182d14h25m or less, or max
        c.yaml:10:27: error: client "e": a token of kind maps has one origin; write one client for each
        c.yaml:11:26: error: client "f": "all" is not a scope of kind maps; write mapkit_js or server_api
        c.yaml:12:13: error: "musik" is not a kind of token; did you mean "music"?
        c.yaml:13:28: error: "https://a.example/" is not an origin; write "https://a.example"
        c.yaml:14:28: error: "http://a.example" is not an origin; write it like https://www.example.com, without a path
        c.yaml:15:45: warning: client "j" cannot be verified, because Apple offers no check of a Maps token for web pages; remove "verify", or write "scope: server_api" for a server's token
        c.yaml:16:13: error: client "k": kind apple_ads needs the client id from Apple Ads, which begins with SEARCHADS.; write "client_id"
        c.yaml:17:28: error: "https://WWW.example.com:443" is not an origin; write "https://www.example.com"
        ## a client's name that is the team's id
        @keys
        clients: {DEF123GHIJ: {@out}}
        ->
        c.yaml:2:11: error: client id DEF123GHIJ is the team id of key "apple"; write the Services ID or App ID as Apple shows it under Identifiers, such as com.example.web
        ## keys
        keys:
          bare: {}
          empty:
          both:
            team_id: DEF123GHIJ
            key_id: ABC123DEFG
            credential: apple
            file: /etc/k/key.p8
            passphrase_file: hunter2
            passphrase_credential: also
          # passphrases are not quoted
          first: {team_id: DEF123GHIJ, key_id: ABC123DEFG, credential: a/b, passphrase_file: hunter2}
          second: {team_id: DEF123GHIJ, key_id: ABC123DEFG, file: key.p8, passphrase_credential: hunter/2}
          third: {team_id: DEF123GHIJ, key_id: ABC123DEFG, file: /k.p8, passphrase_file: /k.p8}
          misspelt:
            teamid: DEF123GHIJ
            keyid: ABC123DEFG
            path: /etc/k/key.p8
            passphrase: correct horse
          named: {team_id: DEF123GHIJ, key_id: XYZ123DEFG, file: /etc/k/AuthKey_ABC123DEFG.p8}
        clients: {web: {key: named, @out}}
        ->
        c.yaml:2:3: error: key "bare" has no "team_id"; write the team's ten characters
        c.yaml:2:3: error: key "bare" names no private key; write "file" or "credential"
        c.yaml:3:3: error: key "empty" is empty; write its settings below it, indented, or remove the line
        c.yaml:8:5: error: "file" and "credential" exclude each other; keep one
        c.yaml:9:22: error: the value is not an absolute path; begin it with "/"
        c.yaml:10:5: error: "passphrase_file" and "passphrase_credential" exclude each other; keep one
        c.yaml:12:64: error: "a/b" is not a credential's name; write the name that LoadCredential= gives it, without a path
        c.yaml:12:86: error: the value is not an absolute path; begin it with "/"
        c.yaml:13:59: error: "key.p8" is not an absolute path; begin it with "/"
        c.yaml:13:90: error: the value is not a credential's name; write the name that LoadCredential= gives it
        c.yaml:14:82: error: this is the private key itself; write the file that holds its passphrase
        c.yaml:15:3: error: key "misspelt" names no private key; write "file" or "credential"
        c.yaml:16:5: error: unknown key "teamid"; did you mean "team_id"?
        c.yaml:17:5: error: unknown key "keyid"; did you mean "key_id"?
        c.yaml:18:5: error: unknown key "path"; key "misspelt" takes team_id, key_id, file, credential, passphrase_file, passphrase_credential and public_key
        c.yaml:19:5: error: unknown key "passphrase"; key "misspelt" takes team_id, key_id, file, credential, passphrase_file, passphrase_credential and public_key
        c.yaml:20:40: warning: key id XYZ123DEFG is not the one in the file's name, ABC123DEFG; write the one that Apple shows for this key
        ## lists and mappings where a value belongs
        @keys
        clients:
          web:
            client_id: [com.example.web]
            lifetime: {days: 90}
            key:
            outputs: /run/x
            on_change: {restart: myapp.service}
            verify: {}
          api:
            outputs:
            credential: []
        ->
        c.yaml:4:16: error: "client_id" is a list; write one value
        c.yaml:5:15: error: "lifetime" has settings of its own; write one value
        c.yaml:6:5: error: "key" has no value; write one or remove the line
        c.yaml:7:14: error: "outputs" is a list; begin each of its items with "- "
        c.yaml:8:16: error: "on_change" is a list; begin each of its items with "- "
        c.yaml:9:13: error: "verify" has settings of its own; write one value
        c.yaml:11:5: error: "outputs" is empty; write its items below it as "- …"
        c.yaml:12:17: error: "credential" is a list; write its settings as "name: value", without "-"
        ## a list for clients
        @keys
        clients:
          - web: {@out}
        ->
        c.yaml:3:3: error: "clients" is a list; write its settings as "name: value", without "-"
        ## settings of clients
        @keys
        clients:
          a: 5
          b: [outputs]
          c: {lifetime: 90, outputs: [{path: /run/c}]}
          d: {lifetime: 90 days, outputs: [{path: /run/d}]}
          e: {lifetime: 59s, outputs: [{path: /run/e}]}
          f: {lifetime: 15776701s, outputs: [{path: /run/f}]}
          g: {lifetime: 6 months, outputs: [{path: /run/g}]}
          h: {lifetime: -1d, outputs: [{path: /run/h}]}
          i: {lifetime: 99999999999999999999d, outputs: [{path: /run/i}]}
          j: {lifetime: Max, outputs: [{path: /run/j}]}
          k: {lifetime: 60s, outputs: [{path: /run/k}]}
          l: {lifetime: 67s, outputs: [{path: /run/l}]}
          m: {lifetime: 68s, outputs: [{path: /run/m}]}
          n: {lifetime: 2m, renew_before: 119s, outputs: [{path: /run/n}]}
          o:
          p: {outputs: []}
          q: {credential: {unit: a.service, name: s}, on_change: [{restart: a.service}]}
          r: {verify: yes, outputs: [{path: /run/r}]}
          s: {verify: "false", outputs: [{path: /run/s}]}
          t: {verify: perhaps, outputs: [{path: /run/t}]}
          u: {verify: False, outputs: [{path: /run/u}]}
        ->
        c.yaml:3:6: error: client "a" is one value; write its settings as "name: value", indented
        c.yaml:4:6: error: client "b" is a list; write its settings as "name: value", without "-"
        c.yaml:5:17: error: "90" has no unit; write 90s, 90m, 90h or 90d
        c.yaml:6:17: error: "90 days" is not a duration; write it like 90d, 12h, 1d12h or max
        c.yaml:7:17: error: "59s" is too short; write 1m or more
        c.yaml:8:17: error: "15776701s" is longer than Apple accepts; write 182d14h25m or less, or max
        c.yaml:9:17: error: "6 months" is not a duration; write it like 90d, 12h, 1d12h or max
        c.yaml:10:17: error: "-1d" is not a duration; write it like 90d, 12h, 1d12h or max
        c.yaml:11:17: error: what looks like a pasted key or token is not a duration; write it like 90d, 12h, 1d12h or max
        c.yaml:12:17: error: "Max" is not a duration; did you mean "max"?
        c.yaml:13:17: warning: a lifetime of 1m is too short: renewals are at least 60s apart, and by the next one the secret has nearly expired; write 2m or more
        c.yaml:17:3: error: client "o" has no outputs; write "outputs" with a "path"
        c.yaml:18:3: error: client "p" has no outputs; write "outputs" with a "path"
        c.yaml:20:15: error: "yes" is neither true nor false; write true
        c.yaml:22:15: error: "perhaps" is neither true nor false; write true or false
        c.yaml:23:15: error: "False" is neither true nor false; write false
        ## renew_before
        @keys
        defaults: {lifetime: 10d, renew_before: 5d}
        clients:
          a: {renew_before: 10d, @out}
          b: {lifetime: 5d, outputs: [{path: /run/b}]}
          c: {renew_before: max, outputs: [{path: /run/c}]}
          d: {renew_before: 0s, outputs: [{path: /run/d}]}
          e: {renew_before: 400d, outputs: [{path: /run/e}]}
        ->
        c.yaml:4:21: error: renew_before 10d is not shorter than the lifetime 10d of client "a"; write less, such as 3d8h
        c.yaml:5:17: error: renew_before 5d is not shorter than the lifetime 5d of client "b"; write less, such as 1d16h
        c.yaml:6:21: error: "max" is not a duration; write it like 30d, 12h or 1d12h
        c.yaml:7:21: error: "0s" is too short; write 1s or more
        c.yaml:8:21: error: "400d" is too long; write 366d or less
        ## no such key
        keys:
          apple: {team_id: DEF123GHIJ, credential: a, key_id: ABC123DEFG}
          banana: {team_id: DEF123GHIJ, credential: b, key_id: ABC123DEFG}
        clients:
          a: {key: aple, @out}
          b: {key: cherry, outputs: [{path: /run/b}]}
          c: {outputs: [{path: /run/c}]}
        ->
        c.yaml:5:12: error: there is no key "aple"; did you mean "apple"?
        c.yaml:6:12: error: there is no key "cherry"; write apple or banana
        c.yaml:7:3: error: client "c" does not name its key; write "key:" with apple or banana, or "key: apple" under "defaults:" for every client that names none
        ## outputs
        @keys
        clients:
          web:
            outputs:
              - /run/x
              - {}
              - path: web.jwt
              - path: /run/../x
              - path: ~/x
              - path: /run/y/
              - path: /run/a
                format: environment
              - path: /run/b
                format: env
              - path: /run/c
                variable: SECRET
              - path: /run/d
                format: json
                variable: SECRET
              - path: /run/e
                format: env
                variable: 1SECRET
              - path: /run/f
                format: jsn
              - path: /run/g
                variable: APPLE SECRET
              - path: /run/h
                format: template
              - path: /run/i
                format: template
                template: "id={{client_id}}"
              - path: /run/j
                format: template
                template: "{{client_secret}} {{clientid}}"
              - path: /run/k
                format: template
                template: "{{client_secret}} {{"
              - path: /run/l
                format: json
                template: "{{client_secret}}"
        ->
        c.yaml:5:9: error: an output has settings of its own; write "- path: …"
        c.yaml:6:9: error: this output has no "path"; write the file that holds the secret
        c.yaml:7:15: error: "web.jwt" is not an absolute path; begin it with "/"
        c.yaml:8:15: error: "/run/../x" contains "..", which can lead somewhere else; write the path without it
        c.yaml:9:15: error: "~/x" is not an absolute path; begin it with "/": "~" has no meaning here
        c.yaml:10:15: error: "/run/y/" names a directory; write the path of a file
        c.yaml:12:17: error: unknown format "environment"; did you mean "env"?
        c.yaml:14:17: error: format env needs a "variable"; write the one that holds the secret
        c.yaml:16:9: error: format raw has no variable; write "format: env" or remove the line
        c.yaml:19:9: error: format json has no variable; write "format: env" or remove the line
        c.yaml:22:19: error: "1SECRET" is not a variable's name; use letters, digits and "_", such as APPLE_CLIENT_SECRET
        c.yaml:24:17: error: unknown format "jsn"; did you mean "json"?
        c.yaml:26:9: error: format raw has no variable; write "format: env" or remove the line
        c.yaml:26:19: error: "APPLE SECRET" is not a variable's name; use letters, digits and "_", such as APPLE_CLIENT_SECRET
        c.yaml:28:17: error: format template needs a "template"; write the text of the file, with {{client_secret}} in it
        c.yaml:31:19: error: the template has no {{client_secret}}; write it where the secret belongs
        c.yaml:34:19: error: "clientid" is no name for a template; write one of client_secret, client_id, team_id, key_id, issued_at, expires_at, or "{{{{" for two braces
        c.yaml:37:19: error: a "{{" is not closed; write "}}" after the name, or "{{{{" for two braces
        c.yaml:40:9: error: format json has no template; write "format: template" or remove the line
        ## modes, users and groups
        @keys
        control_group: the admins
        clients:
          web:
            outputs:
              - {path: /run/a, mode: rw-r-----}
              - {path: /run/b, mode: 2640}
              - {path: /run/c, mode: 0240}
              - {path: /run/d, mode: 0648}
              - {path: /run/e, mode: 777777}
              - {path: /run/f, mode: 0644}
              - {path: /run/g, mode: 0602}
              - {path: /run/h, mode: "0666"}
              - {path: /run/i, mode: 0o640}
              - {path: /run/j, mode: 640}
              - {path: /run/k, group: www data, as: -app}
              - {path: /run/l, group: 4294967295, as: 33}
              - {path: /run/m, as: 'CORP\ann'}
              - {path: /run/n, as: a@corp.example}
              - {path: /run/o, as: pc$}
        ->
        c.yaml:2:16: error: "the admins" is not a group; write its name or number
        c.yaml:6:30: error: "rw-r-----" is not a mode; write it in octal, such as 0640
        c.yaml:7:30: error: mode 2640 holds more than permissions; write 0640
        c.yaml:8:30: error: mode 0240 does not let the owner read the file, but the daemon must read it; write 0640
        c.yaml:9:30: error: "0648" is not a mode; write it in octal, such as 0640
        c.yaml:10:30: error: "777777" is not a mode; write it in octal, such as 0640
        c.yaml:11:30: warning: mode 0644 lets every user read the secret; write 0640 and a group
        c.yaml:12:30: warning: mode 0602 lets every user overwrite the secret; write 0600 and a group
        c.yaml:13:30: warning: mode 0666 lets every user read and overwrite the secret; write 0660 and a group
        c.yaml:16:31: error: "www data" is not a group; write its name or number
        c.yaml:16:45: error: "-app" is not a user; write its name or number
        c.yaml:17:31: error: "4294967295" is not a group; write its name or number
        c.yaml:18:28: error: "CORP\ann" cannot be a part of a unit's name, as the writer's has to be; write the user's number
        c.yaml:20:28: error: "pc$" cannot be a part of a unit's name, as the writer's has to be; write the user's number
        """#
}
