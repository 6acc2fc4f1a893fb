import AppleClientSecret
import Testing

/// A document as the project declares them.
private struct Order: JSONDocument, Equatable {
    var name: String
    var count: Int32
    var note: String?
    var isUrgent = false
    var parts: [Part] = []
    var moments: [String: UnixTime] = [:]

    struct Part: JSONDocument, Equatable {
        var tags: Set<String>

        init(tags: Set<String>) {
            self.tags = tags
        }

        init(_ part: Part?, _ members: inout JSONMembers) throws(JSONError) {
            tags = try members("tags", part?.tags)
        }
    }

    init(name: String, count: Int32) {
        self.name = name
        self.count = count
    }

    init(_ order: Order?, _ members: inout JSONMembers) throws(JSONError) {
        try members.constant("v", 1)
        name = try members("name", order?.name)
        count = try members("count", order?.count)
        note = try members.orNull("note", order?.note)
        isUrgent = try members.flag("urgent", order?.isUrgent)
        parts = try members.unlessEmpty("parts", order?.parts) ?? []
        moments = try members.unlessEmpty("moments", order?.moments) ?? [:]
    }
}

@Suite struct JSONDocumentTests {
    private func read(_ text: String) throws(JSONError) -> Order { try Order(parsing: Array(text.utf8)) }

    @Test func everythingWrittenIsReadAgain() throws {
        var order = Order(name: "a", count: -3)
        #expect(order.json == #"{"v":1,"name":"a","count":-3,"note":null}"#)
        #expect(try read(order.json) == order)
        order.note = "n"
        order.isUrgent = true
        order.parts = [Order.Part(tags: ["b", "a"])]
        order.moments = ["z": UnixTime(WallTime(secondsSinceEpoch: 7)), "y": UnixTime(WallTime(secondsSinceEpoch: -1))]
        #expect(
            order.json
                == #"{"v":1,"name":"a","count":-3,"note":"n","urgent":true,"parts":[{"tags":["a","b"]}],"#
                + #""moments":{"y":-1,"z":7}}"#)
        #expect(try read(order.json) == order)
    }

    @Test func unknownMembersAndOtherFormsOfANumberAreAccepted() throws {
        #expect(try read(#"{"v":1.0,"count":3e0,"name":"a","more":[]}"#) == Order(name: "a", count: 3))
    }

    @Test(arguments: [
        (#"{"v":2,"name":"a","count":1}"#, JSONError.unexpected("expected 1", at: "v")),
        (#"{"v":1,"count":1}"#, .unexpected("'name' is missing")),
        (#"{"v":1,"name":"a","count":2147483648}"#, .unexpected("expected a whole number", at: "count")),
        (#"{"v":1,"name":"a","count":1.5}"#, .unexpected("expected a whole number", at: "count")),
        (#"{"v":1,"name":null,"count":1}"#, .unexpected("expected a string, found null", at: "name")),
        (
            #"{"v":1,"name":"a","count":1,"parts":[{"tags":[]},{"tags":["x",7]}]}"#,
            .unexpected("expected a string", at: "parts[1].tags[1]")
        ),
        (#"{"v":1,"name":"a","count":1,"parts":[{}]}"#, .unexpected("'tags' is missing", at: "parts[0]")),
        (#"{"v":1,"name":"a","count":1,"moments":{"x":""}}"#, .unexpected("expected a whole number", at: "moments.x")),
        (#"{"v":1,"name":"a","count":1,"name":"b"}"#, .duplicate("name")), ("[]", .unexpected("expected an object")),
        ("{", .notJSON),
    ])
    func mistakesAreNamedWithTheirPlace(text: String, jsonError: JSONError) {
        #expect(throws: jsonError) { try read(text) }
    }

    @Test func aMessageMayHoldSoManyValuesOnly() throws {
        let text = Array(#"{"v":1,"name":"a","count":1}"#.utf8)
        #expect(throws: Never.self) { try Order(parsing: text, atMost: 4) }
        #expect(throws: JSONError.notJSON) { try Order(parsing: text, atMost: 3) }
    }
}
