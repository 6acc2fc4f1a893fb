extension ErrorCase {
    /// Actions and credentials.
    static let ofActions = #"""
        ## actions
        @keys
        clients:
          web:
            @out
            on_change:
              - myapp.service
              - {}
              - restart: myapp
              - restart: myapp.servce
              - reload: my app.service
              - start: job@.service
              - start: notice@%s.service
              - restart: a.service
                reload: b.service
              - restart: c.service
                timeout: 30s
              - signal: SIGHUP
              - signal: {unit: a.service}
              - signal: {unit: a.service, signal: HUP}
              - signal: {unit: a.service, signal: SIGHUPP}
              - signal: {unit: a.service, signal: RELOAD, to: main}
              - exec: /usr/bin/true --quiet
              - exec: []
              - exec: [true]
              - exec: [/usr/bin/../true]
              - exec: [/usr/bin/true, [a]]
              - exec: [/usr/bin/true]
                timeout: 0s
              - exec: [/usr/bin/false]
                timeout: 2d
              - exec: [/usr/bin/yes]
                timeout: 30
        ->
        c.yaml:6:9: error: an action says what to do; write "- restart: myapp.service"
        c.yaml:7:9: error: this action does nothing; write restart, reload, reload_or_restart, start, signal or exec
        c.yaml:8:18: error: "myapp" has no unit suffix; write myapp.service
        c.yaml:9:18: error: "myapp.servce" is not a unit's name; did you mean "myapp.service"?
        c.yaml:10:17: error: "my app.service" is not a unit's name; write it as systemctl shows it
        c.yaml:11:16: error: "job@.service" is a template; write an instance, "job@NAME.service"
        c.yaml:12:16: error: "notice@%s.service" contains "%s", which works only in on_state_change; write the unit's name
        c.yaml:14:9: error: a second action in one item; begin a new item, "- reload: …"
        c.yaml:16:9: error: "timeout" is for exec only; remove the line
        c.yaml:17:17: error: "signal" needs a unit and a signal; write {unit: myapp.service, signal: SIGHUP}
        c.yaml:18:9: error: "signal" has no "signal"; write {unit: myapp.service, signal: SIGHUP}
        c.yaml:19:43: error: "HUP" is not a signal that can be sent; did you mean "SIGHUP"?
        c.yaml:20:43: error: "SIGHUPP" is not a signal that can be sent; did you mean "SIGHUP"?
        c.yaml:21:43: error: "RELOAD" is not a signal that can be sent; write SIGHUP, SIGUSR1 or another that a program can act on
        c.yaml:21:51: error: unknown key "to"; "signal" takes unit and signal
        c.yaml:22:15: error: "exec" is a list, because there is no shell; write [/usr/local/bin/after-rotation, --quiet]
        c.yaml:23:9: error: "exec" is empty; write the program's path and its arguments
        c.yaml:24:16: error: program "true" is not looked up in PATH; write its absolute path
        c.yaml:25:16: error: "/usr/bin/../true" contains "..", which can lead somewhere else; write the path without it
        c.yaml:26:31: error: an argument is one value; put it in quotes
        c.yaml:28:18: error: "0s" is too short; write 1s or more
        c.yaml:30:18: error: "2d" is too long; write 1d or less
        c.yaml:32:18: error: "30" has no unit; write 30s, 30m, 30h or 30d
        ## the daemon's own units
        @keys
        on_state_change:
          - start: clientsecretd-once.service
          - start: clientsecretd-notice@%s.service
        clients:
          web:
            @out
            credential: {unit: clientsecretd.service, name: s}
            on_change:
              - restart: clientsecretd.service
              - reload: clientsecretd.socket
              - signal: {unit: clientsecretd.service, signal: SIGHUP}
              - restart: clientsecretd-sockets.target
              - restart: clientsecretd-credentials.socket
              - restart: clientsecretd-site.service
              - reload: clientsecretd
              - restart: clientsecretd.servce
        ->
        c.yaml:3:12: error: "clientsecretd-once.service" is the daemon's own; write the unit of the program that reads the secret
        c.yaml:8:24: error: "clientsecretd.service" is the daemon's own; write the unit of the program that reads the secret
        c.yaml:10:18: error: "clientsecretd.service" is the daemon's own; write the unit of the program that reads the secret
        c.yaml:11:17: error: "clientsecretd.socket" is the daemon's own; write the unit of the program that reads the secret
        c.yaml:12:24: error: "clientsecretd.service" is the daemon's own; write the unit of the program that reads the secret
        c.yaml:13:18: error: "clientsecretd-sockets.target" is the daemon's own; write the unit of the program that reads the secret
        c.yaml:14:18: error: "clientsecretd-credentials.socket" is the daemon's own; write the unit of the program that reads the secret
        c.yaml:16:17: error: "clientsecretd" is the daemon's own; write the unit of the program that reads the secret
        c.yaml:17:18: error: "clientsecretd.servce" is the daemon's own; write the unit of the program that reads the secret
        ## the same action twice
        @keys
        on_state_change:
          - start: a@%s.service
          - start: a@%s.service
          - restart: my%d.service
        clients:
          a:
            @out
            on_change:
              - restart: a.service
              - exec: [/usr/bin/true]
                timeout: 30s
              - restart: a.service
              - exec: [/usr/bin/true]
                timeout: 31s
          b:
            outputs: [{path: /run/b}]
            on_change:
              - exec: [/usr/bin/true]
                timeout: 1m
        ->
        c.yaml:4:5: error: the same action is already at line 3; remove one
        c.yaml:5:14: error: "my%d.service" is not a unit's name; write it as systemctl shows it
        c.yaml:13:9: error: the same action is already at line 10; remove one
        c.yaml:14:9: error: the same action is already at line 11; remove one
        c.yaml:19:9: error: the same command has a timeout of 30s at line 11 and of 1m here, but runs once for both; write the same timeout in both
        ## credentials
        @keys
        clients:
          a: {credential: secret}
          b: {credential: {unit: app, name: "a:b"}}
          c: {credential: {unit: app.service}}
          d: {credential: {unit: app.service, name: s}, on_change: [{restart: app.service}]}
          e: {credential: {unit: app.service, name: s}, on_change: [{restart: app.service}]}
          f: {credential: {unit: .service, name: s}}
        ->
        c.yaml:3:19: error: "credential" needs a unit and a name; write {unit: myapp.service, name: apple-client-secret}
        c.yaml:4:26: error: "app" has no unit suffix; write app.service
        c.yaml:4:37: error: "a:b" is not a credential's name; write the name that LoadCredential= gives it, without a path
        c.yaml:5:7: error: "credential" has no "name"; write {unit: myapp.service, name: apple-client-secret}
        c.yaml:7:7: error: app.service already gets "s" from client "d" (line 6); write another name
        c.yaml:8:26: error: ".service" is not a unit's name; write it as systemctl shows it
        ## reload of a unit that reads a credential
        @keys
        clients:
          a:
            credential: {unit: app.service, name: s}
            on_change: [{reload: app.service}, {reload_or_restart: app.service}, {restart: app.service}, {reload: other.service}]
          b:
            credential: {unit: job@.service, name: s}
            on_change: [{reload: job@one.service}, {reload: job.service}, {reload: my@job.service}]
        ->
        c.yaml:5:18: warning: app.service reads a credential (line 4), but only when it starts, not when it reloads; write "restart: app.service"
        c.yaml:5:41: warning: app.service reads a credential (line 4), but only when it starts, not when it reloads; write "restart: app.service"
        c.yaml:8:18: warning: job@one.service reads a credential (line 7), but only when it starts, not when it reloads; write "restart: job@one.service"
        ## units that go on with the old credential
        @keys
        clients:
          none: {credential: {unit: a.service, name: s}}
          other: {credential: {unit: b.service, name: s}, on_change: [{restart: a.service}, {signal: {unit: b.service, signal: SIGHUP}}]}
          template: {credential: {unit: c@.service, name: s}, on_change: []}
          hook: {credential: {unit: d.service, name: s}, on_change: [{exec: [/usr/bin/true]}]}
          job: {credential: {unit: e.service, name: s}, on_change: [{start: restart-e.service}]}
          instance: {credential: {unit: f@.service, name: s}, on_change: [{restart: f@one.service}]}
          target: {credential: {unit: g.service, name: s}, on_change: [{restart: all.target}]}
          exact: {credential: {unit: h@x.service, name: s}, on_change: [{restart: h@y.service}]}
        ->
        c.yaml:3:10: warning: nothing restarts a.service when the secret changes, but it reads a credential only when it starts; write "- restart: a.service" under "on_change"
        c.yaml:4:11: warning: nothing restarts b.service when the secret changes, but it reads a credential only when it starts; write "- restart: b.service" under "on_change"
        c.yaml:5:14: warning: nothing restarts c@.service when the secret changes, but it reads a credential only when it starts; write "- restart: c@NAME.service" under "on_change"
        c.yaml:10:11: warning: nothing restarts h@x.service when the secret changes, but it reads a credential only when it starts; write "- restart: h@x.service" under "on_change"
        """#
}
