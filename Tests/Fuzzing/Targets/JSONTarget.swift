import AppleAPI
import AppleClientSecret
import Foundation

@testable import Push

/// A JSON text means what another reader takes it for, and a change of one member leaves every other byte alone.
enum JSONTarget {
    private static let value = Array(#""new.value-1_x""#.utf8)

    static func run(_ bytes: [UInt8]) throws {
        guard let json = try? JSONValue(bytes) else { return }
        try promise((try? JSONValue(bytes, duplicates: .lastCounts)) == json, "it depends on what duplicates mean")
        guard let other = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed) else {
            throw BrokenPromise(description: "another reader takes it for no JSON")
        }
        try promise(agree(json, other), "another reader sees \(other)")
        try checkSpans(json, in: bytes)
        guard case .object(let members) = json else { return }
        for name in ["client_secret"] + members.keys.sorted().prefix(4) {
            try checkChange(of: name, in: bytes, members)
        }
    }

    private static func agree(_ json: JSONValue, _ other: Any) -> Bool {
        switch json {
        case .null: other is NSNull
        case .bool(let value): other as? Bool == value
        case .integer(let value): (other as? NSNumber)?.int64Value == value
        case .fraction(let value):
            // Foundation reads some numbers as decimal fractions, which are rounded once more.
            (other as? NSNumber).map { abs($0.doubleValue - value) <= abs(value) * 1e-12 } ?? false
        case .string(let text): (other as? String)?.hasSameBytes(as: text) ?? false
        case .array(let elements):
            (other as? [Any]).map { $0.count == elements.count && zip(elements, $0).allSatisfy(agree) } ?? false
        case .object(let members):
            (other as? [String: Any]).map { others in
                others.count == members.count
                    && members.allSatisfy { name, value in others[name].map { agree(value, $0) } ?? false }
            } ?? false
        }
    }

    /// Each value is found where it is written.
    private static func checkSpans(_ json: JSONValue, in bytes: [UInt8]) throws {
        var rest: [(pointer: [String], value: JSONValue)] = [([], json)]
        var looked = 0
        // A scan begins at the text's beginning each time.
        while let (pointer, value) = rest.popLast(), looked < 64 {
            looked += 1
            let place = JSONValue.range(of: pointer, in: bytes)
            let found = place.flatMap { try? JSONValue(Array(bytes[$0])) }
            try promise(found == value, "another value is found at \(pointer)")
            let escaped = pointer.map {
                "/" + $0.replacingOccurrences(of: "~", with: "~0").replacingOccurrences(of: "/", with: "~1")
            }
            try promise(JSONEdit.pointer(escaped.joined()) == pointer, "a pointer that is not read back: \(escaped)")
            switch value {
            case .object(let members): rest += members.map { (pointer + [$0.key], $0.value) }
            case .array(let elements): rest += elements.enumerated().map { (pointer + [String($0.offset)], $0.element) }
            default: break
            }
        }
    }

    private static func checkChange(
        of name: String, in bytes: [UInt8], _ members: [String: JSONValue]
    ) throws {
        guard let after = JSONEdit.setting(name, to: value, in: bytes) else {
            throw BrokenPromise(description: "\(name) cannot be set")
        }
        var wanted = members
        wanted[name] = .string("new.value-1_x")
        try promise((try? JSONValue(after)) == .object(wanted), "\(name) is not all that is new")
        let length = JSONValue.range(of: [name], in: bytes)?.count ?? 0
        let start = zip(bytes, after).prefix { $0 == $1 }.count
        let kept = zip(bytes.reversed(), after.reversed()).prefix { $0 == $1 }.count
        try promise(start + kept >= bytes.count - length, "what stands around \(name) has changed")
    }
}
