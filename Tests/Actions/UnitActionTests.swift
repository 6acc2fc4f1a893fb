import AppleClientSecret
import Model
import Testing

@testable import Actions

struct UnitActionTests {
    /// Two names of one unit make two actions, of which each runs.
    @Test func anActionThatIsWrittenWithTwoNamesOfAUnitIsFound() {
        let names = ["httpd.service": "apache.service", "www.service": "apache.service"]
        func restart(_ unit: String) -> Action { .unit(verb: .restart, unit: unit) }
        func found(_ actions: [Action]) -> [String] {
            UnitAction.doubles(in: actions, named: names).map {
                "\($0.action) for \($0.own) as \($0.others.map(\.description))"
            }
        }
        #expect(
            found([restart("apache.service"), restart("httpd.service"), restart("httpd.service")])
                == [#"restart httpd.service for restart apache.service as ["restart apache.service"]"#])
        #expect(
            found([restart("www.service"), restart("httpd.service")])
                == [
                    #"restart httpd.service for restart apache.service as ["restart www.service"]"#,
                    #"restart www.service for restart apache.service as ["restart httpd.service"]"#,
                ])
        let hang = Action.signal(unit: "httpd.service", signal: "SIGHUP")
        #expect(found([hang, .signal(unit: "apache.service", signal: "SIGHUP")]).count == 1)
        // One name is enough, and different orders are different actions.
        #expect(found([restart("httpd.service")]) == [])
        #expect(found([restart("httpd.service"), .unit(verb: .reload, unit: "apache.service"), hang]) == [])
        #expect(found([restart("a.service"), restart("b.service"), .exec(arguments: ["/a"], timeout: 30)]) == [])
    }
}
