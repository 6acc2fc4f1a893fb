import Linux

extension SystemdClient {
    /// A service's settings as systemd has loaded them; nil when there is no such unit.
    package mutating func settings(of service: String) throws(UnitError) -> UnitSettings? {
        guard try condition(of: service).load == "loaded" else { return nil }
        let (own, dropIns) = try files(of: service)
        let files = ([own] + dropIns).compactMap { path -> UnitSettings.File? in
            guard let content = try? TrustedFile.read(path, for: .configuration, as: .root, limit: 1 << 20) else {
                return nil
            }
            return UnitSettings.File(path: path, text: String(decoding: content.bytes, as: UTF8.self))
        }
        // Nothing can be compared with a file that cannot be read.
        guard files.first?.path == own else { return UnitSettings(values: try values(of: service), files: []) }
        return UnitSettings(values: try values(of: service), files: files)
    }
}
