import Glibc
package import SystemPackage

/// A file that is to be executed, read as execve(2) reads it.
package struct ProgramFile: Sendable {
    private let path: String
    /// `PATH` of the program's environment.
    private let searchPath: String

    /// As much of a file as Linux looks at (BINPRM_BUF_SIZE of Linux).
    private static let beginning = 256
    /// More than Linux follows from one script to the next (exec_binprm): `env` begins the count again.
    private static let interpreterLimit = 16
    /// MS_NOEXEC, as statvfs(3) reports it.
    private static let noexec: UInt = 8

    package init(_ path: String, searchPath: String) {
        self.path = path
        self.searchPath = searchPath
    }

    /// What keeps the file from being executed; nil when nothing does, or when that cannot be told.
    ///
    /// - Parameter failure: how executing it has failed. Otherwise nothing is reported about a format that Linux may have
    ///   learned (binfmt_misc).
    package func problem(after failure: Errno? = nil) -> ProgramProblem? {
        DiskTimeout.value(at: path) { problemAtOnce(after: failure) } ?? nil
    }

    private func problemAtOnce(after failure: Errno?) -> ProgramProblem? {
        guard !Self.isNoexec(path) else { return .mountedNoexec }
        guard let bytes = Self.read(path) else { return nil }
        if bytes.starts(with: "#!".utf8) { return problem(script: bytes) }
        if bytes.starts(with: "\u{FEFF}#!".utf8) { return .byteOrderMark }
        if bytes.starts(with: "\u{7F}ELF".utf8) {
            return failure == .execFormatError || failure == .noSuchFileOrDirectory ? .foreignProgram : nil
        }
        return failure != nil || Self.hasOnlyOwnFormats ? .noFormat : nil
    }

    /// The interpreters that it needs: of a script, of the interpreter that is a script, and so on. The program that `env`
    /// finds for a script is one of them.
    package var interpreters: [String] { DiskTimeout.value(at: path) { chainAtOnce.interpreters } ?? [] }

    /// Every path whose content decides what is executed in place of a script: its ``interpreters``, and where `env` looks
    /// before it finds one. Not all of them need to exist.
    package var deciding: [String] { DiskTimeout.value(at: path) { chainAtOnce.deciding } ?? [] }

    private var chainAtOnce: (interpreters: [String], deciding: [String]) {
        var interpreters: [String] = []
        var deciding: [String] = []
        var next = path
        while interpreters.count < Self.interpreterLimit, let bytes = Self.read(next),
            let line = ScriptFirstLine(bytes), !line.interpreter.isEmpty
        {
            next = line.interpreter
            interpreters.append(next)
            deciding.append(next)
            guard let wanted = line.startedByEnv else { continue }
            let places = places(of: wanted)
            guard let found = places.firstIndex(where: Self.isExecutable) else {
                deciding += places
                break
            }
            next = places[found]
            interpreters.append(next)
            deciding += places[...found]
        }
        return (interpreters, deciding)
    }

    /// Where execvp(3) looks for a program: a program is started in the directory `/`.
    private func places(of program: String) -> [String] {
        if program.contains("/") { return [program.hasPrefix("/") ? program : "/" + program] }
        return searchPath.split(separator: ":").map { "\($0)/\(program)" }
    }

    private func problem(script bytes: [UInt8]) -> ProgramProblem? {
        guard let line = ScriptFirstLine(bytes), !line.interpreter.isEmpty else { return .noFormat }
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
        let isFound = !wanted.contains("/") && places(of: wanted).contains(where: Self.isExecutable)
        return isFound ? nil : .notFoundByEnv(wanted)
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

    /// A file's beginning; nil when it cannot be read.
    private static func read(_ path: String) -> [UInt8]? {
        guard let file = try? ForeignFile.open(path) else { return nil }
        var bytes = [UInt8](repeating: 0, count: beginning)
        let length = unsafe pread(file.raw, &bytes, beginning, 0)
        return length < 0 ? nil : Array(bytes.prefix(length))
    }
}
