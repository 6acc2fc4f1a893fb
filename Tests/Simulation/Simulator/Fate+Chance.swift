import Model
import Rotation

extension Fate: Chance {
    func next() -> UInt64 { simulator.random.next() }

    func pickFile() -> AbsolutePath {
        pick(outside.configuration.files.keys.sorted())
    }

    func pickClient() -> ClientName {
        pick(outside.configuration.clients.keys.sorted())
    }

    func pickKey() -> KeyName {
        pick(outside.configuration.keys.keys.sorted())
    }

    /// A target that is configured; there has to be one.
    func pickTarget() -> PushOutput {
        pick(outside.clients.flatMap(\.value.targets))
    }

    func pickAction() -> ActionID? {
        let actions = outside.configuration.clients.values.flatMap(\.onChange) + outside.configuration.onStateChange
        let all = Set(actions.filter { !$0.isRedeployment }.map(\.id)).sorted()
        return all.isEmpty ? nil : pick(all)
    }
}
