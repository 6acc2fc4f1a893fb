import AppleClientSecret
import Config
import Failures
import Foundation
import Linux
import Model
import Outputs
import TestSupport

@testable import UserWriter

/// A message is read whole or not at all; what a writer does for it, the configuration names.
enum MessageTarget {
    static func run(_ bytes: [UInt8]) throws {
        try order(bytes)
        // What a writer says is read by the daemon in the same form.
        if let answer = try? read(WriterAnswer.self, bytes), let fault = answer.fault?.detail {
            try Shown.check(Redaction.foreign(fault))
        }
    }

    private static func order(_ bytes: [UInt8]) throws {
        guard let request = try? read(WriterRequest.self, bytes) else { return }
        let configuration = try configuration.get().configuration
        let policy = UserWriterFileRules(
            configuration: configuration, user: 1000, userID: { ["app": 1000, "other": 1001][$0] })
        guard let order = try? policy.order(request) else { return }
        let spec = try known(configuration.files[order.file.path])
        try promise(spec.owner == "app", "another user's file")
        try promise(order.file.mode == spec.mode && order.file.group == spec.group, "another form")
        for (slot, client) in order.file.slots { try promise(spec.slots[slot] == client, "another client's place") }
        for (slot, secret) in order.secrets {
            let client = try known(order.file.slots[slot].flatMap { configuration.clients[$0] })
            try promise(secret.issued.client == client.clientID, "another client's secret")
        }
        try promise(request.task == .publish ? order.naming != nil : order.secrets.isEmpty, "more than was to be done")
    }

    /// As it comes over a socket whose other end then closes.
    private static func read<Message: JSONDocument>(_ type: Message.Type, _ bytes: [UInt8]) throws -> Message {
        var ends: [Int32] = [-1, -1]
        try promise(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0, "no sockets")
        var near = UnixStream(adopting: Descriptor(adopting: ends[0]), milliseconds: 10_000)
        let far = Descriptor(adopting: ends[1])
        // Fits into the socket's buffer.
        try promise(unsafe send(far.raw, bytes, bytes.count, 0) == bytes.count, "no room in the socket")
        shutdown(far.raw, Int32(SHUT_WR))
        return try WriterMessage.read(type, from: &near)
    }

    private static let configuration: Result<LoadedConfiguration, any Error> = Result {
        let path = try known(AbsolutePath("/etc/c.yaml"))
        let file = SourceFile(name: "c.yaml", path: path, bytes: Array(SampleText.severalUsers.utf8))
        return try ConfigurationParser.parse(main: file).get()
    }
}
