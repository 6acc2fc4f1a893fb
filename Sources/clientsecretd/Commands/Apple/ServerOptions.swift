import AppleAPI
import AppleClientSecret
import ArgumentParser
import Config

/// The server that is asked instead of Apple's server, and the timeout.
struct ServerOptions: ParsableArguments {
    @Option(help: .value("url", "A server other than Apple's; https only."), transform: Flags.endpoint)
    var endpoint: Endpoint?

    @Option(help: .value("file", "Trust only the authorities in this PEM file."), completion: .file())
    var caFile: String?

    @Option(help: .value("duration", "The timeout of a request (default: 30s)."), transform: Flags.timeout)
    var timeout: Seconds?

    /// As the network program takes them.
    func arguments() throws(CommandFailure) -> [String] {
        var words: [String] = []
        if let endpoint { words += ["--endpoint", endpoint.description] }
        if let caFile {
            // Read to its end, which libcurl, without a deadline, would wait for.
            _ = try NamedFile.read(caFile, limit: CAFile.longest)
            words += ["--ca-file", caFile]
        }
        if let timeout { words += ["--timeout", String(timeout.count * 1_000)] }
        return words
    }
}

extension Flags {
    static func endpoint(_ text: String) throws -> Endpoint {
        try valid(Endpoint(text), "write the server like https://appleid.apple.com, always with https")
    }

    static func timeout(_ text: String) throws -> Seconds {
        let span = try Flags.span(text)
        guard (1...600).contains(span.count) else { throw ValidationError("write a timeout from 1s to 10m") }
        return span
    }
}
