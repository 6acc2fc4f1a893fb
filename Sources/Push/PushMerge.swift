import AppleClientSecret
import Failures

/// How a secret joins what is there already: see ``PushKind/Merge``.
extension PushExchange {
    /// Between two writes of ours, in seconds: AWS keeps a hundred versions and asks for no more than that.
    private static let writePause: Int64 = 600
    /// What versions of ours begin with at AWS.
    private static let versionPrefix = "clientsecretd-"

    /// Sets the values that are made of what is there.
    mutating func merge(_ merge: PushKind.Merge, with found: PushHTTPAnswer) throws(RoleFailure) {
        guard let current = json(found) else { throw RoleFailure(.pushAnswerUnexpected) }
        switch merge {
        case .member(let pointer, let setting, let version):
            let object = JSONValue.range(of: pointer, in: found.body).map { Array(found.body[$0]) } ?? []
            values["version"] = String(current[version]?.whole ?? 0)
            values["merged"] = try merged(setting, into: object)
        case .text(let pointer, let setting):
            let text = current[pointer]?.text ?? ""
            try checkText(text, of: pointer, setting)
            try waitForTurn(current, date: found.date)
            try mergeText(setting, into: text)
        case .provider(let pointer, let setting): try mergeProvider(setting, at: pointer, current, in: found)
        case .variable(let pointer, let setting, let environments):
            try checkVariables(current[pointer]?.elements ?? [], setting, environments)
        }
    }

    /// Sets the values for a place where nothing is yet.
    ///
    /// - Parameter missing: the API's answer that there is nothing: a value that was deleted still has a version.
    mutating func create(_ merge: PushKind.Merge, _ missing: PushHTTPAnswer) throws(RoleFailure) {
        switch merge {
        case .member(_, let setting, let version):
            values["version"] = String(json(missing)?[version]?.whole ?? 0)
            values["merged"] = try merged(setting, into: Array("{}".utf8))
        case .text(_, let setting): try mergeText(setting, into: "{}")
        case .provider, .variable: break
        }
    }

    // MARK: Members

    /// The object with the secret as the member that a setting names.
    private func merged(_ setting: String, into object: [UInt8]) throws(RoleFailure) -> String {
        try merged(secretText, as: values[setting, default: ""], into: object)
    }

    private func merged(_ text: String, as member: String, into object: [UInt8]) throws(RoleFailure) -> String {
        guard let merged = JSONEdit.setting(member, to: JSONText.string(text).bytes, in: object) else {
            throw RoleFailure(
                .pushPlaceUnsuitable,
                hidden.words("it holds \(Shape.describe(object)), so the secret cannot be a member of it"))
        }
        return String(decoding: merged, as: UTF8.self)
    }

    // MARK: Texts

    /// Throws where a text is of another kind than is written: a JSON object as a whole, or a member that is no text.
    private func checkText(_ text: String, of pointer: [String], _ setting: String) throws(RoleFailure) {
        let name = values[setting, default: ""]
        guard case .object(let members)? = try? JSONValue(Array(text.utf8), duplicates: .lastCounts) else { return }
        guard !name.isEmpty else {
            throw RoleFailure(
                .pushPlaceUnsuitable,
                hidden.words(
                    "it holds \(Shape.describe(Array(text.utf8))), which would be lost without a \"\(setting)\""))
        }
        switch Shape.Form(members[name]) {
        case .text, .null, .absent: return
        case let form: throw RoleFailure(.pushPlaceUnsuitable, "\(Printable.name(name)) is \(form.rawValue) there")
        }
    }

    private mutating func mergeText(_ setting: String, into current: String) throws(RoleFailure) {
        values["request_id"] = Self.versionPrefix + Hex.encode((0..<24).map { _ in UInt8.random(in: 0 ... .max) })
        guard !values[setting, default: ""].isEmpty else {
            values["merged_text"] = secretText
            return
        }
        var text = current
        for other in others { text = try merged(other.text, as: other.member, into: Array(text.utf8)) }
        values["merged_text"] = try merged(setting, into: Array(text.utf8))
    }

    /// Throws while the last version of ours is too recent to be replaced.
    private func waitForTurn(_ current: JSONValue, date: WallTime?) throws(RoleFailure) {
        guard current["VersionId"]?.text?.hasPrefix(Self.versionPrefix) == true, let date else { return }
        let created: Int64? =
            switch current["CreatedDate"] {
            case .integer(let seconds): seconds
            case .fraction(let seconds): Int64(exactly: seconds.rounded())
            default: nil
            }
        guard let created else { return }
        let rest = created + Self.writePause - date.secondsSinceEpoch
        if rest > 0, rest <= Self.writePause {
            throw RoleFailure(
                .pushRateLimited, "the secret was written less than ten minutes ago", retryAfter: Int(rest))
        }
    }

    // MARK: Providers

    private mutating func mergeProvider(
        _ setting: String, at pointer: [String], _ current: JSONValue, in found: PushHTTPAnswer
    ) throws(RoleFailure) {
        let name = values[setting, default: ""]
        let providers = current[pointer]?["providers"]?.elements ?? []
        guard let index = providers.firstIndex(where: { $0["name"]?.text == name }),
            let whole = JSONValue.range(of: pointer, in: found.body),
            let place = JSONValue.range(of: pointer + ["providers", String(index)], in: found.body),
            let provider = JSONEdit.setting(
                "clientSecret", to: JSONText.string(secretText).bytes, in: Array(found.body[place]))
        else {
            throw RoleFailure(.pushPlaceMissing, "there is no provider \(Printable.name(name)) in the collection")
        }
        values["merged"] = String(
            decoding: found.body[whole.lowerBound..<place.lowerBound] + provider
                + found.body[place.upperBound..<whole.upperBound], as: UTF8.self)
    }

    // MARK: Variables

    /// Throws where there is a variable of this name for some of our environments and for others: the API would refuse a second
    /// one, and never changes the environments of the first.
    private func checkVariables(
        _ variables: [JSONValue], _ setting: String, _ environments: String
    ) throws(RoleFailure) {
        let name = values[setting, default: ""]
        let list = try? JSONValue(Array(values[environments, default: "[]"].utf8))
        let own = Set(list?.elements?.compactMap(\.text) ?? [])
        // A variable for one branch is another one.
        for variable in variables where variable["key"]?.text == name && variable["gitBranch"]?.text == nil {
            let target = variable["target"]
            let others = Set((target?.elements ?? [target].compactMap { $0 }).compactMap(\.text))
            guard !own.isDisjoint(with: others), own != others else { continue }
            throw RoleFailure(
                .pushEnvironmentsConflict,
                "it is there for " + hidden.words(others.sorted().joined(separator: ", ")))
        }
    }
}
