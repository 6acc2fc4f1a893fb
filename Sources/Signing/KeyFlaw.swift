internal import Rotation

/// What is wrong with a key's text, before it is known which key that is.
struct KeyFlaw: Error, Hashable {
    let code: Trouble.Code
    let detail: String?
    let cause: Int32?

    init(_ code: Trouble.Code, _ detail: String? = nil, cause: Int32? = nil) {
        self.code = code
        self.detail = detail
        self.cause = cause
    }

    func trouble(at place: Trouble.Place) -> Trouble {
        Trouble(code, at: place, cause: cause, detail: detail)
    }
}
