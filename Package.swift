// swift-tools-version: 6.2
import PackageDescription

/// Every target is held to the same rules: warnings are errors, unsafe code is marked, imports are
/// internal unless a declaration shows them.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// A target with the strict rules, so that the list below reads as the table of modules and their dependencies.
func source(_ name: String, uses dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func test(_ folder: String, of dependencies: [Target.Dependency], without excluded: [String] = []) -> Target {
    .testTarget(
        name: folder + "Tests", dependencies: dependencies + ["TestSupport"], path: "Tests/" + folder,
        exclude: excluded, swiftSettings: strict)
}

let systemPackage: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")

let package = Package(
    name: "clientsecretd",
    products: [
        .executable(name: "clientsecretd", targets: ["clientsecretd"]),
        .executable(name: "clientsecretd-network", targets: ["clientsecretd-network"]),
        .library(name: "AppleClientSecret", targets: ["AppleClientSecret"]),
    ],
    // Each to the version that was tried; also what others of them use, so that nothing comes in unseen.
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-atomics", exact: "1.3.0"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
    ],
    targets: [
        source("AppleClientSecret", uses: []),
        source("Digest", uses: ["AppleClientSecret", "CLibcrypto"]),
        source("Failures", uses: ["AppleClientSecret"]),
        source("Formats", uses: ["AppleClientSecret", "Model"]),
        source("Model", uses: ["AppleClientSecret", "Digest", "Failures"]),
        source("Rotation", uses: ["AppleClientSecret", "Failures", "Model"]),
        source("Linux", uses: ["AppleClientSecret", "Failures", "CLinux", systemPackage]),
        source(
            "Config",
            uses: [
                "AppleClientSecret", "Failures", "Formats", "Model", "Linux", "Push", "Store", "CLibyaml",
            ]),
        source("Keys", uses: ["AppleClientSecret", "Digest", "Failures", "Model", "Linux", "CLibcrypto"]),
        source(
            "Outputs", uses: ["AppleClientSecret", "Digest", "Failures", "Formats", "Model", "Linux", systemPackage]),
        source(
            "UserWriter",
            uses: [
                "AppleClientSecret", "Digest", "Failures", "Model", "Linux", "Config", "Outputs", "Systemd",
                systemPackage,
            ]),
        source(
            "State",
            uses: ["AppleClientSecret", "Digest", "Failures", "Formats", "Model", "Linux", "Outputs", systemPackage]),
        source("Systemd", uses: ["AppleClientSecret", "Failures", "Linux", "CLibsystemd", systemPackage]),
        source(
            "Actions",
            uses: [
                "AppleClientSecret", "Failures", "Model", "Linux", "Config", "Outputs", "Systemd", systemPackage,
            ]),
        source(
            "StatusAPI",
            uses: [
                "AppleClientSecret", "Failures", "Model", "Linux", systemPackage,
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                // Only NIO uses it: SwiftPM warns of a package that no target names.
                .product(name: "Atomics", package: "swift-atomics"),
                .product(name: "DequeModule", package: "swift-collections"),
            ]),
        source(
            "Daemon",
            uses: [
                "AppleClientSecret", "Digest", "Failures", "Formats", "Model", "Rotation", "Linux", "Config", "Keys",
                "Outputs", "State", "UserWriter", "Systemd", "Actions", "StatusAPI", "AppleAPI", "Push", "Store",
                systemPackage,
            ]),
        source("AppleAPI", uses: ["AppleClientSecret", "Digest", "Failures", "CLibcrypto"]),
        source("Push", uses: ["AppleClientSecret", "Digest", "Failures", "Formats", "Model"]),
        source("Store", uses: ["AppleClientSecret", "Digest", "Failures", "Model"]),
        .executableTarget(
            name: "clientsecretd",
            dependencies: [
                "Daemon", "Config", "Digest", "Formats", "Keys", "Outputs", "UserWriter", "Systemd", "StatusAPI",
                "Linux",
                "Model", "Push", "Rotation", "AppleAPI", "State",
                "Failures", "AppleClientSecret", systemPackage,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        // The only program that opens a network connection; nothing of it is linked into the daemon.
        .executableTarget(
            name: "clientsecretd-network",
            dependencies: [
                "AppleAPI", "Push", "Store", "Config", "Keys", "Linux", "Model", "Failures",
                "AppleClientSecret", "CLibcurl",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .target(
            name: "CLinux",
            cSettings: [
                .enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error),
                // The C library's checks of sizes need an optimised build.
                .define("_FORTIFY_SOURCE", to: "3", .when(configuration: .release)),
            ]),
        .systemLibrary(name: "CLibcrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibcurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CLibsystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CLibyaml", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .target(
            name: "TestSupport", dependencies: ["AppleClientSecret", "Model"], path: "Tests/Support/TestSupport",
            swiftSettings: strict),
        test("AppleClientSecret", of: ["AppleClientSecret"]),
        test("Failures", of: ["Failures", "AppleClientSecret"]),
        test("Formats", of: ["Formats", "Model", "AppleClientSecret"]),
        test("Model", of: ["Model", "AppleClientSecret"]),
        test("Rotation", of: ["Model", "Rotation", "Failures", "AppleClientSecret"]),
        // Also a separate program, which `make simulate` builds optimised: years pass thirty times as fast in it.
        .target(
            name: "Simulation", dependencies: ["Model", "Rotation", "Failures", "AppleClientSecret", "TestSupport"],
            path: "Tests/Simulation/Simulator", swiftSettings: strict),
        .executableTarget(
            name: "simulate",
            dependencies: [
                "Simulation", "TestSupport", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/Simulation/simulate", swiftSettings: strict),
        test(
            "Simulation", of: ["Simulation", "simulate", "Model", "Rotation", "Failures", "AppleClientSecret"],
            without: ["Simulator", "simulate", "README.md"]),
        test("Linux", of: ["Linux", "Failures", systemPackage]),
        test("Systemd", of: ["Systemd", "Failures", "Linux", "CLibsystemd", systemPackage]),
        test(
            "Config",
            of: [
                "Config", "Failures", "Push", "Model", "Store", "Linux", "AppleClientSecret",
            ]),
        test("Keys", of: ["Keys", "Digest", "Failures", "Model", "Linux", "AppleClientSecret"]),
        test(
            "Outputs",
            of: ["Outputs", "Digest", "Failures", "Formats", "Keys", "Model", "Linux", "AppleClientSecret"]),
        test(
            "State",
            of: [
                "State", "Digest", "Failures", "Keys", "Outputs", "Model", "Linux", "AppleClientSecret",
            ]),
        test(
            "UserWriter",
            of: [
                "UserWriter", "Digest", "Failures", "Config", "Outputs", "Keys", "Model", "Linux",
                "AppleClientSecret",
                systemPackage,
            ]),
        test(
            "StatusAPI",
            of: ["StatusAPI", "Failures", "Model", "Linux", "AppleClientSecret", systemPackage]),
        test("Actions", of: ["Actions", "Failures", "Model", "Linux", "AppleClientSecret"]),
        test(
            "Daemon",
            of: [
                "Daemon", "Config", "Digest", "Failures", "Keys", "Systemd", "Outputs", "State", "Store", "Model",
                "Rotation",
                "Linux", "AppleClientSecret",
                systemPackage,
            ]),
        test(
            "clientsecretd",
            of: [
                "clientsecretd", "Failures", "Formats", "Config", "StatusAPI", "Daemon", "Model", "Push",
                "Rotation", "Keys", "Linux", "AppleAPI", "AppleClientSecret", systemPackage,
            ]),
        // The real programs against a stand-in for Apple.
        test("Network", of: []),
        test("AppleAPI", of: ["AppleAPI", "Failures", "AppleClientSecret"]),
        // Reads other people's bytes; the fuzzer and the replay of its findings use it.
        .target(
            name: "Fuzzing",
            dependencies: [
                "Config", "Digest", "Failures", "Formats", "Keys", "Outputs", "Push", "AppleAPI", "Store", "UserWriter",
                "StatusAPI",
                "Model", "Linux", "AppleClientSecret", "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            path: "Tests/Fuzzing/Targets", swiftSettings: strict),
        test("Fuzzing", of: ["Fuzzing"], without: ["Corpus", "Dictionaries", "Targets", "fuzz"]),
        // The real program against stand-ins for APIs, PocketBase and moto.
        test("Push", of: ["Push", "Digest", "Failures", "Model", "AppleClientSecret"]),
        // The real program against three members of etcd.
        test("Store", of: ["Store", "Digest", "Failures", "Model", "AppleClientSecret"]),
        test("System", of: [], without: ["bed"]),
    ]
)

// Its `main` is libFuzzer's, which an ordinary build does not link: `make fuzz` asks for it.
if Context.environment["CLIENTSECRETD_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "fuzz", dependencies: ["Fuzzing"], path: "Tests/Fuzzing/fuzz", swiftSettings: strict))
}
