import Push
import Rotation
import Testing

@testable import Config

/// One entry of `targets`.
@Suite struct TargetSettingsTests {
    private func target(_ settings: String) throws -> PushTarget {
        let loaded = try parse(
            """
            keys: {apple: {team_id: DEF123GHIJ, file: /etc/k/AuthKey_ABC123DEFG.p8}}
            clients: {web: {outputs: [{push: production}]}}
            targets: {production: {\(settings)}}

            """
        ).get()
        #expect(loaded.warnings.isEmpty)
        return try #require(loaded.located.main.targets.first?.target)
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
            clients:
              web: {outputs: [{push: web}, {push: own}]}
              ios: {outputs: [{push: ios}, {push: far}]}

            """
        ).get()
        let documents: [String: String] = loaded.configuration.clients.values.reduce(into: [:]) { all, client in
            for (target, document) in client.documents { all[target.description] = document }
        }
        #expect(documents.keys.sorted() == ["far", "ios", "web"])
        #expect(documents["web"] == documents["ios"])
        #expect(documents["far"] != documents["ios"])
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
}
