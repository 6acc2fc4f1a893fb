// swift-tools-version: 6.2
import PackageDescription

// A package of its own, as a user of the library has one, so that the project's manifest does not grow by a benchmark.
let package = Package(
    name: "mint",
    dependencies: [.package(name: "clientsecretd", path: "../..")],
    targets: [
        .systemLibrary(name: "CSigning", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .executableTarget(
            name: "mint",
            dependencies: ["CSigning", .product(name: "AppleClientSecret", package: "clientsecretd")]),
    ]
)
