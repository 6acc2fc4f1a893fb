/// A file in which a framework keeps its whole configuration, so that it does not read `.env` again.
struct FrameworkCache {
    /// Next to `.env`.
    let path: String
    let name: String
    let command: String
    /// Whether it holds the variables by their names; else by those of settings.
    let namesVariables: Bool

    static let all = [
        FrameworkCache(
            path: "bootstrap/cache/config.php", name: "Laravel's configuration cache",
            command: "php artisan config:cache", namesVariables: false),
        FrameworkCache(
            path: ".env.local.php", name: "Symfony's dumped environment", command: "composer dump-env prod",
            namesVariables: true),
    ]

    /// The application's directory, where ``command`` runs.
    func directory(of file: String) -> String { String(file.dropLast(path.count + 1)) }

    static func of(_ path: String) -> FrameworkCache? { all.first { path.hasSuffix("/" + $0.path) } }
}
