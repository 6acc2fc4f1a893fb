/// A file in which a framework keeps its whole configuration, so that it does not read `.env` again.
enum FrameworkCache: CaseIterable {
    case laravel
    case symfony

    /// Next to `.env`.
    var path: String {
        switch self {
        case .laravel: "bootstrap/cache/config.php"
        case .symfony: ".env.local.php"
        }
    }

    var name: String {
        switch self {
        case .laravel: "Laravel's configuration cache"
        case .symfony: "Symfony's dumped environment"
        }
    }

    var command: String {
        switch self {
        case .laravel: "php artisan config:cache"
        case .symfony: "composer dump-env prod"
        }
    }

    /// Whether it holds the variables by their names; else by those of settings.
    var namesVariables: Bool { self == .symfony }

    /// The application's directory, where ``command`` runs.
    func directory(of file: String) -> String { String(file.dropLast(path.count + 1)) }

    static func of(_ path: String) -> FrameworkCache? { allCases.first { path.hasSuffix("/" + $0.path) } }
}
