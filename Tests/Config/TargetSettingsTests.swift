import Model
import Push
import Testing

@testable import Config

/// One entry of `targets`.
@Suite struct TargetSettingsTests {
    private func text(_ settings: String) -> String {
        """
        keys: {apple: {team_id: DEF123GHIJ, file: /etc/k/AuthKey_ABC123DEFG.p8}}
        clients: {web: {outputs: [{push: production}]}}
        targets: {production: {\(settings)}}

        """
    }

    private func target(_ settings: String) throws -> PushTarget {
        let loaded = try parse(text(settings)).get()
        #expect(loaded.warnings.isEmpty)
        return try #require(loaded.located.main.targets.first?.target)
    }

    /// A JSON pointer without names is for the whole document.
    @Test func anEmptyPointerIsAPointer() throws {
        let read = try target(
            #"kind: http, url: "https://a.example/b", body: "{{client_secret}}", read: {url: "https://a.example/b", pointer: ""}"#
        )
        #expect(read.kind.name == "http")
    }

    /// Two targets with fields of one secret are written together.
    @Test func fieldsOfOneSecretAreOneDocument() throws {
        let loaded = try parse(
            """
            keys: {apple: {team_id: DEF123GHIJ, file: /etc/k/AuthKey_ABC123DEFG.p8}}
            targets:
              web: {kind: aws_secrets_manager, region: eu-central-1, secret_id: apps, field: web, token_file: /t}
              ios: {kind: aws_secrets_manager, region: eu-central-1, secret_id: apps, field: ios, token_file: /t}
              far: {kind: aws_secrets_manager, region: eu-west-1, secret_id: apps, field: ios, token_file: /t}
              own: {kind: vault, endpoint: "https://vault.example.com", path: apps, token_file: /t}
              field: {kind: vault, endpoint: "https://vault.example.com/", path: apps, field: b, token_file: /u}
              path: {kind: vault, endpoint: "https://vault.example.com", path: other, token_file: /t}
              pod: {kind: kubernetes, namespace: n, secret: s, key: a}
            clients:
              web: {outputs: [{push: web}, {push: own}, {push: path}]}
              ios: {outputs: [{push: ios}, {push: far}, {push: field}, {push: pod}]}

            """
        ).get()
        let documents: [String: String] = loaded.configuration.clients.values.reduce(into: [:]) { all, client in
            for (target, document) in client.documents { all[target.description] = document }
        }
        #expect(documents.keys.sorted() == ["far", "field", "ios", "own", "path", "web"])
        #expect(documents["own"] == documents["field"] && documents["own"] != documents["path"])
        #expect(documents["web"] == documents["ios"])
        #expect(documents["far"] != documents["ios"])
    }

    /// Clients' records have it: with another text, an upgrade would forget what was pushed.
    @Test func thePlaceThatIsKeptIsAlwaysTheSameText() throws {
        let vercel = "kind: vercel, project: shop, team: team_1, variable: A, token_file: /t, environments: "
        for list in ["[production, preview]", "[preview, production]"] {
            #expect(try target(vercel + list).place == "2c6c7b1ab67a4802")
        }
        #expect(
            try target("kind: netlify, account: shop, site: s, variable: A, token_file: /t").place == "c1c5c4a0ca76ca49"
        )
    }

    /// What a pod is given, as Kubernetes documents it.
    @Test func kubernetesIsThePodsOwnUnlessItSaysOtherwise() throws {
        let own = try target("kind: kubernetes, namespace: shop, secret: apple")
        #expect(own.endpoint == "https://kubernetes.default.svc")
        #expect(own.token == .file("/var/run/secrets/kubernetes.io/serviceaccount/token"))
        #expect(own.caFile == "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt")
        #expect(own.settings["key"] == "client_secret")
        let mixed = try target(
            "kind: kubernetes, namespace: shop, secret: apple, token_credential: pod, ca_file: /etc/ca.pem")
        #expect(mixed.endpoint == own.endpoint)
        #expect(mixed.token == .credential("pod"))
        #expect(mixed.caFile == "/etc/ca.pem")
        // Another cluster is not shown what this one trusts.
        let another = try target(
            "kind: kubernetes, namespace: shop, secret: apple, token_credential: pod, endpoint: \"https://k8s.example.com\""
        )
        #expect(another.endpoint == "https://k8s.example.com")
        #expect(another.caFile == nil)
    }

    /// Else a secret is put beside the one that is meant, or never reaches what runs.
    @Test(arguments: [
        (#"kind: vault, path: data/apps/web, endpoint: "https://v.example", token_file: /t"#, "begins with \"data/\""),
        (#"kind: vault, mount: kv/data, path: a, endpoint: "https://v.example", token_file: /t"#, "ends in \"/data\""),
        (#"kind: vault, path: secret/apps, endpoint: "https://v.example", token_file: /t"#, "begins with \"secret/\""),
        (#"kind: vault, path: apps, endpoint: "https://v.example/v1", token_file: /t"#, "ends in \"/v1\""),
        (
            #"kind: vercel, project: a, variable: B, environments: [preview], token_file: /t"#,
            "nothing for production"
        ),
        (#"kind: vault, path: apps/data, endpoint: "https://v.example", token_file: /t"#, ""),
        (#"kind: vercel, project: a, variable: B, environments: [preview, production], token_file: /t"#, ""),
    ])
    func warnsOfWhatLeadsElsewhere(settings: String, words: String) throws {
        let loaded = try parse(text(settings)).get()
        #expect(loaded.warnings.count == (words.isEmpty ? 0 : 1), "\(loaded.warnings)")
        #expect(loaded.warnings.allSatisfy { $0.message.contains(words) }, "\(loaded.warnings)")
    }

    @Test(arguments: [
        ("kind: vault, path: ../a, endpoint: \"https://v.example\", token_file: /t", "somewhere else"),
        ("kind: vault, path: a, token_file: /t", "no \"endpoint\""),
        ("kind: vault, endpoint: \"https://v.example\", token_file: /t", "no \"path\""),
        ("kind: vault, path: a, endpoint: \"https://v.example\"", "names no token"),
        ("kind: vaul, token_file: /t", "did you mean"),
        ("kind: supabase, projekt: a, token_file: /t", "did you mean"),
        ("kind: supabase, project: a, redeploy: true, token_file: /t", "redeploy"),
        ("kind: vercel, project: a, variable: B, redeploy: perhaps, token_file: /t", "neither true nor false"),
        (
            "kind: vercel, project: a, variable: B, environments: [preview], redeploy: true, token_file: /t",
            "which deploys production"
        ),
        ("kind: vercel, project: a, variable: B, environments: [development], token_file: /t", "no sensitive variable"),
        ("kind: vercel, project: a, variable: B, environments: [prodution], token_file: /t", "did you mean"),
        ("kind: netlify, account: a, site: b, variable: C, context: all, token_file: /t", "hides no value"),
        ("kind: netlify, account: a, site: b, variable: C, context: prodution, token_file: /t", "did you mean"),
        (
            "kind: netlify, account: a, site: b, variable: C, context: deploy-preview, redeploy: true, token_file: /t",
            "which deploys production"
        ),
        ("kind: http, url: \"https://v.example\", body: \"nothing\", token_file: /t", "no {{client_secret}}"),
        (
            "kind: http, url: \"https://v.example\", body: \"{{client_secret}}\", headers: {A: \"{{client_secret}}\"}",
            "can hold only {{token}}"
        ),
        ("kind: vercel, project: a, variable: B, environments: [], token_file: /t", "is an empty list"),
        (
            "kind: vercel, project: a, variable: B, environments: [production, production], token_file: /t",
            "is already in the list"
        ),
        ("kind: http, url: \"https://v.example\", body: \"{{client_secret}}\", done: []", "is an empty list"),
        (
            "kind: http, url: \"https://v.example\", body: \"{{client_secret}}\", done: [200, 200]",
            "\"200\" is already in the list"
        ),
        (
            "kind: http, url: \"https://v.example\", body: \"{{client_secret}}\", headers: {A: \"{{token}}\"}",
            "names no token"
        ),
        (
            "kind: http, url: \"https://v.example\", body: \"{{client_secret}}\", headers: {X-Key: a, x-key: b}",
            "already there as \"X-Key\""
        ),
        (
            "kind: http, url: \"https://v.example\", body: \"{{client_secret}}\", headers: {A: \"-----BEGIN PRIVATE KEY-----\"}",
            "holds a private key, which is never sent"
        ),
    ])
    func anErrorIsNamed(settings: String, words: String) {
        let said = diagnose(text(settings))
        #expect(said.contains { $0.contains("c.yaml:3:") && $0.contains(": error: ") && $0.contains(words) }, "\(said)")
    }
}
