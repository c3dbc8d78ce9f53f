"""What a machine is like, as far as a command could change it; and commands that would."""

from __future__ import annotations

import hashlib
import os
import pwd
import subprocess
from collections.abc import Sequence
from pathlib import Path

SETTINGS = ("kernel/hostname", "kernel/domainname", "kernel/core_pattern", "vm/swappiness", "net/ipv4/ip_forward")
LISTED = (
    *("/etc", "/etc/cron.d", "/etc/systemd/system", "/etc/alternatives", "/etc/ssl/certs", "/mnt", "/sys/class/net"),
    *("/var/spool/cron", "/var/spool/cron/crontabs", "/var/spool/at", "/etc/ld.so.conf.d", "/sys/fs/cgroup"),
)
FILES = (
    "/etc/passwd",
    "/etc/group",
    "/etc/shadow",
    "/etc/hosts",
    "/etc/hostname",
    "/etc/localtime",
    "/etc/ld.so.cache",
)

# `{out}` is a folder outside, `{pid}` a process outside, `{shm}` a piece of shared memory, `{tty}` a terminal outside.
COMMANDS = (
    "systemctl stop cron",
    "systemctl --user daemon-reload",
    "service cron stop",
    "hostnamectl set-hostname remit-x",
    "timedatectl set-timezone Asia/Tokyo",
    "loginctl terminate-user root",
    "hostname remit-x",
    "sysctl -w kernel.hostname=remit-x",
    "echo remit-x > /proc/sys/kernel/hostname",
    "sysctl -w vm.swappiness=11",
    "sysctl -w net.ipv4.ip_forward=1",
    "echo '|/bin/true' > /proc/sys/kernel/core_pattern",
    "echo h > /proc/sysrq-trigger",
    "echo 1 > /sys/kernel/mm/ksm/run",
    "mkdir /sys/fs/cgroup/remit-x",
    "useradd remit-x",
    "usermod -c x root",
    "groupadd remit-x",
    "chsh -s /bin/sh root",
    "echo root:x | chpasswd",
    "passwd -l nobody",
    "chown 1:1 {out}/file",
    "chmod 777 {out}/file",
    "chown 1:1 /etc/hosts",
    "chattr +i {out}/file",
    "setcap cap_net_raw+ep {out}/file",
    "touch {out}/new",
    "mount -t tmpfs none /mnt",
    "mount --bind /usr /mnt",
    "mount -o remount,rw /usr",
    "umount -l /usr",
    "umount /proc",
    "swapon /etc/hostname",
    "swapoff /etc/hostname",
    'date -s "$(date)"',
    "hwclock --systohc",
    "python3 -c 'import time; time.clock_settime(time.CLOCK_REALTIME, time.time())'",
    "python3 -c 'import ctypes,sys; sys.exit(-ctypes.CDLL(None).reboot(0))'",
    "python3 -c 'import ctypes,sys; sys.exit(-ctypes.CDLL(None).syscall(103, 5, 0, 0))'",
    "dmesg --console-off",
    "modprobe dummy",
    "python3 -c 'import os; os.mknod(\"src/null\", 0o20666, os.makedev(1, 3))'",
    "crontab - <<< '* * * * * true'",
    "echo '* * * * * root true' > /etc/cron.d/remit-x",
    "at now <<< true",
    "echo hello > {tty}",
    "kill -9 {pid}",
    "kill -STOP {pid}",
    "renice -n 19 -p {pid}",
    "ionice -c 3 -p {pid}",
    "taskset -p 1 {pid}",
    "prlimit --pid {pid} --nofile=10:10",
    "echo 1000 > /proc/{pid}/oom_score_adj",
    "nsenter -t {pid} -m true",
    "nsenter -t 1 -n true",
    "chroot / true",
    "ipcrm -m {shm}",
    "ip link add remit0 type dummy",
    "ip link set lo down",
    "ip addr add 10.9.9.9/32 dev lo",
    "ip route add 10.9.9.0/24 dev lo",
    "ip netns add remit-x",
    "ifconfig lo mtu 1000",
    "tc qdisc add dev lo root netem delay 1ms",
    "iptables -N REMIT",
    "losetup -f {out}/file",
    "mkswap /dev/sda",
    "blockdev --setro /dev/sda",
    "dpkg --add-architecture arm64",
    "update-alternatives --install /usr/bin/remit-x remit-x /bin/true 1",
    "ldconfig",
    "update-ca-certificates",
    "docker run --rm -v /:/host alpine true",
    "unshare -rn true",
    "unshare -m true",
)


def snapshot(folder: Path, pid: int) -> dict[str, object]:
    """All of it that an effect of `COMMANDS` would show in; `folder` lies outside, `pid` is a process there."""
    found: dict[str, object] = {"mounts": len(Path("/proc/self/mountinfo").read_bytes().splitlines())}
    for name in SETTINGS:
        found[name] = Path("/proc/sys", name).read_text()
    for path in LISTED:
        found[path] = sorted(os.listdir(path)) if os.path.isdir(path) else None
    for path in FILES:
        if os.access(path, os.R_OK):
            status = os.stat(path)
            found[path] = (status.st_mode, status.st_uid, hashlib.sha256(Path(path).read_bytes()).hexdigest())
    for one in (folder, *sorted(folder.iterdir())):
        status = os.stat(one)
        found[str(one)] = (status.st_mode, status.st_uid, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    for path in ("/proc/swaps", "/proc/modules", "/proc/net/route"):
        found[path] = (
            [line.split()[0] for line in Path(path).read_text().splitlines()] if os.path.exists(path) else None
        )
    found["users"] = len(pwd.getpwall())
    found["process"] = (
        Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "TtZX",
        os.getpriority(os.PRIO_PROCESS, pid),
        sorted(os.sched_getaffinity(pid)),
        Path(f"/proc/{pid}/limits").read_text(),
        Path(f"/proc/{pid}/oom_score_adj").read_text(),
    )
    return found


def installed(commands: Sequence[str]) -> int:
    """How many begin with a program that is here."""
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    script = "type -t " + " ".join(sorted({text.split()[0] for text in commands}))
    return len(
        subprocess.run(["bash", "-c", script], env={"PATH": path}, capture_output=True, check=False).stdout.split()
    )
