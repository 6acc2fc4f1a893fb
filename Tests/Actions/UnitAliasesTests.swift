import AppleClientSecret
import Model
import TestSupport
import Testing

@testable import Actions

struct UnitAliasesTests {
    private static let names = [
        "httpd.service": "apache.service", "www.service": "apache.service", "apache.service": "apache.service",
    ]

    private static func restart(_ unit: String) -> Action { .unit(verb: .restart, unit: unit) }

    /// The actions of each client, by systemd's names.
    private func actions(_ lists: [Action]..., named names: [String: String] = names) throws -> [[String]] {
        var configuration = try Self.configuration(lists)
        configuration = configuration.withOneName(ofUnitsCalled: names)
        return configuration.clients.sorted { $0.key < $1.key }.map { $0.value.onChange.map(\.id.description) }
    }

    private static func configuration(_ lists: [[Action]]) throws -> Configuration {
        var clients: [ClientName: ClientConfiguration] = [:]
        for (index, list) in lists.enumerated() {
            clients[try #require(ClientName("c\(index)"))] = ClientConfiguration(
                clientID: try #require(ClientID("com.example.web")), key: try #require(KeyName("apple")),
                lifetime: try #require(Lifetime(seconds: 7_776_000)), renewBefore: 86_400, outputs: [],
                onChange: list)
        }
        return Configuration(keys: [:], clients: clients)
    }

    /// Each is known by its text, and would run for itself.
    @Test func anActionThatIsWrittenWithTwoNamesOfAUnitIsOne() throws {
        let (apache, httpd, www) = (
            Self.restart("apache.service"), Self.restart("httpd.service"), Self.restart("www.service")
        )
        #expect(try actions([httpd], [apache]) == [["restart apache.service"], ["restart apache.service"]])
        // One that is written, where its own name is not.
        #expect(try actions([www], [httpd]) == [["restart httpd.service"], ["restart httpd.service"]])
        #expect(try actions([www]) == [["restart www.service"]])
        // In one list once, at the first place.
        let other = Self.restart("a.service")
        #expect(try actions([httpd, other, apache]) == [["restart apache.service", "restart a.service"]])
        let hang = Action.signal(unit: "httpd.service", signal: "SIGHUP")
        #expect(
            try actions([hang], [.signal(unit: "apache.service", signal: "SIGHUP")])
                == [["signal SIGHUP apache.service"], ["signal SIGHUP apache.service"]])
    }

    @Test func whatIsNotTheSameStaysAsItIsWritten() throws {
        let reload = Action.unit(verb: .reload, unit: "apache.service")
        let httpd = Self.restart("httpd.service")
        #expect(try actions([httpd, reload]) == [["restart httpd.service", "reload apache.service"]])
        let programs = [30, 40].map { Action.exec(arguments: ["/a"], timeout: $0) }
        #expect(try actions([programs[0]], [programs[1]]) == [["exec /a"], ["exec /a"]])
        // Where systemd does not answer.
        #expect(
            try actions([httpd], [Self.restart("apache.service")], named: [:])
                == [["restart httpd.service"], ["restart apache.service"]])
    }
}
