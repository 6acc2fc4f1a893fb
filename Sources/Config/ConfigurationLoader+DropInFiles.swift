import Failures
import Linux
import Model

/// The files of the directory `clientsecretd.d`, next to the main file.
extension ConfigurationLoader {
    /// Reads them in the order of their names: those that end in `.yaml`. One that ends in `.yml`, or in either with capitals, is
    /// warned about.
    ///
    /// - Parameter unread: set if the directory or a file could not be read.
    static func dropInFiles(
        of main: AbsolutePath, name: String, as identity: Identity, diagnostics: Diagnostics, unread: inout UnreadText?
    ) -> [SourceFile] {
        let directory = ConfigurationParser.directory(of: main)
        let shown = shownDirectory(of: main, name: name)
        let names: [String]
        do {
            names = try TrustedFile.names(
                in: directory.description, ending: ".yaml", ".yml", ignoringCase: true, as: identity)
        } catch {
            guard error.code != .missing && error.code != .directoryMissing else { return [] }
            let problem = problem(error, with: directory)
            unread = problem.unread
            diagnostics.error(at: Position(file: shown), problem.words, remedy: problem.remedy)
            return []
        }
        var files: [SourceFile] = []
        for name in names {
            let shown = shown + "/" + name
            guard name.hasSuffix(".yaml") else {
                let stem = name[..<(name.lastIndex(of: ".") ?? name.endIndex)]
                diagnostics.warning(
                    at: Position(file: shown), "the file is not read; call it \(ShellWord.quoted("\(stem).yaml"))")
                continue
            }
            do throws(ValueError) {
                guard let path = directory.appending(name) else {
                    throw ValueError("the file's name contains a line break; rename the file")
                }
                files.append(try read(path, name: shown, as: identity, isListed: true))
            } catch {
                unread = unread ?? error.unread
                diagnostics.error(at: Position(file: shown), error.words, remedy: error.remedy)
            }
        }
        return files
    }

    /// The `.d` directory of the file `main`, as messages show it: in the form in which the user wrote `name`.
    static func shownDirectory(of main: AbsolutePath, name: String) -> String {
        String(name.dropLast(main.name.utf8.count)) + ConfigurationParser.directory(of: main).name
    }
}
