import Foundation
import TestSupport
import Testing

/// `health` as the monitoring plugins' guidelines want it (https://www.monitoring-plugins.org/doc/guidelines.html), and as
/// those run it who follow them.
@Suite(.waits, .needs(.servers)) struct MonitoringPluginTests {
    private static func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox(clients: "web", "app")
        return sandbox
    }

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

    @Test func everyStateIsOneLineByTheGuidelines() throws {
        let sandbox = try Self.sandbox()
        func expect(_ state: String, _ code: Int32, _ clients: [String], _ more: String...) throws {
            let answer = try run(
                [
                    sandbox.binary, "health", "--socket", sandbox.socket, "--config",
                    sandbox.directory("clientsecretd.yaml"),
                ]
                    + more)
            #expect(answer.status == code && answer.complaints == "", "\(answer)")
            let line = try #require(Self.parsed(answer.output), "\(answer.output)")
            #expect(line.state == state && line.data.keys.sorted() == clients, "\(answer.output)")
            for life in line.data.values { #expect((7_700_000...7_776_000).contains(life)) }
        }
        try sandbox.start()
        try expect("OK", 0, ["app", "web"])
        try expect("OK", 0, ["app", "web"], "--offline")
        try FileManager.default.moveItem(atPath: sandbox.directory("out"), toPath: sandbox.directory("away"))
        try sandbox.eventually("a word on it") { try sandbox.command("health").status == 2 }
        try expect("CRITICAL", 2, [])
        try expect("CRITICAL", 2, [], "--offline")
        try FileManager.default.moveItem(atPath: sandbox.directory("away"), toPath: sandbox.directory("out"))
        try sandbox.eventually("its end") { try sandbox.command("health").status == 0 }
        sandbox.stop()
        try expect("WARNING", 1, ["app", "web"])
        try sandbox.directory.write("keys: |\n  a\n", to: "clientsecretd.yaml")
        try expect("UNKNOWN", 3, [])
    }

    @Test func aRealNagiosTakesTheDefinitionsAndSeesAFaultComeAndGo() throws {
        let sandbox = try Self.sandbox()
        try sandbox.start()
        let nagios = try Nagios(sandbox)
        let verified = try nagios.verify()
        #expect(verified.status == 0, "\(verified)")
        #expect(verified.output.contains("Total Warnings: 0\nTotal Errors:   0"), "\(verified)")
        try nagios.start()
        let online = "Sign in with Apple"
        let offline = "The same without the daemon"
        try sandbox.eventually("two checks") { nagios.last(online)?[1] == "0" && nagios.last(offline)?[1] == "0" }
        let seen = try #require(nagios.last(online))
        #expect(seen[2].hasPrefix("CLIENTSECRETD OK - 2 clients"))
        // As Nagios has cut it off: what it would hand to whoever draws it.
        #expect(
            try #require(Self.parsed("CLIENTSECRETD OK - \(seen[2])|\(" " + seen[3])\n")).data.keys.sorted() == [
                "app", "web",
            ])
        try FileManager.default.moveItem(atPath: sandbox.directory("out"), toPath: sandbox.directory("away"))
        try sandbox.eventually("an alarm") { nagios.last(online)?[1] == "2" && nagios.last(offline)?[1] == "2" }
        try FileManager.default.moveItem(atPath: sandbox.directory("away"), toPath: sandbox.directory("out"))
        try sandbox.eventually("its end", within: 90) {
            nagios.last(online)?[1] == "0" && nagios.last(offline)?[1] == "0"
        }
        nagios.stop()
        let log = try nagios.log()
        #expect(log.contains("SERVICE ALERT: localhost;\(online);CRITICAL;"), "\(log)")
        #expect(log.contains("SERVICE ALERT: localhost;\(online);OK;"), "\(log)")
    }
}

/// Debian's Nagios with Debian's objects, and ours as they are shipped, but that a minute takes a second.
private final class Nagios {
    private let directory: TemporaryDirectory
    private var process: Process?
    private static let root = repository + "/.build/nagios"

    init(_ sandbox: Sandbox) throws {
        directory = try TemporaryDirectory()
        let objects = Self.root + "/etc/nagios4/objects/"
        let commands = try String(contentsOfFile: objects + "commands.cfg", encoding: .utf8)
        let notifying = commands.matches(of: #/define command \{[^}]*notify-[^}]*\}/#).map { String($0.output) }
        #expect(notifying.count == 2)
        try directory.write(notifying.joined(separator: "\n"), to: "commands.cfg")
        let shipped = try String(contentsOfFile: repository + "/etc/nagios/clientsecretd.cfg", encoding: .utf8)
        try directory.write(
            shipped.replacing("/usr/bin/clientsecretd", with: sandbox.binary)
                .replacing("/run/clientsecretd/clientsecretd.sock", with: sandbox.socket)
                .replacing(try Regex("check_interval +60"), with: "check_interval 1"),
            to: "clientsecretd.cfg")
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
                check_command check_clientsecretd_offline!\(sandbox.directory("clientsecretd.yaml"))
                check_interval 1
                retry_interval 1
            }
            """, to: "host.cfg")
        let user = try run(["id", "--user", "--name"]).output
        let group = try run(["id", "--group", "--name"]).output
        try FileManager.default.createDirectory(atPath: directory("results"), withIntermediateDirectories: false)
        let own = ["commands.cfg", "host.cfg", "clientsecretd.cfg"].map { directory($0) }
        let debians = ["templates.cfg", "contacts.cfg", "timeperiods.cfg"].map { objects + $0 }
        try directory.write(
            (own + debians).map { "cfg_file=\($0)\n" }.joined()
                + """
                log_file=\(directory("log"))
                use_syslog=0
                object_cache_file=\(directory("objects"))
                precached_object_file=\(directory("precached"))
                status_file=\(directory("status"))
                check_external_commands=0
                command_file=\(directory("commands"))
                query_socket=\(directory("query"))
                lock_file=\(directory("lock"))
                temp_file=\(directory("temporary"))
                temp_path=\(directory.path)
                check_result_path=\(directory("results"))
                log_archive_path=\(directory.path)
                retain_state_information=0
                interval_length=1
                service_inter_check_delay_method=n
                service_check_timeout=10
                execute_host_checks=0
                log_service_retries=1
                enable_notifications=0
                process_performance_data=1
                service_perfdata_file=\(directory("performance"))
                service_perfdata_file_mode=a
                service_perfdata_file_template=$SERVICEDESC$\\t$SERVICESTATEID$\\t$SERVICEOUTPUT$\\t$SERVICEPERFDATA$
                illegal_macro_output_chars=`~$&|'"<>
                nagios_user=\(user)nagios_group=\(group)
                """, to: "nagios.cfg")
    }

    deinit { stop() }

    private var program: String { Self.root + "/usr/sbin/nagios4" }

    func verify() throws -> Finished { try run([program, "-v", directory("nagios.cfg")]) }

    func start() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["--default-signal", program, directory("nagios.cfg")]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
    }

    /// Its helpers end with it.
    func stop() {
        guard let process else { return }
        kill(process.processIdentifier, SIGTERM)
        process.awaitEnd()
        self.process = nil
    }

    func log() throws -> String { try directory.read("log") }

    /// The last look at a service: description, state, words and performance data.
    func last(_ service: String) -> [Substring]? {
        let lines = (try? directory.read("performance"))?.split(separator: "\n") ?? []
        return lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false) }.last {
            $0.first.map(String.init) == service && $0.count == 4
        }
    }
}
