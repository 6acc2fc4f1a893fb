// The simulator's program, which is built without the testing library, shares this module.
#if canImport(Testing)

    import Foundation
    package import Testing

    /// Something that a test needs beyond a debug build and Debian's base system.
    ///
    /// `make test` leaves out every test that needs something, so it runs anywhere in minutes. `make test-all` installs
    /// the needs and runs those tests. A need that is still missing then leaves the test out on a developer's machine and
    /// fails it where `CI` is `true`: a run without half of the tests would look as green as a whole one.
    package enum Need: String, Sendable {
        /// Root: the test becomes another user, mounts file systems or boots a systemd.
        case root
        /// The release binaries, or the packages and tarball built from them.
        case release
        /// The Python environment of `make test-deps`.
        case venv
        /// Debian packages that only tests use: strace, tmux, faketime, shells, podman, and others.
        case tools
        /// Programs that `make test-deps` unpacks: etcd, Prometheus, Nagios, Apache, docker's client.
        case servers
        /// What `make site` renders.
        case site
        /// Debian root file systems without a Swift toolchain: one that boots, and the image's.
        case debianRoot = "a Debian root"
        /// Time: the test buys little on each commit, so only `make nightly` runs it.
        case night

        /// Which tests `CLIENTSECRETD_TESTS` asks for; without it, all whose needs are met.
        private enum Selection: String {
            /// Only tests that need nothing.
            case everybody
            /// Everything but the night's tests.
            case all
            case nightly
        }

        private static let environment = ProcessInfo.processInfo.environment
        private static let selection = environment["CLIENTSECRETD_TESTS"].map { name in
            guard let selection = Selection(rawValue: name) else { fatalError("CLIENTSECRETD_TESTS=\(name)") }
            return selection
        }

        private var isMet: Bool {
            let build = repository + "/.build/"
            let paths: [String]
            switch self {
            case .root: return isRoot
            case .night: return Self.selection == .nightly
            case .release: paths = [build + "release/clientsecretd", build + "release/clientsecretd-network"]
            case .venv: paths = [build + "venv/ready"]
            case .tools:
                paths = ["strace", "tmux", "zsh", "setfacl", "podman"].map { "/usr/bin/" + $0 }
            case .servers: paths = [build + "etcd/usr/bin/etcdctl", build + "nagios/usr/sbin/nagios4"]
            case .site: paths = [build + "site/index.html"]
            case .debianRoot:
                paths = [build + "debian-root/usr/lib/python3/dist-packages/apt/__init__.py", build + "image-root.tar"]
            }
            return paths.allSatisfy(FileManager.default.fileExists)
        }

        /// Whether a test that needs `needs` runs.
        fileprivate static func areMet(_ needs: [Need]) throws -> Bool {
            if selection == .everybody { return false }
            guard let missing = needs.first(where: { !$0.isMet }) else { return true }
            if missing != .night, environment["CI"] == "true" {
                throw TestFailure("this test needs \(missing.rawValue), and where CI=true nothing is left out")
            }
            return false
        }
    }

    /// Whether the tests run as root.
    package let isRoot = geteuid() == 0

    /// `command` as it is advised about the tests' own files: root is told to become whoever owns them.
    package func asOwner(_ command: String) -> String {
        isRoot ? command : "runuser -u \(NSUserName()) -- \(command)"
    }

    extension Trait where Self == ConditionTrait {
        /// Leaves the test out where one of these is missing: see ``Need``.
        package static func needs(_ needs: Need...) -> Self {
            .enabled("needs \(needs.map(\.rawValue).joined(separator: " and "))") { try Need.areMet(needs) }
        }
    }

#endif
