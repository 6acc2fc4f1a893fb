import Failures
import Linux

extension ProgramProblem {
    /// The problem of an action's program.
    var words: String {
        switch self {
        case .mountedNoexec: "its file system is mounted noexec"
        case .carriageReturn: "its first line ends in a carriage return, as Windows writes line ends"
        case .byteOrderMark: "a byte-order mark is before its first line"
        case .interpreterMissing(let name): "its interpreter \(Printable.name(name)) does not exist"
        case .interpreterNotExecutable(let name): "its interpreter \(Printable.name(name)) may not be executed"
        case .notFoundByEnv(let name) where name.contains(" "):
            "env takes \(Printable.name(name)) as the name of one program"
        case .notFoundByEnv(let name): "env finds no program \(Printable.name(name)) in the PATH of actions"
        case .noFormat: "it is neither a script with a first line such as #!/bin/sh nor a whole program"
        case .loaderMissing(let name): "it is started by \(Printable.name(name)), which does not exist"
        case .otherMachine: "it is damaged, or was built for another kind of machine"
        }
    }

    /// What to do about it.
    var advice: String {
        switch self {
        case .mountedNoexec:
            "put the program on another file system, such as below /usr/local/bin, and name it there"
        case .carriageReturn: "save it with Unix line ends, then repeat the action"
        case .byteOrderMark: "save it as UTF-8 without that, then repeat the action"
        case .interpreterMissing:
            "install the interpreter, or fix the program's first line, then repeat the action"
        case .interpreterNotExecutable: "fix the program's first line, then repeat the action"
        case .notFoundByEnv(let name) where name.contains(" "):
            "write env -S, or the interpreter's whole path, into the first line, then repeat the action"
        case .notFoundByEnv: "write the interpreter's whole path into the first line, then repeat the action"
        case .noFormat: "write that first line, then repeat the action"
        case .loaderMissing: "install it as it was built for this system's C library, then repeat the action"
        case .otherMachine: "install it as it was built for this machine, then repeat the action"
        }
    }
}
