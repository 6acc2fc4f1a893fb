import Foundation
import TestSupport
import Testing

/// A systemd of a test's own with this repository and the release binary at hand: see `bed/run.sh` and `bed/prelude.sh`.
enum Bed {
    static let scripts = repository + "/Tests/System/bed/"

    /// The root of a Debian without a toolchain.
    static let debian = repository + "/.build/debian-root"

    /// Runs a script in a bed and records every promise that it finds broken.
    ///
    /// - Parameters:
    ///   - script: a file's path, or the name of one in Tests/System/bed.
    ///   - root: a directory with another root file system than this machine's.
    ///   - sharing: directories that outlive the bed, by where they lie outside and inside.
    static func hold(
        _ script: String, _ arguments: String..., root: String = "/", sharing: [(String, String)] = []
    ) throws {
        let shared = [(repository, "/src"), (Binaries.folder, "/built")] + sharing
        let path = script.hasPrefix("/") ? script : scripts + script
        let finished = try run(
            [scripts + "run.sh", "-t", "600", "-r", root] + shared.flatMap { ["-b", "\($0.0):\($0.1)"] } + [path]
                + arguments)
        // Each broken promise is told by its line and the indented ones that follow.
        var broken: [String] = []
        var isWithin = false
        for line in finished.output.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("broken: ") {
                broken.append(String(line.dropFirst("broken: ".count)))
                isWithin = true
            } else if isWithin, line.hasPrefix("    ") {
                broken[broken.count - 1] += "\n" + line
            } else {
                isWithin = false
            }
        }
        for promise in broken { Issue.record("\(promise)") }
        #expect(finished.output.contains("\nkept: ") || finished.output.hasPrefix("kept: "), "nothing was tried")
        #expect(
            finished.status == 0 && finished.output.hasSuffix("finished\n"),
            "\(script) ended early with \(finished.status): \(finished.output.suffix(4_000))\(finished.complaints)")
    }
}
