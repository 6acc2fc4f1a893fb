import Foundation
import TestSupport
import Testing

/// What others do to outputs and keys is noticed by a running daemon and fixed.
@Suite(.waits) struct ChangedFilesTests {
    @Test func damageIsRepairedWithTheSameSecret() throws {
        let sandbox = try Sandbox()
        try sandbox.directory.write("PORT=80\nSECRET=\n", to: "out/app.env")
        try sandbox.configure(
            sandbox.client("web", more: "        mode: \"0640\"")
                + sandbox.client("native", at: sandbox.directory("out/app.env"), variable: "SECRET"))
        try sandbox.start()
        let token = try sandbox.published()
        let environment = try sandbox.directory.read("out/app.env")

        try sandbox.directory.write("rubbish", to: "out/web.jwt")
        try sandbox.eventually("the repair of a file written in place") { try sandbox.published() == token }
        try sandbox.remove("out/web.jwt")
        try sandbox.eventually("the repair of a deleted file") { sandbox.isThere("out/web.jwt") }
        #expect(try sandbox.published() == token)
        try sandbox.permit(sandbox.directory("out/web.jwt"), 0o666)
        try sandbox.eventually("the repair of its mode") { try sandbox.mode(of: "out/web.jwt") == 0o640 }

        // Somebody else's edit is kept, ours is put back.
        try sandbox.directory.write("PORT=8080\nSECRET=gone\n", to: "new.env")
        try sandbox.move("new.env", to: "out/app.env")
        let wanted = environment.replacingOccurrences(of: "PORT=80\n", with: "PORT=8080\n")
        try sandbox.eventually("the repair of a renamed file") { try sandbox.directory.read("out/app.env") == wanted }
        #expect(try sandbox.log().components(separatedBy: "minted").count == 3)
    }

    /// As `vault kv get … > .env`: the shell truncates the file, and the program writes much later, and bit by bit.
    @Test func aSlowWriterLosesNoLine() throws {
        let sandbox = try Sandbox()
        let path = try sandbox.directory.write("PORT=80\nHOST=b\n", to: "out/app.env")
        try sandbox.configure(sandbox.client("web", at: path, variable: "SECRET"))
        try sandbox.start()
        // For longer than the quiet after which a file is repaired.
        try runToSuccess(["sh", "-c", "{ sleep 7; echo PORT=81; sleep 7; echo HOST=a; echo SECRET=; } >\(path)"])
        try sandbox.eventually("the secret below the program's lines") {
            try sandbox.directory.read("out/app.env").hasPrefix("PORT=81\nHOST=a\nSECRET=eyJ")
        }
    }

    @Test func anEnvironmentFileThatIsGoneIsNotReplaced() throws {
        let sandbox = try Sandbox()
        let path = try sandbox.directory.write("PORT=80\n", to: "out/app.env")
        try sandbox.configure(sandbox.client("web", at: path, variable: "SECRET"))
        try sandbox.start()
        try FileManager.default.removeItem(atPath: path)
        try sandbox.eventually("saying so") { try sandbox.outputs(of: "web").first?.state == "failed" }
        sandbox.stop()
        // Whatever its client is called now.
        try sandbox.configure(sandbox.client("shop", at: path, variable: "SECRET"))
        try sandbox.start()
        #expect(try sandbox.outputs(of: "shop").first?.state == "failed")
        #expect(!FileManager.default.fileExists(atPath: path))
        // It is written once it exists.
        try sandbox.directory.write("PORT=81\n", to: "out/app.env")
        try sandbox.eventually("the secret in the new file") {
            try sandbox.directory.read("out/app.env").hasPrefix("PORT=81\nSECRET=eyJ")
        }
    }

    @Test(arguments: ["rename", "in place", "..data"])
    func aReplacedKeyIsInUseAndPublished(way: String) throws {
        let sandbox = try Sandbox()
        if way == "..data" {
            // As Kubernetes mounts a secret: the file is a link into a directory that another link names.
            for name in ["..one", "..two"] {
                try sandbox.makeDirectory("keys/" + name)
                try sandbox.makeKey(at: sandbox.directory("keys/\(name)/AuthKey_ABC123DEFG.p8"))
            }
            try FileManager.default.removeItem(atPath: sandbox.key)
            try sandbox.directory.link("keys/..data", to: "..one")
            try sandbox.directory.link("keys/AuthKey_ABC123DEFG.p8", to: "..data/AuthKey_ABC123DEFG.p8")
        }
        try sandbox.configure(sandbox.client("web"))
        try sandbox.start()
        let old = try sandbox.published()
        // The look that follows its start must not be the one that finds the key.
        try sandbox.awaitRest()
        switch way {
        case "rename":
            try sandbox.makeKey(at: sandbox.directory("keys/next"))
            try sandbox.move("keys/next", to: "keys/AuthKey_ABC123DEFG.p8")
        case "in place":
            try sandbox.makeKey(at: sandbox.directory("next"))
            try sandbox.directory.write(try sandbox.directory.read("next"), to: "keys/AuthKey_ABC123DEFG.p8")
        default:
            try sandbox.directory.link("keys/..next", to: "..two")
            try sandbox.move("keys/..next", to: "keys/..data")
        }
        // By notice: the look once a minute comes later.
        try sandbox.soon("a secret by the new key") { try sandbox.published() != old }
        try sandbox.claims(of: sandbox.published())
        try sandbox.recovers("the key was replaced")
    }

    /// By mistake, as far as can be told: the previous one is what helps.
    @Test func aWrongKeyUnderTheSameNameIsReported() throws {
        let sandbox = try Sandbox()
        let wrong = sandbox.directory("wrong.p8")
        try sandbox.makeKey(at: wrong)
        let right = try sandbox.directory.read("keys/AuthKey_ABC123DEFG.p8")
        try sandbox.configure(sandbox.client("web"))
        try sandbox.start()
        /// A key's name, as it is shown.
        func name(_ path: String) throws -> String {
            let script = "openssl pkey -in \"$0\" -pubout -outform DER | sha256sum | head -c 16"
            return "sha256:" + (try run(["sh", "-c", script, path]).output)
        }
        let words = "ABC123DEFG was \(try name(sandbox.key)) and is \(try name(wrong))"
        func isSaid() throws -> Bool { try sandbox.command("status").output.contains(words) }
        func replaceKey(_ text: String) throws { try sandbox.directory.write(text, to: "keys/AuthKey_ABC123DEFG.p8") }

        try replaceKey(sandbox.directory.read("wrong.p8"))
        try sandbox.eventually("the word on the key", isSaid)
        #expect(try sandbox.command("status").output.contains("restore the previous file"))
        #expect(try sandbox.log().contains(words))
        #expect(try sandbox.command("health").status == 1)
        let check = try sandbox.command("check")
        #expect(check.status == 1 && check.complaints.contains("Apple knows only one of them"), "\(check)")
        #expect(check.complaints.contains(words), "\(check)")
        sandbox.stop()
        try sandbox.start()
        try sandbox.eventually("the same after a restart", isSaid)

        try replaceKey(right)
        try sandbox.eventually("health with the old key") { try sandbox.command("health").status == 0 }
        try sandbox.succeed("check")
        #expect(try sandbox.log().contains("previous key is back"))
        // While nothing runs.
        sandbox.stop()
        try replaceKey(sandbox.directory.read("wrong.p8"))
        #expect(try sandbox.command("check").complaints.contains(words))
        try sandbox.start()
        try sandbox.eventually("the word at a start", isSaid)
    }

    @Test func nothingWakesBetweenEvents() throws {
        let sandbox = try Sandbox.running("web", "native")
        try sandbox.awaitRest(seconds: 8)
    }
}
