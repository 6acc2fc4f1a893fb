internal import AppleClientSecret
import Glibc

/// Why Linux does not execute a file that its user may execute. execve(2) tells little of it: a missing interpreter looks like
/// a missing file, and a file system that is mounted noexec like a missing right.
package enum ProgramObstacle: Hashable, Sendable {
    /// The file system that it is on is mounted with this option.
    case mountedNoexec
    /// Its first line has a Windows line ending, so that the interpreter's name, or its argument, ends in that character.
    case carriageReturn
    /// A byte-order mark is before `#!`, as Windows programs write it.
    case byteOrderMark
    /// The interpreter of a script, or the loader of a program, does not exist.
    case interpreterMissing(String)
    case interpreterNotExecutable(String)
    /// `#!/usr/bin/env` finds no such program.
    case notFoundByEnv(String)
    /// Neither a script with a first line that names an interpreter nor a whole program.
    case noFormat
    /// A program for another kind of machine.
    case otherMachine
}

/// A file that is to be executed, read as execve(2) reads it.
package struct ProgramFile: Sendable {
    private let path: String
    /// `PATH` of the program's environment.
    private let searchPath: String

    /// As much of a file as Linux looks at (BINPRM_BUF_SIZE of Linux).
    private static let beginning = 256
    /// So many scripts may be the interpreters of one another (exec_binprm of Linux).
    private static let interpreterLimit = 5
    /// MS_NOEXEC, as statvfs(3) reports it.
    private static let noexec: UInt = 8

    package init(_ path: String, searchPath: String) {
        self.path = path
        self.searchPath = searchPath
    }

    /// What keeps the file from being executed; nil when nothing does, or when that cannot be told.
    ///
    /// - Parameter failed: whether executing it has failed. Otherwise nothing is reported about a format that Linux may have
    ///   learned (binfmt_misc).
    package func obstacle(afterFailure failed: Bool = false) -> ProgramObstacle? {
        DiskPatience.value(at: path) { obstacleAtOnce(afterFailure: failed) } ?? nil
    }

    private func obstacleAtOnce(afterFailure failed: Bool) -> ProgramObstacle? {
        guard !Self.isNoexec(path) else { return .mountedNoexec }
        guard let bytes = Self.read(path, count: Self.beginning, at: 0) else { return nil }
        if bytes.starts(with: "#!".utf8) { return obstacle(script: bytes) }
        if bytes.starts(with: "\u{FEFF}#!".utf8) { return .byteOrderMark }
        let found = bytes.starts(with: ELFHeader.magic) ? obstacle(program: bytes) : .noFormat
        switch found {
        case .noFormat, .otherMachine: return failed || Self.hasOnlyOwnFormats ? found : nil
        default: return found
        }
    }

    /// The interpreters that it needs: of a script, of the interpreter that is a script, and so on.
    package var interpreters: [String] { DiskPatience.value(at: path) { interpretersAtOnce } ?? [] }

    private var interpretersAtOnce: [String] {
        var found: [String] = []
        var next = path
        while found.count < Self.interpreterLimit, let bytes = Self.read(next, count: Self.beginning, at: 0),
            let line = FirstLine(bytes), !line.interpreter.isEmpty
        {
            found.append(line.interpreter)
            next = line.interpreter
        }
        return found
    }

    private func obstacle(script bytes: [UInt8]) -> ProgramObstacle? {
        guard let line = FirstLine(bytes), !line.interpreter.isEmpty else { return .noFormat }
        if line.endsInCarriageReturn { return .carriageReturn }
        let interpreters = interpreters
        if interpreters.contains(path) { return .interpreterNotExecutable(path) }
        for interpreter in interpreters {
            if FileStatus.isAbsent(interpreter) { return .interpreterMissing(interpreter) }
            if Self.isNoexec(interpreter) || !Self.isExecutable(interpreter) {
                return .interpreterNotExecutable(interpreter)
            }
        }
        guard let wanted = line.wantedFromEnv, !wanted.contains("/") || wanted.contains(" ") else { return nil }
        let directories = searchPath.split(separator: ":")
        return directories.contains { Self.isExecutable("\($0)/\(wanted)") } ? nil : .notFoundByEnv(wanted)
    }

    private func obstacle(program bytes: [UInt8]) -> ProgramObstacle? {
        guard let header = ELFHeader(bytes) else { return .noFormat }
        guard let own = Self.read("/proc/self/exe", count: Self.beginning, at: 0).flatMap({ ELFHeader($0) }) else {
            return nil
        }
        // A kernel of 64 bits may execute programs of 32 bits of its family.
        guard header.isWide == own.isWide else { return nil }
        guard header.machine == own.machine else { return .otherMachine }
        let table = Self.read(path, count: header.tableSize, at: header.tableStart) ?? []
        guard let place = header.loader(in: table), place.count <= Int(PATH_MAX),
            let name = Self.read(path, count: place.count, at: place.start)
        else { return nil }
        let loader = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
        return FileStatus.isAbsent(loader) ? .interpreterMissing(loader) : nil
    }

    /// Whether Linux was taught no further formats; false where that cannot be seen.
    private static var hasOnlyOwnFormats: Bool {
        let place = "/proc/sys/fs/binfmt_misc"
        guard let directory = unsafe opendir(place) else { return false }
        defer { unsafe closedir(directory) }
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if ![".", "..", "register", "status"].contains(name) { return false }
        }
        return true
    }

    private static func isExecutable(_ path: String) -> Bool {
        unsafe access(path, X_OK) == 0 && FileStatus.following(path)?.kind != .directory
    }

    private static func isNoexec(_ path: String) -> Bool {
        var status = statvfs()
        return unsafe statvfs(path, &status) == 0 && status.f_flag & noexec != 0
    }

    /// Nil when it cannot be read; fewer bytes at the file's end.
    private static func read(_ path: String, count: Int, at offset: Int) -> [UInt8]? {
        let file = Descriptor(adopting: unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK))
        guard file.raw >= 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        let length = unsafe pread(file.raw, &bytes, count, off_t(offset))
        return length < 0 ? nil : Array(bytes.prefix(length))
    }
}

/// A script's first line.
private struct FirstLine {
    /// Absolute: a program is started in the directory `/`.
    let interpreter: String
    /// All that follows it: one argument, whatever blanks are in it.
    private let argument: String
    let endsInCarriageReturn: Bool

    /// Nil where the file does not begin with `#!`.
    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: "#!".utf8) else { return nil }
        var line = bytes.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }
        endsInCarriageReturn = line.last == UInt8(ascii: "\r")
        if endsInCarriageReturn { line.removeLast() }
        let isBlank: (UInt8) -> Bool = { $0.isASCIIBlank || $0 == 0 }
        let words = line.drop(while: isBlank)
        let name = String(decoding: words.prefix { !isBlank($0) }, as: UTF8.self)
        interpreter = name.isEmpty || name.hasPrefix("/") ? name : "/" + name
        argument = String(
            decoding: words.drop { !isBlank($0) }.drop(while: isBlank).reversed().drop(while: isBlank).reversed(),
            as: UTF8.self)
    }

    /// What `env` is to find; nil where it is not used, or used in another way.
    var wantedFromEnv: String? {
        guard interpreter.hasSuffix("/env"), !argument.isEmpty else { return nil }
        guard argument.hasPrefix("-") else { return argument.contains("=") ? nil : argument }
        let words = argument.split(separator: " ")
        guard words.count > 1, words[0] == "-S", !words[1].hasPrefix("-"), !words[1].contains("=") else { return nil }
        return String(words[1])
    }
}

/// What of a program's header says where it runs (elf(5)).
private struct ELFHeader {
    static let magic: [UInt8] = [0x7F, 0x45, 0x4C, 0x46]

    /// Of 64 bits.
    let isWide: Bool
    let machine: UInt64
    let tableStart: Int
    let tableSize: Int
    private let isBig: Bool
    private let entrySize: Int

    /// Nil when it is damaged.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 64, bytes.starts(with: Self.magic), [1, 2].contains(bytes[4]), [1, 2].contains(bytes[5])
        else {
            return nil
        }
        isWide = bytes[4] == 2
        isBig = bytes[5] == 2
        machine = Self.number(bytes, 18, 2, isBig)
        tableStart = Int(clamping: Self.number(bytes, isWide ? 32 : 28, isWide ? 8 : 4, isBig))
        entrySize = Int(Self.number(bytes, isWide ? 54 : 42, 2, isBig))
        // Linux takes no larger table.
        tableSize = min(entrySize * Int(Self.number(bytes, isWide ? 56 : 44, 2, isBig)), 65_536)
    }

    /// Where the file names its loader (PT_INTERP); nil when it needs none.
    func loader(in table: [UInt8]) -> (start: Int, count: Int)? {
        guard entrySize >= (isWide ? 56 : 32) else { return nil }
        for start in stride(from: 0, through: table.count - entrySize, by: entrySize) {
            let entry = Array(table[start..<start + entrySize])
            guard Self.number(entry, 0, 4, isBig) == 3 else { continue }
            return (
                Int(clamping: Self.number(entry, isWide ? 8 : 4, isWide ? 8 : 4, isBig)),
                Int(clamping: Self.number(entry, isWide ? 32 : 16, isWide ? 8 : 4, isBig))
            )
        }
        return nil
    }

    private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int, _ isBig: Bool) -> UInt64 {
        let part = bytes[start..<start + count]
        return (isBig ? Array(part) : part.reversed()).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
