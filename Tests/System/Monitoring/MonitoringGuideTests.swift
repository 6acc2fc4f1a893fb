import Foundation
import TestSupport
import Testing

/// The screens in docs/monitoring.md are what the program shows: each scenario is brought about, and looked at, again.
///
/// Times of day, short spans and fingerprints differ each time; everything else has to stand there as it is shown. A block
/// that differs is told whole, to be put into the guide.
@Suite(.waits, .needs(.venv, .tools)) struct MonitoringGuideTests {
    static let scenarios: [String: @Sendable (GuideFixture) throws -> String] = [
        "healthy": { field in
            try field.start([
                field.client("app", age: 10), field.client("shop", age: 40),
                field.client("web", age: 55, more: "    on_change:\n      - exec: [/usr/bin/true]"),
            ])
            try field.sandbox.eventually("everything done") {
                try field.sandbox.command("status").output.contains("1 of 1 ok  1 of 1 ok")
            }
            return try field.looks("status", "health")
        },
        "failing": { field in
            try FileManager.default.removeItem(atPath: field.sandbox.directory("srv/shop"))
            try field.start([
                field.client("app", age: 40),
                field.client("shop", directory: "srv/shop"),
                field.client("web", more: "    on_change:\n      - exec: [/usr/bin/false]"),
            ])
            try field.sandbox.eventually("a failure") {
                try field.sandbox.command("status").output.contains("web is degraded: exec /usr/bin/false")
            }
            try field.sandbox.awaitRest()
            return try field.looks("status", "health")
        },
        "key": { field in
            try field.start([field.client("app", age: 10), field.client("shop", age: 40), field.client("web", age: 55)])
            try field.sandbox.permit(field.sandbox.key, 0o644)
            try field.sandbox.eventually("notice of it") {
                try field.sandbox.command("status").output.contains("app, shop and web are ")
            }
            try field.sandbox.awaitRest()
            return try field.looks("status", "health")
        },
        "expired": { field in
            let clients = try [field.client("web", age: 95)]
            try FileManager.default.removeItem(atPath: field.sandbox.key)
            try field.start(clients)
            try field.sandbox.awaitRest()
            return try field.looks("status", "health")
        },
        "contested": { field in
            try field.start([field.client("web", age: 40)])
            try field.sandbox.eventually("a contested output") {
                if try field.sandbox.directory.read("out/web.jwt") != "PORT=80\n" {
                    try field.sandbox.directory.write("PORT=80\n", to: "out/web.jwt")
                }
                return try field.sandbox.command("status").output.contains(
                    #/web is critical: .* something else goes on changing it/#)
            }
            return try field.looks("status")
        },
        "unreachable": { field in
            try field.configure([field.client("web", age: 40)])
            return try field.looks("status", "health", "health --offline")
        },
        "refused": { field in
            let clients = try [field.client("web", age: 40)]
            try field.start(clients)
            try field.configure(
                clients.map {
                    $0.replacingOccurrences(of: "outputs", with: "outptus")
                        .replacingOccurrences(of: "lifetime: 90d", with: "lifetime: 200d")
                })
            return try field.looks("reload", "status")
        },
        "check": { field in
            try FileManager.default.removeItem(atPath: field.sandbox.directory("srv/shop"))
            try field.configure([
                field.client("app", age: 40), field.client("shop", directory: "srv/shop"), field.client("web", age: 95),
            ])
            return try field.looks("check")
        },
        "watch": { field in
            try field.start([field.client("web", age: 40)])
            let console = try Console(
                columns: 100, rows: 12,
                "NO_COLOR=1 \(field.sandbox.binary) status --watch --socket \(field.sandbox.socket); exec sleep 600")
            try console.wait(for: "web     ok")
            field.sandbox.stop()
            let screen = try console.wait(for: "Not reachable since")
            // A terminal parts lines where they end for it; here paths have other lengths than in the guide.
            let joined = screen.joined(separator: "\n").replacingOccurrences(of: "\n  ", with: " ")
            return "# clientsecretd status --watch\n" + field.shown(joined)
        },
    ]

    /// The blocks of the guide, by the names in the comments before them.
    private static func screens() throws -> [String: String] {
        let guide = try String(contentsOfFile: repository + "/docs/monitoring.md", encoding: .utf8)
        let found = guide.matches(of: #/<!-- screen: (.+?) -->\n```console\n((?s:.*?))\n```\n/#)
        return Dictionary(uniqueKeysWithValues: found.map { (String($0.output.1), String($0.output.2)) })
    }

    @Test func everyScreenHasItsScenario() throws {
        #expect(Set(try Self.screens().keys) == Set(Self.scenarios.keys))
    }

    @Test(arguments: scenarios.keys.sorted())
    func theScreenIsWhatIsShown(name: String) throws {
        let scenario = try #require(Self.scenarios[name])
        let screen = try Self.screens()[name] ?? ""
        let shown = try scenario(GuideFixture())
        #expect(Self.lasting(shown) == Self.lasting(screen), "docs/monitoring.md, screen \(name), is to be:\n\(shown)")
    }

    /// What is the same each time.
    private static func lasting(_ text: String) -> String {
        let changes: [(Regex<Substring>, String)] = [
            (#/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/#, "TIME"),
            (#/sha256:[0-9a-f]{16}/#, "FINGERPRINT"),
            (#/now|in [0-9]+ (?:second|minute)s?|[0-9]+ (?:second|minute)s? ago/#, "SOON"),
            // A fleet does not renew at one moment: each host has an hour of its own.
            (#/in [0-9]+ days/#, "in DAYS"),
            (#/=[0-9]+s/#, "=SPAN"),
            (#/ +/#, " "),
            // Left out while it is being made.
            (#/; next attempt TIME \(SOON\)/#, ""),
        ]
        return changes.reduce(text) { text, change in text.replacing(change.0, with: change.1) }
    }
}

/// A machine for a scenario of the guide, whose paths are shown as those of a real one.
struct GuideFixture {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        try FileManager.default.createDirectory(
            atPath: sandbox.directory("srv/shop"), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
    }

    /// A client of 90 days and 30 before their end.
    ///
    /// - Parameter age: how many days and half a one its secret is old; nil for none.
    func client(_ name: String, age: Int? = nil, directory: String = "out", more: String = "") throws -> String {
        if let age { try sandbox.directory.write(token(for: name, age: age), to: "\(directory)/\(name).jwt") }
        return sandbox.client(name, more: "    renew_before: 30d\n" + more)
            .replacingOccurrences(of: sandbox.directory("out"), with: sandbox.directory(directory))
    }

    func configure(_ clients: [String]) throws {
        try sandbox.configure(clients.joined())
    }

    func start(_ clients: [String]) throws {
        try configure(clients)
        try sandbox.start()
    }

    /// What these commands say to both streams, and how they exit where that is not 0.
    func looks(_ commands: String...) throws -> String {
        try commands.map { line in
            let arguments = line.split(separator: " ").map(String.init)
            let looked = try run(
                [sandbox.binary] + arguments,
                environment: [
                    "CLIENTSECRETD_CONFIG": sandbox.directory("clientsecretd.yaml"),
                    "CLIENTSECRETD_SOCKET": sandbox.socket, "LC_ALL": "C.UTF-8",
                ])
            let status = looked.status == 0 ? "" : "# echo $?\n\(looked.status)\n"
            return "# clientsecretd \(line)\n" + shown(looked.output + looked.complaints) + status
        }.joined(separator: "\n").trimmingCharacters(in: .newlines)
    }

    /// `text` with the paths of a machine that is set up as the package does it.
    func shown(_ text: String) -> String {
        [
            (sandbox.directory("keys"), "/etc/clientsecretd"), (sandbox.directory("out"), "/run/clientsecretd/out"),
            (sandbox.directory("srv"), "/srv"),
            (sandbox.directory("clientsecretd.yaml"), "/etc/clientsecretd/clientsecretd.yaml"),
            (sandbox.socket, "/run/clientsecretd/clientsecretd.sock"), (sandbox.state, "/var/lib/clientsecretd"),
            (" --config /etc/clientsecretd/clientsecretd.yaml", ""),
            (" --socket /run/clientsecretd/clientsecretd.sock", ""),
            ("create /srv/shop for \(NSUserName())", "create /srv/shop for clientsecretd"),
            ("mkdir -m 0755 /srv/shop", "mkdir -m 0755 /srv/shop && chown clientsecretd /srv/shop"),
        ].reduce(text) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }

    /// A secret as the daemon would have minted it that long ago, made by PyJWT.
    private func token(for name: String, age: Int) throws -> String {
        let script = """
            import sys, time, jwt
            start = int(time.time() - (int(sys.argv[2]) + 0.5) * 86400)
            claims = {'iss': 'DEF123GHIJ', 'iat': start - 60, 'exp': start + 90 * 86400,
                      'aud': 'https://appleid.apple.com', 'sub': 'com.example.' + sys.argv[3]}
            print(jwt.encode(claims, open(sys.argv[1]).read(), 'ES256', {'kid': 'ABC123DEFG'}), end='')
            """
        let made = try run([python, "-c", script, sandbox.key, String(age), name])
        try #require(made.status == 0, "\(made.complaints)")
        return made.output
    }
}
