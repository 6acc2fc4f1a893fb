/// The assignments of a shell script that are carried out elsewhere than they are written: in the bodies of functions, in text that
/// a command carries out, and by commands with an effect at any later time.
struct DeferredAssignments {
    /// The effect of a function when it is called.
    private struct Function {
        var assigned: Set<[UInt8]> = []
        var calls: Set<String> = []
    }

    /// The position of a command among the entries.
    private struct Place {
        /// The number of entries before it; the highest number for commands that may run at any time from then on.
        var index: Int
        var range: Range<Int>
    }

    private var functions: [String: Function] = [:]
    /// The function whose body is followed.
    private(set) var function: String?
    /// The commands so far, with their last places.
    private var calls: [String: Place] = [:]
    /// The variables that may be assigned at any time after some command.
    private var lasting: [[UInt8]: Range<Int>] = [:]
    /// The last command that may carry out text from elsewhere in the file.
    private var indirect: Place?

    func isFunction(_ command: String) -> Bool { functions[command] != nil }

    /// Follows the body of a function; returns the function around it.
    mutating func enter(_ name: String) -> String? {
        let around = function
        function = name
        functions[name] = functions[name] ?? Function()
        return around
    }

    mutating func leave(to around: String?) { function = around }

    /// Records an assignment in the body of a function. False outside of one: the assignment is carried out where it is written.
    mutating func assign(_ name: [UInt8]) -> Bool {
        guard let function else { return false }
        functions[function]?.assigned.insert(name)
        return true
    }

    mutating func assignAtAnyTime(_ name: [UInt8], _ range: Range<Int>) { lasting[name] = range }

    mutating func callAtAnyTime(_ name: [UInt8], _ range: Range<Int>) {
        calls[String(decoding: name, as: UTF8.self)] = Place(index: .max, range: range)
    }

    /// - Parameter count: the number of entries before it.
    mutating func call(_ name: String, _ range: Range<Int>, after count: Int) {
        if let function {
            functions[function]?.calls.insert(name)
        } else if calls[name]?.index != .max {
            calls[name] = Place(index: count, range: range)
        }
    }

    /// Records a command that may carry out text from elsewhere in the file.
    ///
    /// - Parameter count: the number of entries before it.
    mutating func mayRunText(_ range: Range<Int>, after count: Int, isLater: Bool) {
        guard indirect?.index != .max else { return }
        indirect = Place(index: isLater || function != nil ? .max : count, range: range)
    }

    // MARK: Result

    /// The entries with these assignments, each in the place where it may be carried out last.
    ///
    /// - Parameter texts: those elsewhere in the file that may become commands.
    func added(to entries: [EnvironmentEntry], among texts: [ArraySlice<UInt8>]) -> [EnvironmentEntry] {
        var calls = self.calls
        var added: [(index: Int, entry: EnvironmentEntry)] = []
        func add(_ names: Set<[UInt8]>, at place: Place) {
            for name in names.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                added.append((place.index, EnvironmentEntry(name: ShellReader.hidden(name), range: place.range)))
            }
        }
        if let indirect {
            let named = Set(texts.flatMap { ScriptWord.names(in: $0) })
            for name in functions.keys where named.contains(Array(name.utf8)) {
                calls[name] = Place(index: max(calls[name]?.index ?? 0, indirect.index), range: indirect.range)
            }
            add(Set(entries.map(\.name)).intersection(named), at: indirect)
        }
        var visited: Set<String> = []
        for (name, place) in calls.sorted(by: { ($0.value.index, $0.key) > ($1.value.index, $1.key) }) {
            var names = [name]
            while let name = names.popLast() {
                guard let function = functions[name], visited.insert(name).inserted else { continue }
                names += function.calls
                add(function.assigned, at: place)
            }
        }
        for name in lasting.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            add([name], at: Place(index: .max, range: lasting[name] ?? 0..<0))
        }
        // Sorting keeps the order of entries with the same place.
        let all = entries.enumerated().map { (index: $0.offset + 1, entry: $0.element) } + added
        return all.sorted { $0.index < $1.index }.map(\.entry)
    }
}
