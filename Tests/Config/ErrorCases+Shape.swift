extension ErrorCase {
    /// The shape of the file: sections, names, what is missing.
    static let ofShape = #"""
        ## empty file
        ->
        c.yaml:1:1: error: the file is empty; write keys and clients, or remove it and create one with 'init'
        ## only a comment
        # nothing
        ->
        c.yaml:1:1: error: the file is empty; write keys and clients, or remove it and create one with 'init'
        ## an empty document
        ---
        ->
        c.yaml:1:1: error: the file is empty; write keys and clients, or remove it and create one with 'init'
        ## a list
        - keys
        ->
        c.yaml:1:1: error: the configuration is a list; write its settings as "name: value", without "-"
        ## one value
        keys
        ->
        c.yaml:1:1: error: the configuration is one value; write its settings as "name: value", indented
        ## nothing but keys
        @keys
        ->
        c.yaml:1:1: error: no clients; write "clients" with a name and its "client_id"
        ## no keys
        clients: {web: {@out}}
        ->
        c.yaml:1:1: error: no keys; write "keys" with the private key that Apple gave you
        ## empty sections
        keys:
        clients:
        ->
        c.yaml:1:1: error: "keys" is empty; write its settings below it, indented, or remove the line
        c.yaml:2:1: error: "clients" is empty; write its settings below it, indented, or remove the line
        ## empty mappings
        keys: {}
        clients: {}
        ->
        c.yaml:1:1: error: no clients; write "clients" with a name and its "client_id"
        c.yaml:1:1: error: no keys; write "keys" with the private key that Apple gave you
        ## misspelt at the top
        key: {apple: {team_id: DEF123GHIJ, credential: k, key_id: ABC123DEFG}}
        @keys
        client: {}
        clients: {web: {@out}}
        colour: blue
        ->
        c.yaml:1:1: error: unknown key "key"; did you mean "keys"?
        c.yaml:3:1: error: unknown key "client"; did you mean "clients"?
        c.yaml:5:1: error: unknown key "colour"; the configuration takes keys, defaults, clients, on_state_change, control_group, state_dir, metrics_file, trusted_directories, targets and store
        ## misspelt in a client
        @keys
        clients:
          web:
            lifetme: 90d
            renew-before: 30d
            Key: apple
            output: []
            domain: example.com
            @out
        ->
        c.yaml:4:5: error: unknown key "lifetme"; did you mean "lifetime"?
        c.yaml:5:5: error: unknown key "renew-before"; did you mean "renew_before"?
        c.yaml:6:5: error: unknown key "Key"; did you mean "key"?
        c.yaml:7:5: error: unknown key "output"; did you mean "outputs"?
        c.yaml:8:5: error: unknown key "domain"; client "web" takes client_id, kind, origin, scope, from, key, lifetime, renew_before, outputs, on_change, deliver_over, verify, credential, share and rollout
        ## unknown in a list's items
        @keys
        clients:
          web:
            outputs:
              - path: /run/x
                varable: X
                owner: app
            on_change:
              - restrt: myapp.service
              - restart: myapp.service
                when: always
        ->
        c.yaml:6:9: error: unknown key "varable"; did you mean "variable"?
        c.yaml:7:9: error: unknown key "owner"; an output takes path, format, variable, template, mode, group and as
        c.yaml:9:9: error: unknown key "restrt"; did you mean "restart"?
        c.yaml:11:9: error: unknown key "when"; an action takes restart, reload, reload_or_restart, start, signal, exec and timeout
        ## duplicate keys
        @keys
        clients:
          web:
            lifetime: 90d
            lifetime: 80d
            @out
          web: {@out}
        ->
        c.yaml:5:5: error: "lifetime" is already in line 4; keep one
        c.yaml:7:3: error: "web" is already in line 3; keep one
        """#
}
