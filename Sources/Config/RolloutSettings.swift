import Model

/// `rollout`: how the machines that receive a client's secrets from the store deliver them.
enum RolloutSettings {
    static let names = ["canaries", "at_once", "pause"]

    static func read(in client: Section) -> Setting<RolloutConfiguration> {
        client.section("rollout", names: names).flatMap { read($0.value) }
    }

    private static func read(_ section: Section) -> Setting<RolloutConfiguration> {
        let canaries = section.value("canaries") { text throws(ValueError) in
            guard let count = Int(text), SettingLimits.canaries.contains(count), String(count) == text else {
                throw ValueError("\(quoted(text)) is not a number of machines; write 1 or more")
            }
            return count
        }
        let atOnce = section.value("at_once") { text throws(ValueError) in
            guard text.hasSuffix("%"), let percent = Int(text.dropLast()), (1...100).contains(percent),
                "\(percent)%" == text
            else { throw ValueError("\(quoted(text)) is not a share; write it in percent, from 1% to 100%") }
            return percent
        }
        let pause = section.value("pause") { text throws(ValueError) in
            try Scalar.duration(text, examples: "10m or 1h", in: SettingLimits.rolloutPause)
        }
        if canaries.isWrong || atOnce.isWrong || pause.isWrong { return .wrong }
        let standard = RolloutConfiguration.standard
        return .given(
            Located(
                RolloutConfiguration(
                    canaries: canaries.value ?? standard.canaries, atOnce: atOnce.value ?? standard.atOnce,
                    pause: pause.value ?? standard.pause),
                at: section.position))
    }
}
