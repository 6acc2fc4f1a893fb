internal import Failures
package import Linux
package import Model
internal import Push
package import Store

/// An accepted configuration with its warnings and files.
package struct LoadedConfiguration: Sendable {
    package let configuration: Configuration
    /// The same with the positions of its values.
    let located: WrittenConfiguration
    /// The warnings, sorted by file and position.
    package let warnings: [Diagnostic]
    /// The files it was read from: the main one, then those of ``directory`` in name order.
    package let sources: [SourceFile]
    /// The directory whose files may add keys and clients; it need not exist.
    package let directory: AbsolutePath

    package var files: [AbsolutePath] { sources.map(\.path) }

    /// The store's settings, and the files that the configuration names for it; nil without a store.
    package var store: StoreConfiguration? { located.main.store.value }

    /// The credentials that hold the targets' tokens, as `LoadCredential=` names them; none for a target with a file or without a
    /// token.
    package var tokenCredentials: [TargetName: String] {
        located.main.targets.reduce(into: [:]) { credentials, settings in
            if case .credential(let credential)? = settings.target?.token {
                credentials[settings.name.value] = credential
            }
        }
    }

    /// The names of the targets, used or not.
    package var targets: [TargetName] { located.main.targets.map(\.name.value) }

    /// Whether the target of this name has the same settings in another configuration.
    package func hasTarget(_ name: TargetName, asIn other: LoadedConfiguration) -> Bool {
        guard let one = target(name), let two = other.target(name) else { return false }
        return one.place == two.place && one.settings == two.settings && one.token == two.token
            && one.caFile == two.caFile && one.redeploys == two.redeploys
    }

    private func target(_ name: TargetName) -> PushTarget? {
        located.main.targets.first { $0.name.value == name }?.target
    }

    /// For each target the method and address of the request that a secret is sent with.
    package var pushRequests: [TargetName: String] {
        located.main.targets.reduce(into: [:]) { requests, settings in
            requests[settings.name.value] = settings.target?.request
        }
    }
}

extension LoadedConfiguration {
    /// Why the files that a target names cannot be used, as the network program will find that reads them. If systemd passes the
    /// token, there is no file. If only another user may read the file, systemd may start that program as that user. Blocks.
    ///
    /// - Parameter identity: the user of that program.
    package func problems(withFilesOf target: TargetName, as identity: Identity) -> [Failure] {
        files(of: target).compactMap { file, code -> Failure? in
            let path = file.description
            if code == .pushTokenUnusable {
                return problem(
                    withTokenOf: target,
                    Result { () throws(LoginFile.Unusable) in try LoginFile.token(at: path, as: identity) })
            }
            do throws(LoginFile.Unusable) {
                try CAFile.check(at: path, as: identity)
                return nil
            } catch {
                return Self.problem(with: target, error, code)
            }
        }
    }

    /// Why a target's token cannot be used; nil if it can.
    ///
    /// - Parameter token: the content of its file, or why that has none.
    package func problem(withTokenOf target: TargetName, _ token: Result<String, LoginFile.Unusable>) -> Failure? {
        let known = self.target(target)
        switch token {
        case .success(let token):
            return known?.objection(to: token).map { Failure(.pushTokenUnusable, at: .target(target), detail: $0) }
        case .failure(let error): return Self.problem(with: target, error, .pushTokenUnusable)
        }
    }

    private static func problem(
        with target: TargetName, _ error: LoginFile.Unusable, _ code: Failure.Code
    ) -> Failure? {
        if error.isDenied && SystemManager.isSystemd { return nil }
        return Failure(
            error.isUnguarded ? .pushFileNotGuarded : code, at: .target(target), detail: error.words,
            remedy: error.remedy)
    }

    /// The files that a target names, with the code of a failure about each.
    package func files(of target: TargetName) -> [(path: AbsolutePath, code: Failure.Code)] {
        let settings = located.main.targets.first { $0.name.value == target }
        return settings?.files.map { ($0.file.value, $0.code) } ?? []
    }

    /// The files that the configuration names for the store, in other places than the standard one, whose files systemd passes.
    package var storeFiles: [(setting: StoreConfiguration.File, path: AbsolutePath)] {
        located.main.storeFiles.sorted { $0.key.rawValue < $1.key.rawValue }
            .filter { $0.value.value.description != StoreConfiguration.File.directory + "/" + $0.key.name }
            .map { ($0.key, $0.value.value) }
    }

    /// The users who may read all the files it was read from, and go through the directories to them. Nil if these let in different
    /// groups. Blocks.
    package var readers: FileReaders? {
        let ways = sources.map(\.realPath).flatMap { [$0] + $0.directories }
        let readers = Set(ways).map { FileReaders(of: $0.description) }
        let known = readers.compactMap(\.self)
        return known.count == readers.count ? FileReaders.common(to: known) : nil
    }

    /// Warns of each output without `mode:` whose current file every user may read: its mode is kept.
    package var readabilityWarnings: [Diagnostic] {
        ClientOutput.all(of: located.clients).compactMap { output in
            guard output.output.mode.isAbsent, output.path.value.isReadableByAll,
                let status = FileStatus.following(output.path.value.description), status.kind == .regular
            else { return nil }
            let mode = status.mode
            return Diagnostic(
                .warning, at: output.path.position,
                "every user may read \(output.path.value), because its mode \(FileMode.text(mode & 0o777)) is kept; "
                    + "write \"mode: \(FileMode.text(mode & 0o770))\"")
        }
    }
}
