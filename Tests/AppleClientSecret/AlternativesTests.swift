import AppleClientSecret
import Testing

@Suite struct AlternativesTests {
    @Test(arguments: [([], ""), (["a"], "a"), (["a", "b"], "a or b"), (["a", "b", "c"], "a, b or c")])
    func joinsTheLastTwoByAWord(names: [String], text: String) {
        #expect(alternatives(names) == text)
    }
}
