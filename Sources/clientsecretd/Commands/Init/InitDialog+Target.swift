import AppleClientSecret
import ArgumentParser
import Config
import Model
import Push

extension InitDialog {
    /// Asks for a target's values, unless its kind knows them.
    func complete(_ given: InitTarget) throws -> InitTarget {
        var target = given
        for setting in target.kind.settings where setting.choices == nil && target.settings[setting.name] == nil {
            if takesDefaults, setting.standard != nil { continue }
            let question = "\(setting.name) (\(setting.advice))"
            func value(_ text: String) throws -> String {
                if text.isEmpty { throw ValidationError("write \(setting.advice)") }
                if let problem = setting.problem(in: text) { throw ValidationError(problem) }
                return text
            }
            switch setting.standard {
            case nil: target.settings[setting.name] = try answer(question, value)
            case "": target.settings[setting.name] = try optional(question, value)
            case let standard: target.settings[setting.name] = try answer(question, offering: standard, value)
            }
        }
        if target.needsEndpoint {
            target.settings["endpoint"] = try answer("endpoint (where the API is, such as https://api.example.com)") {
                guard WebAddress($0) != nil else {
                    throw ValidationError("write https://, a host and, if needed, a path")
                }
                return $0
            }
        }
        if !takesDefaults, target.kind.deployedBy != nil, target.settings["redeploy"] == nil {
            let isWanted = try answer("Deploy again after each push? (yes or no)", offering: "yes", Self.isYes)
            target.settings["redeploy"] = isWanted ? "true" : "false"
        }
        if target.isTokenMissing { try askForToken(of: &target) }
        return target
    }

    private func askForToken(of target: inout InitTarget) throws {
        let what: String
        switch target.kind.authorization {
        case .awsSignature:
            target.tokenFile = try answer(
                "The file with AWS_ACCESS_KEY_ID=... and AWS_SECRET_ACCESS_KEY=...", Self.file)
            return
        case .login: what = "The user's password"
        case .bearer, .header, .ownHeaders: what = "The API's token"
        }
        while true {
            guard let typed = askHidden("\(what) (hidden)") else {
                throw CommandFailure(.failed, "input ended; nothing was written")
            }
            target.token = String(typed.trimming(while: \.isWhitespace))
            if target.token?.isEmpty == false { return }
            say("  paste it here: \(target.kind.name) accepts no secret without it. It is not shown")
        }
    }
}
