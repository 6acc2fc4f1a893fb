import CLinux
internal import Failures
import SystemPackage

/// A regular file, open for reading.
package struct OpenFile: ~Copyable, Sendable {
    package let descriptor: Descriptor
    package let status: FileStatus
    /// The real path: links are followed.
    package let path: String

    /// Opens the file in `place`, which must be a regular file of at most `limit` bytes.
    ///
    /// Never waits for a FIFO's other end or for a terminal.
    init(_ place: borrowing GuardedPlace, limit: Int) throws(FileError) {
        // No property is set before the last throw: the compiler (6.3.1) would destroy those not set yet, too.
        let path = place.path
        guard let found = place.found else { throw FileError(.missing, at: path, errno: .noSuchFileOrDirectory) }
        // Before opening, which can have side effects on a device.
        try found.requireRegular(path)
        let raw = unsafe place.name.withPlatformString { name in
            unsafe clinux_path_open_to_read(place.directory.descriptor.raw, name)
        }
        let descriptor = Descriptor(adopting: try checked(raw, place.path, missing: .changedMeanwhile))
        let status = try FileStatus(of: descriptor.raw, path: place.path)
        try status.requireRegular(path)
        guard status.isSameFile(as: found) else { throw FileError(.changedMeanwhile, at: path) }
        guard status.size <= limit else {
            throw FileError(
                .fileTooLarge, at: path, detail: "\(status.size) bytes are more than the \(limit) allowed")
        }
        self.descriptor = descriptor
        self.status = status
        self.path = path
    }

    /// The whole content; ``FileError/Kind/changedMeanwhile`` when another process wrote during the read.
    func content() throws(FileError) -> FileContent {
        // One byte more than expected, so that a file that grew is noticed.
        var bytes = [UInt8](repeating: 0, count: status.size + 1)
        var count = 0
        // Having read as much as expected and no more, it is not asked for its end.
        repeat {
            let more = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe clinux_file_read(
                    descriptor.raw, buffer.baseAddress.map { unsafe $0 + count }, buffer.count - count, Int64(count))
            }
            guard try checked(more, path) > 0 else { break }
            count += Int(more)
        } while count < status.size
        let after = try FileStatus(of: descriptor.raw, path: path)
        guard count == status.size, after.identity == status.identity else {
            throw FileError(.changedMeanwhile, at: path)
        }
        bytes.removeLast(bytes.count - count)
        return FileContent(bytes: bytes, status: after, path: path)
    }
}
