/// A place behind an API that takes secrets: one entry of `targets` in the configuration.
package struct PushTarget: Sendable {
    package let name: String
    package let kind: PushKind
    /// What the kind's ``PushKind/settings`` are set to, defaults included; a setting without value is empty.
    package let settings: [String: String]
    /// `https://`, or `http://` on loopback; without a slash at the end. Empty for `http`, whose addresses are whole.
    package let endpoint: String
    /// A PEM file; nil for the machine's authorities.
    package let caFile: String?
    package let token: TokenPlace?
    /// Whether what runs with the secret is deployed again after a push; nil for kinds whose secrets act at once.
    package let redeploys: Bool?

    /// Names what is deployed: targets with the same one are deployed together.
    package var project: String {
        let path = [settings["team"], settings["project"]].compactMap { $0 }.filter { !$0.isEmpty }
        let place = endpoint == kind.endpoint ? "" : " at \(endpoint)"
        return path.joined(separator: "/") + place
    }

    /// The method and address of the request that a secret is sent with.
    package var request: String {
        "\(kind.write.method) \(endpoint)\(PushTemplate.expand(kind.write.path, settings, PushTemplate.percentEncoded))"
    }

    /// Where the token lies that the API wants.
    package enum TokenPlace: Hashable, Sendable {
        /// A systemd credential's name, a file below `$CREDENTIALS_DIRECTORY`.
        case credential(String)
        /// A file's absolute path.
        case file(String)
    }

    /// A digest (FNV-1a) of the settings that decide the place: a different text for a different place, from which the settings
    /// cannot be read.
    package var place: String {
        var words = [kind.name, endpoint]
        for (name, value) in settings.sorted(by: { $0.key < $1.key }) { words += [name, value] }
        // Where the settings are the requests themselves.
        if settings.isEmpty { words += kind.write.texts }
        return Self.digest(words)
    }

    private static func digest(_ words: [String]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for word in words {
            for byte in Array(word.utf8) + [0] { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        }
        return String(hash, radix: 16)
    }

    /// What a write replaces as a whole. Nil where a write changes its own place only, or fails when somebody else has
    /// written since the read.
    package var document: PushDocument? {
        guard case .text(_, let member)? = kind.merge else { return nil }
        let others = settings.filter { $0.key != member }.sorted { $0.key < $1.key }
        return PushDocument(
            place: Self.digest([kind.name, endpoint] + others.flatMap { [$0.key, $0.value] }),
            member: settings[member].flatMap { $0.isEmpty ? nil : $0 })
    }

    package init(
        name: String, kind: PushKind, settings: [String: String], endpoint: String, caFile: String?,
        token: TokenPlace?, redeploys: Bool? = nil
    ) {
        self.name = name
        self.kind = kind
        self.settings = settings
        self.endpoint = endpoint
        self.caFile = caFile
        self.token = token
        self.redeploys = redeploys
    }
}

/// What a write to a target replaces as a whole. Several targets may have members of one document, which are then written
/// together.
package struct PushDocument: Hashable, Sendable {
    /// The same text for each target that writes to the document.
    package let place: String
    /// The member of the JSON object that is the target's; nil where the whole document is.
    package let member: String?
}

/// Which addresses a secret may be sent to.
///
/// The rules are:
/// - `https`, or `http` where the host is this machine itself (`localhost`, 127.0.0.0/8, `::1`).
/// - No user information and no fragment, and no characters that no address has.
package struct PushAddress: Hashable, Sendable {
    /// The address as it is requested.
    package let text: String
    /// Whether the host is this machine: such a request takes no proxy.
    package let isLoopback: Bool
    /// The host's name or number, without a port.
    package let host: String

    /// Nil for any other address.
    ///
    /// - Parameter allowingQuery: whether there may be a `?` with a query.
    package init?(_ text: String, allowingQuery: Bool = false) {
        guard let colon = text.range(of: "://"), text.utf8.count <= 2_048 else { return nil }
        let scheme = text[..<colon.lowerBound].lowercased()
        let rest = text[colon.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let place = rest[authority.endIndex...]
        let allowed = "/-._~%!$'()*+,;=:@" + (allowingQuery ? "?&" : "")
        guard let host = Self.host(authority),
            place.utf8.allSatisfy({ Self.isAlphanumeric($0) || allowed.utf8.contains($0) })
        else { return nil }
        isLoopback = Self.isLoopback(host)
        self.host = host.contains(":") ? "[\(host)]" : host
        guard scheme == "https" || scheme == "http" && isLoopback else { return nil }
        self.text = scheme + "://" + authority + place
    }

    /// The host without port and brackets, in small letters; nil where it is none.
    private static func host(_ authority: Substring) -> String? {
        var name = authority
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            name = authority[..<colon]
            let port = authority[authority.index(after: colon)...]
            guard port.utf8.allSatisfy({ (48...57).contains($0) }), let number = UInt16(port), number > 0 else {
                return nil
            }
        }
        let isIPv6 = name.hasPrefix("[") && name.hasSuffix("]")
        if isIPv6 { name = name.dropFirst().dropLast() }
        let allowed = isIPv6 ? ":." : ".-"
        guard !name.isEmpty, name.utf8.allSatisfy({ isAlphanumeric($0) || allowed.utf8.contains($0) }) else {
            return nil
        }
        return name.lowercased()
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        // A name such as 127.example.org begins like an address.
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), 48...57: true
        default: false
        }
    }
}

extension StringProtocol {
    /// Where `word` begins and ends first.
    func range(of word: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(word) { return start..<index(start, offsetBy: word.count) }
            start = index(after: start)
        }
        return nil
    }
}
