import Foundation

/// A directory of a test's own, removed with everything in it when the value is released.
package final class TemporaryDirectory: Sendable {
    package let path: String

    /// - Parameter parent: where it is made; a test that needs a certain file system names one.
    package init(in parent: String = "/tmp") throws {
        var template = Array("\(parent)/clientsecretd-test.XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of `name` in the directory.
    package func callAsFunction(_ name: String) -> String {
        path + "/" + name
    }

    /// Writes `text` as the whole content of `name` and gives it these permission bits; returns the path.
    @discardableResult
    package func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
        // A program that another test starts meanwhile must not inherit it, or a script that is written here could not be executed
        // while that one runs (ETXTBSY).
        let file = unsafe open(self(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: self(name))
        return self(name)
    }

    /// Has openssl make a private key in Apple's form; returns the path.
    ///
    /// - Parameter options: of `openssl genpkey`, such as those that encrypt it.
    @discardableResult
    package func makeKey(_ name: String, _ options: [String] = []) throws -> String {
        try runToSuccess(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"] + options
                + ["-out", self(name)])
        try permit(0o600, name)
        return self(name)
    }

    /// Makes a directory with these permission bits; returns its path.
    @discardableResult
    package func folder(_ name: String, mode: Int = 0o755) throws -> String {
        try FileManager.default.createDirectory(atPath: self(name), withIntermediateDirectories: false)
        try permit(mode, name)
        return self(name)
    }

    /// Makes a symbolic link; returns its path.
    @discardableResult
    package func link(_ name: String, to target: String) throws -> String {
        try FileManager.default.createSymbolicLink(atPath: self(name), withDestinationPath: target)
        return self(name)
    }

    /// Gives `name`, or without one the directory itself, these permission bits.
    package func permit(_ mode: Int, _ name: String? = nil) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: name.map { self($0) } ?? path)
    }

    /// The content of `name` as text.
    package func read(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: self(name))), as: UTF8.self)
    }
}
