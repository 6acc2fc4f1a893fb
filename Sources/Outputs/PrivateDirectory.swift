internal import Failures
internal import Linux
internal import Model

extension Failure {
    /// That the unit of this process has a directory of its own where the path leads (systemd.exec(5), `PrivateTmp=`), so that no
    /// other program sees what is written there; nil where it has none. The words are those of `check`.
    ///
    /// - Parameters:
    ///   - real: where the output's path leads, as far as that is known.
    ///   - path: the output's.
    static func unseen(_ real: String, at path: AbsolutePath) -> Failure? {
        guard ["/tmp/", "/var/tmp/"].contains(where: real.hasPrefix), let directory = AbsolutePath(real)?.directory,
            MountTable.ofThisProcess()?.mount(of: real)?.isPrivate == true
        else { return nil }
        return Failure(
            .outsideSandbox, at: .path(path),
            detail:
                "other programs do not see what \(OwnUnit.service ?? "the service") writes to \(directory) (PrivateTmp=yes)",
            remedy: .say("write another path, such as \(OutputRemedy.ownDirectory)/\(path.name)"))
    }
}
