internal import Failures

/// A directory that systemd makes when a unit starts, and gives to the unit's user (systemd.exec(5), `RuntimeDirectory=`). If
/// another program creates it, systemd or tmpfiles.d takes it from the other.
package struct UnitDirectory: Hashable, Sendable {
    package let unit: String
    /// Those that make it as well, if none of all these runs.
    private var otherUnits: [String] = []
    /// Which names it.
    package let setting: String
    package private(set) var path: String
    /// Whether the path is known to its end: a specifier (systemd.unit(5)) that only systemd can resolve is not.
    private var isWhole = true

    package var isRemovedAtStop: Bool { setting == "RuntimeDirectory" }

    /// Which units make it, and when.
    package var words: String {
        let units = ([unit] + otherUnits).map(Printable.name).joined(separator: " and ")
        let (makes, until) =
            otherUnits.isEmpty
            ? ("makes \(Printable.name(path)) when it starts", " and removes it when it stops")
            : ("make \(Printable.name(path)) when they start", " and remove it when they stop")
        return "\(units) \(makes)\(isRemovedAtStop ? until : "") (\(setting)=)"
    }

    /// What it takes to have it made.
    package var advice: String {
        guard otherUnits.isEmpty else { return "start one of them" }
        let name = Printable.name(unit)
        if unit.contains("@.") { return "start an instance of \(name)" }
        return "\(isOfRunningUnit ? "restart" : "start") \(name)"
    }

    private static let places = [
        "RuntimeDirectory": "/run", "StateDirectory": "/var/lib", "CacheDirectory": "/var/cache",
        "LogsDirectory": "/var/log", "ConfigurationDirectory": "/etc",
    ]

    /// The directories of units; the first one that has a unit is in effect.
    private static let directories =
        ["/etc/systemd/system.control", "/run/systemd/system.control", "/run/systemd/transient"]
        + ["/run/systemd/generator.early", "/etc/systemd/system", "/run/systemd/system", "/run/systemd/generator"]
        + ["/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/run/systemd/generator.late"]

    /// The one of a unit that the missing directory at the real path `path` is or is in; nil if there is none. By the units' files,
    /// since systemd knows only of those that were asked for.
    ///
    /// - Parameter parent: the deepest directory on the way that exists.
    package static func of(_ path: String, missingIn parent: String) -> UnitDirectory? {
        // Outputs that fail together ask together.
        let now = Clocks.bootMilliseconds()
        let changed = directories.map { FileStatus.following($0)?.identity.changed }
        if let known = known.withLock({ $0 }), now - known.at < 5_000, known.changed == changed {
            return of(path, missingIn: parent, among: known.all)
        }
        let all = all(in: directories)
        known.withLock { $0 = (at: now, changed: changed, all: all) }
        return of(path, missingIn: parent, among: all)
    }

    private static let known = QuietMutex<(at: Int64, changed: [Int64?], all: [UnitDirectory])?>(nil)

    /// Of several units the one that runs. If none does, all with one directory: which of them is used is not known. A unit that
    /// names the whole path comes before one with a specifier.
    static func of(
        _ path: String, missingIn parent: String, among all: [UnitDirectory],
        isRunning: (UnitDirectory) -> Bool = { $0.isOfRunningUnit }
    ) -> UnitDirectory? {
        let candidates = all.filter { $0.includes(path, missingIn: parent) }
        let running = candidates.first(where: isRunning)
        guard var found = running ?? candidates.first(where: \.isWhole) ?? candidates.first else { return nil }
        if running == nil {
            let same = candidates.filter {
                $0.path == found.path && $0.setting == found.setting && $0.isWhole == found.isWhole
            }
            found.otherUnits = Set(same.map(\.unit)).subtracting([found.unit]).sorted()
        }
        if !found.isWhole { found.path = path }
        return found
    }

    /// Whether its unit runs, and has lost the directory. systemd keeps this link while the unit is active.
    var isOfRunningUnit: Bool { ForeignFile.link("/run/systemd/units/invocation:\(unit)") != nil }

    private func includes(_ missing: String, missingIn parent: String) -> Bool {
        guard isWhole else { return missing.hasPrefix(path) }
        // Content of an existing directory stays, unless the unit removes it with everything in it.
        return RealPath.isAt(missing, orBelow: path) && (isRemovedAtStop || !RealPath.isAt(parent, orBelow: path))
    }

    // MARK: Units' files

    /// - Parameter directories: the first to have a file of a name has the one in effect.
    static func all(in directories: [String]) -> [UnitDirectory] {
        var units: [String: [String: String]] = [:]
        func add(_ path: String, as part: String = "", of unit: String) {
            if units[unit]?[part] == nil { units[unit, default: [:]][part] = path }
        }
        for directory in directories {
            for name in ForeignFile.names(in: directory, limit: nameLimit) {
                let path = "\(directory)/\(name)"
                if name.hasSuffix(".d") {
                    let unit = String(name.dropLast(2))
                    guard mayHaveDirectories(unit) else { continue }
                    for part in ForeignFile.names(in: path, limit: nameLimit) where part.hasSuffix(".conf") {
                        add("\(path)/\(part)", as: part, of: unit)
                    }
                } else if mayHaveDirectories(name) {
                    // Another name of a unit.
                    if let link = ForeignFile.link(path), link != "/dev/null", RealPath.name(of: link) != name {
                        continue
                    }
                    add(path, of: name)
                }
            }
        }
        return units.sorted { $0.key < $1.key }.flatMap { unit, files in
            // A masked one never starts.
            files[""].flatMap(ForeignFile.link) == "/dev/null"
                ? [] : all(of: unit, files.sorted { $0.key < $1.key }.map(\.value))
        }
    }

    private static let nameLimit = 10_000
    /// In bytes.
    private static let fileLimit = 1 << 20

    private static func mayHaveDirectories(_ unit: String) -> Bool {
        [".service", ".socket", ".mount", ".swap"].contains { unit.hasSuffix($0) }
    }

    /// - Parameter files: the unit's own first, then its drop-ins.
    private static func all(of unit: String, _ files: [String]) -> [UnitDirectory] {
        var names: [String: [Substring]] = [:]
        for file in files {
            guard let bytes = ForeignFile.read(file, limit: fileLimit) else { continue }
            let text = String(decoding: bytes, as: UTF8.self)
            guard text.contains("Directory") else { continue }
            for assignment in UnitFileText.assignments(in: text) where places[assignment.name] != nil {
                let words = assignment.value.split { " \t\"'".contains($0) }
                // An empty value removes all earlier ones.
                names[assignment.name] = words.isEmpty ? [] : names[assignment.name, default: []] + words
            }
        }
        return names.sorted { $0.key < $1.key }.flatMap { setting, words in
            words.flatMap { all(of: unit, setting, $0) }
        }
    }

    /// - Parameter word: the name of the directory, perhaps with that of a link to it and options.
    private static func all(of unit: String, _ setting: String, _ word: Substring) -> [UnitDirectory] {
        let place = RealPath.of(places[setting] ?? "/")
        return word.split(separator: ":", omittingEmptySubsequences: false).prefix(2).flatMap { name in
            let (text, isWhole) = resolved(name, of: unit)
            guard !text.isEmpty else { return [UnitDirectory]() }
            // With DynamicUser= it is a link to the same name below "private".
            return ["", "/private"].map {
                UnitDirectory(unit: unit, setting: setting, path: "\(place)\($0)/\(text)", isWhole: isWhole)
            }
        }
    }

    /// The text with its specifiers resolved, up to the first that a unit's file name does not tell.
    private static func resolved(_ text: Substring, of unit: String) -> (text: String, isWhole: Bool) {
        let stem = unit.prefix(upTo: unit.lastIndex(of: ".") ?? unit.endIndex)
        let isTemplate = stem.hasSuffix("@")
        var result = ""
        var rest = text
        while let character = rest.popFirst() {
            guard character == "%" else {
                result.append(character)
                continue
            }
            switch rest.popFirst() {
            case "%": result += "%"
            case "n" where !isTemplate: result += unit
            case "N" where !isTemplate: result += stem
            case "p": result += stem.prefix { $0 != "@" }
            default: return (result, false)
            }
        }
        return (result, true)
    }
}
