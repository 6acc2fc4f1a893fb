package import AppleClientSecret
import Failures

extension PushKind {
    /// The kind that a target describes itself. Its requests' paths are whole addresses.
    ///
    /// - Parameters:
    ///   - headers: templates, which may have `{{token}}`.
    ///   - body: as an output's `template`.
    ///   - read: the address that shows the place's content, and the JSON pointer to it.
    package static func http(
        url: WebAddress, method: String, headers: [PushRequest.Field], body: String, done: Set<Int>,
        read: (url: WebAddress, pointer: [String])?
    ) -> PushKind {
        PushKind(
            name: "http", settings: [], endpoint: "", authorization: .ownHeaders,
            merge: read?.pointer.isEmpty == true ? mergeWhole : nil,
            write: PushRequest(method, url.description, headers: headers, body: .template(body), done: done),
            read: read.map {
                PushRequest(
                    "GET", $0.url.description, headers: headers.filter { $0.name.lowercased() != "content-type" })
            }, shape: read.map { shape(along: $0.pointer) } ?? [],
            shown: shown(at: read?.pointer ?? []), creation: Creation())
    }

    /// An answer that is a text, and no document with one, is the place as a whole.
    @Sendable private static func mergeWhole(
        _ exchange: inout PushExchange, _ found: PushExchange.Found
    ) throws(RoleFailure) {
        guard !found.isMissing else { return }
        try exchange.checkWhole(exchange.json(found.answer)?.text ?? "")
    }

    /// The place of the secret is a text or nothing. Only a member of an object may be absent: without the object, or in a list
    /// without that element, the answer may be about something else. Null in place of the object is how many APIs report an error.
    private static func shape(along pointer: [String]) -> [AnswerShape] {
        let last: Set<AnswerShape.Form> =
            switch pointer.last {
            case nil: [.text]
            case let name? where name.elementIndex != nil: [.text, .null]
            case _?: [.text, .null, .absent]
            }
        return pointer.indices.map { depth in
            var forms: Set<AnswerShape.Form> = [.object]
            if pointer[depth].elementIndex != nil { forms.insert(.array) }
            return AnswerShape(at: Array(pointer[..<depth]), is: forms)
        } + [AnswerShape(at: pointer, is: last)]
    }
}
