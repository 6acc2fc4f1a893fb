import Foundation
import TestSupport
import Testing

/// What `make install` lays down, and the units as they stand there.
@Suite(.waits, .needs(.release)) struct InstallTests {
    /// Every file below the directory, with its permission bits.
    private func files(in directory: TemporaryDirectory) throws -> [String: Int] {
        let paths = try #require(FileManager.default.enumerator(atPath: directory.path)).compactMap { $0 as? String }
        var found: [String: Int] = [:]
        for path in paths {
            let attributes = try FileManager.default.attributesOfItem(atPath: directory(path))
            guard attributes[.type] as? FileAttributeType == .typeRegular else { continue }
            found[path] = attributes[.posixPermissions] as? Int
        }
        return found
    }

    @Test func everythingLiesWhereDebianExpectsItAndGoesAgain() throws {
        let directory = try TemporaryDirectory()
        try makeTarget("install", into: directory)
        let found = try files(in: directory)
        let units = try FileManager.default.contentsOfDirectory(atPath: repository + "/systemd").filter {
            [".service", ".socket", ".target", ".timer"].contains(where: $0.hasSuffix)
        }
        #expect(units.count >= 4)
        let wanted =
            [
                "usr/bin/clientsecretd", "usr/lib/sysusers.d/clientsecretd.conf",
                "usr/lib/tmpfiles.d/clientsecretd.conf", "usr/lib/systemd/catalog/clientsecretd.catalog",
                "usr/share/doc/clientsecretd/examples/clientsecretd.rules",
            ]
            + [
                "README.md", "CHANGELOG.md", "LICENSE", "copyright", "NOTICE.swift-nio", "index.md", "openapi.yaml",
                "examples/clientsecretd.yaml",
                "examples/prometheus/clientsecretd.rules.yaml", "examples/prometheus/clientsecretd.tests.yaml",
                "examples/ansible/roles/clientsecretd/tasks/main.yml", "examples/grafana/clientsecretd.json",
                "examples/nagios/clientsecretd.cfg",
            ].map { "usr/share/doc/clientsecretd/" + $0 }
            + units.map { "usr/lib/systemd/system/" + $0 }
            + [
                "doc/clientsecretd/monitoring.md", "doc/clientsecretd/kubernetes.md", "man/man8/clientsecretd.8",
                "man/man8/clientsecretd-check.8",
                "man/man5/clientsecretd.yaml.5", "bash-completion/completions/clientsecretd",
                "zsh/vendor-completions/_clientsecretd", "fish/vendor_completions.d/clientsecretd.fish",
            ].map { "usr/share/" + $0 }
        for path in wanted { #expect(found[path] == (path.hasPrefix("usr/bin/") ? 0o755 : 0o644), "\(path)") }
        // The administrator's own, and nothing in it.
        #expect(FileManager.default.fileExists(atPath: directory("etc/clientsecretd")))
        #expect(!found.keys.contains { $0.hasPrefix("etc/") })

        // What the administrator made stays.
        try directory.write("mine", to: "etc/clientsecretd/clientsecretd.yaml")
        try makeTarget("uninstall", into: directory)
        #expect(try files(in: directory).keys.sorted() == ["etc/clientsecretd/clientsecretd.yaml"])
        #expect(try directory.read("etc/clientsecretd/clientsecretd.yaml") == "mine")
    }

    /// What is linked into the programs is handed on with its notices: those of the sources that they are built from.
    @Test func noticesAreThoseOfTheSources() throws {
        func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
        let nio = repository + "/.build/checkouts/swift-nio/"
        let notice = try text(nio + "NOTICE.txt")
        #expect(
            try text(repository + "/debian/NOTICE.swift-nio") == notice, "cp \(nio)NOTICE.txt debian/NOTICE.swift-nio")
        let copyright = try text(repository + "/debian/copyright")
        // Each of other people's files that the notice names and whose license is another one, with what its paragraph says.
        let others = notice.components(separatedBy: "\n---\n").filter {
            $0.contains("This product contains") && !$0.contains("Apache License")
        }
        #expect(others.count == 3)
        for (name, holder) in [
            ("llhttp", "Fedor Indutny"), ("cpp_magic.h", "Thomas Nixon"), ("sha1.c", "WIDE Project"),
        ] {
            #expect(others.contains { $0.contains(name) } && copyright.contains(holder), "\(name)")
        }
        for text in ["Permission is hereby granted, free of charge", "Redistributions in binary form must reproduce"] {
            #expect(copyright.contains(text))
        }
    }

    @Test func theProgramFindsTheOneThatAsksWithoutALibexecToo() throws {
        let directory = try TemporaryDirectory()
        for (binary, place) in [(Binaries.daemon, "usr/bin"), (Binaries.network, "usr/lib/clientsecretd")] {
            try FileManager.default.createDirectory(atPath: directory(place), withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                atPath: binary, toPath: directory(place) + "/" + (binary as NSString).lastPathComponent)
        }
        let sandbox = try Sandbox(clients: "web")
        try directory.write(sandbox.succeed("mint", "web"), to: "secret")
        let asked = try run([
            directory("usr/bin/clientsecretd"), "verify", directory("secret"), "--endpoint",
            "https://127.0.0.1:9",
        ])
        #expect(asked.status == 3 && asked.output.contains("com.example.web: not known"), "\(asked.complaints)")
    }

    /// Whoever reads a page where it was installed finds what it speaks of, and what names the program names it there.
    @Test func installedFilesSpeakOfThePlaceWhereTheyLie() throws {
        let directory = try TemporaryDirectory()
        try makeTarget("install", into: directory, prefix: "/opt/other")
        let nagios = try directory.read("opt/other/share/doc/clientsecretd/examples/nagios/clientsecretd.cfg")
        #expect(nagios.matches(of: #/\s/opt/other/bin/clientsecretd health/#).count == 2)
        #expect(!nagios.contains("/usr/bin/clientsecretd"))
        let manual = try directory.read("opt/other/share/man/man8/clientsecretd-network.8")
        #expect(manual.contains("/opt/other/libexec/clientsecretd/clientsecretd-network"))
        #expect(!manual.contains("/usr/share/doc/clientsecretd"))
        let pages = "opt/other/share/doc/clientsecretd/"
        let names = try FileManager.default.contentsOfDirectory(atPath: directory(pages)).filter { $0.hasSuffix(".md") }
        #expect(names.count > 10)
        for page in names where page != "CHANGELOG.md" {
            let text = try directory.read(pages + page)
            for place in ["/usr/bin/clientsecretd", "/usr/share/doc/clientsecretd"] {
                #expect(!text.contains(place), "\(page): \(place)")
            }
        }
    }

    /// What `run --once` may do is what the daemon may do, and what shares secrets may do what pushes them, which `bed/push.sh`
    /// looks into.
    @Test(arguments: [
        ("clientsecretd", "clientsecretd-once", "CapabilityBoundingSet="),
        ("clientsecretd-push@", "clientsecretd-store", "UMask=0777"),
    ])
    func twoUnitsAreHardenedAlike(one: String, other: String, first: String) throws {
        func sandbox(_ name: String) throws -> [String] {
            let text = try String(contentsOfFile: repository + "/systemd/\(name).service", encoding: .utf8)
            return text.split(separator: "\n").map(String.init)
                .drop { $0 != first }.prefix { $0 != "[Install]" }
                .filter { !$0.hasPrefix("#") }
        }
        let sandboxOfOne = try sandbox(one)
        #expect(sandboxOfOne.count > 25)
        #expect(try sandbox(other) == sandboxOfOne)
    }
}
