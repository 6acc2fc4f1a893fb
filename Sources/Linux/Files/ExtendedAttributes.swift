import CLinux
internal import Failures
import SystemPackage

/// The extended attributes of an open file.
struct ExtendedAttributes {
    /// The bytes that Linux allows for one value, and for the list of names (XATTR_SIZE_MAX, XATTR_LIST_MAX).
    private static let sizeLimit = 65_536

    private let descriptor: Int32
    private let path: String

    init(of descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// All visible names; none where the file system has no attributes.
    func names() throws(FileError) -> [String] {
        var buffer = [UInt8](repeating: 0, count: Self.sizeLimit)
        let count = unsafe clinux_attribute_names(descriptor, &buffer, buffer.count)
        if Self.isUnsupported(count) { return [] }
        return buffer.prefix(Int(try checked(count, path))).split(separator: 0).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// Nil when there is none of this name.
    func value(_ name: String) throws(FileError) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: Self.sizeLimit)
        let count = unsafe clinux_attribute_get(descriptor, name, &buffer, buffer.count)
        if Errno(rawValue: Int32(truncatingIfNeeded: -count)) == .noData || Self.isUnsupported(count) {
            return nil
        }
        return Array(buffer.prefix(Int(try checked(count, path))))
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

    private static func isUnsupported(_ result: Int64) -> Bool {
        Errno(rawValue: Int32(truncatingIfNeeded: -result)) == .notSupported
    }
}
