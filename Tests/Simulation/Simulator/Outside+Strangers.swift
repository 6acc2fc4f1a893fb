import AppleClientSecret
package import Model
import Rotation

/// What other programs do to files.
extension Outside {
    /// Another program saves its file with new lines of its own; ours stay as they are, or as in `old`.
    package func editAsStranger(_ path: AbsolutePath, old: File? = nil) {
        guard !away.contains(path) else { return }
        let version = (foreign[path] ?? 0) + 1
        foreign[path] = version
        var file = old ?? files[path] ?? File()
        file.foreign = version
        if old != nil { file.damaged.formUnion(file.slots.keys) }
        files[path] = file
    }

    /// Deletes a file.
    package func delete(_ path: AbsolutePath) {
        guard let file = files.removeValue(forKey: path), file.foreign > 0 else { return }
        foreign[path] = nil
        away.insert(path)
        let clients = configuration.clients.filter { $0.value.outputs.contains { $0.path == path } }.keys
        if clients.contains(where: { records[$0]?.shared.contains(path) == true }) { deleted.insert(path) }
    }

    /// Overwrites the secrets in a file with something else.
    package func overwrite(_ path: AbsolutePath, with observation: SlotObservation) {
        guard var file = files[path] else { return }
        for slot in file.slots.keys {
            file.slots[slot] = observation
            file.damaged.insert(slot)
        }
        files[path] = file
    }

    /// Removes a directory, with everything in it.
    func remove(directory: AbsolutePath) {
        broken.directories.insert(directory)
        for path in files.keys.sorted() where path.directory == directory { delete(path) }
    }

    /// Ends every fault and restores what was removed.
    func fix() {
        broken = Broken()
        apple.failureMode = nil
        api.failureMode = [:]
        for path in away.sorted() { restore(path) }
    }

    /// Whether the state directory knows for which secret each client's actions were run.
    var remembersAll: Bool {
        configuration.clients.allSatisfy { name, entry in
            entry.onChange.allSatisfy { records[name]?.delivered[$0.id] != nil }
                && entry.targets.allSatisfy { records[name]?.pushed[$0] != nil }
        }
    }

    /// A client whose secret or deliveries in the state directory differ from what the daemon knows.
    func forgottenClient(_ rotation: Rotation) -> ClientName? {
        rotation.configuration.clients.keys.sorted().first { name in
            guard let current = rotation.current(of: name) else { return false }
            return records[name]?.current != current || records[name]?.delivered != rotation.delivered(to: name)
        }
    }

    /// Loses the state directory's content.
    func loseRecords() {
        meet(.stateLost)
        records = [:]
        told = ReportedStates()
        // The daemon can no longer know that these files held other lines.
        deleted = []
    }

    private func restore(_ path: AbsolutePath) {
        deleted.remove(path)
        away.remove(path)
        editAsStranger(path)
    }
}
