import AppleClientSecret
import Model

@testable import StatusAPI

/// Whatever answers a command, it is an answer in the daemon's form or a failure, and the same however it comes in pieces.
enum AnswerTarget {
    static func run(_ bytes: [UInt8]) throws {
        let whole = read(bytes, by: max(bytes.count, 1))
        for size in [1, 97] where bytes.count <= 256 * size {
            try promise(read(bytes, by: size) == whole, "it depends on the pieces")
        }
        for body in [bytes, (try? whole.get())?.body ?? []] {
            try checkReadBack(Snapshot.self, body)
            try checkReadBack(Problem.self, body)
            try checkReadBack(RenewalReport.self, body)
            try checkReadBack(ReloadReport.self, body)
        }
    }

    /// The first answer in the bytes; nil for a failure.
    private static func read(_ bytes: [UInt8], by size: Int) -> Result<StatusClient.Response, Failed> {
        var reader = ResponseReader()
        do throws(ResponseReader.Failure) {
            for start in stride(from: 0, to: bytes.count, by: size) {
                if let response = try reader.take(Array(bytes[start..<min(start + size, bytes.count)])) {
                    // Bytes that follow in the same piece are a failure, in the next they are not looked at.
                    return start + size >= bytes.count ? .success(response) : .failure(Failed())
                }
            }
            if let response = try reader.take([]) { return .success(response) }
        } catch {}
        return .failure(Failed())
    }

    private struct Failed: Error, Hashable {}
}
