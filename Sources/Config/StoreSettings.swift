import AppleClientSecret
import Linux
import Model
import Store

/// `store`: the etcd in which machines share secrets.
enum StoreSettings {
    static let names = ["endpoints", "user", "machine", "prefix"] + StoreConfiguration.File.allCases.map(\.rawValue)

    /// Absent without the section; wrong if one of its settings is. All of them are checked.
    ///
    /// - Parameter places: gets the files that it names.
    static func read(
        in file: Section, files places: inout [StoreConfiguration.File: Located<AbsolutePath>]
    ) -> Setting<StoreConfiguration> {
        let before = file.diagnostics.errors
        return file.section("store", names: names).flatMap { found in
            let configuration = configuration(in: found.value, files: &places)
            return file.diagnostics.errors == before ? .given(Located(configuration, at: found.position)) : .wrong
        }
    }

    private static func configuration(
        in section: Section, files places: inout [StoreConfiguration.File: Located<AbsolutePath>]
    ) -> StoreConfiguration {
        let (diagnostics, position) = (section.diagnostics, section.position)
        let endpoints = section.list("endpoints", each: "an endpoint", endpoint)
        let known = (endpoints.value ?? []).compactMap { $0 }
        if endpoints.isAbsent || endpoints.value?.isEmpty == true {
            diagnostics.error(
                at: endpoints.position ?? position,
                "\"store\" has no \"endpoints\"; write a list with the address of each member of etcd, such as "
                    + "https://etcd1.example.com:2379")
        }
        var members: Set<String> = []
        for endpoint in known where !members.insert(WebAddress(endpoint.value)?.identity ?? endpoint.value).inserted {
            diagnostics.error(at: endpoint.position, "\(quoted(endpoint.value)) is already in the list; remove one")
        }
        let user = section.value("user") { text throws(ValueError) in
            try name(text, "an etcd user", allowing: "-._@:/+", longest: SettingLimits.longestStoreName)
        }
        let machine = section.value("machine", machineName)
        if machine.isAbsent, (try? machineName(HostName.current)) == nil {
            diagnostics.error(
                at: position,
                "this machine's own name, \(quoted(HostName.current)), cannot be its name in the store; write \"machine\""
            )
        }
        let prefix = section.value("prefix", prefix)
        var files: [StoreConfiguration.File: String] = [:]
        for file in StoreConfiguration.File.allCases {
            // A password may have been written in its file's place.
            let path = section.value(file.rawValue) { text throws(ValueError) in
                try Scalar.path(text, secret: file == .password)
            }
            if let path = path.located { (files[file], places[file]) = (path.value.description, path) }
        }
        if files[.key] != nil, files[.certificate] == nil, !section.mentions("certificate_file") {
            diagnostics.error(
                at: section.position(of: "key_file"),
                "\"key_file\" belongs to a certificate; write \"certificate_file\" as well")
        }
        if files[.password] != nil, user.isAbsent {
            diagnostics.error(
                at: section.position(of: "password_file"), "\"password_file\" belongs to a user; write \"user\" as well"
            )
        }
        return StoreConfiguration(
            endpoints: known.map(\.value), user: user.value, machine: machine.value,
            prefix: prefix.value ?? StoreConfiguration.defaultPrefix, files: files)
    }

    private static func machineName(_ text: String) throws(ValueError) -> String {
        guard text != ".", text != ".." else {
            throw ValueError("\(quoted(text)) cannot be a machine's name; write another one")
        }
        return try name(text, "a machine's name", allowing: "-._", longest: SettingLimits.longestMachine)
    }

    private static func endpoint(_ text: String) throws(ValueError) -> String {
        guard let address = WebAddress(text), address.scheme == .https, address.path.allSatisfy({ $0 == "/" }) else {
            throw ValueError(
                "\(quoted(text)) is not the address of a member; write https://, a host and a port, such as "
                    + "https://etcd1.example.com:2379")
        }
        return address.origin
    }

    private static func name(
        _ text: String, _ kind: String, allowing marks: String, longest: Int
    ) throws(ValueError) -> String {
        let isName = text.utf8.allSatisfy { $0.isASCIIAlphanumeric || marks.utf8.contains($0) }
        guard isName, text.utf8.count <= longest else {
            throw ValueError(
                "\(quoted(text)) cannot be \(kind); use at most \(longest) letters, digits and \"\(marks)\"")
        }
        return text
    }

    private static func prefix(_ text: String) throws(ValueError) -> String {
        guard text.hasPrefix("/"), !text.hasSuffix("/"), !text.contains("//"),
            text.utf8.count <= SettingLimits.longestStoreName, text.utf8.allSatisfy(\.isASCIIVisible)
        else {
            throw ValueError(
                "\(quoted(text)) is not a key prefix; write printable text like \(StoreConfiguration.defaultPrefix), "
                    + "with \"/\" at its start and not at its end")
        }
        return text
    }
}
