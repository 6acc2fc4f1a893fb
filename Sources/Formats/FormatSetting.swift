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
    /// What to write for it, as the end of a sentence.
    package let advice: String
    /// What is wrong with a value, and what to write instead; nil when nothing is. `quoted` shows what is there, as far
    /// as it may be shown.
    package let check: @Sendable (_ value: String, _ quoted: (String) -> String) -> String?
}
