/// Common properties of several failure codes, on which decisions depend.
package struct FailureTraits: OptionSet, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The store, or this machine's way to it, is at fault. No application is served worse because of that.
    package static let ofStore = FailureTraits(rawValue: 1 << 0)
    /// The store refuses this machine until an operator changes something, here or in etcd. So it is ``ofStore`` too.
    package static let refusalOfStore: FailureTraits = [.ofStore, FailureTraits(rawValue: 1 << 1)]
    /// The push service on this machine is at fault, and not the API behind it.
    package static let ofPushService = FailureTraits(rawValue: 1 << 2)
    /// The file's content is unknown: the process that read it is at fault, or its disk does not respond now. Others may well be
    /// able to read it.
    package static let ofReader = FailureTraits(rawValue: 1 << 3)
    /// No reader can find a secret at the file's path, because there is no readable file. So it is ``holdsNoSecret`` too.
    package static let leavesNothingToRead: FailureTraits = [.holdsNoSecret, FailureTraits(rawValue: 1 << 4)]
    /// No reader can find the daemon's secret there. In addition to ``leavesNothingToRead`` these are a missing
    /// directory, and a file larger than any output, which another program has written.
    package static let holdsNoSecret = FailureTraits(rawValue: 1 << 5)
    /// The user that writes lacks access, a directory or a group, which its unit's sandbox may have removed.
    package static let mayBeOfSandbox = FailureTraits(rawValue: 1 << 6)
    /// The file was seen and has content that the daemon did not write. If it is deleted, its content is not created again.
    package static let showsOthersContent = FailureTraits(rawValue: 1 << 7)
    /// Only the daemon can find it. A role of the network program that reports it is not believed.
    package static let ofDaemonOnly = FailureTraits(rawValue: 1 << 8)
    /// A limit of the process that worked, or of the machine, was reached: nothing is wrong with the place of the failure.
    package static let ofLimit = FailureTraits(rawValue: 1 << 9)
}

/// By which rule failed work is tried again.
package enum RetryKind: Hashable, Sendable {
    /// After a pause that doubles.
    case soon
    /// Also as soon as a change of the file is noticed. An owner, mode, attribute or link prevented the write from the start, and
    /// fixing that causes a notice.
    case whenChanged
    /// After three times hourly: a unit's job was run and failed, and to run it again stops and starts an application
    /// again. A job that never began, such as one without a polkit rule, costs nothing.
    case sparingly
}
