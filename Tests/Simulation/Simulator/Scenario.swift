import AppleClientSecret
package import Model
import Rotation
import TestSupport

/// The configuration that every simulation begins with.
package enum Scenario {
    package static let day: Int64 = 86_400

    /// The file that two clients share with each other and with another program.
    package static var environment: AbsolutePath { sure(AbsolutePath("/srv/app/.env")) }

    /// The target of "alone", whose API shows what it holds; that of "silent", whose API does not; and that of "unit", which
    /// shows nothing either and belongs to a project that is deployed again.
    static let shown = sure(TargetName("shown"))
    static let blind = sure(TargetName("blind"))
    static let deployed = sure(TargetName("deployed"))
    static let project = "shop"

    /// Five clients and two keys: one alone; two that share an environment file and an action; one with two outputs and
    /// a unit, and the other key; one without actions, with two variables in a file of its own. Apple is asked about
    /// the new secrets of three of them, or also about those of the two that share.
    ///
    /// - Parameters:
    ///   - pushes: whether the other three have a target each too.
    ///   - hasKinds: whether these three have tokens of Apple Ads, MusicKit and MapKit.
    package static func configuration(
        verifiesAll: Bool = false, pushes: Bool = false, hasKinds: Bool = false
    ) -> Configuration {
        let shared = Action.exec(arguments: ["/bin/shared"], timeout: 30)
        let clients = [
            "alone": client("alone", [raw("alone")], [.exec(arguments: ["/bin/alone"], timeout: 30)]),
            "web": client("web", [raw("web"), variable("SECRET_web", in: environment)], [shared]),
            "native": client("native", [raw("native"), variable("SECRET_native", in: environment)], [shared]),
            "unit": client(
                "unit", key: "other",
                [raw("unit"), Output(path: sure(AbsolutePath("/srv/unit/unit.json")), format: .json)],
                [.unit(verb: .restart, unit: "myapp.service")]),
            "silent": client(
                "silent",
                [
                    variable("ONE", in: sure(AbsolutePath("/srv/silent/.env"))),
                    variable("TWO", in: sure(AbsolutePath("/srv/silent/.env"))),
                ], []),
        ]
        let notice = Action.exec(arguments: ["/bin/page", "%s"], timeout: 30)
        var configuration = Configuration(
            keys: ["apple": key("ABC123DEFG"), "other": key("HIJ456KLMN")].named { KeyName($0) },
            clients: clients.named { ClientName($0) }, onStateChange: [notice])
        for name in configuration.clients.keys { configuration.live(for: 90 * day, name) }
        for name in configuration.clients.keys {
            configuration.clients[name]?.verify = verifiesAll || !["web", "native"].contains(name.description)
        }
        if pushes { addTargets(to: &configuration) }
        if hasKinds {
            for (client, id) in kinds { configuration.clients[sure(ClientName(client))]?.clientID = id }
        }
        return configuration
    }

    private static let kinds = [
        "alone": sure(ClientID("SEARCHADS.27478e71-3bb0-4588-998c-182e2b405577")),
        "unit": ClientID.music(origins: [sure(WebOrigin("https://music.example"))]),
        "silent": sure(ClientID.maps(origin: WebOrigin("https://maps.example"))),
    ]

    private static func addTargets(to configuration: inout Configuration) {
        for (client, target) in [("alone", shown), ("silent", blind), ("unit", deployed)] {
            configuration.clients[sure(ClientName(client))]?.targets = [
                PushOutput(target: target, place: target.description)
            ]
        }
        configuration.clients[sure(ClientName("unit"))]?.onChange.append(
            .redeploy(project: project, targets: [deployed]))
    }

    package static func raw(_ name: String) -> Output {
        Output(path: sure(AbsolutePath("/run/clientsecretd/out/\(name).jwt")), format: .raw)
    }

    private static func variable(_ name: String, in path: AbsolutePath) -> Output {
        Output(path: path, format: .env, slot: .variable(name))
    }

    private static func client(
        _ name: String, key: String = "apple", _ outputs: [Output], _ actions: [Action]
    ) -> ClientConfiguration {
        ClientConfiguration(
            clientID: sure(ClientID("com.example.\(name)")), key: sure(KeyName(key)), lifetime: .maximum,
            renewBefore: 1, outputs: outputs, onChange: actions)
    }

    private static func key(_ id: String) -> KeyConfiguration {
        KeyConfiguration(
            team: sure(TeamID("DEF123GHIJ")), keyID: sure(KeyID(id)),
            location: .file(sure(AbsolutePath("/etc/clientsecretd/AuthKey_\(id).p8"))))
    }
}

extension Configuration {
    /// Gives a client's secrets another lifetime, or the longest one of their kind; they are renewed when a third of it is left.
    package mutating func live(for seconds: Int64, _ client: ClientName) {
        guard let kind = clients[client]?.clientID.kind else { return }
        let seconds = min(seconds, Lifetime.longest(of: kind).seconds.count)
        clients[client]?.lifetime = sure(Lifetime(seconds: Seconds(seconds), of: kind))
        clients[client]?.renewBefore = Seconds(seconds / 3)
    }
}

extension Dictionary where Key == String {
    fileprivate func named<Name: Hashable>(_ name: (String) -> Name?) -> [Name: Value] {
        reduce(into: [:]) { $0[sure(name($1.key))] = $1.value }
    }
}

/// Unwraps a value that the scenario itself wrote to be valid.
func sure<Value>(_ value: Value?) -> Value {
    guard let value else { fatalError("a \(Value.self) of the scenario's is not valid") }
    return value
}
