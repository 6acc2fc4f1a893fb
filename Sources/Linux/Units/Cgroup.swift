/// The control groups of processes, as systemd names them (cgroups(7)).
package enum Cgroup {
    /// The system's service to which a process belongs; nil for a user's services, sessions and containers.
    ///
    /// - Parameter folder: the process's directory in /proc.
    package static func service(ofProcessIn folder: String) -> String? {
        ForeignFile.read("\(folder)/cgroup", limit: 65_536).flatMap { service(in: String(decoding: $0, as: UTF8.self)) }
    }

    /// The first of its control groups that is no slice is the unit's, as systemd names it. The programs to which the unit
    /// delegates create those below it, with any names.
    ///
    /// - Parameter text: as /proc/PID/cgroup has it.
    package static func service(in text: String) -> String? {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, parts[0] == "0" || parts[1] == "name=systemd" else { continue }
            let names = parts[2].split(separator: "/")
            if names.first == "user.slice" { return nil }
            // With both versions of control groups, services may be in one of them only.
            guard let unit = names.first(where: { !$0.hasSuffix(".slice") }) else { continue }
            // systemd puts a "_" before a name that could be a kernel name.
            return unit.hasSuffix(".service") ? String(unit.hasPrefix("_") ? unit.dropFirst() : unit) : nil
        }
        return nil
    }
}
