#!/bin/bash
# What a hook leaves behind in the full sandbox, whatever it does to hide it: nothing at its timeout, at a stop, or after
# a kill of the daemon alone.
# shellcheck source=prelude.sh
source /src/Tests/System/bed/prelude.sh

set_up

# A descendant that shed its session, its limits, its name and its parents, cannot be looked at and is deaf to SIGTERM;
# and the program that started it, which never ends.
cat >/usr/local/bin/straying <<'END'
#!/usr/bin/python3
import ctypes, os, resource, signal, time
prctl = ctypes.CDLL(None).prctl
def hide(): assert prctl(4, 0, 0, 0, 0) == 0 and prctl(15, b"sshd") == 0
def stray():
    if os.fork():
        os._exit(0)
    os.setsid()
    hide()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    for limit in range(16):
        try:
            soft = resource.getrlimit(limit)[0]
            resource.setrlimit(limit, (soft, soft if soft != resource.RLIM_INFINITY else 1 << 40))
        except (ValueError, OSError):
            pass
    # 15: RLIMIT_RTTIME, which no unprivileged process can raise again.
    resource.setrlimit(15, (1 << 20, 1 << 20))
    stray()
    stray()
    time.sleep(600)
else:
    hide()
    time.sleep(600)
END
chmod 0755 /usr/local/bin/straying

# strays: everything that runs as the daemon's user and is not the daemon, nor a supervisor.
strays() {
    local process
    for process in $(pgrep -u clientsecretd); do
        [ "$(tr '\0' ' ' <"/proc/$process/cmdline" 2>/dev/null | grep -c '^/usr/bin/python3')" = 0 ] || echo "$process"
    done
}
both_run() { [ "$(strays | wc -l)" = 2 ]; }
none_runs() { [ -z "$(strays)" ]; }
timed_out() { clientsecretd status 2>&1 | grep -q "straying: took longer than its timeout and was ended"; }

configure_web "    on_change:
      - {exec: [/usr/local/bin/straying], timeout: 5s}"
promise "it starts, with a hook that does not end" systemctl start clientsecretd.service
eventually "both of the hook's processes run" both_run
eventually "neither outlives the timeout" none_runs
eventually "the service says what happened" timed_out
equal "and goes on" active "$(property ActiveState)"

configure_web "    on_change:
      - {exec: [/usr/local/bin/straying], timeout: 10m}"
promise "a longer timeout is adopted" eval 'systemctl reload clientsecretd.service; systemctl is-active clientsecretd.service'
clientsecretd renew web >/dev/null 2>&1 &
eventually "both run again" both_run
supervisor=$(pgrep -u clientsecretd -f '^clientsecretd-supervisor')
promise "one supervisor runs" test "$(wc -w <<<"$supervisor")" = 1
for signal in TERM HUP INT QUIT USR1 ALRM; do kill -s $signal "$supervisor"; done
promise "which no signal but KILL ends" both_run

# The daemon is killed, and its service is not cleared away: whoever is left has only the supervisor.
mkdir -p /run/systemd/system/clientsecretd.service.d
printf '[Service]\nKillMode=process\nRestart=no\n' >/run/systemd/system/clientsecretd.service.d/kill.conf
systemctl daemon-reload
kill -KILL "$(property MainPID)"
eventually "nothing outlives a daemon that is killed" none_runs
none_supervises() { ! pgrep -u clientsecretd -f '^clientsecretd-supervisor' >/dev/null; }
eventually "nor does the supervisor" none_supervises

promise "it starts again" systemctl start clientsecretd.service
eventually "and the hook with it" both_run
promise "it stops" systemctl stop clientsecretd.service
promise "and nothing is left, though systemd kills nobody" none_runs

# What a hook leaves running that has ended by itself goes on as long as the daemon.
printf '#!/bin/sh\n/usr/local/bin/straying &\n' >/usr/local/bin/leaving
chmod 0755 /usr/local/bin/leaving
some_run() { [ -n "$(strays)" ]; }
configure_web "    on_change:
      - exec: [/usr/local/bin/leaving]"
stop() { systemctl stop clientsecretd.service; }
kill_it() { kill -KILL "$(property MainPID)"; }
for end in stop kill_it; do
    promise "the daemon runs" systemctl restart clientsecretd.service
    promise "a hook that ends is done" clientsecretd renew web
    eventually "what it left runs" some_run
    $end
    eventually "and not after the daemon ($end)" none_runs
done
finish
