internal import AppleClientSecret

/// A setting of a target that has an address.
package enum TargetAddressSetting: String, JSONString, Sendable {
    case endpoint
    // Those of a target that describes its requests itself.
    case url
    case readURL = "read_url"

    /// The setting as a message names it.
    var words: String {
        switch self {
        case .endpoint, .url: "\"\(rawValue)\""
        case .readURL: "\"url\" under \"read\""
        }
    }
}
