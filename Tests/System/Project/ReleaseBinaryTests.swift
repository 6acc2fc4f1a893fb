import Foundation
import TestSupport
import Testing

/// What `make build` makes of it beside what the source says.
@Suite(.needs(.release, .tools)) struct ReleaseBinaryTests {
    private let binary = repository + "/.build/release/clientsecretd"

    private func read(_ flags: String...) throws -> String {
        try runToSuccess(["readelf", "--wide"] + flags + [binary])
    }

    @Test func isResolvedAtTheStartAndReadOnlyAfterwards() throws {
        let dynamic = try read("--dynamic")
        #expect(dynamic.contains("BIND_NOW"))
        #expect(try read("--program-headers").contains("GNU_RELRO"))
        #expect(!dynamic.contains("RUNPATH") && !dynamic.contains("RPATH"))
    }

    /// No page can be both executed and read as data, nor written.
    @Test func codeLiesInPagesOfItsOwn() throws {
        let segments = try read("--program-headers").split(separator: "\n").map {
            $0.split(separator: " ").map(String.init)
        }
        let pageSize: UInt64 = 4096
        var code: [ClosedRange<UInt64>] = []
        var others: [ClosedRange<UInt64>] = []
        for words in segments where words.first == "LOAD" {
            let numbers = words[1...5].compactMap { UInt64($0.dropFirst(2), radix: 16) }
            try #require(numbers.count == 5)
            let pages = numbers[0] / pageSize...(numbers[0] + max(numbers[3], 1) - 1) / pageSize
            if words[6...].contains(where: { $0.contains("E") }) { code.append(pages) } else { others.append(pages) }
            #expect(!(words.contains("W") && words.contains("E")) && !words.contains("RWE"))
        }
        #expect(!code.isEmpty)
        for pages in code { #expect(others.allSatisfy { !$0.overlaps(pages) }) }
        #expect(!code.contains { $0.contains(0) }, "the header of the file is executable")
    }

    @Test func itsCIsGuarded() throws {
        let symbols = try read("--dyn-syms")
        #expect(symbols.contains("__stack_chk_fail"))
        // From CLinux: sizes that are known are checked by the C library.
        #expect(symbols.contains("_chk@"))
    }

    /// RHEL 9's and Amazon Linux 2023's; the script that guards this finds what needs more than an older one.
    @Test(arguments: ["clientsecretd", "clientsecretd-network"]) func needsNoGlibcNewerThan234(program: String) throws {
        let path = repository + "/.build/release/" + program
        let needed = try run([repository + "/scripts/glibc-floor", "2.34", path])
        #expect(needed.status == 0 && needed.complaints.isEmpty, "\(needed.complaints)")
        let older = try run([repository + "/scripts/glibc-floor", "2.33", path])
        #expect(older.status == 1)
        #expect(older.complaints.contains(" needs GLIBC_2.34, newer than GLIBC_2.33: __libc_start_main "))
    }

    @Test func holdsNoPathOfTheMachineThatBuiltIt() throws {
        let found = try run(["grep", "--text", "--count", "--fixed-strings", repository + "/", binary])
        #expect(found.output == "0\n")
    }
}
