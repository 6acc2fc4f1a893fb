/// A limit on what a process may use, which a system call has reached.
package enum ProcessLimit: Sendable {
    case tasks
    case memory
    case descriptors
    case descriptorsOfMachine

    /// The limit that an error number means; nil if it means something else, or is nil.
    ///
    /// - Parameter isStart: whether the call starts a thread or a process. Only such a call means a limit by `EAGAIN`.
    package init?(reached number: Int32?, isStart: Bool = false) {
        guard let number else { return nil }
        switch number {
        case 11 where isStart: self = .tasks
        case 12: self = .memory
        case 23: self = .descriptorsOfMachine
        case 24: self = .descriptors
        default: return nil
        }
    }

    package var code: FailureCode {
        switch self {
        case .tasks: .outOfTasks
        case .memory: .outOfMemory
        case .descriptors, .descriptorsOfMachine: .outOfDescriptors
        }
    }

    /// How the limit is raised.
    ///
    /// - Parameter unit: the unit whose process has reached it; nil: the daemon's.
    package func remedy(for unit: String?) -> Remedy {
        let unit = unit ?? "the daemon's unit"
        return switch self {
        case .tasks: .say("raise TasksMax= or LimitNPROC= of \(unit), or end processes that actions have left running")
        case .memory: .say("free memory, or raise MemoryMax= of \(unit)")
        case .descriptors: .say("raise LimitNOFILE= of \(unit)")
        case .descriptorsOfMachine: .say("raise the sysctl fs.file-max, or end the program that has so many files open")
        }
    }
}
