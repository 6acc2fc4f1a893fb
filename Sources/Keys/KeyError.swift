internal import Failures
internal import Model

/// The problem with a key's text, before it is known which key that is.
struct KeyError: Error, Hashable {
    let code: Failure.Code
    let detail: String?
    let cause: Int32?
    let remedy: Remedy?
    /// The damage to the file, if that can be undone.
    let damage: KeyFileDiagnosis?

    init(
        _ code: Failure.Code, _ detail: String? = nil, cause: Int32? = nil, remedy: Remedy? = nil,
        damage: KeyFileDiagnosis? = nil
    ) {
        self.damage = damage
        self.code = code
        self.detail = detail
        self.cause = cause
        self.remedy = remedy
    }

    func failure(at place: Failure.Place) -> Failure {
        Failure(code, at: place, cause: cause, detail: detail, remedy: remedy ?? damage.map { Self.remedy($0, place) })
    }

    /// The same of a file that holds other text than the key, so that no remedy writes it again.
    var ofMixedFile: KeyError {
        guard remedy == nil else { return self }
        let damage = code == .keyTooCostly ? KeyFileDiagnosis(.iterations) : damage
        return KeyError(code, detail, cause: cause, damage: damage?.mixed)
    }

    private static func remedy(_ damage: KeyFileDiagnosis, _ place: Failure.Place) -> Remedy {
        guard case .path(let path) = place else {
            return .say("correct that in the source, or copy the .p8 file again")
        }
        return damage.remedy(at: path.description)
    }
}
