internal import Failures
internal import Rotation

/// What is wrong with a key's text, before it is known which key that is.
struct KeyFlaw: Error, Hashable {
    let code: Failure.Code
    let detail: String?
    let cause: Int32?
    let remedy: Remedy?

    init(_ code: Failure.Code, _ detail: String? = nil, cause: Int32? = nil, remedy: Remedy? = nil) {
        self.code = code
        self.detail = detail
        self.cause = cause
        self.remedy = remedy
    }

    func failure(at place: Failure.Place) -> Failure {
        Failure(code, at: place, cause: cause, detail: detail, remedy: remedy)
    }
}
