// swift-tools-version: 6.2
import PackageDescription

// Apart from the other benchmark, because it builds a cryptography library of its own for minutes.
let package = Package(
    name: "mint-jwt-kit",
    dependencies: [.package(url: "https://github.com/vapor/jwt-kit", exact: "5.7.1")],
    targets: [
        .executableTarget(name: "mint-jwt-kit", dependencies: [.product(name: "JWTKit", package: "jwt-kit")])
    ]
)
