import Foundation
import TestSupport
import Testing

/// What `make deb` leaves in .build/deb.
@Suite(.waits, .serialized, .needs(.release, .debianRoot, .tools)) struct PackagesTests {
    private static let folder = repository + "/.build/deb"

    /// The packages in a directory, by the names before their versions.
    private func packages(in directory: String) throws -> [String: String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasSuffix(".deb") }
        return Dictionary(uniqueKeysWithValues: names.map { (String($0.prefix { $0 != "_" }), directory + "/" + $0) })
    }

    private func package(_ name: String) throws -> String {
        try #require(try packages(in: Self.folder)[name], "no package \(name); make deb")
    }

    @Test func lintianHasNothingToSay() throws {
        let changes = try #require(
            try FileManager.default.contentsOfDirectory(atPath: Self.folder).first { $0.hasSuffix(".changes") },
            "nothing is packed; make deb")
        let said = try run(["lintian", "--allow-root", "--fail-on", "error,warning", "\(Self.folder)/\(changes)"])
        #expect(said.status == 0 && said.output.isEmpty, "\(said.output)\(said.complaints)")
    }

    /// Each needs Debian's libraries and nothing of a toolchain.
    @Test(arguments: [
        ("clientsecretd", ["libsystemd0", "libyaml-0-2", "systemd"]),
        ("clientsecretd-network", ["clientsecretd", "libcurl4", "libyaml-0-2"]),
    ])
    func dependsOnDebiansLibraries(_ name: String, _ own: [String]) throws {
        let answer = try run(["dpkg-deb", "--field", try package(name), "Depends"])
        let names = answer.output.split(separator: ",").compactMap { $0.split(whereSeparator: \.isWhitespace).first }
        #expect(names.map(String.init).sorted() == (["libc6", "libgcc-s1", "libssl3", "libstdc++6"] + own).sorted())
    }

    /// Without polkit no unit is restarted by `on_change`, and without authorities nothing is asked.
    @Test(arguments: [("clientsecretd", "polkitd"), ("clientsecretd-network", "ca-certificates")])
    func recommendsWhatMostNeed(_ name: String, _ wanted: String) throws {
        #expect(try run(["dpkg-deb", "--field", try package(name), "Recommends"]).output == wanted + "\n")
    }

    @Test(arguments: [
        ("clientsecretd", "usr/bin/clientsecretd"),
        ("clientsecretd-network", "usr/libexec/clientsecretd/clientsecretd-network"),
    ])
    func programsAreStripped(_ name: String, _ path: String) throws {
        let (directory, symbols) = (try TemporaryDirectory(), try TemporaryDirectory())
        try runToSuccess(["dpkg-deb", "--extract", try package(name), directory.path])
        try runToSuccess(["dpkg-deb", "--extract", try package(name + "-dbgsym"), symbols.path])
        let sections = try run(["readelf", "--wide", "--sections", "--dynamic", "--notes", directory(path)]).output
        for name in [".debug_info", ".symtab", "RUNPATH", "RPATH"] { #expect(!sections.contains(name), "\(name)") }
        let id = try #require(sections.firstMatch(of: /Build ID: ([0-9a-f]{2})([0-9a-f]+)/)?.output)
        let debug = symbols("usr/lib/debug/.build-id/\(id.1)/\(id.2).debug")
        #expect(try run(["readelf", "--wide", "--sections", debug]).output.contains(".debug_info"))
    }

    private func pack(_ script: String, into folder: String) throws {
        let build = repository + "/.build/"
        try runToSuccess([
            repository + "/scripts/" + script, build + "release/clientsecretd", build + "generated", folder,
        ])
    }

    @Test(.needs(.night)) func packingAgainGivesTheSameBytes() throws {
        let directory = try TemporaryDirectory()
        let again = directory("again")
        try pack("build-packages", into: again)
        let found = try packages(in: again)
        #expect(found.count == 4)
        for (name, path) in found {
            #expect(
                FileManager.default.contentsEqual(atPath: path, andPath: try package(name)),
                "\(name) differs; was it packed from other binaries? make deb")
        }
    }

    @Test(.needs(.root)) func fromThePackageToASecretAndBack() throws {
        try Bed.hold("packages.sh", root: Bed.debian, sharing: [(try ReleaseTests.folder(), "/release")])
    }

    /// Twice, the second time without a change.
    @Test(.needs(.root, .venv)) func theAnsibleRoleSetsAMachineUp() throws {
        try Bed.hold("ansible.sh", root: Bed.debian, sharing: [(try ReleaseTests.folder(), "/release")])
    }

    // MARK: The tarball

    private static let tarballs = repository + "/.build/tarball"

    @Test(.needs(.night)) func packingTheTarballAgainGivesTheSameBytes() throws {
        let directory = try TemporaryDirectory()
        try pack("build-tarball", into: directory.path)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(names.count == 1)
        for name in names {
            #expect(
                FileManager.default.contentsEqual(atPath: directory(name), andPath: Self.tarballs + "/" + name),
                "\(name) differs; was it packed from other binaries? make tarball")
        }
    }

    @Test(.needs(.root)) func theTarballServes() throws {
        try Bed.hold("tarball.sh", root: Bed.debian, sharing: [(Self.tarballs, "/tarball")])
    }

    /// Ubuntu 22.04, whose glibc is 2.35 and libcurl 7.81.
    @Test(.needs(.root, .night)) func theTarballServesWithOlderLibraries() throws {
        try Bed.hold("tarball.sh", root: repository + "/.build/ubuntu-root", sharing: [(Self.tarballs, "/tarball")])
    }
}

/// What etc/container and etc/kubernetes make of the packages.
@Suite(.waits, .needs(.release, .debianRoot, .tools)) struct ContainerTests {
    @Test(.needs(.root)) func theImageServesAPodsMounts() throws {
        try Bed.hold("container.sh", root: Bed.debian, sharing: [(repository + "/.build/deb", "/packages")])
    }

    /// By Kubernetes' schema, in which every field is known, and the guide's configuration.
    @Test(.needs(.venv)) func manifestsAreWhatKubernetesReads() throws {
        let check = """
            import pathlib, re, sys, yaml, kubernetes_validate
            root = pathlib.Path(sys.argv[1])
            guide = (root / "docs/kubernetes.md").read_text()
            configuration = re.search(r"^```yaml\\n(.*?)^```$", guide, re.M | re.S)[1]
            for path in sorted((root / "etc/kubernetes").glob("*.yaml")):
                for manifest in yaml.safe_load_all(path.read_text()):
                    kubernetes_validate.validate(manifest, "1.31", strict=True)
                    if manifest["kind"] == "ConfigMap" and path.stem not in ("push", "cronjob"):
                        assert manifest["data"]["clientsecretd.yaml"] == configuration, path
                    print(path.stem, manifest["kind"])
            """
        let answer = try run([python, "-c", check, repository])
        #expect(
            answer.output.split(separator: "\n").map(String.init)
                == [
                    "cronjob ConfigMap", "cronjob ServiceAccount", "cronjob Role", "cronjob RoleBinding",
                    "cronjob CronJob", "deployment ConfigMap", "deployment Deployment", "init ConfigMap",
                    "init Deployment", "push ConfigMap", "push ServiceAccount", "push Role", "push RoleBinding",
                    "push Deployment", "sidecar ConfigMap", "sidecar Deployment",
                ], "\(answer.complaints)")
    }
}
