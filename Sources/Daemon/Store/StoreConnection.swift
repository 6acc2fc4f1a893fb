import Failures
import Linux
import Model
import Rotation
import Store
import SystemPackage

/// A connection to the service for the store: answers and notices as lines, and how many notices the service may send.
struct StoreConnection: ~Copyable {
    /// ``StoreServiceClient/Idle/generation`` when it was opened.
    let generation: Int
    private var stream: UnixStream
    /// Whether it ends before the next request, which another process is to answer.
    var isSpent = false
    /// How many notices have come since the last request.
    private var noticeCount = 0

    /// Notices between a request and its answer, or since the last request. A service that sends more is disconnected.
    private static let mostNotices = 64
    /// In bytes, of the notices that arrive while no request is open: one has some 30.
    private static let longestNotices = 4_096

    init(_ stream: consuming UnixStream, generation: Int) {
        self.stream = stream
        self.generation = generation
    }

    var raw: Int32 { stream.raw }

    /// The notices that have arrived while no request was open, and whether the connection is over. Does not wait.
    ///
    /// While no request is open only notices may come, and few. Anything else breaks the protocol, so the connection is
    /// over then too.
    mutating func arrived() -> (StoreWatchNotices, isOver: Bool) {
        guard let lines = try? stream.arrivedLines(atMost: Self.longestNotices) else {
            return (StoreWatchNotices(), true)
        }
        var notices = StoreWatchNotices()
        let others = lines.filter { !notices.add($0) }
        noticeCount += lines.count
        return (notices, stream.isClosed || !others.isEmpty || noticeCount > Self.mostNotices)
    }

    /// The notices that came together with an answer, behind it, and whether the connection is over. Does not wait.
    mutating func received() -> (StoreWatchNotices, isOver: Bool) {
        let lines = stream.takenLines()
        var notices = StoreWatchNotices()
        for line in lines { _ = notices.add(line) }
        noticeCount = lines.count
        return (notices, noticeCount > Self.mostNotices)
    }

    /// Sends a request and reads notices until the answer comes; nil when the connection is over. Blocks.
    ///
    /// - Parameters:
    ///   - store: the store that the daemon means; nil if it does not know.
    ///   - deadline: until when it may take.
    ///   - givesWay: whether a request that reads no secrets is given up, because a read waits for it.
    ///   - post: receives the notices, however it ends.
    mutating func exchange(
        _ request: StoreRequest, for store: String?, until deadline: Deadline, givesWay: () -> Bool,
        post: (Input) -> Void
    ) throws(Failure) -> StoreAnswer? {
        stream.deadline = deadline
        do {
            try stream.write(line: StoreRoleRequest(request, for: store).line)
        } catch {
            if error.errno == .brokenPipe || error.errno == .connectionReset { return nil }
            throw Failure(.storeServiceSilent, at: .store, cause: error.number)
        }
        var notices = StoreWatchNotices()
        defer {
            for notice in notices.inputs { post(notice) }
        }
        var count = 0
        while count <= Self.mostNotices {
            let line: [UInt8]?
            do {
                // All but a read look each second whether a read waits.
                stream.deadline = request.isRead ? deadline : min(deadline, Deadline(in: 1_000))
                line = try stream.line(atMost: StoreAnswer.longest(for: request))
            } catch {
                if error.errno == .timedOut, !deadline.hasPassed, !givesWay() { continue }
                throw Failure(.storeServiceSilent, at: .store, cause: error.number)
            }
            guard let line else { return nil }
            count += 1
            if notices.add(line) { continue }
            guard let answer = StoreAnswer(line: line, to: request) else {
                throw Failure(.storeServiceSilent, at: .store, detail: "its answer does not belong to a request")
            }
            return answer
        }
        throw Failure(.storeServiceSilent, at: .store, detail: "it does not stop sending notices")
    }
}
