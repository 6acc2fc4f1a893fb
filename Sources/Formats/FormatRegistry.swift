/// The output formats there are. The configuration, the publisher, the offline reader and `mint --format` look them up here.
package enum FormatRegistry {
    package static let all: [any OutputFormat.Type] = [
        RawFormat.self, EnvironmentFormat.self, JSONFormat.self, TemplateFormat.self,
    ]
    /// Where the configuration names none.
    package static let standard: any OutputFormat.Type = RawFormat.self
    /// Where a program reads environment variables.
    package static let environment: any OutputFormat.Type = EnvironmentFormat.self
    /// Where a program reads JSON.
    package static let json: any OutputFormat.Type = JSONFormat.self
    /// Where the user says what stands around the secret.
    package static let template: any OutputFormat.Type = TemplateFormat.self

    /// Whether `bytes` may be a token: written into a file, they must mean nothing else there.
    package static func isPlain(_ bytes: [UInt8]) -> Bool { TokenBytes.plain(bytes) != nil }

    package static func named(_ name: String) -> (any OutputFormat.Type)? { all.first { $0.name == name } }
}
