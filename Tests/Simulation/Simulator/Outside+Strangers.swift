import AppleClientSecret
package import Rotation

/// What other programs do to files.
extension Outside {
    /// Saves a file that it keeps lines in, with new ones of its own; ours as they are, or as `old` says.
    package func editAsStranger(_ path: AbsolutePath, old: File? = nil) {
        guard !away.contains(path) else { return }
        let version = (foreign[path] ?? 0) + 1
        foreign[path] = version
        var file = old ?? files[path] ?? File()
        file.foreign = version
        if old != nil { file.damaged.formUnion(file.slots.keys) }
        files[path] = file
    }

    /// Takes a file away.
    package func delete(_ path: AbsolutePath) {
        guard let file = files.removeValue(forKey: path), file.foreign > 0 else { return }
        foreign[path] = nil
        away.insert(path)
        let clients = configuration.clients.filter { $0.value.outputs.contains { $0.path == path } }.keys
        if clients.contains(where: { records[$0]?.shared.contains(path) == true }) { deleted.insert(path) }
    }

    /// Puts something else where secrets stand.
    package func overwrite(_ path: AbsolutePath, with observation: SlotObservation) {
        guard var file = files[path] else { return }
        for slot in file.slots.keys {
            file.slots[slot] = observation
            file.damaged.insert(slot)
        }
        files[path] = file
    }

    /// Takes a directory away, with everything in it.
    func remove(directory: AbsolutePath) {
        broken.directories.insert(directory)
        for path in files.keys.sorted() where path.directory == directory { delete(path) }
    }

    /// Ends every fault and puts back what was taken away.
    func mend() {
        broken = Broken()
        for path in away.sorted() { restore(path) }
    }

    /// Whether the state directory knows of every client for what its actions were run.
    var remembersAll: Bool {
        configuration.clients.allSatisfy { name, entry in
            entry.onChange.allSatisfy { records[name]?.delivered[$0.id] != nil }
        }
    }

    /// A client whose secret, or what its actions were run for, the state directory does not know as the daemon does.
    func forgottenClient(_ world: World) -> ClientName? {
        world.clients.keys.sorted().first { name in
            guard let client = world.clients[name], client.current != nil else { return false }
            return records[name]?.current != client.current || records[name]?.delivered != client.delivered
        }
    }

    /// Loses the state directory's content.
    func loseRecords() {
        meet(.stateLost)
        isStateLost = true
        records = [:]
        told = ReportedStates()
        // Nobody can know any more whose files these were.
        deleted = []
    }

    private func restore(_ path: AbsolutePath) {
        deleted.remove(path)
        away.remove(path)
        editAsStranger(path)
    }
}
