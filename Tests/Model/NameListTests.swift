import Model
import Testing

@Suite struct NameListTests {
    @Test(arguments: [
        ([], ""), (["a"], "a"), (["a", "b"], "a, b"), (["a", "b", "c"], "a, b and 1 more"),
        (["a", "b", "c", "d"], "a, b and 2 more"),
    ])
    func namesTheFirstAndCountsTheOthers(names: [String], text: String) {
        #expect(listed(names, atMost: 2) == text)
    }
}
