import Rotation
import SystemPackage

/// A queue of jobs: one that hangs delays only its own lane.
enum Lane: Hashable, Sendable {
    case settings
    /// A key and its passphrase, on any mount.
    case key(KeyName)
    case state
    case signing
    /// The mount that a file lies on.
    case mount(String)
    /// The writer for a user.
    case writer(String)
    /// Questions to Apple.
    case verification
    /// Reads of secrets in the store, which wait for no put.
    case storeReading
    /// Other questions to the store.
    case store
    /// One for each place behind an API, whose answer may take a minute.
    case push(TargetName)
    /// One for each hook, because hooks may take long.
    case hook(ActionID)
    /// Probes of actions; one lane, so that not a hundred threads at once ask systemd and polkit.
    case probes
}

/// Which file system a path lies on, read from the kernel's table: asking the file system itself could hang.
struct MountTable: Sendable {
    /// Each with the prefix of the paths below it, the longest first.
    private let points: [(point: String, below: String)]

    /// - Parameter table: the text of `/proc/self/mountinfo` (proc(5)), whose fifth field is the mount point with
    ///   spaces, tabs, line breaks and backslashes in octal.
    init(_ table: String) {
        let found = table.split(separator: "\n").compactMap { line -> String? in
            let fields = line.split(separator: " ")
            return fields.count > 4 ? Self.unescaped(fields[4]) : nil
        }
        points = Set(found).sorted { $0.utf8.count > $1.utf8.count }.map { ($0, $0 == "/" ? $0 : $0 + "/") }
    }

    /// The kernel's table as it is now; empty where /proc is not mounted.
    static func current() -> String {
        guard let file = try? FileDescriptor.open(FilePath("/proc/self/mountinfo"), .readOnly, options: .closeOnExec)
        else {
            return ""
        }
        defer { try? file.close() }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < Self.limit {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe (try? file.read(into: $0)) ?? 0 }
            if count == 0 { break }
            bytes += buffer.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// More than any machine's table, in bytes.
    private static let limit = 16 << 20

    /// The mount point of `path` by its text, without following links.
    func point(of path: AbsolutePath) -> String {
        points.first { path.description.hasPrefix($0.below) || path.description == $0.point }?.point ?? "/"
    }

    private static func unescaped(_ field: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(field.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.count >= 3,
                let value = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
