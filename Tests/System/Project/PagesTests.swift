import Foundation
import TestSupport
import Testing

/// Below each block of commands in README.md, CONTRIBUTING.md, and docs/ a comment names the test that runs it,
/// or says why none does: `<!-- run: guide.sh -->`, `<!-- not run: it needs Kubernetes -->`.
@Suite struct PagesTests {
    private static let pages = ["README.md", "CONTRIBUTING.md"] + files(in: "docs")

    private static func files(in folder: String) -> [String] {
        (FileManager.default.enumerator(atPath: repository + "/" + folder)?.compactMap { $0 as? String } ?? []).sorted()
            .filter { $0.hasSuffix(".md") }.map { folder + "/" + $0 }
    }

    @Test(arguments: pages) func eachBlockOfCommandsSaysWhatRunsIt(page: String) throws {
        let tests = Set(
            FileManager.default.enumerator(atPath: repository + "/Tests")?.compactMap {
                ($0 as? String).map { ($0 as NSString).lastPathComponent }
            } ?? [])
        let lines =
            try String(contentsOfFile: repository + "/" + page, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init) + [""]
        // The line that ends the block which a line is in; nil outside of one.
        var end: String?
        var isOfCommands = false
        for (index, line) in lines.enumerated().dropFirst() {
            if let last = end {
                guard line == last else { continue }
                end = nil
            } else if line.hasPrefix("```") {
                (end, isOfCommands) = ("```", ["```", "```sh", "```console"].contains(line))
                continue
            } else if line.hasPrefix("    "), lines[index - 1].isEmpty || isOfCommands {
                isOfCommands = true
                if lines[index + 1].hasPrefix("    ") { continue }
            } else {
                isOfCommands = false
                continue
            }
            guard isOfCommands else { continue }
            isOfCommands = false
            let marker = lines[index + 1].firstMatch(of: #/^<!-- (?:run: (\S+)|not run: \S.*?) -->$/#)
            #expect(marker != nil, "\(page):\(index + 1): say below this block which test runs it, or why none does")
            guard let test = marker?.output.1 else { continue }
            let isThere = tests.contains(String(test))
            #expect(isThere, "\(page):\(index + 2): there is no test \(test)")
        }
    }
}
