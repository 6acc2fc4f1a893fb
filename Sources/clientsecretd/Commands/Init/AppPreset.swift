import ArgumentParser
import Formats
import Model

/// A program that takes the client secret as a string, as `init --app` knows it. It says how the program gets the secret, and how
/// it comes to read the next one.
struct AppPreset: NamedChoice {
    let name: String
    /// The variable that it reads; nil for a file with nothing else.
    var variable: String?
    /// The output format's name, for a file without a variable.
    var fileFormat = FormatRegistry.standard.name
    /// The file's name, if the program requires one.
    var file: String?
    /// systemd's action after a renewal; nil for a program that reads the file again by itself.
    var verb: Action.UnitVerb?
    /// The unit that its package installs; nil if it has another name on each machine.
    var unit: String?
    /// The command of the oneshot unit that is started; nil if no unit is started.
    var runs: String?
    /// How the program runs if it needs no unit, because it then reads the file by itself; nil if it always needs one.
    var alternative: String?
    /// The setting that holds the secret itself, and the line that names the file instead, with `@` for its path. Nil if it has
    /// no such settings.
    var settings: (secret: String, file: String)?
    /// The required settings of the program.
    let hint: String

    /// The output format's name.
    var format: String { variable == nil ? fileFormat : FormatRegistry.environment.name }

    /// The page that describes its unit.
    var page: String { alternative == nil ? "docs/apps.md" : "docs/apps-servers.md" }

    /// In the order of their names.
    static let choices = [
        AppPreset(
            name: "authjs", variable: "AUTH_APPLE_SECRET", verb: .restart,
            hint: "Auth.js reads the variable when it starts. On Vercel, the variable is a setting of the project."),
        AppPreset(
            name: "authlib", verb: .reload,
            hint:
                "At SIGHUP gunicorn imports the application again, but not with --preload. Its unit needs ExecReload=/bin/kill -HUP $MAINPID."
        ),
        AppPreset(
            name: "better-auth", variable: "APPLE_CLIENT_SECRET", verb: .restart,
            hint: "This is for a static clientSecret. better-auth can sign for itself if it has the .p8."),
        AppPreset(
            name: "dex", variable: "APPLE_CLIENT_SECRET", verb: .restart,
            hint: "Write clientSecret: $APPLE_CLIENT_SECRET into the connector. Dex reads it when it starts."),
        AppPreset(
            name: "directus", verb: .restart,
            settings: ("AUTH_APPLE_CLIENT_SECRET", "AUTH_APPLE_CLIENT_SECRET_FILE=\"@\""),
            hint: "Set AUTH_APPLE_CLIENT_SECRET_FILE to the file. Directus reads it when it starts."),
        AppPreset(
            name: "docker-compose", variable: "APPLE_CLIENT_SECRET", verb: .start, runs: "docker compose up -d",
            hint: "docker compose restart keeps the old secret. The oneshot unit must run docker compose up -d."),
        AppPreset(
            name: "envoy",
            hint: "Name the file in a generic_secret that path_config_source watches. Envoy reads it by itself."),
        AppPreset(
            name: "keycloak",
            hint:
                "Name the file REALM_NAME in the directory of the file vault, and write ${vault.NAME} as the client secret."
        ),
        AppPreset(
            name: "laravel", variable: "APPLE_CLIENT_SECRET", verb: .restart,
            hint:
                "With a configuration cache, php artisan config:cache must run after each renewal: use --start with a oneshot unit."
        ),
        AppPreset(
            name: "mastodon", variable: "OIDC_CLIENT_SECRET", verb: .restart, unit: "mastodon-web.service",
            hint: "Mastodon reads .env.production when it starts."),
        AppPreset(
            name: "mod_auth_openidc", fileFormat: FormatRegistry.json.name, file: "appleid.apple.com.client",
            hint: "Link the file into OIDCMetadataDir. Apache reads it at every request."),
        AppPreset(
            name: "nextauth", variable: "APPLE_SECRET", verb: .restart,
            hint: "Next.js prefers .env.local to .env. Its middleware gets the values of build time."),
        AppPreset(
            name: "node", variable: "APPLE_CLIENT_SECRET", verb: .restart,
            hint: "node --env-file reads the file when it starts."),
        AppPreset(
            name: "oauth2-proxy", settings: ("client_secret", "client_secret_file = \"@\""),
            hint: "Set client-secret-file to the file. It is read at every use."),
        AppPreset(
            name: "pm2", variable: "APPLE_CLIENT_SECRET", verb: .start, runs: "pm2 restart",
            hint:
                "pm2 keeps the environment of its first start. Read .env with dotenv's override: true, and let the oneshot unit "
                + "run pm2 restart."
        ),
        AppPreset(
            name: "pomerium", settings: ("idp_client_secret", "idp_client_secret_file: \"@\""),
            hint: "Set idp_client_secret_file to the file. Pomerium watches it."),
        AppPreset(
            name: "spring", file: "spring.security.oauth2.client.registration.apple.client-secret", verb: .restart,
            hint: "Set spring.config.import=configtree: to the file's directory, with a slash at its end."),
        AppPreset(
            name: "supabase", variable: "GOTRUE_EXTERNAL_APPLE_SECRET", verb: .start, runs: "docker compose up -d",
            alternative: "with --config-dir",
            hint:
                "docker compose restart keeps the old secret: the oneshot unit must run docker compose up -d. With --config-dir it "
                + "reads the file by itself."),
        AppPreset(
            name: "synapse", verb: .restart, unit: "matrix-synapse.service",
            settings: ("client_secret", "client_secret_path: \"@\""),
            hint: "Set client_secret_path to the file. Synapse reads it when it starts, and not at SIGHUP."),
    ]
}
