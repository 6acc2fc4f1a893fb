import AppleClientSecret
import Digest
import Failures

@testable import Store

/// A compact JWS of nobody's; `mark` makes it another one.
func sampleToken(_ mark: String = "a") -> String {
    func part(_ text: String) -> String { String(decoding: Base64URL.encode(Array(text.utf8)), as: UTF8.self) }
    return [
        part(#"{"alg":"ES256","kid":"ABC123DEFG"}"#), part(#"{"iss":"DEF123GHIJ","mark":"\#(mark)"}"#),
        part(String(repeating: "s", count: 64)),
    ].joined(separator: ".")
}

func sampleSlot(_ team: String, _ client: String) -> StoreSlot {
    guard let slot = StoreSlot("\(team)/\(client)/000aff1005060708") else { preconditionFailure("no slot") }
    return slot
}

/// What the key of a secret holds.
func held(_ text: String, _ revision: Int64) -> StoreEntry { .value(value(text), revision: revision) }

/// The secret's value.
func value(_ text: String) -> [UInt8] { StoreValue.encode(token(text)) ?? [] }

/// The put of a secret.
func secret(_ text: String, ifAt revision: Int64, _ slot: StoreSlot) -> StoreRequest.Put {
    StoreRequest.Put(value(text), at: .secret(slot), ifAt: revision)
}

func token(_ text: String) -> Token { Token(Array(text.utf8)) }

extension StoreResult {
    /// Why it failed; nil where it did not.
    var failure: RoleFailure? {
        if case .failed(let failure) = self { failure } else { nil }
    }
}
