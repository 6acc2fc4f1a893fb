/// The `store` section of the configuration: which etcd, as whom, and where in it.
package struct StoreConfiguration: Hashable, Sendable {
    /// `https://HOST:PORT` of each member, without a slash at the end; at least one.
    package var endpoints: [String]
    /// etcd's own user; nil if only client certificates are asked for.
    package var user: String?
    /// The name of this machine in the store; nil for the host name.
    package var machine: String?
    /// Begins with a slash and ends without one.
    package var prefix: String
    package var files: [File: String]

    /// Identifies the store: its members, and the prefix in them.
    package var place: String {
        endpoints.joined(separator: ", ") + (prefix == Self.defaultPrefix ? "" : " below \(prefix)")
    }

    package static let defaultPrefix = "/clientsecretd"

    /// A file that the role reads, by default a systemd credential or else a file in ``directory``.
    package enum File: String, Hashable, Sendable, CaseIterable {
        case ca = "ca_file"
        case certificate = "certificate_file"
        case key = "key_file"
        case password = "password_file"

        /// The directory of files that neither a setting nor a credential names.
        package static let directory = "/etc/clientsecretd/store"

        /// In ``directory``.
        package var name: String {
            switch self {
            case .ca: "ca.pem"
            case .certificate: "client.pem"
            case .key: "client.key"
            case .password: "password"
            }
        }

        /// As LoadCredential= names it.
        package var credential: String { "store-" + rawValue.dropLast("_file".count) }
    }

    package init(
        endpoints: [String], user: String? = nil, machine: String? = nil, prefix: String = defaultPrefix,
        files: [File: String] = [:]
    ) {
        self.endpoints = endpoints
        self.user = user
        self.machine = machine
        self.prefix = prefix
        self.files = files
    }
}
