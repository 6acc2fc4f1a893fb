import CLinux
internal import Failures
import SystemPackage

/// The extended attributes of an open file.
struct ExtendedAttributes {
    /// The bytes that Linux allows for one value, and for the list of names (XATTR_SIZE_MAX, XATTR_LIST_MAX).
    private static let sizeLimit = 65_536
    /// Enough for the access lists and labels that files usually have.
    private static let usualSize = 512

    private let descriptor: Int32
    private let path: String

    init(of descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// All visible names; none if the file system has no attributes.
    func names() throws(FileError) -> [String] {
        let list = unsafe try read { unsafe clinux_attribute_names(descriptor, $0, $1) }
        return (list ?? []).split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Nil when there is none of this name.
    func value(_ name: String) throws(FileError) -> [UInt8]? {
        unsafe try read { unsafe clinux_attribute_get(descriptor, name, $0, $1) }
    }

    /// The bytes that `call` writes into a buffer of the given size; nil if there is nothing or no support.
    private func read(_ call: (UnsafeMutablePointer<UInt8>?, Int) -> Int64) throws(FileError) -> [UInt8]? {
        // Few files have any: the largest buffer is allocated only if a small one was not enough.
        for size in [Self.usualSize, Self.sizeLimit] {
            var count: Int64 = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, length in
                unsafe count = call(buffer.baseAddress, size)
                length = Int(max(0, count))
            }
            switch Errno(rawValue: Int32(truncatingIfNeeded: -count)) {
            case .outOfRange where size < Self.sizeLimit: continue
            case .noData, .notSupported: return nil
            // The file is open, so only the way to it through /proc is missing.
            case .noSuchFileOrDirectory:
                throw FileError(
                    .systemError, at: path,
                    detail: "/proc is not mounted, so it is not known who may use the file",
                    remedy: .say("mount it"))
            default:
                _ = try checked(count, path)
                return bytes
            }
        }
        return nil
    }

    /// Sets a value; nil removes it. Does nothing if it is equal already: setting may be forbidden.
    func set(_ name: String, to value: [UInt8]?) throws(FileError) {
        let now = try self.value(name)
        guard now != value else { return }
        let result =
            if let value {
                unsafe clinux_attribute_set(descriptor, name, value, value.count)
            } else {
                unsafe clinux_attribute_remove(descriptor, name)
            }
        guard result < 0 else { return }
        let errno = Errno(rawValue: -result)
        switch errno {
        case .noSpace, .diskQuotaExceeded, .ioError, .noMemory, .readOnlyFileSystem:
            throw FileError(of: errno, at: path)
        default:
            throw FileError(.attributesNotKept, at: path, errno: errno, detail: name)
        }
    }
}
