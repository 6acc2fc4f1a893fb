internal import Failures
internal import Rotation

/// What is wrong with a key's text, before it is known which key that is.
struct KeyFlaw: Error, Hashable {
    let code: Trouble.Code
    let detail: String?
    let cause: Int32?
    let remedy: Remedy?

    init(_ code: Trouble.Code, _ detail: String? = nil, cause: Int32? = nil, remedy: Remedy? = nil) {
        self.code = code
        self.detail = detail
        self.cause = cause
        self.remedy = remedy
    }

    func trouble(at place: Trouble.Place) -> Trouble {
        Trouble(code, at: place, cause: cause, detail: detail, remedy: remedy)
    }
}
