import Config

/// The configuration; one that is refused has its mistakes printed on standard error, and its exit code thrown.
func accepted(_ result: Result<LoadedConfiguration, Refusal>) throws(CommandFailure) -> LoadedConfiguration {
    switch result {
    case .success(let loaded): return loaded
    case .failure(let refusal):
        for diagnostic in refusal.diagnostics { CommandOutput.complain(lines: diagnostic.description) }
        throw CommandFailure(refusal.isUnreadable ? .notPermitted : .configuration, "")
    }
}
