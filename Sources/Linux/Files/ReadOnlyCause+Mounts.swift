package import Failures

extension ReadOnlyCause {
    /// Why the directory at the real path `directory` is read-only; nil if it is not, or nothing is known of mounts.
    package static func of(_ directory: String) -> ReadOnlyCause? {
        guard let table = MountTable.ofThisProcess() else { return nil }
        return of(directory, in: table, isUnit: OwnUnit.hasStartedProcess)
    }

    /// A sandbox changes mounts, and no file system. Only the mounts of the root and of /run are certain to be read-only by a
    /// sandbox: otherwise the machine would not run.
    ///
    /// - Parameter isUnit: whether systemd started the process.
    static func of(_ directory: String, in table: MountTable, isUnit: Bool) -> ReadOnlyCause? {
        guard let mount = table.mount(of: directory) else { return nil }
        if mount.isFileSystemReadOnly { return .fileSystem(mount.point) }
        guard mount.isReadOnly else { return nil }
        return isUnit && ["/", "/run"].contains(mount.point) ? .sandbox : .mount(mount.point)
    }
}
