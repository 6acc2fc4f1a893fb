import Foundation
import Fuzzing
import TestSupport
import Testing

/// Every input that the fuzzer's corpora hold, read once more: what broke a promise once, or reaches code that little else
/// reaches.
@Suite struct ReplayTests {
    private static let corpora = repository + "/Tests/Fuzzing/Corpus"

    @Test(arguments: FuzzTarget.allCases)
    func everyInputKeepsThePromises(target: FuzzTarget) throws {
        let directory = Self.corpora + "/" + target.rawValue
        let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        #expect(names.count >= 5, "\(directory)")
        for name in names {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: directory + "/" + name))
            #expect(throws: Never.self, "\(directory)/\(name)") { try target.run(Array(bytes)) }
        }
        try target.run([])
    }
}
