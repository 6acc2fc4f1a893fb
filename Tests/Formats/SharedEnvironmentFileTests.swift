import Testing

@testable import Formats

/// Several clients' variables in one file.
@Suite struct SharedEnvironmentFileTests {
    /// What is wrong with one variable of a file keeps no other from being set. "B" and "SECRET" are set in each of these.
    @Test(arguments: [
        // What begins in the line of one variable cannot reach the other.
        ("SECRET=old\nB=\"old\n", "SECRET=new\nB=\"old\n", ["B"]),
        ("SECRET=old\nB=$(cat x)\nA=1\n", "SECRET=new\nB=$(cat x)\nA=1\n", ["B"]),
        ("B=x\rC=1\nSECRET=old\n", "B=x\rC=1\nSECRET=new\n", ["B"]),
        // Nothing is wrong with what is there, and an edit would change what a shell does.
        ("B=old; export B\nSECRET=old\n", "B=old; export B\nSECRET=new\n", ["B"]),
        ("B=old; export B\nA=1\n", "B=old; export B\nA=1\nSECRET=new\n", ["B"]),
        // A quote that is not closed before the other variable may hold it.
        ("B=\"old\nSECRET=old\n", "B=\"old\nSECRET=old\n", ["B", "SECRET"]),
        ("B=it's\nSECRET=old\nC=it's\n", "B=it's\nSECRET=old\nC=it's\n", ["B", "SECRET"]),
        // Without the quote, a shell accepts the file, and sets the other one by itself before.
        (": ${SECRET:=y}\nB=\"o\\\"\n", ": ${SECRET:=y}\nB=new\nSECRET=new\n", []),
        (": ${B:=y}\nSECRET=\"o\\\"\n", ": ${B:=y}\nSECRET=new\nB=new\n", []),
        ("A=1\n", "A=1\nB=new\nSECRET=new\n", []),
    ])
    func setsEachVariableThatCanBeSet(before: String, after: String, refused: [String]) throws {
        var file = try EnvironmentFile(Array(before.utf8))
        let new = Array("new".utf8)
        for time in ["first", "second"] {
            #expect(Set(file.setEach(["B": new, "SECRET": new]).keys) == Set(refused), "the \(time) time")
            #expect(String(decoding: file.bytes, as: UTF8.self) == after)
        }
    }

    @Test func findsEachOfManyVariablesThatCannotBeSet() throws {
        let names = (10..<40).map { "V\($0)" }
        let lines = names.map { ["V17", "V23"].contains($0) ? "\($0)=old; export \($0)" : "\($0)=old" }
        var file = try EnvironmentFile(Array(lines.joined(separator: "\n").utf8))
        let values = names.map { ($0, Array("new".utf8)) }
        #expect(Set(file.setEach(Dictionary(uniqueKeysWithValues: values)).keys) == ["V17", "V23"])
        let after = names.map { ["V17", "V23"].contains($0) ? "\($0)=old; export \($0)" : "\($0)=new" }
        #expect(String(decoding: file.bytes, as: UTF8.self) == after.joined(separator: "\n"))
    }
}
