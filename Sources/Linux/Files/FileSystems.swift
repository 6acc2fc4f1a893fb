import CLinux

/// The file system that a path is on.
package enum FileSystems {
    /// File systems whose content others change without this kernel noticing, by their numbers in statfs(2).
    private static let remote: Set<Int64> = [
        0x6969,  // NFS
        0x517B, 0xFF53_4D42, 0xFE53_4D42,  // SMB, CIFS, SMB2
        0x6573_5546,  // FUSE
        0x0102_1997,  // 9P
        0x00C3_6400,  // Ceph
        0x0BD0_0BD0,  // Lustre
        0x0116_1970,  // GFS2
        0x7461_636F,  // OCFS2
        0x5346_414F, 0x6B41_4653,  // AFS
        0x786F_4256,  // VirtualBox's shared folders
    ]

    /// Whether a reboot removes the files below `path`, because it is on a tmpfs or ramfs.
    package static func isVolatile(_ path: String) -> Bool {
        let type = DiskTimeout.value(at: path) { unsafe clinux_file_system_type(path) }
        return type == 0x0102_1994 || type == 0x8584_58F6
    }

    /// Whether `path` leads to a pipe that has no name in any directory, as that of a shell's `<(…)`.
    package static func isUnnamedPipe(_ path: String) -> Bool {
        let pipes: Int64 = 0x5049_5045
        return DiskTimeout.value(at: path) { unsafe clinux_file_system_type(path) } == pipes
    }

    /// Whether inotify reports every change below `path`; false when that cannot be found out.
    package static func givesNotice(_ path: String) -> Bool {
        let type = unsafe clinux_file_system_type(path)
        return type >= 0 && !remote.contains(type)
    }
}
