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
