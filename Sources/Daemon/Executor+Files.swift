import AppleClientSecret
import Failures
import Keys
import Linux
import Outputs
import Rotation
import SystemPackage
import UserWriter

extension Executor {
    func observe(_ spec: FileSpec) throws(Failure) -> Outcome {
        if let user = try writer(for: spec) {
            return .observed(
                observe(try writers.observe(spec, as: user, naming: leftovers == nil ? nil : naming), spec))
        }
        // Every file is read back before it is first written.
        leftovers?.sweep(beside: spec.path)
        return .observed(observe(try publisher.observe(spec), spec))
    }

    /// The user whose writer writes a file; nil when the daemon writes it itself.
    func writer(for spec: FileSpec) throws(Failure) -> String? {
        guard let owner = spec.owner else { return nil }
        let id: UInt32?
        do throws(SystemError) {
            id = try Accounts.userID(owner)
        } catch {
            throw Failure(.unknownUser, at: .path(spec.path), cause: error.errno.rawValue, detail: owner)
        }
        guard let id else { throw Failure(.unknownUser, at: .path(spec.path), detail: owner) }
        return id == identity.user ? nil : owner
    }

    func publish(
        _ wanted: [Slot: SecretInfo], in spec: FileSpec, mayCreate: Bool
    ) throws(Failure) -> Outcome {
        let user = try writer(for: spec)
        var secrets: [Slot: Secret] = [:]
        for (slot, issued) in wanted {
            guard let secret = secretCache.secret(issued.fingerprint) else { throw lost(issued) }
            secrets[slot] = secret
        }
        if let user {
            return .published(
                observe(try writers.publish(secrets, in: spec, as: user, mayCreate: mayCreate, naming: naming), spec))
        }
        return .published(observe(try publisher.publish(secrets, in: spec, mayCreate: mayCreate).contents, spec))
    }

    func observe(_ report: UserWriterClient.Report, _ spec: FileSpec) -> FileObservation {
        if !report.isWatchable { findings?.post(.notNoticed(spec.path)) }
        return observe(report.contents, spec)
    }

    func observe(_ contents: OutputContents, _ spec: FileSpec) -> FileObservation {
        if contents.realPath != spec.path.description { noteTrail(of: .file(spec.path), [spec.path]) }
        return contents.observe { token in
            if let known = secretCache.secret(token.fingerprint), known.issued.signer != nil { return known.issued }
            guard let issued = TokenReader.read(token, keys: keyring.publicKeys) else { return nil }
            secretCache.put(Secret(token: token, issued: issued))
            return issued
        }
    }

    func metricsFile(_ path: AbsolutePath) -> MetricsFile {
        MetricsFile(path, as: identity, naming: naming, boundaries: boundaries)
    }

    /// Writes `metrics_file`; returns why that failed. Blocks.
    func write(_ text: [UInt8], toMetricsFile path: AbsolutePath) -> Failure? {
        leftovers?.sweep(beside: path)
        do throws(Failure) { try metricsFile(path).write(text) } catch { return error }
        return nil
    }
}
