import Foundation
import TestSupport
import Testing

/// Runs a target of the Makefile on a directory, as a package's build does.
func makeTarget(_ target: String, into directory: TemporaryDirectory, prefix: String = "/usr") throws {
    try runToSuccess([
        "make", "--silent", "-C", repository, target, "DESTDIR=\(directory.path)", "prefix=\(prefix)",
        "binary=\(Binaries.daemon)",
    ])
}

/// The members of a JSON object.
func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
}

/// The command lines in which this text stands, of whatever runs.
func running(_ text: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { name in
        guard Int(name) != nil, let words = FileManager.default.contents(atPath: "/proc/\(name)/cmdline") else {
            return nil
        }
        let line = String(decoding: words, as: UTF8.self)
        return line.contains(text) ? line.replacing("\0", with: " ") : nil
    }
}
