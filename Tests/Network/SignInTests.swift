import Foundation
import TestSupport
import Testing

/// A whole sign-in by the commands alone, and what can be wrong at each step.
@Suite(.waits, .needs(.venv, .tools)) struct SignInTests {
    private let own: Operator
    private let apple: StandIn

    init() throws {
        own = try Operator()
        apple = try own.standIn()
    }

    /// The address of a request, kept in a file, whose path is returned.
    private func request(_ more: [String] = []) throws -> String {
        let printed = try runToSuccess(
            [
                own.binary, "authorize-url", "web", "--redirect-uri", Operator.returnURL, "--endpoint", apple.address,
                "--config", own.configuration,
            ] + more)
        return try own.directory.write(printed, to: "sign-in.url")
    }

    /// What the browser would post to the return address after the user has signed in.
    private func comesBack(_ request: String) throws -> String {
        let address = try String(contentsOfFile: request, encoding: .utf8).trimmingCharacters(in: .newlines)
        return try runToSuccess([
            "curl", "--silent", "--show-error", "--fail", "--noproxy", "*", "--cacert", apple.authority, "--header",
            "Accept: application/x-www-form-urlencoded", address,
        ])
    }

    private func signIn(_ more: String...) throws -> (request: String, form: String) {
        let request = try request(more)
        return (request, try comesBack(request))
    }

    private func fields(_ form: String) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: form.split(separator: "&").map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1)
                return (String(parts[0]), String(parts.last ?? "").removingPercentEncoding ?? "")
            })
    }

    private func nonce(of request: String) throws -> String {
        let address = try String(contentsOfFile: request, encoding: .utf8).trimmingCharacters(in: .newlines)
        return try #require(fields(String(address.split(separator: "?")[1]))["nonce"])
    }

    @Test func allOfIt() throws {
        let (request, form) = try signIn("--scope", "name", "email", "--response-type", "code id_token")
        let tokens = own.directory("tokens.json")
        let exchanged = try own.ask(apple, "exchange", "web", "--request", request, "--save", tokens, input: form)
        #expect(exchanged.status == 0, "\(exchanged.complaints)")
        #expect(exchanged.output.contains("user: Johanna Appel, standin@privaterelay.appleid.com"))
        #expect(exchanged.output.contains("identity token with the code: good"))
        #expect(exchanged.output.contains("\nidentity token: good"))

        let attributes = try FileManager.default.attributesOfItem(atPath: tokens)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let kept = try object(own.directory.read("tokens.json"))
        #expect(Set(kept.keys) == ["access_token", "refresh_token", "id_token"])
        // Tokens are named by their fingerprints alone.
        for token in kept.values.compactMap({ $0 as? String }) { #expect(!exchanged.output.contains(token)) }

        #expect(try own.ask(apple, "id-token", "web", tokens).status == 0)
        let again = own.directory("again.json")
        let refreshed = try own.ask(apple, "refresh", "web", tokens, "--save", again)
        #expect(refreshed.status == 0 && refreshed.output.contains("access_token: sha256:"))
        #expect(!refreshed.output.contains("refresh_token"))
        // Apple sends no new refresh token, so the one that was used stays with the new tokens.
        #expect(try own.ask(apple, "refresh", "web", again).status == 0)
        #expect(try own.ask(apple, "revoke", "web", again).status == 0)
        let ended = try own.ask(apple, "refresh", "web", tokens)
        #expect(ended.status == 1)
        #expect(ended.complaints.contains("accepts the client secret but not the refresh token"))
        #expect(try apple.log().filter { $0.hasPrefix("/auth/revoke") } == ["/auth/revoke revoked"])
    }

    /// At the second sign-in Apple does not tell who it is, and without scopes the code stands in an address.
    @Test func theSimplestRequestIsAnsweredInAnAddress() throws {
        let request = try request()
        let address = try own.directory.read("sign-in.url")
        #expect(address.contains("response_mode=query") && address.contains("response_type=code&"))
        let code = fields(try comesBack(request))
        let returned = "\(Operator.returnURL)?state=\(code["state"] ?? "")&code=\(code["code"] ?? "")"
        let exchanged = try own.ask(apple, "exchange", "web", "--request", request, "--json", input: returned + "\n")
        #expect(exchanged.status == 0, "\(exchanged.complaints)")
        let answer = try object(exchanged.output)
        #expect(answer["user"] is NSNull)
        #expect((answer["identity_tokens"] as? [[String: Any]])?.map { $0["valid"] as? Bool } == [true])
        #expect((answer["tokens"] as? [String: String])?.values.allSatisfy { $0.hasPrefix("sha256:") } == true)
    }

    @Test func tokensAreShownWhenAskedFor() throws {
        let request = try request()
        let code = try #require(try fields(comesBack(request))["code"])
        let exchanged = try own.ask(
            apple, "exchange", "web", "--redirect-uri", Operator.returnURL, "--show-tokens", "--json", input: code)
        let tokens = try #require(try object(exchanged.output)["tokens"] as? [String: String])
        #expect(tokens["id_token"]?.hasPrefix("eyJ") == true && tokens["access_token"]?.hasPrefix("a") == true)
        let refreshed = try own.ask(apple, "refresh", "web", input: tokens["refresh_token"] ?? "")
        #expect(refreshed.status == 0)
    }

    @Test func everyRequestHasAStateAndANonceOfItsOwn() throws {
        let first = try own.clientsecretd("authorize-url", "web", "--redirect-uri", Operator.returnURL, "--json")
        let second = try own.clientsecretd("authorize-url", "web", "--redirect-uri", Operator.returnURL, "--json")
        for name in ["state", "nonce"] {
            let values = try [first, second].compactMap { try object($0.output)[name] as? String }
            #expect(Set(values).count == 2 && values.allSatisfy { $0.count == 32 })
        }
        let url = try object(first.output)["url"] as? String ?? ""
        #expect(
            url.hasPrefix(
                "https://appleid.apple.com/auth/authorize?client_id=com.example.web&redirect_uri=https%3A%2F%2F"))
    }

    @Test func aReturnAddressThatAppleRefuses() throws {
        let finished = try own.clientsecretd("authorize-url", "web", "--redirect-uri", "http://example.com/callback")
        #expect(finished.status == 64)
        #expect(finished.complaints.contains("only return addresses with https"), "\(finished.complaints)")
    }

    /// Only who has copied the code alone has no state; whoever forges an answer could leave it out.
    @Test func withoutTheStateThatWasSentNothingIsExchanged() throws {
        let (request, form) = try signIn("--scope", "email")
        let code = try #require(fields(form)["code"])
        for (input, words) in [
            (form.replacing("state=", with: "state=x"), "the state that came back is not the one that was sent"),
            ("code=\(code)", "no state came back, though one was sent"),
        ] {
            let finished = try own.ask(apple, "exchange", "web", "--request", request, input: input)
            #expect(finished.status == 1)
            #expect(finished.complaints.contains(words), "\(finished.complaints)")
        }
        #expect(try !apple.log().contains { $0.hasPrefix("/auth/token") })
        let alone = try own.ask(apple, "exchange", "web", "--request", request, input: code)
        #expect(alone.status == 0 && alone.complaints.contains("a code without its state"))
    }

    @Test func withoutTheRequestTheUncheckedClaimsAreNamed() throws {
        let finished = try own.ask(apple, "exchange", "web", input: "code")
        #expect(finished.complaints.contains("without --request, state and nonce are not checked"))
    }

    /// For Swift both are the same text.
    @Test func aStateThatLooksTheSameIsAnotherOne() throws {
        let (request, form) = try signIn()
        let state = try #require(fields(form)["state"])
        for (name, spelling) in [("sent", "Am%C3%A9lie"), ("back", "Ame%CC%81lie")] {
            let text = try String(contentsOfFile: request, encoding: .utf8)
            try own.directory.write(text.replacingOccurrences(of: state, with: spelling), to: name)
        }
        let back = form.replacingOccurrences(of: state, with: "Ame%CC%81lie")
        let other = try own.ask(apple, "exchange", "web", "--request", own.directory("sent"), input: back)
        #expect(other.status == 1 && other.complaints.contains("the state that came back is not the one"))
        let same = try own.ask(apple, "exchange", "web", "--request", own.directory("back"), input: back)
        #expect(!same.complaints.contains("the state"), "\(same.complaints)")
    }

    /// The token in the form was not issued for the user whom Apple itself names: somebody has put it there.
    @Test func twoIdentityTokensNameTheSameUser() throws {
        let (request, form) = try signIn("--response-type", "code id_token")
        let token = try #require(apple.identityTokens(client: Operator.client, nonce: nonce(of: request))["other-user"])
        let forged = form.replacing(#/id_token=[^&]*/#, with: "id_token=" + token)
        let finished = try own.ask(apple, "exchange", "web", "--request", request, input: forged)
        #expect(finished.status == 1)
        #expect(
            finished.output.contains("identity token with the code: not accepted: it names another user"),
            "\(finished.output)")
        #expect(finished.output.contains("\nidentity token: good"))
    }

    /// The code is spent: who has the tokens has them from this answer, or not at all.
    @Test func tokensAreShownWithoutAKeySetToCheckThem() throws {
        let (request, form) = try signIn("--response-type", "code id_token")
        try apple.order("/auth/keys status=503")
        let tokens = own.directory("tokens.json")
        let exchanged = try own.ask(apple, "exchange", "web", "--request", request, "--save", tokens, input: form)
        #expect(exchanged.status == 1)
        #expect(exchanged.output.contains("refresh_token: sha256:"), "\(exchanged.output)")
        #expect(exchanged.complaints.contains("no identity token was checked: the server answered 503"))
        #expect(try object(own.directory.read("tokens.json"))["refresh_token"] != nil)
        let refreshed = try own.ask(apple, "refresh", "web", tokens, "--json")
        #expect(refreshed.status == 1)
        #expect((try object(refreshed.output)["tokens"] as? [String: Any])?["access_token"] != nil)
    }

    /// Native applications send its digest.
    @Test func theNonceThatWasSentComesBack() throws {
        for isDigest in [true, false] {
            let (request, form) = try signIn()
            let nonce = try nonce(of: request)
            let digest = try run(["sha256sum"], input: Data(nonce.utf8)).output.prefix(64)
            try apple.order("/auth/token nonce=\(isDigest ? String(digest) : "other")")
            let finished = try own.ask(apple, "exchange", "web", "--request", request, input: form)
            #expect(finished.status == (isDigest ? 0 : 1), "\(finished.output)")
            #expect(finished.output.contains("its nonce is neither the one that was sent") != isDigest)
        }
    }

    /// What is wrong with the code is told apart from what is wrong with the secret.
    @Test func eachErrorIsExplained() throws {
        let (request, form) = try signIn()
        let wrong = try own.ask(apple, "exchange", "web", "--redirect-uri", Operator.returnURL, input: "nobodys")
        #expect(wrong.complaints.contains("invalid_grant: Apple accepts the client secret but not the code"))
        try apple.setClock(400)
        let late = try own.ask(apple, "exchange", "web", "--request", request, input: form)
        #expect(late.status == 1 && late.complaints.contains("five minutes"))
        #expect(try apple.log().last?.hasSuffix("the code has expired") == true)
        try apple.setClock(0)
        let code = try #require(try fields(comesBack(request))["code"])
        let elsewhere = try own.ask(
            apple, "exchange", "web", "--redirect-uri", "https://example.com/other", input: code)
        #expect(elsewhere.complaints.contains("invalid_client: Apple refuses the client secret"))
        #expect(elsewhere.complaints.contains("the return address differs from the one"))
        for (error, words) in [
            ("invalid_request", "missing, duplicated or malformed"), ("unauthorized_client", "may not do this"),
            ("unsupported_grant_type", "changed the request"), ("invalid_scope", "only the scopes name and email"),
            ("something_new", "Apple documents no such error"),
        ] {
            try apple.order("/auth/token error=\(error)")
            let finished = try own.ask(apple, "exchange", "web", input: "code")
            #expect(finished.status == 1)
            #expect(finished.complaints.contains("\(error): ") && finished.complaints.contains(words), "\(error)")
        }
        for (action, words) in [
            ("status=500", "answered 500"), ("html", "answered 200"), ("reset", "Apple did not answer"),
        ] {
            try apple.order("/auth/token \(action)")
            let finished = try own.ask(apple, "refresh", "web", input: "token")
            #expect(finished.status == 1 && finished.complaints.contains(words), "\(finished.complaints)")
        }
    }

    /// Whether a code can still be exchanged depends on whether Apple has got it.
    @Test func aCodeThatWasSentIsDistinguishedFromOneThatWasNot() throws {
        let nobody = ["--endpoint", "https://127.0.0.1:1"]
        let old = try own.standIn("--tls", "1.1")
        let stranger = try own.standIn("--certificate", "other-authority")
        for (command, sent, notSent) in [
            ("exchange", "the code was sent and may be used up", "the code was not sent"),
            ("refresh", "the refresh token was sent", "the refresh token was not sent"),
            ("revoke", "the token was sent and may be revoked", "nothing was sent"),
        ] {
            let path = command == "revoke" ? "revoke" : "token"
            for action in ["reset", "truncated", "status=502", "html", "redirect"] {
                try apple.order("/auth/\(path) \(action)")
                let finished = try own.ask(apple, command, "web", input: "held")
                #expect(finished.status == 1 && finished.complaints.contains(sent), "\(action): \(finished.complaints)")
            }
            try apple.order("/auth/\(path) silent")
            let late = try own.ask(apple, command, "web", "--timeout", "2s", input: "held")
            #expect(late.complaints.contains("did not answer in time"), "\(late.complaints)")
            for apple in [old, stranger] {
                let finished = try own.ask(apple, command, "web", input: "held")
                #expect(finished.status == 1 && finished.complaints.contains(notSent), "\(finished.complaints)")
            }
            let unreachable = try run(
                [own.binary, command, "web", "--config", own.configuration] + nobody, input: Data("held".utf8))
            #expect(unreachable.status == 1 && unreachable.complaints.contains(notSent), "\(unreachable.complaints)")
        }
    }

    /// A server may describe what was wrong with a request by quoting it.
    @Test func aServersQuotationIsNotShown() throws {
        let held = "c0123456789abcdef0123456789abcdef.0.nrtq.4567890123456789abcdef"
        let secret = try own.directory.read("web.jwt").split(separator: ".")
        for (command, path) in [("exchange", "token"), ("refresh", "token"), ("revoke", "revoke")] {
            try apple.order("/auth/\(path) echo=invalid_request")
            let finished = try own.ask(apple, command, "web", input: held)
            #expect(finished.complaints.contains("refused: com.example.web (secret)"), "\(finished.complaints)")
            #expect(!finished.complaints.contains("0123456789abcdef"), "\(finished.complaints)")
            for part in secret { #expect(!finished.complaints.contains(part)) }
        }
    }

    @Test(arguments: [
        ("state=x&error=user_cancelled_authorize", "the user cancelled the sign-in"),
        ("code=a&code=b", "standard input: "),
    ])
    func aTextWithoutACodeIsNotSent(input: String, words: String) throws {
        let finished = try own.ask(apple, "exchange", "web", input: input)
        #expect(finished.status == 1)
        #expect(finished.complaints.contains(words))
        #expect(try apple.log() == [])
    }

    /// No flag names the client's output.
    @Test(arguments: ["exchange", "refresh", "revoke"])
    func anOutputThatIsMissingIsNoUnreadableFlag(command: String) throws {
        try FileManager.default.removeItem(atPath: own.secretFile)
        let finished = try own.ask(apple, command, "web", input: "token")
        #expect(finished.status == 1 && finished.complaints.contains(own.secretFile), "\(finished.complaints)")
        #expect(try apple.log() == [])
    }

    @Test func aRequestOfAnotherClientIsNotUsed() throws {
        let request = try request()
        let text = try own.directory.read("sign-in.url")
        try own.directory.write(
            text.replacingOccurrences(of: "com.example.web", with: "com.example.shop"), to: "other.url")
        let finished = try own.ask(
            apple, "exchange", "web", "--request", own.directory("other.url"), input: try comesBack(request))
        #expect(finished.status == 1 && finished.complaints.contains("the request is for com.example.shop"))
        let noRequest = try own.ask(apple, "exchange", "web", "--request", own.secretFile, input: "code")
        #expect(noRequest.complaints.contains("authorize-url"))
        #expect(try own.ask(apple, "exchange", "web", "--request", "/nowhere", input: "code").status == 66)
    }

    /// A code is spent by its exchange: what could not be kept is noticed before.
    @Test func aFileThatExistsIsNotWrittenTo() throws {
        let (request, form) = try signIn()
        let taken = try own.directory.write("mine", to: "taken")
        let finished = try own.ask(apple, "exchange", "web", "--request", request, "--save", taken, input: form)
        #expect(finished.status == 1 && finished.complaints.contains("name a new file"))
        #expect(try own.directory.read("taken") == "mine")
        #expect(try own.ask(apple, "exchange", "web", "--request", request, input: form).status == 0)
    }

    /// The same command can then be given again.
    @Test func aFailedExchangeLeavesNoFile() throws {
        let tokens = own.directory("tokens.json")
        let refused = try own.ask(apple, "exchange", "web", "--save", tokens, input: "nobodys")
        #expect(refused.status == 1 && refused.complaints.contains("invalid_grant"))
        #expect(!FileManager.default.fileExists(atPath: tokens))
    }

    /// As on a full disk. The code is spent, so what came for it is shown.
    @Test func tokensThatCannotBeSavedAreShown() throws {
        let (request, form) = try signIn()
        let tokens = own.directory("tokens.json")
        let finished = try run(
            [
                "bash", "-c", #"{ trap "" XFSZ; ulimit -f 0; "$@"; } 2>&1 | cat; exit "${PIPESTATUS[0]}""#, "bash",
                own.binary,
                "exchange", "web", "--config", own.configuration, "--endpoint", apple.address, "--ca-file",
                apple.authority,
                "--request", request, "--save", tokens,
            ], input: Data(form.utf8))
        #expect(finished.status == 1)
        #expect(finished.output.contains("cannot save the tokens"), "\(finished.output)")
        #expect(finished.output.contains("access_token: sha256:"), "\(finished.output)")
        #expect(!FileManager.default.fileExists(atPath: tokens))
    }

    @Test func anyTokenIsTakenForRevocation() throws {
        let finished = try own.ask(apple, "revoke", "web", input: "nobodys")
        #expect(finished.status == 0 && finished.output.contains("as it does for any token"))
        #expect(try apple.log().last == "/auth/revoke revoked: unknown token")
        try apple.order("/auth/revoke error=invalid_client")
        let refused = try own.ask(apple, "revoke", "web", "--json", input: "nobodys")
        #expect(refused.status == 1 && refused.complaints.contains("Apple refuses the client secret"))
    }

    /// The limit is handed down to the program that asks Apple.
    @Test(arguments: ["verify", "refresh", "id-token"])
    func noSecretGetsIntoACoreDump(command: String) throws {
        let limit = own.directory("limit")
        let directory = try own.besideScript("ulimit -H -c >'\(limit)'; exit 1")
        // Well-formed enough to be looked up in the key set.
        let input = try apple.identityTokens(client: Operator.client, nonce: "")["good"] ?? ""
        _ = try run(
            [directory("clientsecretd"), command, "web", "--config", own.configuration], input: Data(input.utf8))
        #expect(try own.directory.read("limit") == "0\n")
    }

    /// Neither in what is shown of a process nor in what it says.
    @Test func neitherCodesNorTokensAreArguments() throws {
        for command in ["exchange", "refresh", "id-token", "revoke"] {
            let help = try own.clientsecretd(command, "--help").output
            for option in ["--code", "--token ", "--refresh-token", "--client-secret "] {
                #expect(!help.contains(option), "\(command) \(option)")
            }
        }
    }

    /// At a terminal the code is asked for; a line may be longer than a terminal's own buffer, and is not shown.
    @Test func aCodeTypedAtATerminalIsNotShown() throws {
        let typed = "code=" + String(repeating: "x", count: 6_000)
        let program = """
            import os, pty, sys
            child, terminal = pty.fork()
            if child == 0:
                os.execv(sys.argv[1], sys.argv[1:])
            shown = b""
            def read():
                try:
                    return os.read(terminal, 65536)
                except OSError:
                    return b""
            while b": " not in shown:
                shown += read()
            os.write(terminal, sys.stdin.buffer.read() + b"\\n")
            while data := read():
                shown += data
            print(shown.decode())
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            """
        let finished = try run(
            [
                python, "-c", program, own.binary, "exchange", "web", "--endpoint", apple.address, "--ca-file",
                apple.authority, "--config", own.configuration,
            ], input: Data(typed.utf8))
        #expect(finished.status == 1)
        #expect(finished.output.contains("What came back: the address, the form or the code: "))
        #expect(finished.output.contains("invalid_grant"), "\(finished.output)\(finished.complaints)")
        #expect(!finished.output.contains("xxx"))
    }

    /// Twice: what is left of the first run is no matter, and neither are proxies.
    @Test func theDemonstrationWalksTheWholeSignIn() throws {
        let directory = try TemporaryDirectory()
        let nowhere = "http://127.0.0.1:1"
        for _ in 0..<2 {
            let finished = try run(
                [repository + "/scripts/demo-signin", own.binary, python, directory("demo")],
                environment: ["https_proxy": nowhere, "ALL_PROXY": nowhere, "no_proxy": ""])
            #expect(finished.status == 0, "\(finished.output)\(finished.complaints)")
        }
    }

    /// It makes and removes files in a folder of its own alone.
    @Test func theDemonstrationKeepsOtherFiles() throws {
        let directory = try TemporaryDirectory()
        try directory.write("mine", to: "tokens.json")
        let finished = try run([repository + "/scripts/demo-signin", own.binary, python, directory.path])
        #expect(finished.status == 1 && finished.complaints.contains("is not empty"), "\(finished.complaints)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["tokens.json"])
        #expect(try directory.read("tokens.json") == "mine")
    }
}
