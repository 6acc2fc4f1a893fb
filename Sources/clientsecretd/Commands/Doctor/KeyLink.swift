import Failures
import Model

/// Whether the key can be used.
extension ChainFacts {
    var keyLink: ChainLink {
        if let link = link(.key, problems.first(where: isOfKey)) { return link }
        switch key.location {
        case .file(let path): return ChainLink(.key, .ok, "\(Printable.name(path.description)) can be used")
        case .credential(let name): return ChainLink(.key, .ok, "the credential \(Printable.name(name)) can be used")
        case .publicKey: return ChainLink(.key, .ok, "this machine has the public half; another one mints")
        }
    }

    /// Whether a problem is about one of the client's keys.
    func isOfKey(_ failure: Failure) -> Bool {
        let locations = [key.location] + [key.passphrase].compactMap(\.self)
        return switch failure.place {
        case .key(let name): client.keys.contains(name)
        case .path(let path): locations.contains(.file(path))
        case .credential(let name): locations.contains(.credential(name))
        default: false
        }
    }
}
