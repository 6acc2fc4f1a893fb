import AppleClientSecret
import Foundation
import Keys
import Linux
import Model
import TestSupport

/// The place that failures in these tests name.
let place = Failure.Place.named("the key")

/// Opens the file at `path` for reading, for as long as `body` runs.
func withFile<Value>(_ path: String, _ body: (Int32) throws -> Value) throws -> Value {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    defer { try? file.close() }
    return try body(file.fileDescriptor)
}

/// Loads the key in the file at `path`, with the passphrase in the file at `passphrase`.
func signingKey(
    _ path: String, passphrase: String? = nil, place: Failure.Place = place
) throws -> SigningKey {
    try withFile(path) { key in
        guard let passphrase else { return try SigningKey(descriptor: key, place: place) }
        return try withFile(passphrase) {
            try SigningKey(
                descriptor: key, place: place,
                passphrase: Passphrase(descriptor: $0, place: .named("the passphrase")))
        }
    }
}

/// Loads the key in this text.
func signingKey(text: String) throws -> SigningKey {
    let directory = try TemporaryDirectory()
    return try signingKey(directory.write(text, to: "key"))
}

/// The message of the failure that `body` throws; nil when it throws none.
func words(_ body: () throws -> some Any) throws -> String? {
    do {
        _ = try body()
        return nil
    } catch let failure as Failure {
        return failure.message
    }
}

/// Runs a shell script in `directory`, which must succeed, and gives what it wrote.
@discardableResult
func shell(_ script: String, in directory: TemporaryDirectory) throws -> String {
    try runToSuccess(["sh", "-euc", script], directory: directory.path)
}

/// A key that openssl has just made.
func freshKey(in directory: TemporaryDirectory, name: String = "key") throws -> SigningKey {
    try shell("openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out \(name) 2>/dev/null", in: directory)
    return try signingKey(directory(name))
}
