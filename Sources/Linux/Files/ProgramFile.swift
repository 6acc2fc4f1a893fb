internal import AppleClientSecret
import Glibc
package import SystemPackage

/// A file to execute, read as execve(2) reads it.
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

    /// The obstacle to executing the file; nil if there is none, or if that is unknown.
    ///
    /// - Parameter errno: why execve(2) has refused it; nil: it was not tried.
    package func problem(after errno: Errno? = nil) -> ProgramProblem? {
        DiskTimeout.value(at: path) { () -> ProgramProblem? in
            guard !Self.isNoexec(path) else { return .mountedNoexec }
            guard let bytes = ForeignFile.bytes(of: path, count: Self.beginning) else { return nil }
            if bytes.starts(with: "#!".utf8) { return problem(script: bytes) }
            if bytes.starts(with: "\u{FEFF}#!".utf8) { return .byteOrderMark }
            // Linux may have learned other formats (binfmt_misc). It tells them by their first bytes: none begins like any text, or
            // with nothing.
            if bytes.allSatisfy(Self.isOfText) { return .noFormat }
            if let loader = CompiledProgram.loader(of: path), FileStatus.isAbsent(loader) {
                return .loaderMissing(loader)
            }
            return errno == .execFormatError ? .otherMachine : nil
        } ?? nil
    }

    /// The interpreters that it needs: of a script, of the interpreter that is a script, and so on. The program that `env`
    /// finds for a script is one of them.
    package var interpreters: [String] { DiskTimeout.value(at: path) { chainAtOnce.interpreters } ?? [] }

    /// Every path whose content decides which program runs a script: its ``interpreters``, and the places where `env` looks
    /// before it finds one. Not all of them need to exist.
    package var deciding: [String] { DiskTimeout.value(at: path) { chainAtOnce.deciding } ?? [] }

    private var chainAtOnce: (interpreters: [String], deciding: [String]) {
        var interpreters: [String] = []
        var deciding: [String] = []
        var next = path
        while interpreters.count < Self.interpreterLimit,
            let bytes = ForeignFile.bytes(of: next, count: Self.beginning),
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

    /// The places in which execvp(3) looks for a program: a program is started in the directory `/`.
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
        guard let wanted = line.startedByEnv, !wanted.contains("/") || wanted.contains(" ") else { return nil }
        // The line may name other places to look in.
        if line.argument.contains("PATH=") { return nil }
        let isFound = !wanted.contains("/") && places(of: wanted).contains(where: Self.isExecutable)
        return isFound ? nil : .notFoundByEnv(wanted)
    }

    private static func isOfText(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || byte.isASCIISpace }

    private static func isExecutable(_ path: String) -> Bool {
        unsafe access(path, X_OK) == 0 && FileStatus.following(path)?.kind != .directory
    }

    private static func isNoexec(_ path: String) -> Bool {
        var status = statvfs()
        return unsafe statvfs(path, &status) == 0 && status.f_flag & noexec != 0
    }
}
