import AppleClientSecret

// The names that stand as strings in the API's documents and in the state directory.

extension ClientName: JSONString {}
extension AbsolutePath: JSONString {}
extension TargetName: JSONString {}
extension ActionID: JSONString {}
extension KeyDigest: JSONString {
    package init?(jsonString text: String) { self.init(text) }
}
extension HealthState: JSONString {}
extension Stage: JSONString {}
