import AppleClientSecret

/// Identifies the place that a target writes to: equal ones overwrite each other. Unlike ``PushTarget/place`` it is kept
/// nowhere, and is the same for all ways to write an address.
package struct PushPlace: Hashable, Sendable {
    fileprivate let words: [String]
    /// The token whose account the place is in; nil if the words say it.
    fileprivate let token: PushTarget.TokenPlace?
}

extension PushKind {
    /// Whether requests that the target describes itself send a token: the address may be that of its account.
    package var mentionsToken: Bool {
        isCustom && write.headers.contains { $0.value.firstRange(of: "{{token}}") != nil }
    }
}

extension PushTarget {
    package var identity: PushPlace {
        let left = kind.settings.filter(\.isLogin).map(\.name) + [kind.parts].compactMap(\.self)
        var words = words(without: left)
        if kind.isCustom { words += kind.write.identity.map(Self.identity(ofAddress:)) }
        return PushPlace(words: words, token: kind.mentionsToken || kind.isOfToken(settings) ? token : nil)
    }

    /// The parts of the place that are written; none if that is all of it.
    package var parts: Set<String> {
        let list = kind.parts.flatMap { settings[$0] }.flatMap { try? JSONValue(Array($0.utf8)) }
        return Set(list?.elements?.compactMap(\.text) ?? [])
    }
}

extension PushRequest {
    /// All that is sent of a request that a target describes itself; the names of headers have no case and no order.
    fileprivate var identity: [String] {
        [method, path] + headers.map { "\($0.name.lowercased()): \($0.value)" }.sorted() + [body?.text ?? ""]
    }
}
