import CLinux
internal import Failures
import SystemPackage

/// Walks an absolute path one component at a time. Each is opened in the directory that was checked before it, so that a swap in
/// between is never followed.
///
/// The kernel follows no link here. A link that the rule allows is read through its own descriptor, and its text is walked like
/// the rest. `..` returns to the directory that the walk came through.
struct GuardedWalk {
    /// As many as the kernel follows in one path.
    static let linkLimit = 40
    /// A file that is replaced this often while it is read will never be read.
    private static let tryLimit = 20
    /// The bytes of a path or of a link's text, with a zero at the end (PATH_MAX).
    private static let textLimit = 4096

    private let identity: Identity
    private let rule: PathRule
    private var here: GuardedDirectory
    /// The rest of the walk, the next step last.
    private var ahead: [Step] = []
    private var links = 0
    /// The first link that was followed and belongs to a stranger.
    private var strangersLink: UntrustedLink?
    /// The first link of an acting user other than root that led to another user's file.
    private var strayLink: UntrustedLink?

    private enum Step {
        case name(FilePath.Component)
        /// The walk has reached the target of a link, which has to belong to the link's owner.
        case belongs(UntrustedLink, isCondition: Bool)
    }

    /// Walks to the last name of `path`, which need not exist yet.
    static func place(
        _ path: String, _ rule: PathRule, as identity: Identity
    ) throws(FileError) -> GuardedPlace {
        var walk = try GuardedWalk(path, rule, as: identity)
        do throws(FileError) { return try walk.place() } catch { throw walk.blamed(error) }
    }

    static func directory(
        _ path: String, _ rule: PathRule, as identity: Identity
    ) throws(FileError) -> GuardedDirectory {
        var walk = try GuardedWalk(path, rule, as: identity)
        do throws(FileError) {
            while let step = walk.ahead.popLast() { try walk.pass(step) }
        } catch {
            throw walk.blamed(error)
        }
        return walk.here
    }

    /// The error, or that a stranger's link led there, or a link to a file that its owner does not own.
    private func blamed(_ error: FileError) -> FileError {
        strangersLink?.blamed(error, for: identity) ?? strayLink?.blamed(error, for: identity) ?? error
    }

    /// Tries again when the file was just being replaced: each try starts from the path.
    static func untilSettled<Value: ~Copyable>(
        _ attempt: () throws(FileError) -> Value
    ) throws(FileError) -> Value {
        for _ in 1..<tryLimit {
            do throws(FileError) {
                return try attempt()
            } catch {
                guard error.code == .changedMeanwhile else { throw error }
            }
        }
        return try attempt()
    }

    private init(_ text: String, _ rule: PathRule, as identity: Identity) throws(FileError) {
        let path = FilePath(text)
        guard path.isAbsolute, !text.utf8.contains(0) else {
            throw FileError(.systemError, at: text, errno: .invalidArgument, detail: "not an absolute path")
        }
        guard text.utf8.count < Self.textLimit else { throw FileError(.nameTooLong, at: text) }
        self.identity = identity
        self.rule = rule
        let root = Descriptor(adopting: try checked(clinux_path_root(), "/"))
        let status = try FileStatus(of: root.raw, path: "/")
        try rule.check(directory: "/", status, root.raw, for: identity)
        here = GuardedDirectory(root, status: status, path: "/", above: nil)
        ahead = path.components.reversed().map(Step.name)
    }

    private mutating func place() throws(FileError) -> GuardedPlace {
        while let step = ahead.popLast() {
            guard case .name(let name) = step, name.kind == .regular, isLast else {
                try pass(step)
                continue
            }
            let found = try status(of: name)
            if found?.kind == .link, let handle = try here.step(to: name) {
                let path = here.path.appending(name)
                let status = try FileStatus(of: handle.raw, path: path.string)
                guard status.kind == .link else { throw FileError(.changedMeanwhile, at: path.string) }
                try follow(handle.raw, status, path)
                continue
            }
            try settle(found)
            return GuardedPlace(
                directory: here, name: name, found: found, strangersLink: strangersLink, strayLink: strayLink)
        }
        throw FileError(.isDirectory, at: here.path.string)
    }

    /// This name's status at the walk's position; nil: there is none.
    private func status(of name: FilePath.Component) throws(FileError) -> FileStatus? {
        do throws(FileError) {
            return try here.status(of: name)
        } catch {
            // The directory itself denies access.
            throw error.code == .permissionDenied ? accessDenied : error
        }
    }

    private var accessDenied: FileError {
        FileError(
            .permissionDenied, at: here.path.string, errno: .permissionDenied,
            remedy: rule.grantingAccess(here.path))
    }

    private var isLast: Bool {
        !ahead.contains { step in
            if case .name = step { true } else { false }
        }
    }

    /// Checks the owner of the links' target; `status` is nil if there is nothing yet.
    private mutating func settle(_ status: FileStatus?) throws(FileError) {
        for case .belongs(let link, let isCondition) in ahead {
            if isCondition {
                guard status?.owner == link.status.owner else {
                    throw link.error(for: identity, hasRemedy: strangersLink != nil)
                }
            } else if (status ?? here.status).owner != link.status.owner, strayLink == nil {
                strayLink = link
            }
        }
    }

    private mutating func pass(_ step: Step) throws(FileError) {
        switch step {
        case .belongs:
            let later = ahead
            ahead = [step]
            try settle(here.status)
            ahead = later
        case .name(let name):
            switch name.kind {
            case .currentDirectory: break
            case .parentDirectory: here = here.above ?? here
            case .regular: try enter(name)
            }
        }
    }

    /// Enters the directory of this name, through a link if need be.
    private mutating func enter(_ name: FilePath.Component) throws(FileError) {
        let path = here.path.appending(name)
        var raw = unsafe name.withPlatformString { unsafe clinux_path_step(here.descriptor.raw, $0, 1) }
        if Errno(rawValue: -raw) == .notDirectory {
            raw = unsafe name.withPlatformString { unsafe clinux_path_step(here.descriptor.raw, $0, 0) }
        }
        if Errno(rawValue: -raw) == .permissionDenied { throw accessDenied }
        let handle = Descriptor(adopting: try checked(raw, path.string, missing: .directoryMissing))
        let status = try FileStatus(of: handle.raw, path: path.string)
        if status.kind == .link { return try follow(handle.raw, status, path) }
        guard status.kind == .directory else {
            throw FileError(.notADirectory, at: path.string, errno: .notDirectory)
        }
        try rule.check(directory: path, status, handle.raw, for: identity)
        guard here.depth < GuardedDirectory.depthLimit else {
            throw FileError(
                .nameTooLong, at: path.string,
                detail: "more than \(GuardedDirectory.depthLimit) directories below one another")
        }
        here = GuardedDirectory(handle, status: status, path: path, above: here)
    }

    /// Puts a link's text in front of the rest of the walk.
    private mutating func follow(_ handle: Int32, _ status: FileStatus, _ path: FilePath) throws(FileError) {
        let isFree = try rule.check(link: path, status, in: here, for: identity)
        if rule.isStrangers(status, for: identity), strangersLink == nil {
            strangersLink = UntrustedLink(
                path: path, status: status,
                isGuarded: identity.trusts(here.status.owner) && !here.status.isWritableByOthers)
        }
        guard try checked(clinux_path_is_on_proc(handle), path.string) == 0 else {
            throw FileError(.untrustedLink, at: path.string, detail: "links of /proc are not followed")
        }
        links += 1
        guard links <= Self.linkLimit else {
            throw FileError(.tooManyLinks, at: path.string, errno: .tooManySymbolicLinkLevels)
        }
        var buffer = [CChar](repeating: 0, count: Self.textLimit + 1)
        let length = unsafe clinux_path_read_link(handle, &buffer, Self.textLimit)
        guard try checked(length, path.string) < Self.textLimit else { throw FileError(.nameTooLong, at: path.string) }
        let target = FilePath(platformString: buffer)
        if !isFree || rule.isOwn(status, for: identity) {
            ahead.append(
                .belongs(UntrustedLink(path: path, status: status, leadsAway: true), isCondition: !isFree))
        }
        if target.isAbsolute { while let above = here.above { here = above } }
        ahead += target.components.reversed().map(Step.name)
    }
}

/// The end of a walk: a name in a directory that is held open, and the file found there.
struct GuardedPlace {
    let directory: GuardedDirectory
    let name: FilePath.Component
    /// Nil: nothing has this name.
    let found: FileStatus?
    var strangersLink: UntrustedLink?
    /// A link of the acting user that led to another user's file.
    var strayLink: UntrustedLink?

    /// The real path: links are followed.
    var path: String { directory.path(of: name) }

    /// The error, or that a link led there which is not to be trusted.
    func blamed(_ error: FileError, for identity: Identity) -> FileError {
        strangersLink?.blamed(error, for: identity) ?? strayLink?.blamed(error, for: identity) ?? error
    }

    /// See ``GuardedPath/rootsOwn(_:for:)``.
    func isRootsOwn(at path: String, for user: UInt32) -> Bool {
        guard let found, strangersLink == nil, self.path == path || directory.status.owner == user else { return false }
        return found.kind == .regular && found.owner == 0 && found.links == 1 && !found.isMountPoint
    }

    /// Whether the process may execute the file.
    func isExecutable() throws(FileError) -> Bool {
        guard let found, let handle = try directory.step(to: name) else { return false }
        guard try FileStatus(of: handle.raw, path: path).isSameFile(as: found) else {
            throw FileError(.changedMeanwhile, at: path)
        }
        return try checked(clinux_path_may_execute(handle.raw), path) == 1
    }

    /// Throws if the file that was read no longer has this name, or was touched.
    func confirm(_ read: FileStatus) throws(FileError) {
        guard let now = try directory.status(of: name), now.identity == read.identity else {
            throw FileError(.changedMeanwhile, at: path)
        }
    }
}
