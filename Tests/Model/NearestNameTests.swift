import Model
import Testing

@Suite struct NearestNameTests {
    @Test(arguments: [
        ("lifetme", "lifetime"), ("renew-before", "renew_before"), ("LIFETIME", "lifetime"),
        ("renwe_before", "renew_before"),
        ("renew", "renew_before"), ("outputss", "outputs"), ("xyz", nil), ("", nil), ("lt", nil),
        (String(repeating: "a", count: 100_000), nil),
    ])
    func suggestsTheNearestName(text: String, suggestion: String?) {
        #expect(nearest(to: text, among: ["lifetime", "renew_before", "outputs", "key"]) == suggestion)
    }
}
