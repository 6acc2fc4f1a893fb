import Config
import Model
import Testing

/// What a text means that is the package's configuration.
func parsed(_ text: String) throws -> LoadedConfiguration {
    let path = try #require(AbsolutePath("/etc/clientsecretd/clientsecretd.yaml"))
    return try ConfigurationParser.parse(main: SourceFile(name: "c.yaml", path: path, bytes: Array(text.utf8))).get()
}
