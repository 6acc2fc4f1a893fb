import Config

/// The configuration; one that is refused has its mistakes printed on standard error, and its exit code thrown.
func accepted(_ result: Result<Loaded, Refusal>) throws(CommandFailure) -> Loaded {
    switch result {
    case .success(let loaded): return loaded
    case .failure(let refusal):
        for diagnostic in refusal.diagnostics { Streams.complain(lines: diagnostic.description) }
        throw CommandFailure(.configuration, "")
    }
}
