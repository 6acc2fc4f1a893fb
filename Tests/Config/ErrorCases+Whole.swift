extension ErrorCase {
    /// What does not fit together.
    static let ofWhole = #"""
        ## defaults
        @keys
        defaults:
          client_id: com.example.web
          lifetime: 1
          lifetimes: 90d
        clients: {a: {@out}, b: {outputs: [{path: /run/b}]}}
        ->
        c.yaml:3:3: error: "client_id" belongs to one client; write it under that client
        c.yaml:4:13: error: "1" has no unit; write 1s, 1m, 1h or 1d
        c.yaml:5:3: error: unknown key "lifetimes"; did you mean "lifetime"?
        ## a default that harms several clients
        @keys
        defaults: {lifetime: 90d, renew_before: 90d}
        clients: {a: {@out}, b: {outputs: [{path: /run/b}]}}
        ->
        c.yaml:2:41: error: renew_before 90d is not shorter than the lifetime 90d of client "a"; write less, such as 30d
        c.yaml:2:41: error: renew_before 90d is not shorter than the lifetime 90d of client "b"; write less, such as 30d
        ## outputs over what matters
        keys:
          apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, file: /etc/k/key.p8, passphrase_file: /etc/k/pass}
        state_dir: /srv/state
        metrics_file: /srv/m.prom
        targets: {production: {kind: supabase, project: abcdefghijklmnop, token_file: /etc/tokens/target}}
        store: {endpoints: [https://e:2379], user: u, password_file: /etc/tokens/store}
        clients:
          web:
            outputs:
              - path: /etc/k/./key.p8
              - path: /etc/k//pass
              - path: /etc/c.yaml
              - path: /etc/c.d/x.yaml
              - path: /etc/c.d
              - path: /srv/state
              - path: /srv/state/web
              - path: /srv/m.prom
              - path: /usr/bin/hook
              - path: /etc/tokens/target
              - path: /etc/tokens/store
              - path: /srv/state2
            on_change: [{exec: [/usr/bin/hook]}]
        ->
        c.yaml:10:15: error: /etc/k/key.p8 is the private key of "apple"; write another path
        c.yaml:11:15: error: /etc/k/pass is the passphrase of key "apple"; write another path
        c.yaml:12:15: error: /etc/c.yaml is the configuration; write another path
        c.yaml:13:15: error: /etc/c.d/x.yaml is in the configuration's directory; write another path
        c.yaml:14:15: error: /etc/c.d is in the configuration's directory; write another path
        c.yaml:15:15: error: /srv/state is the state directory; write another path
        c.yaml:16:15: error: /srv/state/web is in the state directory /srv/state; write another path
        c.yaml:17:15: error: /srv/m.prom is the metrics_file; write another path
        c.yaml:18:15: error: /usr/bin/hook is a program that the daemon runs; write another path
        c.yaml:19:15: error: /etc/tokens/target is the token of target "production"; write another path
        c.yaml:20:15: error: /etc/tokens/store is the "password_file" of the store; write another path
        ## trust in what matters
        keys:
          apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, file: /keys/key.p8}
        state_dir: /srv/state
        trusted_directories: [/, /etc, /etc/c.d, /srv/state, /usr/bin, secrets, /srv/state/x, /keys/, /secrets, {}]
        clients:
          web:
            outputs: [{path: /secrets/web.jwt}]
            on_change: [{exec: [/usr/bin/hook]}]
        ->
        c.yaml:4:23: error: "/" is the root directory; write the directory that is mounted
        c.yaml:4:26: error: it contains /etc/c.yaml, the configuration, which other users must not change; write a directory without it
        c.yaml:4:32: error: it contains /etc/c.d, the directory of the configuration, which other users must not change; write a directory without it
        c.yaml:4:42: error: it contains /srv/state, the state directory, which other users must not change; write a directory without it
        c.yaml:4:54: error: it contains /usr/bin/hook, a program that the daemon runs, which other users must not change; write a directory without it
        c.yaml:4:64: error: "secrets" is not an absolute path; begin it with "/"
        c.yaml:4:105: error: a trusted directory has settings of its own; write one value
        ## a key or passphrase as a login secret
        keys:
          apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, file: /k.p8, passphrase_file: /pass}
        targets:
          production: {kind: supabase, project: abcdefghijklmnop, token_file: /k.p8}
          other: {kind: vault, endpoint: "https://v", path: x, token_file: /pass}
        store:
          {endpoints: ["https://etcd:2379"], user: a, password_file: /k.p8, certificate_file: /c.pem, key_file: /k.p8}
        clients: {web: {outputs: [{push: production}, {push: other}]}}
        ->
        c.yaml:4:71: error: /k.p8 is the private key of "apple"; write another path
        c.yaml:5:68: error: /pass is the passphrase of key "apple"; write another path
        c.yaml:7:62: error: /k.p8 is the private key of "apple"; write another path
        c.yaml:7:105: error: /k.p8 is the private key of "apple"; write another path
        ## metrics over what matters
        keys:
          apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, file: /etc/k/key.p8}
        metrics_file: /etc/k/key.p8
        clients: {web: {@out}}
        ->
        c.yaml:3:15: error: /etc/k/key.p8 is the private key of "apple"; write another path
        ## relative state and metrics
        @keys
        state_dir: state
        metrics_file: /srv/
        clients: {web: {@out}}
        ->
        c.yaml:2:12: error: "state" is not an absolute path; begin it with "/"
        c.yaml:3:15: error: "/srv/" names a directory; write the path of a file
        ## the default state directory
        @keys
        clients: {web: {outputs: [{path: /var/lib/clientsecretd/web}]}}
        ->
        c.yaml:2:34: error: /var/lib/clientsecretd/web is in the state directory /var/lib/clientsecretd; write another path
        ## one file, several outputs
        @keys
        clients:
          a:
            outputs:
              - {path: /run/a, mode: 0600}
              - {path: /run/a}
              - {path: /run/e, format: env, variable: A, mode: 0600, group: www}
              - {path: /run/e, format: env, variable: A, mode: 0600, group: www}
          b:
            outputs:
              - {path: /run/e, format: env, variable: B, mode: 0640, as: app}
              - {path: /run/e, format: json}
        ->
        c.yaml:6:16: error: /run/a is already an output of client "a" (line 5); write another path, or format env in both
        c.yaml:8:16: error: client "a" already sets variable "A" of /run/e (line 7); write another variable or another path
        c.yaml:11:16: error: /run/e has no group here and group www in client "a" (line 7); write the same in both
        c.yaml:11:56: error: /run/e has mode 0640 here and mode 0600 in client "a" (line 7); write the same in both
        c.yaml:11:66: error: /run/e has "as" app here and no "as" in client "a" (line 7); write the same in both
        c.yaml:12:16: error: /run/e is already an output of client "a" (line 7); write another path, or format env in both
        ## one default output for two clients
        @keys
        defaults: {outputs: [{path: /run/x}]}
        clients: {a: , b: }
        ->
        c.yaml:2:29: error: /run/x is already an output of client "a" (line 2); write another path, or format env in both
        ## two clients with one client id
        @keys
        clients:
          a: {client_id: com.example.web, @out}
          com.example.web: {outputs: [{path: /run/b}]}
        ->
        c.yaml:4:3: warning: "com.example.web" is also the client id of "a" (line 3); one client may have several outputs
        ## a store that is right
        @keys
        store:
          endpoints: [https://etcd1:2379, "https://[::1]:2379/"]
          user: app17
          machine: app17.example.com
          prefix: /apple/secrets
          ca_file: /etc/s/ca.pem
          certificate_file: /etc/s/client.pem
          key_file: /etc/s/client.key
          password_file: /etc/s/password
        clients: {web: {@out}}
        ->
        ## a store that is wrong throughout
        @keys
        store:
          endpoints: ["http://etcd1:2379", "https://etcd1:2379/v3", https://e, https://e:443, {a: b}]
          user: a b
          machine: a/b
          prefix: /a/
          ca_file: ca.pem
          certificat_file: /x
          password_file: hunter2
        clients: {web: {@out}}
        ->
        c.yaml:3:15: error: "http://etcd1:2379" is not the address of a member; write https://, a host and a port, such as https://etcd1.example.com:2379
        c.yaml:3:36: error: "https://etcd1:2379/v3" is not the address of a member; write https://, a host and a port, such as https://etcd1.example.com:2379
        c.yaml:3:72: error: "https://e" is already in the list; remove one
        c.yaml:3:87: error: an endpoint has settings of its own; write one value
        c.yaml:4:9: error: "a b" cannot be an etcd user; use at most 255 letters, digits and "-._@:/+"
        c.yaml:5:12: error: "a/b" cannot be a machine's name; use at most 253 letters, digits and "-._"
        c.yaml:6:11: error: "/a/" is not a key prefix; write printable text like /clientsecretd, with "/" at its start and not at its end
        c.yaml:7:12: error: "ca.pem" is not an absolute path; begin it with "/"
        c.yaml:8:3: error: unknown key "certificat_file"; did you mean "certificate_file"?
        c.yaml:9:18: error: the value is not an absolute path; begin it with "/"
        ## files of the store that belong to nothing, and an output over one
        @keys
        store:
          key_file: /k.key
          password_file: /run/x
        clients: {web: {@out}}
        ->
        c.yaml:2:1: error: "store" has no "endpoints"; write a list with the address of each member of etcd, such as https://etcd1.example.com:2379
        c.yaml:3:3: error: "key_file" belongs to a certificate; write "certificate_file" as well
        c.yaml:4:3: error: "password_file" belongs to a user; write "user" as well
        c.yaml:5:34: error: /run/x is the "password_file" of the store; write another path
        ## targets are checked
        @keys
        targets:
          one: {kind: vault, path: a, endpoint: "http://vault.example.com", token_file: /t}
          two: {kind: supabase, token_file: /t, token_credential: t}
        clients: {web: {outputs: [{push: one}]}}
        ->
        c.yaml:3:41: error: "http://vault.example.com" is not an address for secrets; write https://, a host and, if needed, a path (http:// only on this machine)
        c.yaml:4:3: error: target "two" has no "project"; write the project's reference, twenty letters in its address
        c.yaml:4:41: error: "token_credential" and "token_file" exclude each other; keep one
        ## outputs that push
        @keys
        targets:
          one: {kind: supabase, project: abcdefghijklmnopqrst, token_file: /t}
          two: {kind: supabase, project: abcdefghijklmnopqrsu, token_file: /t}
        clients:
          a: {outputs: [{push: one, mode: "0600"}, {push: on}]}
          b: {outputs: [{push: one}, {push: two, path: /run/b}]}
          c: {outputs: [{push: "../x"}, {push: elsewhere}]}
        ->
        c.yaml:6:29: error: a target is not a file and has no "mode"; remove the line
        c.yaml:6:51: error: there is no target "on"; did you mean "one"?
        c.yaml:7:24: error: target "one" is already an output of client "a" (line 6) and holds only one secret; write another target
        c.yaml:7:42: error: an output is a file or a target; write "push" and "path" as two outputs
        c.yaml:8:24: error: "../x" is not a name; use at most 64 letters, digits, ".", "-" and "_"
        c.yaml:8:40: error: there is no target "elsewhere"; write one or two
        ## targets that are one place
        @keys
        targets:
          # one document of two members
          a-one: {kind: aws_secrets_manager, region: eu-central-1, secret_id: apps, field: web, token_file: /t}
          a-two: {kind: aws_secrets_manager, region: eu-central-1, secret_id: apps, field: ios, token_file: /t}
          a-three: {kind: aws_secrets_manager, region: eu-west-1, secret_id: apps, field: ios, token_file: /t}
          a-four: {kind: aws_secrets_manager, region: eu-central-1, secret_id: apps, field: web, token_file: /t}
          a-five: {kind: aws_secrets_manager, region: eu-central-1, secret_id: apps, token_file: /t}
          # one project
          b-one: {kind: supabase, project: abcdefghijklmnopqrst, token_file: /t}
          b-two: {kind: supabase, project: abcdefghijklmnopqrst, token_file: /t}
          b-three: {kind: supabase, project: abcdefghijklmnopqrst, token_file: /u}
          # the order of a list, a token
          c-one: {kind: vercel, project: shop, team: team_1, variable: A, environments: [production, preview], token_file: /t}
          c-two: {kind: vercel, project: shop, team: team_1, variable: A, environments: [preview, production], token_file: /u}
          c-three: {kind: vercel, project: shop, team: team_1, variable: A, token_file: /u}
          c-four: {kind: vercel, project: shop, team: team_1, variable: B, token_file: /u}
          c-five: {kind: vercel, project: own, variable: A, token_file: /t}
          c-six: {kind: vercel, project: own, variable: A, token_file: /u}
          c-seven: {kind: netlify, account: shop, site: s, variable: A, token_file: /t}
          c-eight: {kind: netlify, account: shop, site: s, variable: A, token_file: /u}
          c-nine: {kind: kubernetes, namespace: n, secret: s, token_file: /t}
          c-ten: {kind: kubernetes, namespace: n, secret: s}
          # whoever logs in
          d-one: {kind: pocketbase, endpoint: "https://pb.example.com", user: a@example.com, token_file: /t}
          d-two: {kind: pocketbase, endpoint: "https://PB.example.com:443", user: b@example.com, token_file: /u}
          d-three: {kind: pocketbase, endpoint: "https://pb.example.com:8443", user: b@example.com, token_file: /u}
          # an address in two ways, headers in another order
          e-one: {kind: http, url: "https://api.example.com/secret", body: "{{client_secret}}", token_file: /t}
          e-two: {kind: http, url: "https://API.example.com:443/secret", body: "{{client_secret}}", token_file: /t}
          e-three: {kind: http, url: "https://api.example.com/Secret", body: "{{client_secret}}", token_file: /t}
          e-four: {kind: http, url: "https://api.example.com/me", body: "{{client_secret}}", headers: {A: "{{token}}", B: b}, token_file: /t}
          e-five: {kind: http, url: "https://api.example.com/me", body: "{{client_secret}}", headers: {b: b, a: "{{token}}"}, token_file: /t}
          e-six: {kind: http, url: "https://api.example.com/me", body: "{{client_secret}}", headers: {A: "{{token}}", B: b}, token_file: /u}
          # another name of this machine, the scheme's own port
          f-one: {kind: vault, endpoint: "http://127.0.0.1:8200", path: apps/web, token_file: /t}
          f-two: {kind: vault, endpoint: "http://localhost:8200/", path: apps/web, token_file: /t}
          f-three: {kind: vault, endpoint: "http://[::1]:8200", path: apps/web, token_file: /u}
          f-four: {kind: http, url: "http://localhost/me", body: "{{client_secret}}", token_file: /t}
          f-five: {kind: http, url: "http://127.0.0.1:80/me", body: "{{client_secret}}", token_file: /t}
          f-six: {kind: vault, endpoint: "http://127.0.0.1:8201", path: apps/web, token_file: /t}
          f-seven: {kind: aws_secrets_manager, region: eu-central-1, secret_id: apps, endpoint: "https://aws.example", token_file: /t}
          f-eight: {kind: aws_secrets_manager, region: eu-central-1, secret_id: apps, endpoint: "https://AWS.example:443", token_file: /t}
        clients: {a: {outputs: [{push: a-one}]}}
        ->
        c.yaml:7:3: error: target "a-four" overwrites what target "a-one" writes (line 4); write a "field" of its own for each, or another "secret_id"
        c.yaml:8:3: error: target "a-five" overwrites what target "a-one" writes (line 4); write a "field" of its own for each, or another "secret_id"
        c.yaml:11:3: error: target "b-two" is the same place as target "b-one" (line 10); remove one of them, or write another place
        c.yaml:12:3: error: target "b-three" is the same place as target "b-one" (line 10); remove one of them, or write another place
        c.yaml:15:3: error: target "c-two" is the same place as target "c-one" (line 14); remove one of them, or write another place
        c.yaml:16:3: error: target "c-three" is the same place as target "c-one" for production (line 14); remove one of them, or write another place
        c.yaml:21:3: error: target "c-eight" is the same place as target "c-seven" (line 20); remove one of them, or write another place
        c.yaml:23:3: error: target "c-ten" is the same place as target "c-nine" (line 22); remove one of them, or write another place
        c.yaml:26:3: error: target "d-two" is the same place as target "d-one" (line 25); remove one of them, or write another place
        c.yaml:30:3: error: target "e-two" is the same place as target "e-one" (line 29); remove one of them, or write another place
        c.yaml:33:3: error: target "e-five" is the same place as target "e-four" (line 32); remove one of them, or write another place
        c.yaml:37:3: error: target "f-two" overwrites what target "f-one" writes (line 36); write a "field" of its own for each, or another "path"
        c.yaml:38:3: error: target "f-three" overwrites what target "f-one" writes (line 36); write a "field" of its own for each, or another "path"
        c.yaml:40:3: error: target "f-five" is the same place as target "f-four" (line 39); remove one of them, or write another place
        c.yaml:43:3: error: target "f-eight" overwrites what target "f-seven" writes (line 42); write a "field" of its own for each, or another "secret_id"
        ## two addresses of one member of etcd, and a machine whose name is a directory's
        @keys
        store: {endpoints: ["https://localhost:2379", "https://127.0.0.1:2379", "https://etcd1.example:443", "https://ETCD1.example"], machine: ..}
        clients: {web: {@out}}
        ->
        c.yaml:2:47: error: "https://127.0.0.1:2379" is already in the list; remove one
        c.yaml:2:102: error: "https://etcd1.example" is already in the list; remove one
        c.yaml:2:137: error: ".." cannot be a machine's name; write another one
        ## a push without targets
        @keys
        clients: {a: {outputs: [{push: one}]}}
        ->
        c.yaml:2:32: error: there is no target "one"; write it under "targets" in the main file
        """#
}
