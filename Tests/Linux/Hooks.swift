import Foundation
import TestSupport
import Testing

@testable import Linux

/// Runs shell scripts as children, with a directory of their own in `$HERE` for their output.
struct Hooks {
    /// Milliseconds that never pass in a test that works.
    static let never: Int64 = 600_000
    static let path = ["PATH": "/usr/bin:/bin"]

    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    var environment: [String: String] { Hooks.path.merging(["HERE": directory.path]) { $1 } }

    func run(
        _ script: String, timeout: Int64 = Hooks.never, cancel: EventCounter? = nil
    ) throws -> ExitReport {
        try ChildProcess.run(["/bin/sh", "-c", script], environment: environment, timeout: timeout, cancel: cancel)
    }

    /// Runs the script until it has written to `$HERE/up`, and cancels it then.
    func cancelOnceUp(_ script: String) throws -> ExitReport {
        let pool = WorkerPool<Int>()
        let done = try Inbox<ExitReport?>()
        let cancel = try EventCounter()
        for name in ["up", "ready"] { try Hooks.makeFIFO(directory(name)) }
        let environment = environment
        try pool.run(in: 0) {
            done.post(
                try? ChildProcess.run(
                    ["/bin/sh", "-c", script], environment: environment, timeout: Hooks.never, cancel: cancel))
        }
        try Hooks.waitFor(directory("up"))
        cancel.signal()
        return try Hooks.next(of: done)
    }

    static func next<Element>(of inbox: Inbox<Element?>) throws -> Element {
        let epoll = try Epoll()
        try epoll.add(inbox.raw, tag: 0)
        _ = try epoll.wait()
        let elements = inbox.drain()
        for element in elements.dropFirst() { inbox.post(element) }
        return try #require(elements.first ?? nil)
    }

    static func makeFIFO(_ path: String) throws {
        try #require(unsafe mkfifo(path, 0o600) == 0)
    }

    /// Waits until something is written into the FIFO.
    static func waitFor(_ path: String) throws {
        let fifo = Descriptor(adopting: unsafe open(path, O_RDONLY))
        var byte: UInt8 = 0
        try #require(unsafe read(fifo.raw, &byte, 1) == 1)
    }

    func pids() throws -> [Int32] {
        try directory.read("pids").split(separator: "\n").compactMap { Int32($0) }
    }

    /// Expects that every process that wrote its number down has ended.
    func expectGone(_ count: Int) throws {
        let pids = try pids()
        #expect(pids.count == count)
        for pid in pids { #expect(hasGone(pid), "\(pid) lives on") }
    }

    func hasGone(_ pid: Int32) -> Bool {
        guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return true }
        return stat.contains(") Z ")
    }
}

extension ExitReport {
    /// A report on a program that printed so little that nothing is omitted.
    init(_ ending: Ending, printed lines: [String]) {
        self.init(ending: ending, first: OutputPiece(lines), omitted: 0, last: OutputPiece())
    }
}
