import Foundation
import TestSupport
import Testing

/// The scripts of Benchmarks/ that need nothing but this machine still run, with sizes by which nothing is measured.
@Suite(.waits, .needs(.release, .tools)) struct BenchmarksTests {
    @Test(arguments: [
        ("publish.sh 20 1 DIRECTORY", "medians: publishing "), ("restart.sh 20 1", "median"),
        ("renew.sh 3", "a renewal: "),
    ])
    func smallRunsEndWithTheirFigures(_ command: String, _ figures: String) throws {
        let directory = try TemporaryDirectory()
        // They look for the program beside themselves.
        try FileManager.default.createDirectory(atPath: directory(".build/release"), withIntermediateDirectories: true)
        try directory.link(".build/release/clientsecretd", to: Binaries.daemon)
        try FileManager.default.copyItem(atPath: repository + "/Benchmarks", toPath: directory("Benchmarks"))
        let words = command.replacing("DIRECTORY", with: directory.path).split(separator: " ").map(String.init)
        let said = try runToSuccess(["timeout", "5m", directory("Benchmarks/\(words[0])")] + words.dropFirst())
        #expect(said.split(separator: "\n").last?.contains(figures) == true, "\(said)")
    }
}
