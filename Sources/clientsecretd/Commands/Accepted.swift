import Config

/// The configuration, or all its mistakes on standard error and the exit code for it.
func accepted(_ result: Result<Loaded, Refusal>) throws(CommandFailure) -> Loaded {
    switch result {
    case .success(let loaded): return loaded
    case .failure(let refusal):
        for diagnostic in refusal.diagnostics { Streams.complain(lines: diagnostic.description) }
        throw CommandFailure(.configuration, "")
    }
}
