import Foundation
import TestSupport
import Testing

/// The library's documentation holds what its user needs: its example is built and run as such a user's package, and its
/// links lead somewhere.
@Suite(.waits, .needs(.venv)) struct LibraryGuideTests {
    private static let catalog = repository + "/Sources/AppleClientSecret/AppleClientSecret.docc"

    #if arch(arm64)
        private static let target = "aarch64-unknown-linux-gnu"
    #else
        private static let target = "x86_64-unknown-linux-gnu"
    #endif

    /// The article's files: each stands in a block of code below a line that begins with its name.
    private func files() throws -> [(name: String, text: String)] {
        let article = try String(contentsOfFile: Self.catalog + "/MintingAClientSecret.md", encoding: .utf8)
        return article.matches(of: /(?m)^`(?<name>[^`\n]+)`[^\n]*:\n\n```[a-z]*\n(?<text>(?s).*?)^```/).map {
            (String($0.name), String($0.text))
        }
    }

    @Test func theExampleIsBuiltAndMintsAndTheDocumentationHasNoDeadLink() throws {
        let directory = try TemporaryDirectory()
        try directory.link("clientsecretd", to: repository)
        let files = try files()
        #expect(
            files.map(\.name).sorted() == [
                "Package.swift", "Sources/COpenSSL/crypto.h", "Sources/COpenSSL/module.modulemap",
                "Sources/example/CurrentSecret.swift", "Sources/example/Signer.swift", "Sources/example/main.swift",
            ])
        for file in files {
            let path = URL(fileURLWithPath: directory("example/" + file.name))
            try FileManager.default.createDirectory(
                at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(file.text.utf8).write(to: path)
        }
        try runToSuccess(["swift", "build", "--package-path", directory("example")])

        let key = try directory.makeKey("AuthKey_ABC123DEFG.p8")
        let minted = try runToSuccess([directory("example/.build/debug/example"), key, "DEF123GHIJ", "com.example.web"])
        let token = try #require(minted.split(separator: "\n").last)
        let read = try run([python, "-c", Self.reader, key], input: Data(token.utf8))
        #expect(read.output == "ABC123DEFG DEF123GHIJ com.example.web 2592060\n", "\(read.complaints)")

        try runToSuccess([
            "swift", "symbolgraph-extract", "-module-name", "AppleClientSecret", "-target", Self.target,
            "-I", directory("example/.build/debug/Modules"), "-output-dir", directory("example"),
        ])
        let converted = try run([
            "docc", "convert", Self.catalog, "--additional-symbol-graph-dir", directory("example"),
            "--output-dir", directory("archive"), "--warnings-as-errors",
        ])
        #expect(converted.status == 0, "\(converted.output)\(converted.complaints)")
    }

    /// Verifies the token on standard input with the key's public half, and prints what it states.
    private static let reader = """
        import jwt, sys
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
        key = load_pem_private_key(open(sys.argv[1], "rb").read(), None).public_key()
        token = sys.stdin.read()
        claims = jwt.decode(token, key, ["ES256"], audience="https://appleid.apple.com")
        print(jwt.get_unverified_header(token)["kid"], claims["iss"], claims["sub"], claims["exp"] - claims["iat"])
        """
}
