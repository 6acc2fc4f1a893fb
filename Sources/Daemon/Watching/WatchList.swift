import Config
import Model
import State

/// Which directories have to be watched, and which resources to read again after a notice.
struct WatchList: Hashable, Sendable {
    /// By directory.
    private(set) var interests: [AbsolutePath: Interests] = [:]
    /// For files that are reached through symbolic links: the paths of the links, and of the files that they lead to.
    private var linkChains: [Resource: Set<AbsolutePath>] = [:]
    /// The paths of a resource that are of interest whatever links there are: of its files, as the configuration names them, and of
    /// the link that Kubernetes swaps next to them.
    private var places: [Resource: Set<AbsolutePath>] = [:]

    /// The files of interest in one directory.
    struct Interests: Hashable, Sendable {
        /// By file name: the resources it belongs to.
        var names: [String: Set<Resource>] = [:]
        /// The resources of every file in it.
        var any: Set<Resource> = []
        /// Missing directories in it that are to be watched.
        var awaited: Set<String> = []
        /// By the name of a subdirectory: the directories of interest at or below it.
        var descendants: [String: Set<AbsolutePath>] = [:]

        var all: Set<Resource> {
            names.values.reduce(any) { $0.union($1) }
        }

        /// Whether only its subdirectories are of interest.
        var watchesOnlySubdirectories: Bool { names.isEmpty && any.isEmpty }

        /// Whether it is only an ancestor of other directories of interest.
        var isOnlyAncestor: Bool { watchesOnlySubdirectories && awaited.isEmpty }

        fileprivate var isEmpty: Bool { isOnlyAncestor && descendants.isEmpty }
    }

    /// The link in the directory of a mounted secret or config map that Kubernetes swaps to replace all files at once.
    private static let swappedLink = "..data"

    init() {}

    /// - Parameters:
    ///   - main: the configuration's own file; nil when that has no usable name.
    ///   - state: the state directory; nil when there is none to watch.
    init(_ configuration: Configuration, main: AbsolutePath?, state: AbsolutePath? = nil) {
        for path in state.map(StateDirectory.watchedPaths) ?? [] { register(path, .state) }
        for path in configuration.outputPaths { register(path, .file(path)) }
        if let path = configuration.metricsFile { register(path, .metricsFile(path)) }
        for (name, entry) in configuration.keys {
            for location in [entry.location, entry.passphrase] {
                if case .file(let path)? = location { registerInput(path, .key(name)) }
            }
        }
        for (name, entry) in configuration.clients {
            if let path = entry.source?.path { registerInput(path, .source(name)) }
        }
        guard let main else { return }
        registerInput(main, .configuration)
        let additions = ConfigurationParser.directory(of: main)
        interests[additions, default: Interests()].any.insert(.configuration)
        noteAncestors(of: additions)
    }

    /// Registers all directories above one of interest: when one is moved, or the right to search it is withdrawn, everything
    /// below it is gone.
    private mutating func noteAncestors(of destination: AbsolutePath) {
        var step = destination
        while step.directory != step {
            let (isNew, _) = interests[step.directory, default: Interests()].descendants[step.name, default: []]
                .insert(destination)
            // Then it is known to those further above, too.
            guard isNew else { return }
            step = step.directory
        }
    }

    /// A file that others write.
    private mutating func registerInput(_ path: AbsolutePath, _ resource: Resource) {
        register(path, resource)
        if let link = path.directory.appending(Self.swappedLink) { register(link, resource) }
    }

    private mutating func register(_ path: AbsolutePath, _ resource: Resource) {
        add(path, resource)
        places[resource, default: []].insert(path)
    }

    private mutating func add(_ path: AbsolutePath, _ resource: Resource) {
        interests[path.directory, default: Interests()].names[path.name, default: []].insert(resource)
        noteAncestors(of: path.directory)
    }

    /// Replaces the links through which a resource's files are reached.
    ///
    /// - Returns: the directories that are to be watched for it; empty when nothing has changed.
    mutating func follow(_ linkChain: Set<AbsolutePath>, of resource: Resource) -> Set<AbsolutePath> {
        let old = linkChains[resource] ?? []
        guard old != linkChain else { return [] }
        linkChains[resource] = linkChain.isEmpty ? nil : linkChain
        let own = places[resource] ?? []
        for path in old.subtracting(linkChain).subtracting(own) { remove(path, resource) }
        for path in linkChain { add(path, resource) }
        // A directory's path may now lead to another directory.
        var directories = Set(own.union(linkChain).map(\.directory))
        for path in linkChain {
            var step = path.directory
            while step.directory != step, directories.count < Self.mostDirectories {
                step = step.directory
                directories.insert(step)
            }
        }
        return directories
    }

    /// Directories of one resource above which no further ones are watched: another user's links may lead through thousands, and the
    /// kernel limits the watches of all.
    private static let mostDirectories = 64

    /// Takes over the links of resources that are still of interest.
    mutating func takeLinkChains(from other: WatchList) {
        for (resource, linkChain) in other.linkChains where places[resource] != nil {
            _ = follow(linkChain, of: resource)
        }
    }

    private mutating func remove(_ path: AbsolutePath, _ resource: Resource) {
        interests[path.directory]?.names[path.name]?.remove(resource)
        if interests[path.directory]?.names[path.name]?.isEmpty == true {
            interests[path.directory]?.names[path.name] = nil
        }
        tidy(path.directory)
    }

    /// Awaits a missing directory by watching its parent.
    mutating func expect(_ directory: AbsolutePath) {
        interests[directory.directory, default: Interests()].awaited.insert(directory.name)
    }

    /// Undoes ``expect(_:)``, as when the directory is there.
    mutating func stopAwaiting(_ directory: AbsolutePath) {
        guard interests[directory.directory]?.awaited.remove(directory.name) != nil else { return }
        tidy(directory.directory)
    }

    /// Forgets a directory in which nothing is of interest now, and those above it that were of interest only for it.
    private mutating func tidy(_ directory: AbsolutePath) {
        guard interests[directory]?.isOnlyAncestor == true else { return }
        var step = directory
        while interests[step.directory]?.descendants[step.name]?.remove(directory) != nil {
            // A link's owner may lead it to ever new directories: not even their names stay.
            if interests[step.directory]?.descendants[step.name]?.isEmpty == true {
                interests[step.directory]?.descendants[step.name] = nil
            }
            step = step.directory
        }
        step = directory
        while interests[step]?.isEmpty == true {
            interests[step] = nil
            stopAwaiting(step)
            step = step.directory
        }
    }

    func isAwaited(_ directory: AbsolutePath) -> Bool {
        isAwaited(directory.name, in: directory.directory)
    }

    func isAwaited(_ name: String, in directory: AbsolutePath) -> Bool {
        interests[directory]?.awaited.contains(name) == true
    }

    /// The resources to read again after a notice.
    ///
    /// - Parameter name: empty when it is about the directory itself, and so about everything in it and below.
    func resources(in directory: AbsolutePath, name: String) -> Set<Resource> {
        guard let interests = interests[directory] else { return [] }
        let here = name.isEmpty ? interests.all : interests.any.union(interests.names[name] ?? [])
        let below = name.isEmpty ? Set(interests.descendants.values.joined()) : interests.descendants[name] ?? []
        return below.reduce(here) { $0.union(self.interests[$1]?.all ?? []) }
    }

    /// The watched directories whose path may lead elsewhere after a notice: the one of this name and those below it.
    func rerouted(in directory: AbsolutePath, name: String) -> Set<AbsolutePath> {
        // Fast path: most notices are of files, perhaps tens of thousands at once.
        guard let destinations = interests[directory]?.descendants[name], let first = directory.appending(name) else {
            return []
        }
        var all: Set<AbsolutePath> = [first]
        for destination in destinations {
            var step = destination
            while step != first {
                all.insert(step)
                step = step.directory
            }
        }
        return all
    }
}
