import AppleClientSecret
package import Failures
import Formats
import Linux
import Model
import Systemd

/// Why an application may read something else than the output that the daemon writes.
package struct HiddenOutput: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The file that hides the output, or the output itself.
    package let file: String
    /// From 1; nil if no line of the file is the reason.
    package let line: Int?
    /// The content there; escaped, and without a secret.
    package let words: String
    /// Words only.
    package let remedy: Remedy?
    /// The unit whose process is the reason, so that a restart helps; nil if it is not.
    package let unit: String?
    /// False if it may be so: what would show it cannot be read, or it depends on who reads the output.
    package let isKnown: Bool
    /// Whether it is about the next secret: the unit's process will keep the one that it has.
    package let isOfNext: Bool

    package init(
        file: String, line: Int?, words: String, remedy: Remedy? = nil, unit: String? = nil, isKnown: Bool = true,
        isOfNext: Bool = false
    ) {
        self.file = file
        self.line = line
        self.words = words
        self.remedy = remedy
        self.unit = unit
        self.isKnown = isKnown
        self.isOfNext = isOfNext
    }

    package var description: String {
        Printable.name(file) + (line.map { ":\($0)" } ?? "") + ": warning: " + words
            + (remedy.map { "; \($0)" } ?? "")
    }

    package static func < (left: HiddenOutput, right: HiddenOutput) -> Bool {
        (left.file, left.line ?? 0, left.words) < (right.file, right.line ?? 0, right.words)
    }
}

// MARK: A later setting of the unit

extension HiddenOutput {
    /// Settings of a unit that give the variable another value than the output. An environment file takes precedence over
    /// `Environment=` and over earlier files. A variable that the unit sets takes precedence over a file that the application
    /// reads by itself.
    static func settings(of unit: UnitFacts, over output: OutputFacts) -> [HiddenOutput] {
        guard let variable = output.variable else { return [] }
        let path = Printable.name(output.path)
        let reading = unit.environmentFiles.lastIndex { output.copies.contains($0.realPath) }
        let later = unit.environmentFiles[(reading.map { $0 + 1 } ?? 0)...]
        var found = later.compactMap { file -> HiddenOutput? in
            guard let place = file.place(of: variable) else { return nil }
            if let other = output.clients[file.realPath] {
                return HiddenOutput(file: file.path, line: place.line, of: other, variable, otherwise: unit.name)
            }
            let why =
                reading == nil
                ? "\(variable) is set here, and \(unit.name) passes it to the application, where it usually takes "
                    + "precedence over \(path)"
                : "\(variable) is set here too, and \(unit.name) reads this file after \(path)"
            let isKept = reading != nil || isReadByApplication(output)
            return HiddenOutput(
                file: file.path, line: place.line, words: why,
                remedy: isKept ? .say("remove the line") : self.reading(output, by: unit, after: file))
        }
        if reading == nil, found.isEmpty,
            unit.settings.environment.contains(where: { $0.hasPrefix(variable + "=") })
        {
            let isKept = isReadByApplication(output)
            let place = unit.settings.place(of: "Environment", containing: variable + "=")
            found.append(
                HiddenOutput(
                    file: place?.file ?? unit.settings.ownFile ?? unit.name, line: place?.line,
                    words: "Environment= of \(unit.name) sets \(variable), which usually takes precedence over \(path)",
                    remedy: isKept
                        ? .say("remove the variable from the unit") : self.reading(output, by: unit, after: nil)))
        }
        return found
    }

    /// The line of the output that the unit's systemd ignores, so that its processes are started without the variable; nil if
    /// systemd reads it there, or in another output of the client.
    static func ignoredLine(of output: OutputFacts, by unit: UnitFacts) -> HiddenOutput? {
        guard let variable = output.variable, let file = output.file,
            unit.environmentFiles.contains(where: { $0.realPath == output.realPath }),
            let place = file.assignments.last(where: { $0.name == variable })
        else { return nil }
        let copies = unit.environmentFiles.filter { output.copies.contains($0.realPath) }
        guard !copies.contains(where: { $0.place(of: variable) != nil }) else { return nil }
        return HiddenOutput(
            file: output.path, line: place.line,
            words: "\(unit.name) reads this file by EnvironmentFile=, and systemd ignores a line that begins with "
                + "export, so its processes have no \(variable)",
            remedy: .say("remove \"export \" from the line, then restart \(unit.name)"))
    }

    /// Whether the application reads the output by itself, as far as its name shows: then it has the secret without the unit.
    private static func isReadByApplication(_ output: OutputFacts) -> Bool {
        DotenvPrecedence.isOne(RealPath.name(of: output.path))
    }

    /// The remedy that has a unit read the output. Removing the unit's current source would leave the application without a
    /// secret.
    ///
    /// - Parameter file: the file that it reads now; nil: a value of its own, over which every environment file takes
    ///   precedence.
    private static func reading(
        _ output: OutputFacts, by unit: UnitFacts, after file: ApplicationFile?
    ) -> Remedy {
        let line = UnitFileLine.environmentFile(output.path)
        guard let file, let place = unit.settings.place(of: "EnvironmentFile", containing: file.pattern) else {
            return .say("write \(line) into the [Service] section with systemctl edit \(unit.name), and restart it")
        }
        let now = "EnvironmentFile=\(Printable.name(file.pattern)) in \(Printable.name(place.file)):\(place.line)"
        return .say(
            (unit.formerOutputs.contains(file.pattern)
                ? "it is no output: write \(line) in place of \(now)" : "write \(line) after \(now)")
                + ", then run systemctl daemon-reload and restart \(unit.name)")
    }

    /// A file that hides the output and is an output itself: the daemon would write a removed line again.
    private init(
        file: String, line: Int, of other: ClientName, _ variable: String, otherwise reader: String
    ) {
        self.init(
            file: file, line: line,
            words: "client \"\(other)\" sets \(variable) here, and \(reader) reads this file, too",
            remedy: .say("give one of the two clients another variable, or let \(reader) read only one of the files"))
    }
}

// MARK: A unit that on_change does not name

extension HiddenOutput {
    /// That a running unit takes the output when it starts, and `on_change` does not name it: nothing restarts it, and it may have
    /// an earlier secret already. None if its settings give it another value than the output, which may well be meant.
    ///
    /// - Parameter isRestarted: whether an action restarts it all the same, or may do so.
    static func unnamed(_ unit: UnitFacts, reading output: OutputFacts, isRestarted: Bool) -> [HiddenOutput] {
        let reading = unit.settings.filesReadAtStart.last { setting, path in
            (output.variable != nil || setting == "LoadCredential")
                && UnitSettings.environmentFile(path, names: output.path)
        }
        guard let reading else { return [] }
        if reading.setting == "EnvironmentFile",
            !settings(of: unit, over: output).isEmpty || ignoredLine(of: output, by: unit) != nil
        {
            return []
        }
        let place = unit.settings.place(of: reading.setting, containing: reading.path)
        let (words, remedy) = unrestarted(unit.name, reading: output.path)
        let next = HiddenOutput(
            file: place?.file ?? output.path, line: place?.line, words: words, remedy: remedy, unit: unit.name,
            isOfNext: true)
        return [isRestarted ? nil : next, staleProcess(of: unit, output)].compactMap(\.self)
    }

    /// That nothing restarts a unit that reads an output when it starts, and the line that does.
    package static func unrestarted(_ unit: String, reading path: String) -> (words: String, remedy: Remedy) {
        (
            "\(unit) reads \(Printable.name(path)) when it starts, and nothing restarts it after a renewal",
            .say("write \"restart: \(unit)\" under on_change")
        )
    }
}

// MARK: Files next to an environment file

extension HiddenOutput {
    /// `.env.local`, `.env.production` and similar files next to the output that set its variable.
    static func overrides(of output: OutputFacts) -> [HiddenOutput] {
        guard let variable = output.variable else { return [] }
        return output.neighbours.compactMap { file in
            guard DotenvPrecedence.takesPrecedence(RealPath.name(of: file.path), over: RealPath.name(of: output.path)),
                let place = file.assignments.last(where: { $0.name == variable }),
                !output.copies.contains(file.realPath)
            else { return nil }
            if let other = output.clients[file.realPath] {
                return HiddenOutput(
                    file: file.path, line: place.line, of: other, variable, otherwise: "the application")
            }
            return HiddenOutput(
                file: file.path, line: place.line,
                words: "\(variable) is set here too, and applications that read this file, as with Next.js or Vite, "
                    + "prefer it to \(Printable.name(output.path))",
                remedy: .say(
                    "remove \(variable) from \(Printable.name(file.path)), then restart the application",
                    see: output.restarted.flatMap { ShellCommand.restart($0) }))
        }
    }

    /// Caches of a framework next to the output, which keep the values that it had when they were written.
    static func caches(of output: OutputFacts) -> [HiddenOutput] {
        guard let variable = output.variable else { return [] }
        return output.neighbours.compactMap { file in
            guard let cache = FrameworkCache.of(file.path) else { return nil }
            // A program that runs after each renewal may well write the cache again: then its content counts.
            if let token = output.token, !output.programs.isEmpty, file.bytes.firstOffset(of: token) != nil {
                return nil
            }
            let secret = ForeignSecret.all(in: file.bytes).first?.offset
            let named = file.bytes.firstOffset(of: Array(variable.utf8))
            if cache.namesVariables, named == nil { return nil }
            let offset = (cache.namesVariables ? named : secret ?? named) ?? 0
            return HiddenOutput(
                file: file.path, line: 1 + file.bytes[..<offset].count { $0 == UInt8(ascii: "\n") },
                words: "\(cache.name) keeps the values that \(Printable.name(output.path)) had when this file was "
                    + "written",
                remedy: .say(
                    "as the application's user, run \"\(cache.command)\" in \(Printable.name(cache.directory(of: file.path))), and "
                        + (output.programs.isEmpty
                            ? "start a unit that does so from on_change"
                            : "see why \(output.programs.joined(separator: ", ")) of on_change did not"),
                    see: output.programs.count == 1 ? output.started.flatMap { .status(of: $0) } : nil))
        }
    }
}

// MARK: A second secret

extension HiddenOutput {
    /// Client secrets in the output's file under names that no output has: the application may read one of these. None in a file
    /// that is refused because its readers read it differently: they differ about the names that it sets.
    static func otherSecrets(in output: OutputFacts, at now: WallTime) -> [HiddenOutput] {
        guard let variable = output.variable, let file = output.file,
            FormatRegistry.canSet(output.variables.union([variable]), in: file.bytes)
        else { return [] }
        let variables = output.variables.sorted().joined(separator: " or ")
        return file.assignments.compactMap { assignment in
            guard !output.variables.contains(assignment.name),
                let secret = ForeignSecret.all(in: assignment.value).first
            else { return nil }
            let expiry = secret.expiresAt.map { $0 <= now ? ", which expired at \($0)" : ", which expires at \($0)" }
            return HiddenOutput(
                file: output.path, line: assignment.line,
                words: "\(assignment.name) holds another Apple client secret\(expiry ?? ""), and no output renews it",
                // An output would be the secret alone, and lose the rest of a longer value.
                remedy: .say(
                    "let the application read \(variables)"
                        + (FormatRegistry.isPlain(assignment.value)
                            ? ", or add an output with variable: \(assignment.name)"
                            : ": \(assignment.name) holds more than the secret, which an output would remove")))
        }
    }
}
