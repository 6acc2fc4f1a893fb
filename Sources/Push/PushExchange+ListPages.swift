import AppleClientSecret
import Failures

/// The pages of an API's lists, such as those of variables and of deployments.
extension PushExchange {
    /// How many pages of a list are read.
    private static let mostPages = 20

    /// The array of this name in an answer, or the answer itself. An answer without it says nothing: treated as an empty list, it
    /// would have a project deployed again and again.
    mutating func list(_ name: String? = nil, of request: PushRequest) throws(RoleFailure) -> [JSONValue] {
        try list(name, of: request, from: try answer(to: request))
    }

    /// The same with the answer that has the first page. The others are read: a part of a list proves nothing about the rest.
    mutating func list(
        _ name: String?, of request: PushRequest, from first: HTTPAnswer
    ) throws(RoleFailure) -> [JSONValue] {
        let pointer = name.map { [$0] } ?? []
        var all: [JSONValue] = []
        var answer = first
        var last: Int64?
        for _ in 1...Self.mostPages {
            try check(answer, [AnswerShape(at: pointer, is: [.array])])
            let json = json(answer)
            all += json?[pointer]?.elements ?? []
            // The value of Vercel's "until" for the next page.
            guard let next = json?[["pagination", "next"]], next != .null else { return all }
            guard let until = next.whole, until != last else { break }
            last = until
            answer = try self.answer(to: request.adding(.init("until", String(until))))
        }
        throw RoleFailure(.pushAnswerUnexpected, "the list has pages that the API does not show")
    }
}
