import Config

/// The configuration; one that is refused has its errors printed on standard error, and its exit code thrown.
func accepted(_ result: Result<LoadedConfiguration, ConfigurationError>) throws(CommandFailure) -> LoadedConfiguration {
    switch result {
    case .success(let loaded): return loaded
    case .failure(let error):
        for diagnostic in error.diagnostics { CommandOutput.complain(lines: diagnostic.description) }
        throw CommandFailure(error.isUnreadable ? .notPermitted : .configuration, "")
    }
}
