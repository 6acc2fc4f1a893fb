import AppleClientSecret
import Config
import Failures
import Glibc
import Linux
import Model
import Push
import Store
import SystemPackage
import Systemd

/// The addresses on this machine, or on its link, that a helper needs for its configured work.
///
/// The units of the helpers leave these out (`IPAddressAllow=`), because the machine's own services and a cloud's metadata are
/// behind them. If a helper connects to loopback, or the machine's resolver is there, root adds them. It does so in drop-ins
/// below /run at each start and reload of the daemon. A proxy on this machine is not known here.
struct RoleAddresses: Hashable {
    /// By unit.
    private let addresses: [String: [String]]
    /// Units whose connections systemd did not report: their allowed addresses stay.
    private let unknown: Set<String>

    /// The services that connect to a network.
    private static let units = [PackageUnit.pusherTemplate, PackageUnit.store, PackageUnit.verifier]

    static let directory = "/run/systemd/system"
    static let name = "clientsecretd-addresses.conf"
    private static let loopback = ["127.0.0.0/8", "::1/128"]

    /// - Parameters:
    ///   - endpoints: where each unit connects to.
    ///   - unknown: units of which that is not known.
    ///   - resolvers: the text of /etc/resolv.conf.
    ///   - hosts: the text of /etc/hosts, where Debian gives the machine's own name to 127.0.1.1.
    init(
        endpoints: [String: [String]], unknown: Set<String> = [], resolvers: String, hosts: String
    ) {
        let names = Self.ownNames(in: hosts)
        func isLoopback(_ address: String) -> Bool {
            WebAddress(address, allowingQuery: true).map { $0.isLoopback || names.contains($0.host) } ?? false
        }
        let shared = Self.resolversLeftOut(in: resolvers)
        var addresses = Dictionary(uniqueKeysWithValues: Self.units.map { ($0, shared) })
        // A file of an instance takes the place of the template's with the same name.
        for (unit, endpoints) in endpoints where endpoints.contains(where: isLoopback) {
            addresses[unit] = Self.loopback + shared
        }
        self.addresses = addresses.filter { !$0.value.isEmpty }
        self.unknown = unknown
    }

    /// Of this configuration, on this machine.
    init(of loaded: LoadedConfiguration) {
        func text(_ path: String) -> String {
            let found = try? TrustedFile.read(path, for: .configuration, as: .root, limit: 1 << 20)
            return String(decoding: found?.bytes ?? [], as: UTF8.self)
        }
        var endpoints: [String: [String]] = [:]
        var unknown: Set<String> = []
        for (target, request) in loaded.pushRequests {
            endpoints[PackageUnit.pusher(of: target)] = [String(request.split(separator: " ").last ?? "")]
        }
        endpoints[PackageUnit.store] = loaded.store?.endpoints
        if loaded.configuration.clients.values.contains(where: \.verify) {
            do throws(UnitError) {
                endpoints[PackageUnit.verifier] = try UnitsInEffect.endpointOfVerifier().map { [$0] }
            } catch {
                unknown = [PackageUnit.verifier]
            }
        }
        self.init(
            endpoints: endpoints, unknown: unknown, resolvers: text("/etc/resolv.conf"), hosts: text("/etc/hosts"))
    }

    /// Whether a helper needs a server on this machine.
    func includeLoopback(for unit: String) -> Bool { addresses[unit]?.starts(with: Self.loopback) == true }

    private static func file(of unit: String, in directory: String) -> String { "\(directory)/\(unit).d/\(name)" }

    /// The drop-ins' texts by path.
    func files(in directory: String = directory) -> [String: String] {
        addresses.reduce(into: [:]) { files, entry in
            files[Self.file(of: entry.key, in: directory)] =
                "[Service]\nIPAddressAllow=\(entry.value.joined(separator: " "))\n"
        }
    }

    /// The drop-ins to write, with their texts, and to remove: nil.
    ///
    /// - Parameter found: the texts of those that are there, by path.
    func changes(to found: [String: String], in directory: String = directory) -> [String: String?] {
        let wanted = files(in: directory)
        let kept = Set(unknown.map { Self.file(of: $0, in: directory) }).intersection(found.keys)
        return Set(found.keys).union(wanted.keys).subtracting(kept).reduce(into: [:]) { changes, path in
            if wanted[path] != found[path] { changes[path] = .some(wanted[path]) }
        }
    }

    /// Writes the wanted drop-ins, as root; has systemd read them if one has changed. Blocks.
    func apply() throws {
        var found: [String: String] = [:]
        for folder in try TrustedFile.names(in: Self.directory, ending: ".service.d", as: .root)
        where folder.hasPrefix("clientsecretd-") {
            let path = "\(Self.directory)/\(folder)/\(Self.name)"
            guard !FileStatus.isAbsent(path) else { continue }
            let content = try? TrustedFile.read(path, for: .configuration, as: .root, limit: 65_536)
            found[path] = String(decoding: content?.bytes ?? [], as: UTF8.self)
        }
        let changes = changes(to: found)
        guard !changes.isEmpty else { return }
        // Connects before any change: after a failure here, changed files would look applied the next time.
        var systemd = try SystemdClient(timeout: UnitTimeouts.reload, cancel: nil)
        try Self.carryOut(changes, as: .root) { try systemd.reloadUnits() }
    }

    /// Writes and removes drop-ins, then has systemd read them. Also if one of them could not be written: the next time, the others
    /// would look applied.
    static func carryOut(
        _ changes: [String: String?], as identity: Identity, reload: () throws -> Void
    ) throws {
        var failure: (any Error)?
        for (path, text) in changes {
            do { try put(text, at: path, as: identity) } catch { failure = error }
        }
        try reload()
        if let failure { throw failure }
    }

    private static func put(_ text: String?, at path: String, as identity: Identity) throws {
        guard let text else {
            _ = unsafe unlink(path)
            return
        }
        try GuardedPath.makeDirectory(String(path.dropLast(name.utf8.count + 1)), mode: 0o755, as: identity)
        let raw = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard raw >= 0 else { throw SystemError("write \(path)", errno: Errno(rawValue: errno)) }
        let file = Descriptor(adopting: raw)
        if let errno = Descriptor.write(text.utf8, to: file.raw) { throw SystemError("write \(path)", errno: errno) }
    }

    /// The names of loopback addresses.
    private static func ownNames(in hosts: String) -> Set<String> {
        hosts.split(whereSeparator: \.isNewline).reduce(into: []) { names, line in
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
            guard let address = words.first, address.hasPrefix("127.") || address == "::1" else { return }
            names.formUnion(words.dropFirst().map { $0.lowercased() })
        }
    }

    /// The resolvers to which the helpers' units let nothing through.
    private static func resolversLeftOut(in text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).compactMap { line in
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count >= 2, words[0] == "nameserver" else { return nil }
            // Without the interface of a link's address.
            let address = String(words[1].prefix { $0 != "%" }).lowercased()
            guard address.utf8.allSatisfy({ Hex.value(of: $0) != nil || ".:".utf8.contains($0) }) else { return nil }
            if ["127.0.0.53", "127.0.0.54"].contains(address) { return nil }
            let isLeftOut =
                ["127.", "169.254.", "fe80:", "fd00:ec2:"].contains { address.hasPrefix($0) } || address == "::1"
            return isLeftOut && address != "fd00:ec2::253" ? address : nil
        }
    }
}
