"""Types every command that `status` and `check` print over a matrix of faults, as root, and compares what is on the disk.

An output's path is DIR/secret. The writers are the daemon's user and, with `as: app`, app; eve is a stranger. Each case is a
client of one configuration, so one pass types them all. Keys, hooks and files of a configuration are tried one by one with
`check`.
"""

import grp
import json
import os
import pwd
import re
import shutil
import stat
import subprocess
import sys
import time

ROOT = "/srv/m"
CONFIGURATION = "/etc/clientsecretd/clientsecretd.yaml"
KEY = "/etc/clientsecretd/AuthKey_ABC123DEFG.p8"
OUTPUT = "secret"
broken = 0


def kept(what):
    print(f"kept: {what}", flush=True)


def fail(what, *details):
    global broken
    broken += 1
    print("broken:", what)
    for detail in details:
        for line in str(detail).splitlines() or [""]:
            print("    " + line)
    sys.stdout.flush()


def promise(what, holds, *details):
    kept(what) if holds else fail(what, *details)


def sh(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, **more)


def own(path, user, mode=None, group=None):
    account = pwd.getpwnam(user)
    os.chown(path, account.pw_uid, grp.getgrnam(group).gr_gid if group else account.pw_gid, follow_symlinks=False)
    if mode is not None:
        os.chmod(path, mode)


def folder(path, user="root", mode=0o755, group=None):
    os.mkdir(path)
    own(path, user, mode, group)
    return path


def file(path, user="root", mode=0o644, text="", group=None):
    with open(path, "w") as handle:
        handle.write(text)
    own(path, user, mode, group)
    return path


def link(path, target, user):
    os.symlink(target, path)
    own(path, user)


class Case:
    """One output: what lies at its place, and who writes it."""

    all = []

    def __init__(self, name, writer, make):
        self.name, self.writer = name, writer
        self.directory = folder(f"{ROOT}/{name}")
        self.path = make(self) or f"{self.directory}/{OUTPUT}"
        Case.all.append(self)

    @property
    def user(self):
        return self.writer or "clientsecretd"

    def own(self, mode=0o755):
        own(self.directory, self.user, mode)


def mounted(case, *options, content=True):
    case.own()
    if content:
        file(f"{case.directory}/{OUTPUT}", case.user, 0o600)
    subprocess.run(["mount", *options, case.directory], check=True)


def foreign(owner, mode, directory="writer"):
    def make(case):
        own(case.directory, case.user if directory == "writer" else "root", 0o755)
        file(f"{case.directory}/{OUTPUT}", owner, mode, "A=1\n")

    return make


def in_directory(owner, mode, group=None):
    def make(case):
        own(case.directory, case.user if owner == "writer" else owner, mode, group)

    return make


def missing(owner, mode, depth, group=None):
    def make(case):
        own(case.directory, case.user if owner == "writer" else owner, mode, group)
        return case.directory + "/none" * depth + "/" + OUTPUT

    return make


def strangers_link(target, at_end=True):
    def make(case):
        own(case.directory, "root", 0o1777)
        link(f"{case.directory}/{OUTPUT if at_end else 'way'}", target, "eve")
        return None if at_end else f"{case.directory}/way/{OUTPUT}"

    return make


def attribute(flag):
    def make(case):
        case.own()
        path = file(f"{case.directory}/{OUTPUT}", case.user, 0o600)
        subprocess.run(["chattr", flag, path], capture_output=True)

    return make


def of_kind(kind):
    def make(case):
        case.own()
        path = f"{case.directory}/{OUTPUT}"
        folder(path, case.user) if kind == "directory" else os.mkfifo(path)
        own(path, case.user)

    return make


def of_group(group):
    def make(case):
        case.own()
        file(f"{case.directory}/{OUTPUT}", case.user, 0o640, group=group)

    return make


def masked(case):
    own(case.directory, "root", 0o755)
    subprocess.run(["setfacl", "-m", f"u:{case.user}:rwx", "-m", "m::rx", case.directory], check=True)


def below_closed(case):
    inner = folder(f"{case.directory}/inner", case.user)
    own(case.directory, "root", 0o700)
    return f"{inner}/{OUTPUT}"


def make_cases():
    folder(ROOT)
    folder(f"{ROOT}/eve", "eve", 0o777)
    folder(f"{ROOT}/eve/open", "eve", 0o777)
    folder(f"{ROOT}/victims", "friend", 0o777)
    file(f"{ROOT}/eve/file", "eve")
    file(f"{ROOT}/eve/big", "eve", text="x" * (2 << 20))
    os.mkfifo(f"{ROOT}/eve/fifo")
    own(f"{ROOT}/eve/fifo", "eve")
    targets = {
        "nothing": f"{ROOT}/eve/nothing",
        "none": f"{ROOT}/eve/none/x",
        "victims": f"{ROOT}/victims/x",
        "etcnone": "/etc/none/x",
        "passwd": "/etc/passwd",
        "etc": "/etc",
        "fifo": f"{ROOT}/eve/fifo",
        "file": f"{ROOT}/eve/file",
        "big": f"{ROOT}/eve/big",
        "open": f"{ROOT}/eve/open/x",
        "null": "/dev/null",
        "environ": "/proc/self/environ",
        "sticky": "/tmp",
        "key": KEY,
        "loop": "secret",
    }
    for writer in None, "app":
        tag = "as" if writer else "own"

        def case(name, make, tag=tag, writer=writer):
            Case(f"{tag}-{name}", writer, make)

        for name, target in targets.items():
            case(f"link-{name}", strangers_link(target))
        for name in "etcnone", "etc", "open", "nothing", "sticky":
            case(f"way-{name}", strangers_link(targets[name].removesuffix("/x"), at_end=False))
        case("rootlink", lambda c: link(f"{c.directory}/{OUTPUT}", "/etc/none/x", "root"))
        for owner, mode in [("root", 0o600), ("root", 0o644), ("eve", 0o644), ("friend", 0o600)]:
            for where in "writer", "root":
                case(f"file-{owner}-{mode:o}-{where}", foreign(owner, mode, where))
        for owner, mode, group in [
            ("root", 0o755, None),
            ("root", 0o700, None),
            ("root", 0o2775, "friend"),
            ("root", 0o777, None),
            ("root", 0o1777, None),
            ("eve", 0o755, None),
            ("eve", 0o1777, None),
            ("eve", 0o777, None),
            ("friend", 0o755, None),
            ("writer", 0o555, None),
            ("writer", 0o777, None),
            ("writer", 0o2755, "friend"),
        ]:
            case(f"in-{owner}-{mode:o}", in_directory(owner, mode, group))
            if mode not in (0o555,):
                for depth in 1, 2:
                    case(f"missing-{owner}-{mode:o}-{depth}", missing(owner, mode, depth, group))
        case("closed", below_closed)
        case("mask", masked)
        case("directory", of_kind("directory"))
        case("fifo", of_kind("fifo"))
        case("immutable", attribute("+i"))
        case("append", attribute("+a"))
        for group in "friend", "shadow", "root":
            case(f"group-{group}", of_group(group))
        case("tmpfs-ro", lambda c: mounted(c, "-t", "tmpfs", "-o", "ro", "tmpfs", content=False))
        case("bind-ro", lambda c: mounted(c, "-o", "bind,ro", c.directory))
        case("etc", lambda c: "/etc/" + c.name + ".env")
        case("etcnone", lambda c: "/etc/none-" + c.name + "/x.env")
        case("home", lambda c: "/root/" + c.name)
        case("run", lambda c: f"/run/none-{c.name}/x")
    # Names that a command line has to quote, or should not hold.
    folder(f"{ROOT}/a b; touch $(id)")
    Case("quoted", "app", lambda c: f"{ROOT}/a b; touch $(id)/new/{OUTPUT}")


def configure():
    lines = ["keys:", "  apple:", "    team_id: DEF123GHIJ", f"    file: {KEY}", "clients:"]
    for case in Case.all:
        owner = f", as: {case.writer}" if case.writer else ""
        lines.append(f"  {case.name}:")
        lines.append(f"    client_id: com.example.{case.name}")
        lines.append(f'    outputs: [{{path: {json.dumps(case.path)}, mode: "0600"{owner}}}]')
    with open(CONFIGURATION, "w") as handle:
        handle.write("\n".join(lines) + "\n")
    os.chmod(CONFIGURATION, 0o644)


# What systemd, the daemon and this test change by themselves.
APART = re.compile(
    r"^(/run/(systemd|clientsecretd|udev|log|dbus|user|credentials|lock)|/var/(lib/(clientsecretd|systemd|private|apt|dpkg)|"
    r"log|cache|tmp)|/etc/(mtab|machine-id|\.pwd))(/|$)|^/tmp/.*|^/etc/(passwd|group|shadow|gshadow)[-.].*"
)


def places():
    """Everything that a command could reach: whole trees, and of large ones the top."""
    for top in "/etc", "/srv", "/home", "/run", "/usr/local/bin":
        yield top
        for here, folders, files in os.walk(top):
            for name in folders + files:
                yield os.path.join(here, name)
    for top in "/", "/root", "/usr/local", "/var/lib", "/var", "/tmp":
        for name in os.listdir(top):
            yield os.path.join(top, name)
    yield "/dev/null"


def snapshot():
    """Owner, group, mode, kind, access list and, of small files, content."""
    found = {}
    for path in places():
        if APART.match(path):
            continue
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            continue
        kind = stat.S_IFMT(status.st_mode)
        content = ""
        if kind == stat.S_IFREG and status.st_size < 65536 and not path.startswith("/run/"):
            try:
                with open(path, "rb") as handle:
                    content = handle.read()
            except OSError:
                pass
        try:
            access = os.getxattr(path, "system.posix_acl_access", follow_symlinks=False)
        except OSError:
            access = b""
        found[path] = (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode), kind, access, content)
    return found


def compare(before, after, allowed=()):
    """What a command has changed of what was there, but for outputs, whose paths are in `allowed`."""
    wrong = []
    for path, was in before.items():
        if path in allowed or path.startswith(("/etc/systemd/system/clientsecretd", "/etc/tmpfiles.d/clientsecretd")):
            continue
        now = after.get(path)
        if now == was:
            continue
        if now is None:
            # Only a stranger's link goes away.
            if was[3] == stat.S_IFLNK and was[0] not in (0,):
                continue
            wrong.append(f"{path} is gone")
        else:
            wrong.append(f"{path}: {shown(was)} became {shown(now)}")
    for path, now in after.items():
        if path in before or path.startswith(("/etc/systemd", "/etc/tmpfiles.d")):
            continue
        if now[3] == stat.S_IFDIR and now[2] & 0o022 == 0:
            continue
        if path in allowed or os.path.basename(path) == OUTPUT:
            continue
        wrong.append(f"{path} is new: {shown(now)}")
    return wrong


def shown(found):
    return f"{found[0]}:{found[1]} {found[2]:o} kind {found[3]:o}"


def status():
    answer = sh("clientsecretd", "status", "--json")
    return json.loads(answer.stdout)


def failures(document):
    return {c["name"]: c["failure"] for c in document["clients"] if c.get("failure")}


def settled():
    """The failures once every output was tried again."""
    for _ in range(60):
        sh("clientsecretd", "renew", "--deliver-only", timeout=300)
        found = failures(status())
        if not {"not_responding", "not_published", "writer_silent"} & {failure["code"] for failure in found.values()}:
            break
        time.sleep(1)
    return found


FIXES = r"(?:mkdir|test|chmod|chown|chgrp|install|rm|mv|ln|find|runuser|chattr|setfacl|printf|systemctl|adduser|addgroup|usermod|sed -i|mount -|cp|tee|\(umask)"


def printed(text):
    """The commands at the ends of these lines, in the form in which messages end with one."""
    # What is in parentheses at the end only shows something; a command may be a subshell.
    looks = r" \((?!umask )[^()]*\)$"
    return [
        m.group(1)
        for line in text.splitlines()
        if (m := re.search(rf"[:;] ({FIXES} .*)$", line)) and not re.search(looks, line)
    ]


def harmless(command):
    """What no printed command has in it, whatever is found later."""
    if re.search(r"\b(adduser|usermod|addgroup|chown -R|chmod -R|rm -r)\b", command):
        return False
    return True


def type_all(commands, what, allowed=()):
    """Types these commands one after the other."""
    before = snapshot()
    for command in commands:
        if not harmless(command):
            fail(f"{what}: a command gives no more than it has to", command)
        done = sh("sh", "-c", command)
        if done.returncode:
            fail(f"{what}: the command can be typed", command, done.stdout, done.stderr)
    wrong = compare(before, snapshot(), allowed)
    promise(f"{what}: nothing is given away by {len(commands)} commands", not wrong, *wrong)


def outputs_are_tried():
    make_cases()
    configure()
    drop_in = folder("/etc/systemd/system/clientsecretd.service.d")
    file(drop_in + "/outputs.conf", text="[Service]\nReadWritePaths=-/srv\n")
    subprocess.run(["systemctl", "daemon-reload"], check=True)
    sh("systemctl", "enable", "--now", "clientsecretd-writer@app.socket")
    started = sh("systemctl", "start", "clientsecretd")
    promise("the daemon starts", started.returncode == 0, started.stderr)
    outputs = {case.path for case in Case.all}
    first = settled()
    promise("most cases fail", len(first) > len(Case.all) / 2, len(first), len(Case.all))
    links = {case.name: first.get(case.name, {}) for case in Case.all if "-link-" in case.name or "-way-" in case.name}
    odd = {name: failure.get("code") for name, failure in links.items() if failure.get("code") != "untrusted_link"}
    promise("behind a stranger's link every failure is the link's", not odd, odd)
    unhelped = [name for name, failure in links.items() if not (failure.get("command") or "").startswith("test -L ")]
    promise("and the fix removes it", not unhelped, unhelped)
    silent = {name: failure["message"] for name, failure in first.items() if not failure["remedy"]}
    promise("every failure says what to do", not silent, silent)
    # Twice: behind a fault there may be another.
    found = first
    for turn in "first", "second":
        commands = {name: failure["command"] for name, failure in found.items() if failure["command"]}
        for name, command in commands.items():
            print(f"# {turn} {name}: {command}")
        type_all(sorted(set(commands.values())), f"the {turn} commands of the status", outputs)
        again = settled()
        same = {
            name: (command, again[name]["message"])
            for name, command in commands.items()
            if name in again and again[name]["code"] == found[name]["code"] and again[name]["message"] == found[name]["message"]
        }
        promise(
            f"what the {turn} commands were printed for is gone",
            not same,
            *[f"{name}: {command}\n{message}" for name, (command, message) in same.items()],
        )
        found = again
    checked = sh("clientsecretd", "check")
    commands = printed(checked.stderr)
    for command in commands:
        print(f"# check: {command}")
    type_all(sorted(set(commands)), "the commands of check", outputs)
    for name, failure in sorted(found.items()):
        print(f"# left {name}: {failure['message']} | {failure['remedy']}")


def check(text, *flags):
    """What check says of a configuration, as the service's user judges its own."""
    with open(CONFIGURATION, "w") as handle:
        handle.write(text)
    os.chmod(CONFIGURATION, 0o644)
    return sh("clientsecretd", "check", *flags)


def guarded_files_are_tried():
    """Keys, hooks and drop-in files, each with one fault, by the status' words for them: check's."""
    for path, owner in (ROOT, "root"), (f"{ROOT}/eve", "eve"):
        folder(path, owner)
    place = "/etc/clientsecretd"
    hook = "/usr/local/bin/hook"

    def text(key=KEY, hook=None):
        action = f"    on_change: [{{exec: [{hook}]}}]\n" if hook else ""
        return (
            f"keys: {{apple: {{team_id: DEF123GHIJ, key_id: ABC123DEFG, file: {key}}}}}\nclients:\n  web:\n"
            f"    client_id: com.example.web\n    outputs: [{{path: /run/clientsecretd/out/web.jwt}}]\n{action}"
        )

    good = open(KEY).read()
    script = "#!/bin/sh\n"
    cases = []

    def add(name, make, may_change=None):
        cases.append((name, make, may_change))

    for owner, group, mode in [
        ("root", "root", 0o600),
        ("root", "root", 0o644),
        ("root", "clientsecretd", 0o644),
        ("root", "friend", 0o640),
        ("root", "clientsecretd", 0o660),
        ("clientsecretd", "clientsecretd", 0o666),
        ("clientsecretd", "friend", 0o640),
        ("eve", "eve", 0o600),
        ("eve", "eve", 0o644),
        ("root", "root", 0o000),
    ]:
        add(
            f"key {owner}:{group} {mode:o}",
            lambda o=owner, g=group, m=mode: text(file(f"{place}/k.p8", o, m, good, g)),
            f"{place}/k.p8",
        )
    add(
        "key with an access list",
        lambda: (
            text(file(f"{place}/k.p8", "root", 0o640, good, "clientsecretd")),
            subprocess.run(["setfacl", "-m", "u:eve:r,u:friend:r", f"{place}/k.p8"], check=True),
        )[0],
        f"{place}/k.p8",
    )
    add(
        "key read by an access list",
        lambda: (
            text(file(f"{place}/k.p8", "root", 0o644, good)),
            subprocess.run(["setfacl", "-m", "u:clientsecretd:r", f"{place}/k.p8"], check=True),
        )[0],
        f"{place}/k.p8",
    )

    def linked():
        folder(f"{place}/sticky", mode=0o1777)
        link(f"{place}/sticky/k.p8", "/etc/shadow", "eve")
        return text(f"{place}/sticky/k.p8")

    add("key by a stranger's link", linked)
    add("key in a stranger's directory", lambda: text(file(folder(f"{place}/theirs", "eve") + "/k.p8", "root", 0o600, good)))
    add(
        "key in root's open directory",
        lambda: text(file(folder(f"{place}/open", "root", 0o777) + "/k.p8", "root", 0o600, good)),
    )
    add(
        "key in root's closed directory",
        lambda: text(file(folder(f"{place}/closed", "root", 0o700) + "/k.p8", "root", 0o600, good)),
    )
    add("key is another file of root's", lambda: text("/etc/shadow"))
    add("key is root's private file", lambda: text(file(f"{place}/other.p8", "root", 0o600, "root's own\n")))
    for owner, mode in [
        ("root", 0o644),
        ("root", 0o640),
        ("root", 0o777),
        ("eve", 0o755),
        ("eve", 0o644),
        ("root", 0o600),
        ("clientsecretd", 0o664),
    ]:
        add(f"hook {owner} {mode:o}", lambda o=owner, m=mode: text(hook=file(hook, o, m, script)), hook)

    def hook_linked():
        folder("/usr/local/bin/sticky", mode=0o1777)
        link("/usr/local/bin/sticky/hook", "/bin/true", "eve")
        return text(hook="/usr/local/bin/sticky/hook")

    add("hook by a stranger's link", hook_linked)
    for owner, mode in [("root", 0o666), ("root", 0o620), ("eve", 0o644), ("eve", 0o666), ("root", 0o600), ("root", 0o000)]:

        def addition(o=owner, m=mode):
            file(
                folder(f"{place}/clientsecretd.d") + "/more.yaml",
                o,
                m,
                "clients: {more: {client_id: com.example.more, outputs: [{path: /run/clientsecretd/out/more.jwt}]}}\n",
            )
            return text()

        add(f"drop-in {owner} {mode:o}", addition, f"{place}/clientsecretd.d/more.yaml")

    def addition_linked():
        folder(f"{place}/clientsecretd.d", mode=0o1777)
        link(f"{place}/clientsecretd.d/more.yaml", "/etc/passwd", "eve")
        return text()

    add("drop-in by a stranger's link", addition_linked)
    for owner, mode in [("eve", 0o755), ("root", 0o777), ("root", 0o700)]:
        add(f"drop-ins in {owner} {mode:o}", lambda o=owner, m=mode: (folder(f"{place}/clientsecretd.d", o, m), text())[1])
    for what in "state_dir", "metrics_file":
        for value in "/etc", "/srv/m", "/srv/m/none", "/srv/m/eve/x", "/etc/none/x", "/root/x", "/run/none/x":
            add(f"{what} {value}", lambda w=what, v=value: text() + f"{w}: {v}{'/x.prom' if w == 'metrics_file' else ''}\n")
    for name, make, may_change in cases:
        written = make()
        answer = check(written)
        commands = printed(answer.stderr)
        # Without a command nothing changes, and to see that takes most of the time.
        before = snapshot() if commands else {}
        for command in commands:
            print(f"# {name}: {command}")
            done = sh("sh", "-c", command)
            if done.returncode:
                fail(f"{name}: the command can be typed", command, done.stderr)
        after = snapshot() if commands else {}
        changed = compare(before, after, {may_change, CONFIGURATION})
        promise(f"{name}: {len(commands)} commands give nothing away", not changed, *changed, answer.stderr)
        if may_change and may_change in before and may_change in after:
            was, now = before[may_change], after[may_change]
            if ".p8" in may_change:
                # The service's group alone may have come in.
                group = grp.getgrnam("clientsecretd").gr_gid
                wider = (
                    now[2] & 0o007 & ~was[2]
                    or (now[2] & 0o040 and now[1] not in (was[1], group))
                    or now[2] & 0o070 & ~was[2]
                    and now[1] != group
                )
                promise(f"{name}: nobody else can read the key", not wider and now[0] == was[0], shown(was), shown(now))
            else:
                promise(
                    f"{name}: it stays whose it was",
                    now[:2] == was[:2] and not now[2] & 0o022 & ~was[2],
                    shown(was),
                    shown(now),
                )
        if commands:
            left = set(answer.stderr.splitlines()) & set(check(written).stderr.splitlines())
            left = [line for line in left if any(command in line for command in commands)]
            promise(f"{name}: what they were printed for is gone", not left, *left)
        for extra in "k.p8", "other.p8":
            if os.path.lexists(f"{place}/{extra}"):
                os.remove(f"{place}/{extra}")
        for extra in "sticky", "theirs", "open", "closed", "clientsecretd.d":
            shutil.rmtree(f"{place}/{extra}", ignore_errors=True)
        shutil.rmtree("/usr/local/bin/sticky", ignore_errors=True)
        if os.path.lexists(hook):
            os.remove(hook)
        for extra in "/srv/m/none", "/etc/none", "/run/none":
            shutil.rmtree(extra, ignore_errors=True)


def readers_are_tried():
    """Whoever asks with a key or a file of root's for a configuration is told no command that opens it."""
    for path in KEY, "/etc/shadow", "/root/x.yaml", "/etc/clientsecretd/closed.yaml":
        if not os.path.exists(path):
            file(path, mode=0o600, text="x: 1\n")
        before = snapshot()
        for user in "root", "nobody":
            answer = sh("runuser", "-u", user, "--", "/usr/local/bin/clientsecretd", "check", "--config", path)
            for command in printed(answer.stderr):
                sh("sh", "-c", command)
        wrong = compare(before, snapshot())
        promise(f"check --config {path} opens nothing", not wrong, *wrong)


if sys.argv[1] == "outputs":
    outputs_are_tried()
else:
    readers_are_tried()
    guarded_files_are_tried()
print("finished")
