import CLinux
import Glibc
import SystemPackage

/// A child that runs, its output, and what is known of its descendants.
struct StartedChild: ~Copyable {
    private let program: String
    private let process: Int32
    private let pidfd: Descriptor
    private let pipe: Descriptor
    private let mark: UInt64
    private var pipeIsOpen = true
    private(set) var output = OutputLines()

    /// How long descendants have from SIGTERM to SIGKILL, in milliseconds.
    private static let grace: Int64 = 2_000
    /// How long a killed process may take to go before it is given up (one that hangs in the kernel never does).
    private static let patience: Int64 = 5_000
    /// Rounds of looking for descendants: each finds those that the last ones forked before they died.
    private static let rounds = 64
    /// Rounds in a row that found nobody: process numbers may have begun again at the bottom during one of them.
    private static let emptyRounds = 2
    /// Descendants waited for at one time; each round takes that many.
    private static let batch = 512

    /// - Parameter input: what becomes standard input; below zero it is empty.
    init(_ arguments: [String], environment: [String: String], input: Int32 = -1) throws(SystemError) {
        let program = arguments.first ?? ""
        let operation = "start \(program)"
        guard program.first == "/", let words = CStrings(arguments),
            let variables = CStrings(environment.map { "\($0.key)=\($0.value)" }.sorted())
        else { throw SystemError(operation, errno: .invalidArgument) }
        var reading: Int32 = -1
        var writing: Int32 = -1
        try SystemError.check(unsafe clinux_pipe(&reading, &writing), operation)
        let pipe = Descriptor(adopting: reading)
        let output = Descriptor(adopting: writing)
        var process: Int32 = 0
        var pidfd: Int32 = -1
        var mark: UInt64 = 0
        let result = unsafe words.withPointers { words in
            unsafe variables.withPointers { variables in
                unsafe clinux_child_start(words, variables, input, output.raw, &process, &pidfd, &mark)
            }
        }
        try SystemError.check(result, operation)
        self.program = program
        self.process = process
        self.pidfd = Descriptor(adopting: pidfd)
        self.pipe = pipe
        self.mark = mark
    }

    /// Waits for the child's end, the timeout or the cancelling, whichever is first; `nil` for the child's end.
    mutating func wait(milliseconds: Int64, cancel: Int32) -> ExitReport.Ending? {
        let deadline = Self.now() + milliseconds
        while true {
            let ready = Self.ready([pidfd.raw, pipeIsOpen ? pipe.raw : -1, cancel], until: deadline)
            if ready[1] { readOutput() }
            if ready[0] { return nil }
            if ready[2] { return .cancelled }
            if Self.now() >= deadline { return .timedOut }
        }
    }

    /// Ends the child and all that descends from it.
    mutating func endAll() {
        // The child has not been waited for, so its number, which is its group's as well, is still its own.
        let asked = HeldProcesses(mark: mark, signal: SIGTERM, capacity: Self.batch)
        if asked.isEmpty { _ = clinux_group_signal(process, SIGTERM) }
        _ = leave(asked, until: Self.now() + Self.grace)
        let deadline = Self.now() + Self.patience
        _ = clinux_group_signal(process, SIGKILL)
        var empty = 0
        for _ in 0..<Self.rounds where empty < Self.emptyRounds {
            let killed = HeldProcesses(mark: mark, signal: SIGKILL, capacity: Self.batch)
            empty = killed.isEmpty ? empty + 1 : 0
            if !leave(killed, until: deadline) { return }
        }
    }

    /// Waits until these have ended, reading output meanwhile (a process that blocks on a full pipe cannot tidy up),
    /// and takes the status of those that have become ours. False when some had not by the deadline.
    private mutating func leave(_ held: borrowing HeldProcesses, until deadline: Int64) -> Bool {
        var waiting = held.pidfds
        while !waiting.isEmpty {
            let ready = Self.ready(waiting + [pipeIsOpen ? pipe.raw : -1], until: deadline)
            if ready.last == true { readOutput() }
            for (pidfd, hasEnded) in zip(waiting, ready) where hasEnded { clinux_orphan_reap(pidfd) }
            waiting = zip(waiting, ready).filter { !$0.1 }.map(\.0)
            if Self.now() >= deadline { break }
        }
        return waiting.isEmpty
    }

    /// Takes the child's status and the rest of its output. What was written before it ended lies in the pipe; what
    /// others write there later is theirs to lose.
    mutating func reap() throws(SystemError) -> ExitReport.Ending {
        readOutput()
        var signalled: Int32 = 0
        var status: Int32 = 0
        _ = Self.ready([pidfd.raw], until: Self.now() + Self.patience)
        let result = unsafe clinux_child_reap(process, pidfd.raw, &signalled, &status)
        if result < 0 { clinux_child_abandon(process) }
        // Killed and still there: it hangs in the kernel. The timeout is what is reported.
        if result == -EAGAIN { return .signalled(SIGKILL) }
        try SystemError.check(result, "learn how \(program) ended")
        return signalled != 0 ? .signalled(status) : .exited(status)
    }

    /// The most that one visit reads: as much as a pipe holds by default, so that a flood is not followed for ever.
    private static let pipeSize = 65_536

    private mutating func readOutput() {
        guard pipeIsOpen else { return }
        var buffer = [UInt8](repeating: 0, count: Self.pipeSize)
        var taken = 0
        while taken < Self.pipeSize {
            let count = unsafe Glibc.read(pipe.raw, &buffer, Self.pipeSize - taken)
            if count < 0 && errno == EINTR { continue }
            // Nothing now, or never again.
            if count <= 0 {
                pipeIsOpen = count < 0 && errno == EAGAIN
                return
            }
            output.take(buffer[..<count])
            taken += count
        }
    }

    private static func now() -> Int64 {
        Clocks.monotonicMicroseconds() / 1_000
    }

    private static func ready(_ descriptors: [Int32], until deadline: Int64) -> [Bool] {
        var ready = [UInt8](repeating: 0, count: descriptors.count)
        _ = unsafe clinux_poll(descriptors, &ready, Int32(descriptors.count), max(deadline - now(), 0))
        return ready.map { $0 != 0 }
    }
}
