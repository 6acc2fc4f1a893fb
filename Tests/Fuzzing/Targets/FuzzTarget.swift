import AppleClientSecret

/// What reads bytes that somebody else may have written, each as a function that the fuzzer and the replay of its corpus
/// call alike.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// A configuration's text, and its additions.
    case configuration
    /// A key file: PEM, and the DER in it.
    case key
    /// A client secret, in a file or on its own.
    case token
    /// An environment file that is edited.
    case environment
    /// What a client says to the status socket.
    case request
    /// What answers to the commands on the status socket.
    case answer
    /// What passes between the daemon and a writer.
    case message
    /// What a hook prints.
    case output
    /// A JSON text from a server, one member of which is changed.
    case json
    /// What etcd answers, what its keys hold, and the stream of a watch.
    case store
    /// An identity token, and the key set that it is judged by.
    case identity
    /// What Apple's endpoints answer.
    case apple
    /// What the APIs answer that secrets are pushed to.
    case push

    /// Reads `bytes`; throws when a promise of the reader's is broken.
    package func run(_ bytes: [UInt8]) throws {
        switch self {
        case .configuration: try ConfigurationTarget.run(bytes)
        case .key: try KeyTarget.run(bytes)
        case .token: try TokenTarget.run(bytes)
        case .environment: try EnvironmentTarget.run(bytes)
        case .request: try RequestTarget.run(bytes)
        case .answer: try AnswerTarget.run(bytes)
        case .message: try MessageTarget.run(bytes)
        case .output: try OutputTarget.run(bytes)
        case .json: try JSONTarget.run(bytes)
        case .store: try StoreTarget.run(bytes)
        case .identity: try IdentityTarget.run(bytes)
        case .apple: try AppleAnswerTarget.run(bytes)
        case .push: try PushAnswersTarget.run(bytes)
        }
    }
}

/// A promise that an input has broken.
package struct BrokenPromise: Error, CustomStringConvertible {
    package let description: String
}

/// Throws unless `holds`.
func promise(_ holds: Bool, _ what: @autoclosure () -> String) throws(BrokenPromise) {
    if !holds { throw BrokenPromise(description: what()) }
}

/// `value`, which a target's own samples cannot lack.
func known<Value>(_ value: Value?) throws(BrokenPromise) -> Value {
    guard let value else { throw BrokenPromise(description: "a sample of the target's own is wrong") }
    return value
}

/// Throws unless `document` is read back as it was written.
func checkReadBack<Document: JSONDocument & Equatable>(_ document: Document) throws {
    try promise(try Document(parsing: document.jsonText.bytes) == document, "a \(Document.self) that is not read back")
}

/// The same of what `bytes` are read as, if they are such a document.
func checkReadBack<Document: JSONDocument & Equatable>(_ type: Document.Type, _ bytes: [UInt8]) throws {
    if let document = try? Document(parsing: bytes) { try checkReadBack(document) }
}
