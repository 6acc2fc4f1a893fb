import AppleClientSecret
import Linux
import Publishing
import Rotation
import Signing
import SystemPackage
import Writing

extension Hands {
    func look(_ spec: FileSpec) throws(Trouble) -> Outcome {
        if let user = try writer(for: spec) {
            return .seen(look(try writers.look(spec, as: user, naming: leftovers == nil ? nil : naming), spec))
        }
        // Every file is looked at before it is first written.
        leftovers?.sweep(beside: spec.path)
        return .seen(look(try publisher.look(spec), spec))
    }

    /// The user whose writer a file is for; nil when it is to be the daemon's own.
    func writer(for spec: FileSpec) throws(Trouble) -> String? {
        guard let owner = spec.owner else { return nil }
        let id: UInt32?
        do throws(SystemError) {
            id = try Accounts.userID(owner)
        } catch {
            throw Trouble(.unknownUser, at: .path(spec.path), cause: error.errno.rawValue, detail: owner)
        }
        guard let id else { throw Trouble(.unknownUser, at: .path(spec.path), detail: owner) }
        return id == identity.user ? nil : owner
    }

    func publish(
        _ wanted: [Slot: Issued], in spec: FileSpec, mayCreate: Bool
    ) throws(Trouble) -> Outcome {
        let user = try writer(for: spec)
        var secrets: [Slot: Secret] = [:]
        for (slot, issued) in wanted {
            guard let secret = shelf.secret(issued.fingerprint) else { throw lost(issued) }
            secrets[slot] = secret
        }
        if let user {
            return .published(
                look(try writers.publish(secrets, in: spec, as: user, mayCreate: mayCreate, naming: naming), spec))
        }
        return .published(look(try publisher.publish(secrets, in: spec, mayCreate: mayCreate).sight, spec))
    }

    func look(_ report: WriterLine.Report, _ spec: FileSpec) -> Look {
        if !report.isWatchable { findings?.post(.notNoticed(spec.path)) }
        return look(report.sight, spec)
    }

    func look(_ sight: FileSight, _ spec: FileSpec) -> Look {
        if sight.realPath != spec.path.description { noteTrail(of: .file(spec.path), [spec.path]) }
        return sight.look { token in
            if let known = shelf.secret(token.fingerprint), known.issued.signer != nil { return known.issued }
            guard let issued = TokenReader.read(token, keys: keyring.publicKeys) else { return nil }
            shelf.put(Secret(token: token, issued: issued))
            return issued
        }
    }

    func metricsFile(_ path: AbsolutePath) -> MetricsFile {
        MetricsFile(path, as: identity, naming: naming, boundaries: boundaries)
    }

    /// Has `metrics_file` say this; returns why it does not. Blocks.
    func write(_ text: [UInt8], toMetricsFile path: AbsolutePath) -> Trouble? {
        leftovers?.sweep(beside: path)
        do throws(Trouble) { try metricsFile(path).write(text) } catch { return error }
        return nil
    }
}
