package import AppleClientSecret

extension JSONDocument {
    /// Reads a document that the daemon sent.
    package init(json: [UInt8]) throws(ClientError) {
        do throws(JSONError) {
            try self.init(parsing: json)
        } catch {
            throw .malformed(what: error.words)
        }
    }
}
