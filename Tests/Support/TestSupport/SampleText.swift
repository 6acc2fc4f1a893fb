/// Configurations that tests of several modules read.
package enum SampleText {
    /// Two clients with files of two users other than the daemon's.
    package static let severalUsers = """
        keys: {apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, file: /etc/key.p8}}
        clients:
          web:
            client_id: com.example.web
            outputs:
              - {path: /srv/app/.env, format: env, variable: SECRET, mode: 640, as: app}
              - {path: /srv/other/web.jwt, as: other}
              - {path: /run/own.jwt}
          api:
            client_id: com.example.api
            outputs:
              - {path: /srv/app/.env, format: env, variable: OTHER, mode: 640, as: app}
              - {path: /srv/app/api.json, format: json, as: app}
        """
}
