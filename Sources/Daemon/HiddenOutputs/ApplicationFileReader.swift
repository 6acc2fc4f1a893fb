import Formats
import Linux

/// Reads environment files of other programs for one look at all outputs, each of them once. Their owners choose the number and
/// length of these files. So there are limits on the data that is read and kept of each directory and pattern.
final class ApplicationFileReader {
    /// How many names of a directory are looked at.
    private static let nameLimit = 50_000
    /// How many files of a directory or pattern are read: an application has a few.
    static let fileLimit = 32
    /// In bytes, of all of a directory or pattern: as long as an output may be.
    static let totalLimit = 1 << 20

    /// Those whose places are kept.
    private let variables: Set<String>
    private var directories: [String: [ApplicationFile]] = [:]
    private var patterns: [String: [ApplicationFile]] = [:]
    /// The output that was read last: a thousand clients may set variables in one file.
    private var lastOutput: ApplicationFile?
    /// For all that was read.
    private(set) var bytesRead = 0

    init(variables: Set<String>) {
        self.variables = variables
    }

    /// The whole file in which outputs set variables; nil if it cannot be read.
    func output(at path: String) -> ApplicationFile? {
        if let lastOutput, lastOutput.path == path { return lastOutput }
        lastOutput = ForeignFile.read(path, limit: Self.totalLimit).map { ApplicationFile(path: path, bytes: $0) }
        return lastOutput
    }

    /// The files next to a `.env` that applications prefer to it, the usual names first.
    func dotenvFiles(in directory: String) -> [ApplicationFile] {
        if let known = directories[directory] { return known }
        let names = ForeignFile.names(in: directory, limit: Self.nameLimit).filter {
            DotenvPrecedence.takesPrecedence($0, over: ".env")
        }
        let sorted = names.filter(DotenvPrecedence.isUsual) + names.filter { !DotenvPrecedence.isUsual($0) }
        let found = read(sorted.prefix(Self.fileLimit).map { directory + "/" + $0 })
        directories[directory] = found
        return found
    }

    /// The files that a unit's `EnvironmentFile=` names, in the order in which systemd reads them.
    func files(matching pattern: String) -> [ApplicationFile] {
        if let known = patterns[pattern] { return known }
        // The last file that systemd reads takes precedence. So these are read in reverse order here, because a limit may end
        // the reading.
        let paths = ForeignFile.paths(matching: pattern).reversed()
        let found = Array(read(paths, pattern: pattern).reversed())
        patterns[pattern] = found
        return found
    }

    /// - Parameter paths: the most important ones first.
    private func read(_ paths: some Sequence<String>, pattern: String? = nil) -> [ApplicationFile] {
        var room = Self.totalLimit
        var found: [ApplicationFile] = []
        for path in paths.prefix(Self.fileLimit) {
            guard let bytes = ForeignFile.read(path, limit: room) else { continue }
            room -= bytes.count
            bytesRead += bytes.count
            found.append(
                ApplicationFile(
                    path: path, realPath: RealPath.of(path), pattern: pattern ?? path, placesOf: variables, in: bytes))
        }
        return found
    }
}
