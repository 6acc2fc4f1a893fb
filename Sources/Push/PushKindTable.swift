package import AppleClientSecret
import Failures

extension PushKind {
    /// Every kind with requests of its own; `http` is made of what its target says.
    package static let all = [supabase, vercel, pocketbase, kubernetes, vault, awsSecretsManager]

    /// The Management API. What it shows of a secret is a digest.
    static let supabase = PushKind(
        name: "supabase",
        settings: [PushSetting("project", advice: "the project's reference, twenty letters in its address")],
        endpoint: "https://api.supabase.com", authorization: .bearer,
        write: PushRequest(
            "PATCH", "/v1/projects/{{project}}/config/auth",
            body: .json(#"{"external_apple_secret":{{client_secret}}}"#)),
        read: PushRequest("GET", "/v1/projects/{{project}}/config/auth"),
        shape: [Shape(at: ["external_apple_secret"], is: [.text, .null])],
        shown: .hmac(at: ["external_apple_secret"], key: "project"))

    /// A sensitive variable is never shown again, and acts with the next deployment only.
    static let vercel = PushKind(
        name: "vercel",
        settings: [
            PushSetting("project", advice: "the project's name or id"),
            PushSetting("team", standard: "", advice: "the team's id, team_…"),
            PushSetting("variable", advice: "the environment variable's name"),
            PushSetting(
                "environments", standard: #"["production"]"#, advice: "a list of environments",
                choices: [
                    .init("production"), .init("preview"),
                    .init(
                        "development",
                        obstacle:
                            "Vercel takes no sensitive variable for development; write production, preview or both"),
                ]),
        ], endpoint: "https://api.vercel.com", authorization: .bearer,
        merge: .variable(in: ["envs"], named: "variable", environments: "environments"),
        write: PushRequest(
            "POST", "/v10/projects/{{project}}/env", query: [.init("upsert", "true"), .init("teamId", "{{team}}")],
            body: .json(
                #"{"key":{{variable}},"value":{{client_secret}},"type":"sensitive","target":{{environments!}}}"#),
            done: [200, 201]),
        read: variables, shape: [Shape(at: ["envs"], is: [.array])], shown: .nothing,
        redeployment: Redeployment(
            variables: variables,
            deployments: PushRequest(
                "GET", "/v6/deployments",
                query: [
                    .init("projectId", "{{project}}"), .init("target", "production"), .init("since", "{{changed}}"),
                    .init("limit", "100"), .init("teamId", "{{team}}"),
                ]),
            current: PushRequest("GET", "/v9/projects/{{project}}", query: [.init("teamId", "{{team}}")]),
            start: PushRequest(
                "POST", "/v13/deployments", query: [.init("forceNew", "1"), .init("teamId", "{{team}}")],
                body: .json(
                    #"{"name":{{project_name}},"deploymentId":{{deployment}},"target":"production","#
                        + #""meta":{"action":"redeploy"}}"#))),
        errors: [
            // Both statuses mean success otherwise, but the variable was not set.
            ErrorRule(status: 200, contains: ["ENV_CONFLICT"], meaning: .pushEnvironmentsConflict),
            ErrorRule(status: 201, contains: ["ENV_CONFLICT"], meaning: .pushEnvironmentsConflict),
            ErrorRule(status: 200, contains: [#""failed":[{"#, #""failed": [{"#], meaning: .pushRejected),
            ErrorRule(status: 201, contains: [#""failed":[{"#, #""failed": [{"#], meaning: .pushRejected),
            ErrorRule(status: 403, contains: ["rate_limited"], meaning: .pushRateLimited),
            ErrorRule(contains: ["ENV_CONFLICT"], meaning: .pushEnvironmentsConflict),
        ])

    private static let variables = PushRequest(
        "GET", "/v10/projects/{{project}}/env", query: [.init("teamId", "{{team}}")])

    /// Secrets of providers are shown as blanks, also to superusers; one that is sent as a blank is kept.
    static let pocketbase = PushKind(
        name: "pocketbase",
        settings: [
            PushSetting("user", advice: "a superuser's address; the token is the password"),
            PushSetting("collection", standard: "users", advice: "an auth collection"),
            PushSetting("provider", standard: "apple", advice: "the provider's name"),
        ], endpoint: nil,
        authorization: .login(
            PushRequest(
                "POST", "/api/collections/_superusers/auth-with-password",
                body: .json(#"{"identity":{{user}},"password":{{token}}}"#)),
            token: ["token"]),
        merge: .provider(of: ["oauth2"], named: "provider"),
        write: PushRequest(
            "PATCH", "/api/collections/{{collection}}", body: .json(#"{"oauth2":{{merged!}}}"#)),
        read: PushRequest("GET", "/api/collections/{{collection}}"),
        shape: [
            Shape(
                at: ["oauth2"], is: [.object], otherwise: "a collection of type auth is needed",
                meaning: .pushPlaceMissing),
            Shape(at: ["oauth2", "providers"], is: [.array, .null]),
        ], shown: .nothing,
        errors: [
            ErrorRule(status: 401, contains: [#""mfaId""#], meaning: .pushSecondFactorWanted),
            // Version 0.40.0 refuses the blanks that stand for the other providers' secrets.
            ErrorRule(
                status: 400,
                contains: [
                    #""clientSecret":{"code":"validation_required""#,
                    #""clientSecret": {"code": "validation_required""#,
                ], meaning: .pushOthersBlank),
        ])

    /// Server-side apply with `force`: the key belongs to our field manager afterwards. Each key has a field manager of its
    /// own, because a manager that applies one key gives up the other keys that it owned.
    static let kubernetes = PushKind(
        name: "kubernetes",
        settings: [
            PushSetting("namespace", advice: "the Secret's namespace"),
            PushSetting("secret", advice: "the Secret's name"),
            PushSetting("key", standard: "client_secret", advice: "the key in the Secret's data"),
        ], endpoint: "https://kubernetes.default.svc", authorization: .bearer,
        write: PushRequest(
            "PATCH", "/api/v1/namespaces/{{namespace}}/secrets/{{secret}}",
            query: [.init("fieldManager", "clientsecretd-{{key}}"), .init("force", "true")],
            headers: [.init("Content-Type", "application/apply-patch+yaml")],
            body: .json(
                #"{"apiVersion":"v1","kind":"Secret","metadata":{"name":{{secret}},"namespace":{{namespace}}},"#
                    + #""data":{ {{key}}:{{client_secret_base64}} }}"#),
            done: [200, 201]),
        read: PushRequest("GET", "/api/v1/namespaces/{{namespace}}/secrets/{{secret}}"),
        shape: [
            Shape(at: ["kind"], is: [.text], equals: "Secret"),
            Shape(
                at: ["immutable"], is: [.truth, .null, .absent], equals: "false",
                otherwise: "an immutable Secret cannot be changed", meaning: .pushImmutable),
            Shape(at: ["data"], is: [.object, .null, .absent]),
            Shape(at: ["data", "{{key}}"], is: [.text, .null, .absent]),
        ], shown: .base64(at: ["data", "{{key}}"]), creation: Creation(),
        // Comes with the status that otherwise means a refused token.
        errors: [
            ErrorRule(status: 403, contains: ["exceeded quota"], meaning: .pushQuotaExceeded),
            ErrorRule(status: 422, contains: ["immutable"], meaning: .pushImmutable),
        ])

    /// KV version 2: what else the secret holds is written back with it, unless somebody wrote meanwhile.
    static let vault = PushKind(
        name: "vault",
        settings: [
            PushSetting("mount", standard: "secret", advice: "where the KV engine is mounted", isPath: true),
            PushSetting("path", advice: "the secret's path below the mount", isPath: true),
            PushSetting("field", standard: "client_secret", advice: "the field's name"),
            PushSetting("namespace", standard: "", advice: "the namespace", isPath: true),
        ], endpoint: nil, authorization: .header("X-Vault-Token"),
        merge: .member(of: ["data", "data"], named: "field", version: ["data", "metadata", "version"]),
        write: PushRequest(
            "POST", "/v1/{{mount/}}/data/{{path/}}", headers: [.init("X-Vault-Namespace", "{{namespace}}")],
            body: .json(#"{"options":{"cas":{{version!}}},"data":{{merged!}}}"#), done: [200, 204]),
        read: PushRequest(
            "GET", "/v1/{{mount/}}/data/{{path/}}", headers: [.init("X-Vault-Namespace", "{{namespace}}")]),
        shape: vaultVersion + [
            Shape(at: ["data", "data"], is: [.object]),
            Shape(at: ["data", "data", "{{field}}"], is: [.text, .null, .absent], meaning: .pushPlaceUnsuitable),
        ], shown: .value(at: ["data", "data", "{{field}}"]),
        creation: Creation(
            // What vault(1) asks before it reads or writes. A mount of version 1 reports every path below data/ as missing, and
            // creates what is written there beside the secret that applications read.
            confirmation: PushRequest(
                "GET", "/v1/sys/internal/ui/mounts/{{mount/}}/{{path/}}",
                headers: [.init("X-Vault-Namespace", "{{namespace}}")]),
            confirmed: [
                Shape(
                    at: ["data", "options", "version"], is: [.text], equals: "2", otherwise: engine,
                    meaning: .pushPlaceUnsuitable)
            ], doubt: "the mount is a KV engine of version 2", evident: vaultVersion,
            misplaced: ["data/", "metadata/", "{{mount}}/"].map { .init(setting: "path", text: $0) }
                + ["/data", "/metadata"].map { .init(setting: "mount", atEnd: true, text: $0) }),
        errors: [
            ErrorRule(status: 400, contains: ["check-and-set"], meaning: .pushConflict),
            ErrorRule(status: 503, contains: ["sealed"], meaning: .pushServerFailed),
        ])

    private static let engine = "a KV engine of version 2 is needed"
    /// What a KV engine of version 1 never answers with.
    private static let vaultVersion = [
        Shape(at: ["data", "metadata", "version"], is: [.number], otherwise: engine, meaning: .pushPlaceUnsuitable)
    ]

    static let awsSecretsManager = PushKind(
        name: "aws_secrets_manager",
        settings: [
            PushSetting("region", advice: "the region, such as eu-central-1"),
            PushSetting("secret_id", advice: "the secret's name or ARN", isPath: true),
            PushSetting("field", standard: "", advice: "the member's name, where the secret is a JSON object"),
        ], endpoint: "https://secretsmanager.{{region}}.amazonaws.com",
        authorization: .awsSignature(service: "secretsmanager"),
        merge: .text(at: ["SecretString"], member: "field"),
        write: aws(
            "PutSecretValue",
            #"{"SecretId":{{secret_id}},"ClientRequestToken":{{request_id}},"SecretString":{{merged_text}}}"#),
        read: aws("GetSecretValue", #"{"SecretId":{{secret_id}}}"#),
        shape: [
            Shape(
                at: ["SecretBinary"], is: [.absent, .null], otherwise: "it is stored as binary",
                meaning: .pushPlaceUnsuitable),
            Shape(at: ["SecretString"], is: [.text]),
        ],
        shown: .text(at: ["SecretString"], member: "field"),
        creation: Creation(shape: [Shape(at: ["__type"], is: [.text])]),
        errors: [
            ErrorRule(contains: ["ResourceNotFoundException"], meaning: .pushPlaceMissing),
            ErrorRule(contains: ["Throttling", "TooManyRequests"], meaning: .pushRateLimited),
            ErrorRule(contains: ["LimitExceededException"], meaning: .pushQuotaExceeded),
            ErrorRule(
                contains: [
                    "AccessDenied", "UnrecognizedClient", "InvalidSignature", "SignatureDoesNotMatch",
                    "IncompleteSignature", "ExpiredToken", "InvalidClientTokenId", "MissingAuthenticationToken",
                    "NotAuthorized",
                ], meaning: .pushCredentialsRefused),
            ErrorRule(contains: ["InternalServiceError"], meaning: .pushServerFailed),
        ])

    private static func aws(_ operation: String, _ body: String) -> PushRequest {
        PushRequest(
            "POST", "/",
            headers: [
                .init("X-Amz-Target", "secretsmanager.\(operation)"),
                .init("Content-Type", "application/x-amz-json-1.1"),
            ], body: .json(body))
    }

    /// The kind that a target describes itself. Its requests' paths are whole addresses.
    ///
    /// - Parameters:
    ///   - headers: templates, in which `{{token}}` may stand.
    ///   - body: as an output's `template`.
    ///   - read: where what is held can be read, and the JSON pointer to it.
    package static func http(
        url: WebAddress, method: String, headers: [PushRequest.Field], body: String, done: Set<Int>,
        read: (url: WebAddress, pointer: [String])?
    ) -> PushKind {
        PushKind(
            name: "http", settings: [], endpoint: "", authorization: .ownHeaders,
            write: PushRequest(method, url.description, headers: headers, body: .template(body), done: done),
            read: read.map {
                PushRequest(
                    "GET", $0.url.description, headers: headers.filter { $0.name.lowercased() != "content-type" })
            }, shape: read.map { shape(along: $0.pointer) } ?? [],
            shown: read.map { .value(at: $0.pointer) } ?? .nothing, creation: Creation())
    }

    /// Where the secret is to be is a text or nothing, in objects or arrays.
    private static func shape(along pointer: [String]) -> [Shape] {
        pointer.indices.map { depth in
            Shape(
                at: Array(pointer[..<depth]),
                is: depth == 0 ? [.object, .array] : [.object, .array, .null, .absent])
        } + [Shape(at: pointer, is: pointer.isEmpty ? [.text] : [.text, .null, .absent])]
    }
}
