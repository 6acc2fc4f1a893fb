import Formats

/// `format`, and the settings that only one format has, unchanged.
struct WrittenFormat {
    let format: Setting<any OutputFormat.Type>
    /// In the order of the formats, absent ones too.
    let settings: [(format: any OutputFormat.Type, setting: FormatSetting, value: Setting<String>)]

    /// - Parameters:
    ///   - formats: those that may be written there.
    ///   - refusal: how a message about another one begins.
    init(in section: Section, among formats: [any OutputFormat.Type], otherwise refusal: String) {
        format = section.value("format") { text throws(ValueError) -> any OutputFormat.Type in
            if let format = formats.first(where: { $0.name == text }) { return format }
            let names = formats.map { $0.name }
            throw ValueError("\(refusal)\(apposition(text)); \(advice(for: text, among: names, otherwise: names))")
        }
        settings = formats.compactMap { format in
            guard let setting = format.setting else { return nil }
            let value = section.value(setting.name) { text throws(ValueError) in
                if let problem = setting.check(text, quoted) { throw ValueError(problem) }
                return text
            }
            return (format, setting, value)
        }
    }
}
