/// Limits of the files with secrets.
package enum OutputLimits {
    /// The largest file, in bytes: no environment file or secret is that large, while a device or a log soon is.
    package static let fileSize = 1 << 20
    /// How often a file that another program keeps changing is merged before that is a failure.
    static let merges = 8
}
