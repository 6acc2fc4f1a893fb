internal import AppleClientSecret
import CLinux
internal import Failures
import SystemPackage

/// Names of temporary files, which cannot be guessed and which their maker recognises later.
///
/// `.clientsecretd-<tag>-<random>.tmp`, hidden and with an ending that no application reads. The tag is kept in one
/// state directory: after a kill, files with it are only that daemon's.
package struct TemporaryNames: Hashable, Sendable {
    /// 16 lower-case hexadecimal digits.
    package let tag: String

    /// 64 bits distinguish state directories; 128 random bits make a name that cannot be taken first.
    private static let tagDigits = 16
    private static let randomDigits = 32
    private static let endings = [".tmp", ".part"]

    /// Far more names than a directory with outputs holds: the sweep must end.
    private static let sweepLimit = 100_000

    /// A fresh tag from the kernel's random source.
    package init() { tag = Self.random(digits: Self.tagDigits) }

    /// The tag that a state directory has kept; nil when it is not valid.
    package init?(tag: String) {
        guard Hex.isEncoded(tag, digits: Self.tagDigits) else { return nil }
        self.tag = tag
    }

    /// A new name, whose ending differs from the target's.
    func next(for target: FilePath.Component) throws(FileError) -> FilePath.Component {
        let ending = Self.endings.first { "." + (target.extension ?? "") != $0 } ?? Self.endings[0]
        let text = "\(Self.prefix)\(tag)-\(Self.random(digits: Self.randomDigits))\(ending)"
        guard let name = FilePath.Component(text) else { throw FileError(.systemError, at: text) }
        return name
    }

    /// Removes files that a killed process left next to an output. These are regular files of this user whose names have this tag
    /// and the full form. A file that a process is writing now stays (``TemporaryFile``). Returns the count.
    ///
    /// - Parameter ofAnyTag: if no other process writes there: also files of a process that died before it kept its tag.
    @discardableResult
    package func sweep(beside path: String, as identity: Identity, ofAnyTag: Bool = false) throws(FileError) -> Int {
        let directory = try GuardedWalk.place(path, .publishing, as: identity).directory
        var removed = 0
        for name in try directory.names(limit: Self.sweepLimit)
        where ofAnyTag ? Self.tag(of: name.string) != nil : isOwn(name.string) {
            guard let handle = try directory.step(to: name) else { continue }
            let status = try FileStatus(of: handle.raw, path: directory.path.appending(name).string)
            guard status.kind == .regular, status.owner == identity.user else { continue }
            let raw = unsafe name.withPlatformString { unsafe clinux_path_open_to_read(directory.descriptor.raw, $0) }
            guard raw >= 0 else { continue }
            // Locked until it is removed: its maker then knows that it has lost it.
            let file = Descriptor(adopting: raw)
            guard TemporaryFile.lock(file.raw) else { continue }
            directory.remove(name)
            removed += 1
        }
        return removed
    }

    private static let prefix = ".clientsecretd-"

    private func isOwn(_ name: String) -> Bool { Self.tag(of: name) == tag }

    /// The tag in a name of the full form; nil for any other.
    package static func tag(of name: String) -> String? {
        guard name.hasPrefix(prefix), let ending = endings.first(where: name.hasSuffix) else { return nil }
        let parts = name.dropFirst(prefix.count).dropLast(ending.count)
            .split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, Hex.isEncoded(parts[0], digits: tagDigits),
            Hex.isEncoded(parts[1], digits: randomDigits)
        else { return nil }
        return parts[0]
    }

    private static func random(digits: Int) -> String {
        Hex.encode((0..<digits / 2).map { _ in UInt8.random(in: 0 ... .max) })
    }
}
