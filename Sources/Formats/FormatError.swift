/// Why a file cannot be read or written safely: the line, from 1, and the problem in words.
package struct FormatError: Error, Hashable, Sendable {
    package let line: Int
    package let reason: String
    /// The advice instead of correcting the line; nil if nothing else helps.
    package let advice: String?

    package init(line: Int, reason: String, advice: String? = nil) {
        self.line = line
        self.reason = reason
        self.advice = advice
    }
}
