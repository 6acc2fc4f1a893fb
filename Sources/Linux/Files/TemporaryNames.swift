import CLinux
import SystemPackage

/// The names of temporary files: nobody can guess the next one, and its maker knows its own again.
///
/// `.clientsecretd-<tag>-<random>.tmp`, hidden and with an ending that no application reads. The tag belongs to one
/// state directory, which keeps it: after a kill, what carries it is that daemon's and nobody else's.
package struct TemporaryNames: Hashable, Sendable {
    /// 16 lower-case hexadecimal digits.
    package let tag: String

    /// 64 bits tell state directories apart; 128 bits that nobody knows make a name that nobody can take first.
    private static let tagDigits = 16
    private static let randomDigits = 32
    private static let endings = [".tmp", ".part"]

    /// Far more than lie in a directory that is published in: looking through it must end.
    private static let sweepLimit = 100_000

    /// A fresh tag from the kernel's random source.
    package init() throws(FileError) {
        tag = try Self.random(digits: Self.tagDigits)
    }

    /// The tag that a state directory has kept; nil when that is none.
    package init?(tag: String) {
        guard Self.isHexadecimal(tag, digits: Self.tagDigits) else { return nil }
        self.tag = tag
    }

    /// A new name, which does not end like that of the target.
    func next(for target: FilePath.Component) throws(FileError) -> FilePath.Component {
        let ending = Self.endings.first { "." + (target.extension ?? "") != $0 } ?? Self.endings[0]
        let text = "\(Self.prefix)\(tag)-\(try Self.random(digits: Self.randomDigits))\(ending)"
        guard let name = FilePath.Component(text) else { throw FileError(.systemError, at: text) }
        return name
    }

    /// Removes what a killed process left beside an output: regular files of this user whose names have this tag and
    /// the whole form. Before the first write, for a write under way looks the same. Returns how many there were.
    ///
    /// - Parameter ofAnyTag: where nobody else writes: what was left by a process that did not come to keep its tag.
    @discardableResult
    package func sweep(beside path: String, as identity: Identity, ofAnyTag: Bool = false) throws(FileError) -> Int {
        let directory = try GuardedWalk.place(path, .publishing, as: identity).directory
        var removed = 0
        for name in try directory.names(limit: Self.sweepLimit)
        where ofAnyTag ? Self.tag(of: name.string) != nil : isOwn(name.string) {
            guard let handle = try directory.step(to: name) else { continue }
            let status = try FileStatus(of: handle.raw, path: directory.path.appending(name).string)
            guard status.kind == .regular, status.owner == identity.user else { continue }
            directory.remove(name)
            removed += 1
        }
        return removed
    }

    private static let prefix = ".clientsecretd-"

    private func isOwn(_ name: String) -> Bool { Self.tag(of: name) == tag }

    /// The tag in a name of the whole form; nil when it is none.
    private static func tag(of name: String) -> String? {
        guard name.hasPrefix(prefix), let ending = endings.first(where: name.hasSuffix) else { return nil }
        let parts = name.dropFirst(prefix.count).dropLast(ending.count)
            .split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, isHexadecimal(parts[0], digits: tagDigits),
            isHexadecimal(parts[1], digits: randomDigits)
        else { return nil }
        return String(parts[0])
    }

    private static func isHexadecimal(_ text: some StringProtocol, digits: Int) -> Bool {
        text.utf8.count == digits && text.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }

    private static func random(digits: Int) throws(FileError) -> String {
        var bytes = [UInt8](repeating: 0, count: digits / 2)
        _ = try checked(unsafe clinux_random(&bytes, bytes.count), "getrandom")
        let alphabet = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(digits)
        for byte in bytes {
            text.append(alphabet[Int(byte >> 4)])
            text.append(alphabet[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
