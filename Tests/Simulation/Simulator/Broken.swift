import Failures
package import Model
import Rotation

/// What is broken at a moment.
package struct Broken: Hashable {
    package var keys: [KeyName: Failure.Code] = [:]
    package var writes: [AbsolutePath: Failure.Code] = [:]
    /// Files whose writes are reported as failed although the new content is there.
    var lateWrites: Set<AbsolutePath> = []
    package var directories: Set<AbsolutePath> = []
    /// Files on which jobs do not end.
    package var hanging: Set<AbsolutePath> = []
    package var actions: [ActionID: Failing] = [:]
    package var isDiskFull = false
    package var isStateGone = false
    /// Whether the configuration's text would be refused.
    package var isTextBad = false

    package enum Failing: CaseIterable {
        case atOnce
        /// After the application has read its files.
        case late
        /// It hangs and is ended at its timeout.
        case byHanging
    }

    /// Whether outputs may be written again although they hold what they should.
    var isDamaging: Bool { !writes.isEmpty || !lateWrites.isEmpty || !directories.isEmpty || isDiskFull || isStateGone }

    var isStateUnusable: Bool { isStateGone || isDiskFull }

    /// Whether a file can be written and read.
    func serves(_ path: AbsolutePath) -> Bool {
        writes[path] == nil && !lateWrites.contains(path) && !directories.contains(path.directory)
            && !hanging.contains(path) && !isDiskFull
    }

    /// Whether everything works that a client needs to publish.
    func publishes(_ client: ClientConfiguration) -> Bool {
        keys[client.key] == nil && client.outputs.allSatisfy { serves($0.path) }
    }

    /// Whether all of a client's actions work.
    func tells(_ client: ClientConfiguration) -> Bool {
        client.onChange.allSatisfy { actions[$0.id] == nil }
    }
}
