import CLinux
import Glibc
import SystemPackage

/// A program that runs under a supervisor, and its output.
struct SupervisedChild: ~Copyable {
    private let program: String
    /// The supervisor's PID.
    private let process: Int32
    private let pidfd: Descriptor
    /// The supervisor reports on it, and ends all processes once our end is shut down.
    private let control: Descriptor
    private var controlIsOpen = true
    private var report: clinux_report?
    private let pipe: Descriptor
    private var pipeIsOpen = true
    private(set) var output = OutputExcerpt()

    /// - Parameter input: the child's standard input; empty when negative.
    init(_ arguments: [String], environment: [String: String], input: Int32 = -1) throws(SystemError) {
        let program = arguments.first ?? ""
        let operation = "start \(program)"
        guard program.first == "/", let words = CStrings([CLINUX_SUPERVISOR] + arguments),
            let variables = CStrings(environment.map { "\($0.key)=\($0.value)" }.sorted())
        else { throw SystemError(operation, errno: .invalidArgument) }
        var reading: Int32 = -1
        var writing: Int32 = -1
        try SystemError.check(unsafe clinux_pipe(&reading, &writing), operation)
        let pipe = Descriptor(adopting: reading)
        let output = Descriptor(adopting: writing)
        var near: Int32 = -1
        var far: Int32 = -1
        try SystemError.check(unsafe clinux_stream_pair(&near, &far), operation)
        let control = Descriptor(adopting: near)
        let supervisors = Descriptor(adopting: far)
        var process: Int32 = 0
        var pidfd: Int32 = -1
        let result = unsafe words.withPointers { words in
            unsafe variables.withPointers { variables in
                unsafe clinux_child_start(words, variables, input, output.raw, supervisors.raw, &process, &pidfd)
            }
        }
        try SystemError.check(result, operation)
        self.program = program
        self.process = process
        self.pidfd = Descriptor(adopting: pidfd)
        self.control = control
        self.pipe = pipe
    }

    /// Waits for the program's end, the timeout or `cancel`; `nil` if the program's end comes first. Keeps reading output,
    /// because a process that blocks on a full pipe cannot end or clean up.
    mutating func wait(milliseconds: Int64, cancel: Int32) -> ExitReport.Ending? {
        let deadline = Deadline(in: milliseconds)
        while true {
            let ready = Descriptor.ready(
                [pidfd.raw, pipeIsOpen ? pipe.raw : -1, cancel, controlIsOpen ? control.raw : -1],
                atMost: deadline.rest)
            if ready[1] { readOutput() }
            if ready[3] { takeReport() }
            if ready[0] || report != nil { return nil }
            if ready[2] { return .cancelled }
            if deadline.hasPassed { return .timedOut }
        }
    }

    private mutating func takeReport() {
        guard controlIsOpen else { return }
        var report = clinux_report()
        let result = unsafe clinux_child_report(control.raw, &report)
        controlIsOpen = result == -EAGAIN
        if result == 0 { self.report = report }
    }

    /// Ends all processes if the wait was interrupted. Returns how the program ended.
    mutating func end(after interruption: ExitReport.Ending?) throws(SystemError) -> ExitReport.Ending {
        if interruption != nil {
            shutdown(control.raw, Int32(SHUT_WR))
            killSupervisorIfStopped()
            _ = wait(milliseconds: Int64(CLINUX_END_TIMEOUT), cancel: -1)
            killSupervisorIfStopped()
        }
        // Reads the report and output from before the end. Later output of background processes is dropped.
        takeReport()
        readOutput()
        let death = try reap()
        if case .signalled? = death { Self.endOrphans() }
        guard let report else { return interruption ?? death ?? .signalled(SIGKILL) }
        switch report.kind {
        case CLINUX_REPORT_EXITED: return .exited(report.value)
        case CLINUX_REPORT_SIGNALLED: return .signalled(report.value)
        default: throw SystemError("start \(program)", errno: Errno(rawValue: report.value))
        }
    }

    /// Between two rounds of killing, in milliseconds.
    private static let pause: UInt32 = 2

    /// A program can stop its supervisor, which is its own user's, so that it outlives its time.
    private mutating func killSupervisorIfStopped() {
        guard report == nil, clinux_child_is_stopped(process) else { return }
        kill(process, SIGKILL)
        _ = wait(milliseconds: Int64(CLINUX_KILL_TIMEOUT), cancel: -1)
    }

    /// Ends the processes of a supervisor that was killed.
    ///
    /// - Parameter milliseconds: how long to wait for it.
    static func endOrphans(within milliseconds: Int64 = Int64(CLINUX_KILL_TIMEOUT)) {
        let deadline = Deadline(in: milliseconds)
        while clinux_orphans_end(), !deadline.hasPassed { usleep(pause * 1_000) }
    }

    /// Leaves the supervisor to itself, which may have been killed since its report.
    private func abandon() {
        if clinux_child_abandon(process) { Self.endOrphans() }
    }

    /// Reaps the supervisor; `nil` while it is still ending processes, or holds the program's remaining ones.
    private func reap() throws(SystemError) -> ExitReport.Ending? {
        if let report {
            guard !report.is_holding else {
                abandon()
                return nil
            }
            // It ends at once.
            _ = Descriptor.ready([pidfd.raw], atMost: Int64(CLINUX_KILL_TIMEOUT))
        }
        var signalled: Int32 = 0
        var status: Int32 = 0
        let result = unsafe clinux_child_reap(process, pidfd.raw, &signalled, &status)
        if result < 0 { abandon() }
        if result == -EAGAIN { return nil }
        try SystemError.check(result, "learn how \(program) ended")
        return signalled != 0 ? .signalled(status) : .exited(status)
    }

    /// Bytes read by one call at most: as much as a pipe holds by default, so that a flood does not keep it busy.
    private static let pipeSize = 65_536

    private mutating func readOutput() {
        guard pipeIsOpen else { return }
        var buffer = [UInt8](repeating: 0, count: Self.pipeSize)
        var taken = 0
        while taken < Self.pipeSize {
            let count = unsafe Glibc.read(pipe.raw, &buffer, Self.pipeSize - taken)
            if count < 0 && errno == EINTR { continue }
            // No output now, or never again.
            if count <= 0 {
                pipeIsOpen = count < 0 && errno == EAGAIN
                return
            }
            output.take(buffer[..<count])
            taken += count
        }
    }
}
