import AppleAPI
import Testing

@Suite struct FormEncodingTests {
    @Test func everyEncodedFormIsDecoded() throws {
        let fields: [FormEncoding.Field] = [("a", "x y&z=ä+%~"), ("b", "")]
        let text = FormEncoding.encode(fields)
        #expect(text == "a=x%20y%26z%3D%C3%A4%2B%25%7E&b=")
        #expect(FormEncoding.decode(text) == ["a": "x y&z=ä+%~", "b": ""])
        #expect(FormEncoding.decode("a=x+y") == ["a": "x y"])
    }

    @Test(arguments: ["a=%", "a=%4", "a=%zz", "a=%ff", "a=1&a=2", "a=%+1"])
    func aTextThatIsNoFormIsRefused(text: String) {
        #expect(FormEncoding.decode(text) == nil)
    }
}
