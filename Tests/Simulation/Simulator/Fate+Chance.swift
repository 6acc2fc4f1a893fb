import Model
import Rotation

/// Random choices, which the seed determines.
extension Fate {
    func draw(_ bound: Int64) -> Int64 {
        Int64(simulator.random.next() % UInt64(bound))
    }

    func chance(_ of: Int) -> Bool {
        draw(Int64(of)) == 0
    }

    func pick<Element>(_ all: [Element]) -> Element {
        all[Int(simulator.random.next() % UInt64(all.count))]
    }

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
        pick(outside.configuration.clients.sorted { $0.key < $1.key }.flatMap(\.value.targets))
    }

    func pickAction() -> ActionID? {
        let actions = outside.configuration.clients.values.flatMap(\.onChange) + outside.configuration.onStateChange
        let all = Set(actions.filter { !$0.isRedeployment }.map(\.id)).sorted()
        return all.isEmpty ? nil : pick(all)
    }
}
