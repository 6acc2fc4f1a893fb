import Foundation
import TestSupport
import Testing

/// `health` as the monitoring plugins' guidelines want it (https://www.monitoring-plugins.org/doc/guidelines.html), and as
/// those run it who follow them.
@Suite(.waits, .needs(.servers)) struct MonitoringPluginTests {
    /// `'label'=value[UOM];[warn];[crit];[min];[max]`, the label free of quotes and equals signs, the unit one of few.
    nonisolated(unsafe) private static let datum =
        #/'(?<label>[^'=]+)'=(?<value>-?[0-9]+(?:\.[0-9]+)?)(?<unit>s|us|ms|%|B|KB|MB|TB|c|)(?:;(?<limits>[-0-9.:~@;]*))?/#

    /// What a line says by the guidelines; nil when it is not one.
    private static func parsed(_ output: String) -> (state: String, data: [String: Double])? {
        guard output.hasSuffix("\n"), output.utf8.count <= 4096 else { return nil }
        let line = output.dropLast()
        let parts = line.split(separator: "|", omittingEmptySubsequences: false)
        guard !line.contains("\n"), parts.count <= 2,
            let head = parts[0].wholeMatch(of: /CLIENTSECRETD (OK|WARNING|CRITICAL|UNKNOWN) - .+/)
        else { return nil }
        var data: [String: Double] = [:]
        for word in parts.count == 2 ? parts[1].dropFirst().split(separator: " ", omittingEmptySubsequences: false) : []
        {
            guard let match = unsafe word.wholeMatch(of: Self.datum), let value = Double(match.value),
                (match.limits?.count { $0 == ";" } ?? 0) <= 3
            else { return nil }
            data[String(match.label)] = value
        }
        return (String(head.output.1), data)
    }

    /// The command line of a definition that is shipped.
    private static func shipped(_ name: String, _ argument: String) throws -> String {
        let lines = try String(contentsOfFile: definitions, encoding: .utf8).components(separatedBy: "\n")
        let index = try #require(lines.firstIndex { $0.hasPrefix("    command_name") && $0.hasSuffix(" " + name) })
        return lines[index + 1].replacing(#/^ *command_line +/#, with: "").replacing("$ARG1$", with: argument)
    }

    private static let definitions = repository + "/etc/nagios/clientsecretd.cfg"

    @Test func everyStateIsOneLineByTheGuidelines() throws {
        let sandbox = try Sandbox(clients: "web", "app")
        func expect(_ state: String, _ code: Int32, _ clients: [String], _ more: String...) throws {
            // Nothing of what the daemon has adopted is found.
            let flags = ["--socket", sandbox.socket, "--config", sandbox.configuration]
            let answer = try run([sandbox.binary, "health"] + flags + more)
            #expect(answer.status == code && answer.complaints == "", "\(answer)")
            let line = try #require(Self.parsed(answer.output), "\(answer.output)")
            #expect(line.state == state && line.data.keys.sorted() == clients, "\(answer.output)")
            for life in line.data.values { #expect((7_700_000...7_776_000).contains(life)) }
        }
        try sandbox.start()
        try expect("OK", 0, ["app", "web"])
        try expect("OK", 0, ["app", "web"], "--offline")
        for (name, argument) in [
            ("check_clientsecretd", sandbox.socket),
            ("check_clientsecretd_offline", sandbox.configuration),
        ] {
            let command = try Self.shipped(name, argument).replacing("/usr/bin/clientsecretd", with: sandbox.binary)
            #expect(try Self.parsed(run(["sh", "-c", command]).output)?.state == "OK", "\(command)")
        }
        try sandbox.move("out", to: "away")
        try sandbox.eventually("a word on it") { try sandbox.command("health").status == 2 }
        try expect("CRITICAL", 2, [])
        try expect("CRITICAL", 2, [], "--offline")
        try sandbox.move("away", to: "out")
        try sandbox.eventually("its end") { try sandbox.command("health").status == 0 }
        sandbox.stop()
        try expect("WARNING", 1, ["app", "web"])
        try sandbox.directory.write("keys: |\n  a\n", to: "clientsecretd.yaml")
        try expect("UNKNOWN", 3, [])
    }

    @Test func aRealNagiosTakesTheDefinitions() throws {
        let verified = try Self.verifiedByNagios()
        #expect(verified.status == 0, "\(verified)")
        #expect(verified.output.contains("Total Warnings: 0\nTotal Errors:   0"), "\(verified)")
    }

    /// Debian's Nagios with Debian's objects, and ours as they are shipped.
    private static func verifiedByNagios() throws -> Finished {
        let directory = try TemporaryDirectory()
        let root = repository + "/.build/nagios"
        let objects = root + "/etc/nagios4/objects/"
        let commands = try String(contentsOfFile: objects + "commands.cfg", encoding: .utf8)
        let notifying = commands.matches(of: #/define command \{[^}]*notify-[^}]*\}/#).map { String($0.output) }
        #expect(notifying.count == 2)
        try directory.write(notifying.joined(separator: "\n"), to: "commands.cfg")
        try directory.write(
            """
            define command { 
                command_name check-host-alive
                command_line /bin/true
            }
            define host {
                use linux-server
                host_name localhost
                address 127.0.0.1
            }
            define service {
                use generic-service
                host_name localhost
                service_description The same without the daemon
                check_command check_clientsecretd_offline!/etc/clientsecretd/clientsecretd.yaml
            }
            """, to: "host.cfg")
        let user = try run(["id", "--user", "--name"]).output
        let group = try run(["id", "--group", "--name"]).output
        let own = [directory("commands.cfg"), directory("host.cfg"), definitions]
        let debians = ["templates.cfg", "contacts.cfg", "timeperiods.cfg"].map { objects + $0 }
        try directory.write(
            (own + debians).map { "cfg_file=\($0)\n" }.joined()
                + """
                log_file=\(directory("log"))
                temp_path=\(directory.path)
                check_result_path=\(directory.path)
                log_archive_path=\(directory.path)
                illegal_macro_output_chars=`~$&|'"<>
                nagios_user=\(user)nagios_group=\(group)
                """, to: "nagios.cfg")
        return try run([root + "/usr/sbin/nagios4", "-v", directory("nagios.cfg")])
    }
}
