import AppleClientSecret
import Model

/// A name or value of the file as messages show it. It is quoted when it is short, printable ASCII and cannot be a secret, and
/// described otherwise. Users will paste private keys or tokens in the place of a name.
func quoted(_ text: String) -> String {
    if text.isEmpty { return "an empty text" }
    if text.contains("-----BEGIN") || text.contains("-----END") { return "what looks like a pasted PEM file" }
    // It may hold a password.
    if text.contains("://"), text.contains("@") { return "an address with user information" }
    // The ids of Apple Ads are longer than other names, and no secrets.
    if text.hasPrefix(searchAds), KeyID(String(text.dropFirst(searchAds.count))) != nil { return "\"\(text)\"" }
    if text.hasPrefix("eyJ") || longestRun(in: text) > longestQuotedRun {
        return "what looks like a pasted key or token"
    }
    let count = text.unicodeScalars.count
    guard text.utf8.count <= longestQuoted, text.utf8.allSatisfy(\.isASCIIPrintable) else {
        return "a text of \(count) \(count == 1 ? "character" : "characters")"
    }
    return "\"\(text)\""
}

/// ``quoted(_:)`` after a noun: ` "name"`, or a comma and the description.
func apposition(_ text: String) -> String {
    let shown = quoted(text)
    return (shown.hasPrefix("\"") ? " " : ", ") + shown
}

/// The correction of a text that is none of these names: the probably intended one, else one of `choices`.
func advice(
    for text: String, among names: some Sequence<String>, otherwise choices: some Sequence<String>
) -> String {
    suggestion(for: text, among: names) ?? "write \(alternatives(choices))"
}

private let searchAds = "SEARCHADS."

/// The longest value that is quoted back, in bytes: a path or a Services ID of ordinary length.
private let longestQuoted = 40

/// The longest run of letters and digits that is quoted back. Apple's ids have 10 and words at most 20; a line of a PEM
/// file has 64, a random token 22 or more.
private let longestQuotedRun = 20

/// The length of the longest run of base64 or base64url characters. `-` and `_`, which names have too, count only in a
/// text that mixes capitals, small letters and digits, as names do not.
private func longestRun(in text: String) -> Int {
    let isMixed =
        text.utf8.contains { $0.isASCIICapital } && text.utf8.contains { $0.isASCIIDigit }
        && text.utf8.contains { $0.isASCIILetter && !$0.isASCIICapital }
    let others = isMixed ? "+=-_" : "+="
    var run = 0
    var longest = 0
    for byte in text.utf8 {
        run = byte.isASCIIAlphanumeric || others.utf8.contains(byte) ? run + 1 : 0
        longest = max(longest, run)
    }
    return longest
}
