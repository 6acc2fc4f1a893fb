import Failures
import Model
import Store

/// The settings of one whole configuration file.
struct TopLevelSettings {
    static let names = [
        "keys", "defaults", "clients", "on_state_change", "control_group", "state_dir", "metrics_file",
        "trusted_directories", "targets", "store",
    ]

    private(set) var keys: [KeySettings] = []
    private(set) var clients: [WrittenClient] = []
    /// Whether it has keys or clients, counting misspelt and invalid ones.
    private(set) var mentionsKeys = false
    private(set) var mentionsClients = false
    /// Nil if it has none.
    private(set) var defaults: ClientSettings?
    private(set) var onStateChange: Setting<[Located<Action>?]> = .absent
    private(set) var controlGroup: Setting<String> = .absent
    private(set) var stateDirectory: Setting<AbsolutePath> = .absent
    private(set) var metricsFile: Setting<AbsolutePath> = .absent
    private(set) var trustedDirectories: Setting<[Located<AbsolutePath>?]> = .absent

    private(set) var targets: [TargetSettings] = []
    /// The names below `targets`, also of targets that are wrong.
    private(set) var targetNames: [String] = []
    private(set) var store: Setting<StoreConfiguration> = .absent
    private(set) var storeFiles: [StoreConfiguration.File: Located<AbsolutePath>] = [:]

    /// Those of a file without content.
    init() {}

    /// - Parameter main: the main file's name, when this is an additional file with keys and clients only.
    init(_ node: YAMLNode, addingTo main: String?, _ diagnostics: Diagnostics) {
        let start = Position(file: node.position.file)
        guard let section = Section(node, of: "the configuration", at: start, names: Self.names, diagnostics) else {
            mentionsKeys = true
            mentionsClients = true
            return
        }
        mentionsKeys = section.mentions("keys")
        mentionsClients = section.mentions("clients")
        if let (node, _) = section.node("keys") { mentionsKeys = !node.isEmptyMapping }
        if let (node, _) = section.node("clients") { mentionsClients = !node.isEmptyMapping }
        keys = section.lines("keys").compactMap { KeySettings($0, diagnostics) }
        clients = section.lines("clients").compactMap { WrittenClient($0, diagnostics) }
        if let main {
            for name in Self.names where name != "keys" && name != "clients" && section.has(name) {
                diagnostics.error(
                    at: section.position(of: name),
                    "\"\(name)\" belongs in \(Printable.line(main)); this file may add keys and clients only")
            }
            return
        }
        if let (node, position) = section.node("defaults") {
            defaults = ClientSettings(defaults: node, at: position, diagnostics)
        }
        onStateChange = ActionKinds.list("on_state_change", in: section, placeholder: true)
        controlGroup = section.value("control_group", AccountName.group)
        stateDirectory = section.value("state_dir", Scalar.directory)
        metricsFile = section.value("metrics_file", Scalar.file)
        if case .mapping(let lines)? = section.node("targets")?.node.content { targetNames = lines.map(\.key.value) }
        targets = Self.targets(in: section)
        store = StoreSettings.read(in: section, files: &storeFiles)
        trustedDirectories = section.list(
            "trusted_directories", each: "a trusted directory", Scalar.directory)
    }

    /// The entries of `targets`, whose names are different ones, because the mapping's are.
    static func targets(in section: Section) -> [TargetSettings] {
        section.lines("targets").compactMap { TargetSettings($0, section.diagnostics) }
    }
}
