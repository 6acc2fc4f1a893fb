import Foundation
import TestSupport
import Testing

/// Every block of commands in README.md, CONTRIBUTING.md, docs/ and the manual is run by a test, or its page says that it is
/// not.
@Suite struct PageCommandsTests {
    /// What becomes of a block.
    enum Fate {
        /// A test takes it out of the page and runs it, or compares it with a run: the test's file has these words, by which
        /// it does so.
        case run(by: String, _ words: String)
        /// The section says in these words that it is not.
        case said(String)
        /// It is no command: what a program reads, writes or is configured with.
        case text
    }

    /// Tests that run all commands of a section, and fail where there is a section that they do not know.
    private static let whole = "try_sections $guide"
    private static let systemd = Fate.run(by: "Tests/System/bed/guide.sh", whole)
    private static let operations = Fate.run(by: "Tests/System/bed/operations.sh", whole)
    private static let fleet = Fate.run(by: "Tests/System/bed/fleet.sh", whole)

    private static let packages = "Tests/System/bed/packages.sh"
    private static let tarball = "Tests/System/bed/tarball.sh"
    private static let push = "Tests/System/bed/push.sh"
    private static let metrics = "Tests/System/bed/metrics.sh"
    private static let manual = "Tests/System/bed/init.sh"
    private static let programs = "Tests/Support/consumers/programs.py"
    private static let readme = "Tests/System/Project/ReadmeTests.swift"
    private static let screen = Fate.run(
        by: "Tests/System/Monitoring/MonitoringGuideTests.swift", "<!-- screen: (.+?) -->")
    private static let signIn = Fate.run(by: "Tests/Network/SignInTests.swift", "```console")
    private static let fleetReport = "Tests/clientsecretd/FleetReportTests.swift"
    private static let journal = Fate.run(by: "Tests/System/bed/journal.sh", #"'s/^    \(journalctl"#)
    private static let roles = Fate.run(by: "Tests/System/bed/fleet.sh", "### What etcd needs")

    /// The blocks below each heading, in their order. A block of a language that is not a shell's is no command.
    private static let fates: [String: [String: [Fate]]] = [
        "README.md": [
            "Install": .init(repeating: .run(by: "Tests/System/bed/check.sh", "/^## Install$/"), count: 2),
            "A configuration": [.run(by: readme, #""clientsecretd check", "clientsecretd run""#)],
            "How to look at it": [.run(by: readme, "## How to look at it")],
            "Working on it": [.said("CI runs the first, which lives through 2,000 years; no test runs the other two")],
        ],
        "CONTRIBUTING.md": ["Build and test": [.said("no test runs the other commands of this page")]],
        "docs/consumers.md": [
            "gunicorn with Authlib": [.run(by: programs, #"page_command("`client_secret_post` matters")"#)],
            "Apache mod_auth_openidc": [.run(by: programs, #"page_command("brought into Apache's directory"#)],
            "PocketBase": [.run(by: programs, #"block("`/usr/local/bin/pocketbase-secret`:")"#)],
            "Node.js": [.run(by: programs, #"page_command("Its unit starts it so:")"#)],
        ],
        "docs/container.md": ["The image": [.said("These two commands were not run.")]],
        "docs/fleet.md": [
            "Follow": [.run(by: "Tests/System/Lifecycle/FollowTests.swift", "commands == [\"clientsecretd public-key")],
            "What brings it there": [
                .said("rsync, Vault and Kubernetes themselves are not part of this project's tests"), .text,
            ],
            "What each machine holds": [.run(by: fleetReport, "shown(by: \"clientsecretd status --fleet\")")],
            "Who delivers when": [.run(by: fleetReport, "shown(by: \"clientsecretd rollout")],
            "What etcd needs": [roles, roles, roles],
            "What lies there": [
                .run(by: "Tests/System/bed/store.sh", "'s/^    echo MFkw… | //p'"), .text,
                .run(by: "Tests/Rotation/Model/RankTests.swift", "(printf .* app17"), .text,
            ],
            "Asking it by hand": [.text],
            "Certificates": [fleet, fleet],
            "etcd": [fleet],
            "Users of etcd": [fleet, fleet, fleet],
            "The signer": [fleet],
            "The followers": [fleet, fleet],
            "Adding and removing a machine": [fleet, fleet],
            "Replacing the key of a fleet": [fleet],
            "Losing the signer": [fleet],
            "Losing etcd": [fleet],
            "Backing up etcd": [fleet],
            "Restoring a backup of etcd": [fleet],
        ],
        "docs/installing.md": [
            "Debian 12": [.run(by: packages, "does 'install --yes ./clientsecretd_*.deb")],
            "Two commands to a secret in an application": [
                .run(by: packages, "does 'install -o root'"), .run(by: packages, "does 'clientsecretd init'"),
                .said("Apple itself was not asked."),
            ],
            "By hand": [.run(by: tarball, "block sh 'restart clientsecretd myapp'")],
            "More machines": [.run(by: packages, "does 'apt-get update'")],
            "Upgrading, and going back": [.run(by: packages, "does './clientsecretd-network_*.deb'")],
            "Other distributions": [
                .run(by: tarball, "block sh --strip-components"), .run(by: tarball, "block sh 'xargs'"),
            ],
        ],
        "docs/monitoring.md": [
            "All is well": [screen],
            "A file that cannot be written, and an application that was not notified": [screen],
            "A key that cannot be used": [screen, screen],
            "Somebody else writes the file": [screen],
            "A configuration with a mistake": [screen],
            "The daemon cannot be reached": [screen, .text, screen],
            "Before anything is changed": [screen],
            "In the journal": [journal, journal],
            "Over a port": [.run(by: metrics, "grep '^curl --unix-socket' $guide")],
            "Over node_exporter": [
                .run(by: metrics, "/^ln -s /"), .text, .said("as in one run; the tests let Prometheus read it instead"),
            ],
            "With Nagios, Icinga or Naemon": [
                .said("not run as it stands"), .said("and the next two are not compared with a run"),
                .said("and the next two are not compared with a run"),
            ],
        ],
        "docs/operations.md": [
            "Moving from a hand-made secret": [operations, operations],
            "Restoring a backup or an old snapshot": [operations],
            "Configuration management that writes the same file": [operations],
            "From cron, or in an init container": [operations, operations],
            "When Apple refuses": [operations],
        ],
        "docs/push.md": [
            "Pushing to an API": [.run(by: push, "block sh 'install -m 0600'")],
            "What becomes of a secret": [.said("The tests run it\nwith that manifest's places.")],
            "By hand": [.run(by: push, #"block sh '"do":"publish"'"#)],
        ],
        "docs/signing-in.md": [
            "Does Apple accept the secret?": [signIn, signIn, signIn],
            "The sign-in": [signIn, signIn, signIn],
            "The identity token": [signIn],
            "Afterwards": [signIn, signIn, signIn],
        ],
        "docs/systemd.md": [
            "The first secret": [systemd, systemd],
            "An application with an environment file": [systemd],
            "A group of readers": [systemd, systemd],
            "A container": [systemd, systemd],
            "A dotenv file of the application's own": [systemd],
            "A file of root's": [systemd],
            "A credential of the unit": [systemd],
            "A port for Prometheus": [systemd],
            "A weekly window": [systemd],
            "Restart without polkit": [systemd],
            "Replacing a key": [systemd, systemd, systemd],
            "The key as an encrypted credential": [systemd, systemd],
            "Upgrading": [systemd],
        ],
        "docs/man/authorize-url.mdoc": ["EXAMPLES": [.run(by: manual, "manual_example authorize-url.mdoc 1")]],
        "docs/man/clientsecretd.8": [
            "EXAMPLES": [
                .run(by: manual, "manual_example clientsecretd.8 1"),
                .run(by: manual, "manual_example clientsecretd.8 2"),
            ]
        ],
        "docs/man/clientsecretd.yaml.5": ["EXAMPLES": [.text]],
        "docs/man/init.mdoc": [
            "EXAMPLES": [
                .run(by: manual, "manual_example init.mdoc 1"), .run(by: manual, "manual_example init.mdoc 2"),
            ]
        ],
        "docs/man/inspect.mdoc": ["EXAMPLES": [.run(by: manual, "manual_example inspect.mdoc 1")]],
        "docs/man/mint.mdoc": ["EXAMPLES": [.run(by: manual, "manual_example mint.mdoc 1")]],
        "docs/man/revoke.mdoc": [
            "EXAMPLES": [.run(by: "Tests/Network/SignInTests.swift", "/docs/man/revoke.mdoc")]
        ],
    ]

    /// A part of a page below one heading, and the first lines of the blocks in it that may be commands.
    struct Section {
        let heading: String
        var text = ""
        var blocks: [String] = []
    }

    /// Fenced blocks of a shell, of a terminal and without a language, those that are indented, and displays of mdoc(7).
    static func sections(of page: String) -> [Section] {
        var sections = [Section(heading: "")]
        // What ends the block that a line lies in, and whether that block's next line is its first that counts.
        var end: (String) -> Bool = { _ in true }
        var isInside = false
        var isFirst = false
        var isAfterEmpty = true
        for line in page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            defer { isAfterEmpty = line.isEmpty }
            sections[sections.count - 1].text += line + "\n"
            if isInside, !end(line) {
                if isFirst { sections[sections.count - 1].blocks.append(line) }
                isFirst = false
                continue
            }
            let wasInside = isInside
            isInside = false
            if let heading = line.firstMatch(of: #/^(?:#+|\.Sh) (.*)/#) {
                sections.append(Section(heading: String(heading.output.1)))
            } else if line.hasPrefix("```"), !wasInside {
                (isInside, isFirst) = (true, ["```", "```sh", "```console"].contains(line))
                end = { $0 == "```" }
            } else if line.hasPrefix(".Bd -literal") {
                (isInside, isFirst) = (true, true)
                end = { $0 == ".Ed" }
            } else if line.hasPrefix("    "), isAfterEmpty {
                sections[sections.count - 1].blocks.append(line)
                isInside = true
                end = { !$0.hasPrefix("    ") }
            }
        }
        return sections
    }

    private static func pages() throws -> [String] {
        func files(in folder: String, _ endings: [String]) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: repository + "/" + folder).sorted()
                .filter { name in endings.contains { name.hasSuffix($0) } }.map { folder + "/" + $0 }
        }
        return try ["README.md", "CONTRIBUTING.md", "SECURITY.md"] + files(in: "docs", [".md"])
            + files(in: "docs/man", [".mdoc", ".5", ".8"])
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: repository + "/" + name, encoding: .utf8)
    }

    @Test func everyBlockOfCommandsIsRunOrSaidNotToBe() throws {
        let pages = try Self.pages()
        #expect(Set(Self.fates.keys).subtracting(pages) == [], "a page that is gone")
        for page in pages {
            let fates = Self.fates[page] ?? [:]
            let sections = Self.sections(of: try text(page)).filter { !$0.blocks.isEmpty }
            #expect(
                Set(fates.keys).subtracting(sections.map(\.heading)) == [], "\(page) has no commands there any more")
            for section in sections {
                let place = "\(page), \"\(section.heading)\""
                let claims = fates[section.heading] ?? []
                #expect(
                    claims.count == section.blocks.count,
                    "\(place): have a test run these blocks, or the page say that none does: \(section.blocks)")
                for (fate, block) in zip(claims, section.blocks) {
                    switch fate {
                    case .run(let test, let words):
                        #expect(try text(test).contains(words), "\(test) does not run \(place): \(block)")
                    case .said(let words):
                        #expect(section.text.contains(words), "\(place) does not say that it is not run: \(block)")
                    case .text: break
                    }
                }
            }
        }
    }

    @Test func blocksAreFound() {
        let page = """
            # One
            words

                make it
                    and more

            ## Two
            ```yaml
            key: value
            ```
            ```sh
            first
            # not a heading

                nor a block of its own
            ```
            - a list
                that goes on
            .Sh THREE
            .Bd -literal -offset indent
            third
            .Ed
            """
        let sections = Self.sections(of: page)
        #expect(sections.map(\.heading) == ["", "One", "Two", "THREE"])
        #expect(sections.map(\.blocks) == [[], ["    make it"], ["first"], ["third"]])
    }
}
