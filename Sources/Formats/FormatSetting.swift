/// A setting that only one format has.
package struct FormatSetting: Sendable {
    package enum Scope: Sendable {
        /// It names the place within the file.
        case place
        /// It is about the whole file.
        case file
    }

    package let name: String
    package let scope: Scope
    /// Its correction, as the end of a sentence.
    package let advice: String
    /// The problem with a value, and its correction; nil for a good value. `quoted` shows the value, as far as it may be shown.
    package let check: @Sendable (_ value: String, _ quoted: (String) -> String) -> String?
}
