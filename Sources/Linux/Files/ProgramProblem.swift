/// Why Linux does not execute a file that its user may execute. execve(2) shows little of it. A missing interpreter looks like a
/// missing file, and a file system that is mounted noexec looks like a missing right.
package enum ProgramProblem: Hashable, Sendable {
    /// The file system that it is on is mounted with this option.
    case mountedNoexec
    /// Its first line has a Windows line ending, so that the interpreter's name, or its argument, ends in that character.
    case carriageReturn
    /// A byte-order mark is before `#!`, as Windows programs write it.
    case byteOrderMark
    /// The interpreter of a script does not exist.
    case interpreterMissing(String)
    case interpreterNotExecutable(String)
    /// `#!/usr/bin/env` finds no such program.
    case notFoundByEnv(String)
    /// It is a text without a first line that names an interpreter.
    case noFormat
    /// The dynamic loader that starts the compiled program does not exist: it was built for another C library.
    case loaderMissing(String)
    /// Linux does not know its format, which is no text.
    case otherMachine
}
