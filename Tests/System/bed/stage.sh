#!/bin/bash
# The first process of the bed's namespaces: builds the root file system in $BED and becomes systemd. See run.sh.
set -eu

root=$BED/root
# As systemd has it. What of a developer's own comes before that, such as a wrapper of python3, costs more than the programs.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mkdir "$root" "$BED/layers"
mount -t tmpfs -o size=2g,mode=755 bed "$BED/layers"
mkdir "$BED/layers/upper" "$BED/layers/work"
mount -t overlay overlay -o "lowerdir=$BED_ROOT,upperdir=$BED/layers/upper,workdir=$BED/layers/work" "$root"

mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount -t sysfs -o ro,nosuid,nodev,noexec sysfs "$root/sys"
mount -t cgroup2 -o nosuid,nodev,noexec cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755,nosuid,strictatime tmpfs "$root/dev"
mount -t tmpfs -o mode=755,nosuid,nodev tmpfs "$root/run"
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$root/tmp"
for device in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0; do
    IFS=: read -r name major minor <<<"$device"
    mknod -m 666 "$root/dev/$name" c "$major" "$minor"
done
[ ! -c /dev/fuse ] || mknod -m 666 "$root/dev/fuse" c 10 229
mkdir "$root/dev/pts" "$root/dev/shm" "$root/dev/mqueue"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5,nosuid,noexec devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
ln -s fd/0 "$root/dev/stdin"
ln -s fd/1 "$root/dev/stdout"
ln -s fd/2 "$root/dev/stderr"

mkdir "$root/run/bed"
mount --bind "$BED/share" "$root/run/bed"
for pair in ${BED_SHARED-}; do
    mkdir -p "$root${pair#*:}"
    mount --bind "${pair%%:*}" "$root${pair#*:}"
done

# No unit that the machine's administrator enabled, and none that looks for hardware or works on a timetable.
rm -rf "$root/etc/systemd/system"
mkdir -p "$root/etc/systemd/system" "$root/etc/systemd/system.conf.d" "$root/etc/systemd/journald.conf.d"
cd "$root/etc/systemd/system"
for unit in systemd-udevd.service systemd-udevd-kernel.socket systemd-udevd-control.socket systemd-udev-trigger.service \
    systemd-modules-load.service systemd-sysctl.service systemd-binfmt.service systemd-random-seed.service \
    systemd-hwdb-update.service systemd-pstore.service systemd-boot-system-token.service ldconfig.service \
    systemd-timesyncd.service systemd-networkd.service systemd-resolved.service systemd-logind.service \
    systemd-update-utmp.service systemd-update-utmp-runlevel.service systemd-update-done.service \
    systemd-journal-flush.service systemd-journal-catalog-update.service systemd-journald-audit.socket \
    systemd-tmpfiles-clean.timer timers.target getty.target console-getty.service systemd-remount-fs.service \
    dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount \
    sys-fs-fuse-connections.mount proc-sys-fs-binfmt_misc.automount proc-sys-fs-binfmt_misc.mount; do
    ln -s /dev/null "$unit"
done
: >"$root/etc/fstab"
rm -f "$root/etc/machine-id"
echo 0123456789abcdef0123456789abcdef >"$root/etc/machine-id"
echo bed >"$root/etc/hostname"
cat >"$root/etc/systemd/system.conf.d/bed.conf" <<END
[Manager]
DefaultTimeoutStartSec=20s
DefaultTimeoutStopSec=10s
DefaultEnvironment=PATH=$PATH
END
cat >"$root/etc/systemd/journald.conf.d/bed.conf" <<END
[Journal]
Storage=volatile
RateLimitIntervalSec=0
SystemMaxUse=64M
END
cat >bed.target <<END
[Unit]
Requires=basic.target
Wants=dbus.socket bed-script.service
After=basic.target
AllowIsolate=yes
END
cat >bed-script.service <<END
[Unit]
After=basic.target dbus.socket
SuccessAction=exit-force
FailureAction=exit-force
[Service]
Type=exec
TimeoutStartSec=infinity
WorkingDirectory=/run/bed
StandardOutput=append:/run/bed/output
StandardError=append:/run/bed/output
ExecStart=/bin/bash /run/bed/wrapper
END
cat >"$root/run/bed/wrapper" <<'END'
mapfile -d '' -t arguments </run/bed/arguments
systemctl is-system-running --wait >/dev/null
./script "${arguments[@]}"
status=$?
echo $status >/run/bed/status
exit $status
END

# There may be no ip(8); what needs loopback then fails by itself and says so.
! command -v ip >/dev/null || ip link set lo up

cd "$root"
mkdir -p run/outside
pivot_root . run/outside
umount -l /run/outside
rmdir /run/outside
# systemd leaves this to whoever made the container; without it the directories of LoadCredential= come up empty.
mount --make-rshared /
exec env -i container=bed PATH="$PATH" TERM=dumb \
    /lib/systemd/systemd --system --unit=bed.target --log-target=journal --show-status=0
