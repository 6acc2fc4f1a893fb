import Model

/// The paths of the configuration and of the state. No output may be written there, or to a file that the configuration names.
struct ConfigurationPaths {
    /// The configuration's files.
    let files: [AbsolutePath]
    /// The `.d` directory with additional files.
    let directory: AbsolutePath
    /// The state directory unless the configuration names one.
    let stateDirectory: AbsolutePath?
}
