/// A setting that targets of one kind have, in addition to `kind`, `endpoint`, `ca_file` and the token.
package struct PushSetting: Sendable {
    package let name: String
    /// Nil if it has to be written.
    package var standard: String?
    /// Completes "write …".
    package let advice: String
    /// Whether it may have slashes.
    package var isPath = false
    /// Its possible values, or those of a list's elements; nil for any text.
    package var choices: [String]?
    /// Whether it is a list, in ``PushTarget/settings`` the elements of a JSON array.
    package var isList = false
    /// Whether it identifies the user, and not the place.
    var isLogin = false
}
