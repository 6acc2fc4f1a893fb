import AppleClientSecret
import Formats
import Push

/// A target of the kind `http`, which describes its requests itself.
extension TargetSettings {
    static func customKind(in section: Section) -> PushKind? {
        let diagnostics = section.diagnostics
        let url = section.needed("url", wholeAddress, "write where the secret is sent")
        let method = section.value("method") { text throws(ValueError) in
            guard ["PUT", "POST", "PATCH"].contains(text) else {
                throw ValueError("\(quoted(text)) is not a method that can send a secret; write PUT, POST or PATCH")
            }
            return text
        }
        let body = section.needed("body", template, "write what is sent, with {{client_secret}} in it")
        let done = items("done", in: section) { text throws(ValueError) in
            guard text.utf8.count == 3, let status = Int(text), (200..<300).contains(status) else {
                throw ValueError("\(quoted(text)) is not a status of success; write 200 to 299")
            }
            return status
        }
        var headers: [PushRequest.Field] = []
        var names: [String: String] = [:]
        for line in section.lines("headers") {
            let name = line.key.value
            if let other = names.updateValue(name, forKey: name.lowercased()) {
                diagnostics.error(
                    at: line.key.position, "header \(quoted(name)) is already there as \(quoted(other)); keep one")
            }
            if let header = header(line, diagnostics) { headers.append(header) }
        }
        var read: (url: WebAddress, pointer: [String])?
        if let part = section.section("read", names: Self.read).value {
            let address = part.value("url", wholeAddress)
            // An empty one is for the whole document (RFC 6901, section 5).
            let pointer = part.value("pointer", mayBeEmpty: true) { text throws(ValueError) in
                guard let names = JSONEdit.pointer(text) else {
                    throw ValueError("\(quoted(text)) is not a JSON pointer; write it like /data/client_secret")
                }
                return names
            }
            for name in Self.read where !part.mentions(name) {
                diagnostics.error(at: part.position, "\"read\" has no \"\(name)\"; write where the secret is shown")
            }
            if let address = address.value, let pointer = pointer.value { read = (address, pointer) }
        }
        guard let url = url.value, let body = body.value else { return nil }
        return PushKind.http(
            url: url, method: method.value ?? "PUT", headers: headers, body: body,
            done: done.value.map(Set.init) ?? [200, 201, 204], read: read)
    }

    private static func template(_ text: String) throws(ValueError) -> String {
        try refusePrivateKey(in: text)
        if let problem = FormatRegistry.template.setting?.check(text, quoted) { throw ValueError(problem) }
        return text
    }

    private static func wholeAddress(_ text: String) throws(ValueError) -> WebAddress {
        guard let address = WebAddress(text, allowingQuery: true) else {
            throw ValueError(
                "\(quoted(text)) is not an address for secrets; write https://, a host and a path "
                    + "(http:// only on this machine)")
        }
        return address
    }

    private static func refusePrivateKey(in text: String) throws(ValueError) {
        guard !PrivateKeyText.isIn(Array(text.utf8)) else {
            throw ValueError("the value holds a private key, which is never sent; remove it")
        }
    }

    private static func header(_ line: YAMLEntry, _ diagnostics: Diagnostics) -> PushRequest.Field? {
        let name = line.key.value
        let allowed = name.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-_".utf8.contains($0) }
        guard allowed, !name.isEmpty, !["host", "content-length", "transfer-encoding"].contains(name.lowercased())
        else {
            diagnostics.error(
                at: line.key.position, "\(quoted(name)) is not a header that can be set; write another one")
            return nil
        }
        return Setting(line.value, named: "header \(name)", at: line.key.position, diagnostics) {
            text throws(ValueError) in
            guard text.utf8.allSatisfy(\.isASCIIPrintable) else {
                throw ValueError(
                    "the value of header \(name) is not one line of ASCII text; write one line of ASCII text")
            }
            try Self.refusePrivateKey(in: text)
            let names = text.replacing("{{token}}", with: "")
            guard !names.contains("{{") else {
                throw ValueError(
                    "the value of header \(name) can hold only {{token}}; write the secret into \"body\"")
            }
            return PushRequest.Field(name, text)
        }.value
    }
}
