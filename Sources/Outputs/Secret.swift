package import AppleClientSecret
package import Formats
package import Rotation

/// A secret and what is known of it: what a slot is to hold.
package struct Secret: Sendable {
    package let token: Token
    package let issued: SecretInfo

    package init(token: Token, issued: SecretInfo) {
        self.token = token
        self.issued = issued
    }
}

extension FileFormat {
    /// The format that the configuration means with `setting`; what it says of one place within the file is left out.
    package init(_ format: any OutputFormat.Type, parameter: String? = nil) {
        self.init(name: format.name, parameter: parameter, isShared: format.isShared)
    }

    /// What writes and reads it; nil for a name that is not in the registry.
    package var implementation: (any OutputFormat)? { Formats.named(name)?.init(parameter: parameter) }
}

extension FormatPlace {
    package init(_ slot: Slot) {
        switch slot {
        case .whole: self = .whole
        case .variable(let name): self = .variable(name)
        }
    }
}
