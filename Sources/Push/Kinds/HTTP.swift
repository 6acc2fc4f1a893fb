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

    /// The place of the secret is a text or nothing, in objects, or in arrays if the pointer has a number there.
    private static func shape(along pointer: [String]) -> [AnswerShape] {
        pointer.indices.map { depth in
            let forms: Set<AnswerShape.Form> = pointer[depth].elementIndex == nil ? [.object] : [.object, .array]
            return AnswerShape(
                at: Array(pointer[..<depth]), is: depth == 0 ? forms : forms.union([.null, .absent]))
        } + [AnswerShape(at: pointer, is: pointer.isEmpty ? [.text] : [.text, .null, .absent])]
    }
}
