/// A failure's place and detail as text, used in the remedy. At most one of the places is set, and a path's client with it.
package struct FailureSubject: Sendable {
    package var path: String?
    package var client: String?
    /// An action as the configuration shows it: `restart a.service`.
    package var action: String?
    package var credential: String?
    /// A user, a group or another thing without a path.
    package var name: String?
    package var detail: String?
    /// The number of the system's error.
    package var cause: Int32?

    package init(
        path: String? = nil, client: String? = nil, action: String? = nil, credential: String? = nil,
        name: String? = nil, detail: String? = nil, cause: Int32? = nil
    ) {
        self.path = path
        self.client = client
        self.action = action
        self.credential = credential
        self.name = name
        self.detail = detail
        self.cause = cause
    }

    var reencrypting: String {
        "encrypt it again with less" + (path.map { "; \(KeyConversion.fewerIterations.cleanup(of: $0))" } ?? "")
    }

    func converting(_ conversion: KeyConversion) -> ShellCommand? {
        path.flatMap { .rewriteKey($0, by: conversion) }
    }

    /// The directory as a command needs it; nil if there is no path.
    var parent: String? { path == nil ? nil : directory }

    var directory: String {
        guard let path, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "its directory" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The unit that an action is about: the last of the action's words.
    var unit: String? { action?.split(separator: " ").last.map(String.init) }
}
