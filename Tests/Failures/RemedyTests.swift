import Failures
import Testing

@Suite struct RemedyTests {
    @Test(arguments: [
        ("/a/b-c_d.e:f,g@h%i+j=", "/a/b-c_d.e:f,g@h%i+j="), ("", "''"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#),
        ("$(x)", "'$(x)'"), ("ä", "'ä'"), ("*", "'*'"), ("; curl evil|sh", "'; curl evil|sh'"),
    ])
    func wordsAreQuoted(text: String, word: String) {
        #expect(ShellWord.quoted(text) == word)
        let command: ShellCommand = "rm \(text)"
        #expect(command.text == "rm " + word)
    }

    @Test(arguments: ["a\u{1B}[2J", "a\nrm -rf /", "\u{202E}", "a\u{FFFD}", "\u{7F}"])
    func whatCannotBePastedGivesNoCommand(name: String) {
        let command: ShellCommand = "rm \(name)"
        #expect(command.text == nil)
        #expect(ShellCommand("true").then(command).text == nil)
        let within: ShellCommand = "sh -c \(command)"
        #expect(within.text == nil)
        #expect(Remedy.say("remove it", run: command) == .say("remove it"))
        #expect(Remedy.run(command).command == nil)
        #expect(Remedy.run(command).description.hasPrefix("by hand"))
        #expect(Remedy.othersFile(name).command == nil)
    }

    @Test func aUnitIsOpenedInOneLine() {
        #expect(
            ShellCommand.letWrite(to: "/srv/app").text
                == "install -d /etc/systemd/system/clientsecretd.service.d && "
                + #"printf '[Service]\nReadWritePaths=-%s\n' /srv/app >>/etc/systemd/system/clientsecretd.service.d/outputs.conf"#
                + " && systemctl daemon-reload && systemctl restart clientsecretd.service")
        for path in ["/srv/a b", "/srv/100%", "/srv/a'b", "/srv/a\u{1B}"] {
            #expect(ShellCommand.letWrite(to: path).text == nil)
            #expect(ShellCommand.makeDirectory("/run" + path, of: "app").text == nil)
        }
        #expect(ShellCommand.makeDirectory("/srv/a b", of: "app").text == "install -d -o app '/srv/a b'")
        #expect(
            ShellCommand.makeDirectory("/run/a", of: "app").text
                == #"printf 'd %s 0755 %s root\n' /run/a app >>/etc/tmpfiles.d/clientsecretd-outputs.conf"#
                + " && systemd-tmpfiles --create /etc/tmpfiles.d/clientsecretd-outputs.conf")
    }

    @Test func theCommandStandsAtTheEnd() {
        #expect(Remedy.say("make room", run: "df -h \("/srv/a b")").description == "make room: df -h '/srv/a b'")
        #expect(Remedy.run(["chown \(7) x", "chmod 0600 x"]).description == "chown 7 x && chmod 0600 x")
        #expect(Remedy.say("a\u{1B}").description == #"a\x1b"#)
        #expect(Remedy.othersFile("/tmp/l").command == "rm /tmp/l")
    }
}
