extension ErrorCase {
    /// The YAML itself, and secrets in wrong places.
    static let ofYAML = #"""
        ## anchors, aliases, tags
        @keys
        clients:
          a: &a {@out}
          b: *a
          c: {<<: *a, outputs: [{path: /run/c}]}
          d: {lifetime: !!str 90d, outputs: !list [{path: /run/d}]}
          ? [x]
          : {}
          e: {client_id: {{ client }}, outputs: [{path: /run/e}]}
        ->
        c.yaml:3:6: error: anchors ("&") are not used here; write shared settings under "defaults"
        c.yaml:4:6: error: aliases ("*") are not used here; put a value that begins with "*" in quotes
        c.yaml:5:7: error: unknown key "<<"; shared settings are under "defaults"
        c.yaml:5:11: error: aliases ("*") are not used here; put a value that begins with "*" in quotes
        c.yaml:6:17: error: tags ("!") are not used here; put a value that begins with "!" in quotes
        c.yaml:6:37: error: tags ("!") are not used here; put a value that begins with "!" in quotes
        c.yaml:7:5: error: a name must be plain text; put a value that begins with "{" or "[" in quotes
        c.yaml:9:19: error: a name must be plain text; put a value that begins with "{" or "[" in quotes
        ## pasted secrets
        keys:
          apple:
            team_id: -----BEGIN PRIVATE KEY-----
            key_id: MIGTAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBHkwdwIBAQQgq3Lk0
            file: |
              -----BEGIN PRIVATE KEY-----
              MIGTAgEAMBMGByqGSM49AgEGCCqGSM49
              -----END PRIVATE KEY-----
            passphrase_file: eyJhbGciOiJFUzI1NiJ9.eyJ.x
            MIGTAgEAMBMGByqGSM49AgEGCCqGSM49: 1
        clients:
          web:
            key: eyJhbGciOiJFUzI1NiJ9
            client_id: "a b c d e f g h i j k l m n o p q r s t u v w x y z"
            lifetime: "9\u0000d"
            renew_before: "9\ed"
            verify: Ab3-Cd4_Ef5-Gh6_Ij7-Kl8
            on_change: [{restart: Zürich}]
            @out
        ->
        c.yaml:3:14: error: what looks like a pasted PEM file is not a team id; write its ten characters A–Z and 0–9 (Apple shows it next to your name)
        c.yaml:4:13: error: what looks like a pasted key or token is not a key id; write its ten characters A–Z and 0–9 (it is in the name of the file, AuthKey_<KEYID>.p8)
        c.yaml:5:11: error: a PEM file is pasted here; save it as a file that only root can read, and write its path
        c.yaml:9:22: error: the value is not an absolute path; begin it with "/"
        c.yaml:10:5: error: unknown key, what looks like a pasted key or token; key "apple" takes team_id, key_id, file, credential, passphrase_file, passphrase_credential and public_key
        c.yaml:13:10: error: there is no key, what looks like a pasted key or token; write apple
        c.yaml:14:16: error: a text of 51 characters is not a Services ID or App ID; write it as Apple shows it, such as com.example.web
        c.yaml:15:15: error: a NUL character; no setting may hold one
        c.yaml:16:19: error: a text of 3 characters is not a duration; write it like 30d, 12h or 1d12h
        c.yaml:17:13: error: what looks like a pasted key or token is neither true nor false; write true or false
        c.yaml:18:27: error: a text of 6 characters has no unit suffix; write NAME.service
        ## a tab
        keys:
        @tabapple: x
        ->
        c.yaml:2:1: error: a tab; indent with spaces
        ## a second document
        @keys
        ---
        clients: {}
        ->
        c.yaml:2:1: error: a second document begins; remove "---" and write everything in one
        ## an open quote
        keys:
          apple: "x
          b: c
        ->
        c.yaml:2:10: error: a quote is not closed; close it on the same line
        ## an open bracket
        keys: [a, b
        clients: c
        ->
        c.yaml:1:7: error: a "[" is not closed; separate the items by "," and end them with "]"
        ## an open brace
        keys: {a: b
        ->
        c.yaml:1:7: error: a "{" is not closed; separate the items by "," and end them with "}"
        ## two colons
        keys: a: b
        ->
        c.yaml:1:8: error: a second ":" in one value, or the line is indented too far; put a value that holds ": " in quotes
        ## indentation
        keys:
            a: b
          c: d
        ->
        c.yaml:3:3: error: the indentation fits none of the lines above; indent it like the lines it belongs to
        ## a colon is missing
        keys:
          a: b
          cd
          e: f
        ->
        c.yaml:3:3: error: a ":" is missing after the name; write it as "name: value"
        ## a reserved character
        keys: @x
        ->
        c.yaml:1:7: error: a value cannot begin with "@"; put it in quotes
        ## an escape
        keys: "\d"
        ->
        c.yaml:1:8: error: an unknown escape after "\"; use single quotes where a backslash means itself
        ## a percent sign
        keys: %x
        ->
        c.yaml:1:7: error: a value cannot begin with "%"; put it in quotes
        ## an item on the line of its name
        keys: - a
        ->
        c.yaml:1:7: error: not allowed on the same line; begin a new, indented line
        ## a stray text
        keys: {}
        }
        ->
        c.yaml:2:1: error: the indentation fits none of the lines above; indent it like the lines it belongs to
        ## an unknown tag handle
        keys: !x!y z
        ->
        c.yaml:1:7: error: tags ("!") are not used here; put a value that begins with "!" in quotes
        """#
}
