import Model
import Push
import Testing

@testable import Config

/// One entry of `targets`.
@Suite struct TargetSettingsTests {
    /// The settings that each of these kinds needs, without a token.
    private static let kinds = [
        "VAULT": #"kind: vault, endpoint: "https://v.example""#, "VERCEL": "kind: vercel, project: a, variable: B",
        "NETLIFY": "kind: netlify, account: a, site: b, variable: C",
        "HTTP": #"kind: http, url: "https://v.example", body: "{{client_secret}}""#,
    ]

    private func text(_ settings: String) -> String {
        """
        keys: {apple: {team_id: DEF123GHIJ, file: /etc/k/AuthKey_ABC123DEFG.p8}}
        clients: {web: {outputs: [{push: production}]}}
        targets: {production: {\(Self.kinds.reduce(settings) { $0.replacing($1.key, with: $1.value) })}}

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
        ("VAULT, path: data/apps/web, token_file: /t", "begins with \"data/\""),
        ("VAULT, mount: kv/data, path: a, token_file: /t", "ends in \"/data\""),
        ("VAULT, path: secret/apps, token_file: /t", "begins with \"secret/\""),
        ("VERCEL, environments: [preview], token_file: /t", "nothing for production"),
        ("VAULT, path: apps/data, token_file: /t", ""),
        ("VERCEL, environments: [preview, production], token_file: /t", ""),
    ])
    func warnsOfWhatLeadsElsewhere(settings: String, words: String) throws {
        let loaded = try parse(text(settings)).get()
        #expect(loaded.warnings.count == (words.isEmpty ? 0 : 1), "\(loaded.warnings)")
        #expect(loaded.warnings.allSatisfy { $0.message.contains(words) }, "\(loaded.warnings)")
    }

    @Test(arguments: [
        ("VAULT, path: ../a, token_file: /t", "somewhere else"),
        ("kind: vault, path: a, token_file: /t", "no \"endpoint\""), ("VAULT, token_file: /t", "no \"path\""),
        ("VAULT, path: a", "names no token"), ("kind: vaul, token_file: /t", "did you mean"),
        ("kind: supabase, projekt: a, token_file: /t", "did you mean"),
        ("kind: supabase, project: a, redeploy: true, token_file: /t", "redeploy"),
        ("VERCEL, redeploy: perhaps, token_file: /t", "neither true nor false"),
        ("VERCEL, environments: [preview], redeploy: true, token_file: /t", "which deploys production"),
        ("VERCEL, environments: [development], token_file: /t", "write production or preview"),
        ("VERCEL, environments: [prodution], token_file: /t", "did you mean"),
        ("VERCEL, environments: [], token_file: /t", "is an empty list"),
        ("VERCEL, environments: [production, production], token_file: /t", "is already in the list"),
        ("NETLIFY, context: all, token_file: /t", "write production, deploy-preview or branch-deploy"),
        ("NETLIFY, context: prodution, token_file: /t", "did you mean"),
        ("NETLIFY, context: deploy-preview, redeploy: true, token_file: /t", "which deploys production"),
        (#"kind: http, url: "https://v.example", body: nothing, token_file: /t"#, "no {{client_secret}}"),
        (#"HTTP, headers: {A: "{{client_secret}}"}"#, "can hold only {{token}}"),
        ("HTTP, done: []", "is an empty list"), ("HTTP, done: [200, 200]", "\"200\" is already in the list"),
        (#"HTTP, headers: {A: "{{token}}"}"#, "names no token"),
        ("HTTP, headers: {X-Key: a, x-key: b}", "already there as \"X-Key\""),
        (#"HTTP, headers: {A: "-----BEGIN PRIVATE KEY-----"}"#, "holds a private key, which is never sent"),
    ])
    func anErrorIsNamed(settings: String, words: String) {
        let said = diagnose(text(settings))
        #expect(said.contains { $0.contains("c.yaml:3:") && $0.contains(": error: ") && $0.contains(words) }, "\(said)")
    }
}
