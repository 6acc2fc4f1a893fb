extension ErrorCase {
    /// Sources, keys without their private half, and rollouts.
    static let ofSources = #"""
        ## clients that receive their secrets, and clients that do not
        keys:
          apple: {team_id: DEF123GHIJ, key_id: ABC123DEFG, public_key: @public}
          mine: {team_id: DEF123GHIJ, file: /etc/k/AuthKey_ABC123DEFG.p8}
          other: {team_id: DEF123GHIJ, file: /etc/k/AuthKey_ZZZ123DEFG.p8}
          none: {team_id: DEF123GHIJ, key_id: ABC123DEFG, public_key: MFkwhunter2}
          both: {team_id: DEF123GHIJ, key_id: ABC123DEFG, file: /k.p8, public_key: @public}
        clients:
          a: {key: mine, deliver_over: 1m, outputs: [{path: /run/a}]}
          b: {key: apple, deliver_over: 2d, from: {path: /i}, outputs: [{path: /run/b}]}
          c: {key: apple, outputs: [{path: /run/c}]}
          d: {key: mine, from: {path: /i}, outputs: [{path: /run/d}]}
          e: {key: apple, lifetime: 90d, from: {path: /i}, outputs: [{path: /run/e}]}
          f: {key: apple, verify: true, from: {path: /i}, outputs: [{path: /run/f}]}
          g: {key: apple, rollout: {}, from: {path: /i}, outputs: [{path: /run/g}]}
          h: {key: mine, rollout: {}, outputs: [{path: /run/h}]}
          i: {key: apple, from: {path: /run/i}, outputs: [{path: /run/i}]}
          j: {key: apple, from: {variable: A}, outputs: [{path: /run/j}]}
          k: {key: apple, from: {path: /i, format: env}, outputs: [{path: /run/k}]}
          l: {key: apple, from: {path: /i, format: template}, outputs: [{path: /run/l}]}
          m: {key: [apple, apple], from: {path: /i}, outputs: [{path: /run/m}]}
          n: {key: [mine, other], outputs: [{path: /run/n}]}
        ->
        c.yaml:5:63: error: the value is not a public key on P-256; write what "clientsecretd public-key" prints on the machine that has the private key
        c.yaml:6:64: error: "public_key" is for a machine without the private key and excludes "file"; keep one
        c.yaml:8:32: error: client "a" mints its secrets, and "deliver_over" is for one that receives them; remove the line
        c.yaml:9:33: error: "2d" is too long; write 1d or less
        c.yaml:10:3: error: client "c" cannot mint, because key "apple" is a public_key; write "from" with the "path" of a file that something else renews, or a "store"
        c.yaml:11:31: error: client "d" mints its own secrets, because key "mine" is a private key; remove "from", or write "public_key" for the key
        c.yaml:12:29: error: client "e" receives its secrets, so "lifetime" is decided where they are minted; remove the line
        c.yaml:13:27: error: client "f" receives its secrets, so "verify" is decided where they are minted; remove the line
        c.yaml:14:19: error: client "g" receives its secrets, so "rollout" is decided where they are minted; remove the line
        c.yaml:15:18: error: client "h" shares its secrets with no other machine, because there is no "store"; remove "rollout"
        c.yaml:16:58: error: /run/i is the source of client "i"; write another path
        c.yaml:17:19: error: "from" has no "path"; write the file that something else renews
        c.yaml:18:44: error: format env needs a "variable"; write the one that holds the secret
        c.yaml:19:44: error: no secret is received as format "template"; write raw, env or json
        c.yaml:20:20: error: key "apple" is already in the list; remove one
        c.yaml:21:19: error: client "n" mints with one key; write only the key that signs, without a list
        ## rollouts
        @keys
        store: {endpoints: ["https://etcd:2379"], machine: a}
        clients:
          a: {rollout: {canaries: 0}, outputs: [{path: /run/a}]}
          b: {rollout: {canaries: many}, outputs: [{path: /run/b}]}
          c: {rollout: {at_once: 5}, outputs: [{path: /run/c}]}
          d: {rollout: {at_once: 0%}, outputs: [{path: /run/d}]}
          e: {rollout: {at_once: 101%}, outputs: [{path: /run/e}]}
          f: {rollout: {pause: 10s}, outputs: [{path: /run/f}]}
          g: {rollout: {canary: 1}, outputs: [{path: /run/g}]}
          h: {rollout: 5%, outputs: [{path: /run/h}]}
          i: {rollout: {}, share: false, outputs: [{path: /run/i}]}
        ->
        c.yaml:4:27: error: "0" is not a number of machines; write 1 or more
        c.yaml:5:27: error: "many" is not a number of machines; write 1 or more
        c.yaml:6:26: error: "5" is not a share; write it in percent, from 1% to 100%
        c.yaml:7:26: error: "0%" is not a share; write it in percent, from 1% to 100%
        c.yaml:8:26: error: "101%" is not a share; write it in percent, from 1% to 100%
        c.yaml:9:24: error: "10s" is too short; write 1m or more
        c.yaml:10:17: error: unknown key "canary"; "rollout" takes canaries, at_once and pause
        c.yaml:11:16: error: "rollout" is one value; write its settings as "name: value", indented
        c.yaml:12:7: error: client "i" shares its secrets with no other machine, because "share" is false; remove "rollout"
        """#
}
