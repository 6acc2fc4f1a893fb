import AppleAPI
import ArgumentParser

/// Which server the requests go to, and their timeouts. Only the command line sets these: a request cannot change them.
struct EndpointOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("A server other than Apple's; https only.", valueName: "url"),
        transform: EndpointOptions.endpoint)
    var endpoint = Endpoint.apple

    @Option(
        help: ArgumentHelp("Trust only the authorities in this PEM file.", valueName: "file"),
        completion: .file())
    var caFile: String?

    @Option(help: ArgumentHelp("The timeout of a connection.", valueName: "milliseconds"))
    var connectTimeout = NetworkTimeouts.connection

    @Option(help: ArgumentHelp("The timeout of a request.", valueName: "milliseconds"))
    var timeout = NetworkTimeouts.request

    mutating func validate() throws {
        for value in [connectTimeout, timeout] where !NetworkTimeouts.allowed.contains(value) {
            throw ValidationError("a timeout must be 1 to \(NetworkTimeouts.allowed.upperBound) milliseconds")
        }
    }

    private static func endpoint(_ text: String) throws -> Endpoint {
        guard let endpoint = Endpoint(text) else {
            throw ValidationError("write the server like https://appleid.apple.com, always with https")
        }
        return endpoint
    }

    var client: AppleClient {
        AppleClient(
            endpoint: endpoint, caFile: caFile, connectTimeout: connectTimeout, timeout: timeout)
    }
}
