"""Attacks that read files and other processes, and attacks over the network."""

import ctypes
import os
import socket
import stat
from typing import Any

from ludodrome.arena.sandbox.attacks.runner import Given, call, refusals

SECONDS = 2.0


def _connected(family: int, kind: int, address: Any) -> str:
    with socket.socket(family, kind) as made:
        made.settimeout(SECONDS)
        made.connect(address)
        return "connected"


def tcp(given: Given) -> str | None:
    """Connects to a server on this machine."""
    return refusals(
        {
            "loopback": lambda: _connected(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", given["tcp"])),
            "loopback of version 6": lambda: _connected(socket.AF_INET6, socket.SOCK_STREAM, ("::1", given["tcp"])),
        }
    )


def tcp_listening(given: Given) -> str | None:
    """Opens a port and waits for others."""

    def listen() -> int:
        with socket.socket() as made:
            made.bind(("127.0.0.1", 0))
            made.listen()
            return int(made.getsockname()[1])

    return refusals({"listen": listen})


def udp(given: Given) -> str | None:
    """Sends a packet, as a query of names would."""

    def send() -> int:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
            return made.sendto(b"x", ("127.0.0.1", given["udp"]))

    return refusals({"send": send, "look up": lambda: socket.getaddrinfo("localhost", 80)})


def unix_by_path(given: Given) -> str | None:
    """Connects to a socket in the tree of files, as that of a database or of Docker."""
    return refusals({"connect": lambda: _connected(socket.AF_UNIX, socket.SOCK_STREAM, given["unix"])})


def unix_by_name(given: Given) -> str | None:
    """Connects to a socket that has a name and no file."""
    name = "\0" + given["abstract"]
    return refusals({"connect": lambda: _connected(socket.AF_UNIX, socket.SOCK_STREAM, name)})


def pairs(given: Given) -> str | None:
    """Makes a pair of sockets."""

    def pair() -> str:
        one, other = socket.socketpair()
        one.close()
        other.close()
        return "made"

    return refusals({"pair": pair})


def raw(given: Given) -> str | None:
    """Opens raw, packet, netlink, vsock and crypto sockets."""
    families = {
        "raw": (2, 3, 1),
        "packet": (17, 3, 3),
        "netlink": (16, 3, 0),
        "vsock": (40, 1, 0),
        "crypto": (38, 5, 0),
    }

    def make(family: int, kind: int, protocol: int) -> str:
        socket.socket(family, kind, protocol).close()
        return "made"

    return refusals({name: lambda numbers=numbers: make(*numbers) for name, numbers in families.items()})


def io_uring(given: Given) -> str | None:
    """Sets up io_uring, which would do everything past the filter."""
    parameters = ctypes.create_string_buffer(120)

    def setup() -> str:
        os.close(call(425, 1, parameters))
        return "made"

    return refusals({"setup": setup})


# Reading


def _open(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(200)


def database(given: Given) -> str | None:
    """Reads the server's database by its path."""
    return refusals({"open": lambda: _open(given["database"])})


def database_by_detours(given: Given) -> str | None:
    """Reads it along .. and along a link of its own, and by the descriptor of its folder."""
    path = given["database"]
    upwards = "/".join([".."] * 40) + path

    def link() -> bytes:
        os.symlink(path, "link")
        return _open("link")

    def folder() -> bytes:
        opened = os.open(os.path.dirname(path), os.O_RDONLY)
        return os.read(os.open(os.path.basename(path), os.O_RDONLY, dir_fd=opened), 200)

    def hard() -> bytes:
        os.link(path, "hard")
        return _open("hard")

    return refusals({"parents": lambda: _open(upwards), "link": link, "folder": folder, "hard link": hard})


def settings(given: Given) -> str | None:
    """Reads /etc: accounts, passwords, names of hosts."""
    return refusals(
        {name: lambda name=name: _open(f"/etc/{name}") for name in ("passwd", "group", "shadow", "hosts", "machine-id")}
    )


def homes(given: Given) -> str | None:
    """Lists the folders of people and of the machine."""
    wanted = ("/root", "/home", "/var", "/tmp", "/etc", "/srv", "/opt", "/run", "/boot", "/sys", "/usr/local", "/mnt")
    known = {"ld.so.cache", "alternatives"}  # what the loader of the interpreter needs of /etc
    return refusals({path: lambda path=path: sorted(set(os.listdir(path)) - known) or False for path in wanted})


def files(given: Given) -> str | None:
    """Counts the files that it can list, which describe the machine: its packages, its libraries, its users."""
    roots = ["/usr", "/etc", "/opt", "/bin", os.path.dirname(os.__file__)]
    roots += [f"/usr/{name}" for name in ("lib", "lib64", "bin", "share", "include", "local")]
    seen = {os.path.join(top, name) for root in roots for top, _, names in os.walk(root) for name in names}
    return f"{len(seen)} files" if len(seen) > given["files"] else None


def environment(given: Given) -> str | None:
    """Looks for more in its environment than it was given."""
    known = {"PATH", "LANG", "OPENBLAS_NUM_THREADS", "MALLOC_ARENA_MAX", "PWD", "LC_CTYPE"}
    return ", ".join(sorted(set(os.environ) - known)) or None


def environment_of_others(given: Given) -> str | None:
    """Reads environments in /proc: the server's, the first process's, its own."""
    wanted = ("1", "self", str(os.getppid()), str(given["server"]), *map(str, range(2, 8)))
    return refusals({process: lambda process=process: _open(f"/proc/{process}/environ") for process in wanted})


def command_lines(given: Given) -> str | None:
    """Reads command lines in /proc, and with them the paths of the machine."""
    wanted = ("1", str(os.getppid()), str(given["server"]), *map(str, range(2, 8)))
    return refusals({process: lambda process=process: _open(f"/proc/{process}/cmdline") for process in wanted})


def processes(given: Given) -> str | None:
    """Lists processes, mounts and memory in /proc."""
    files = ("/proc/mounts", "/proc/self/maps", f"/proc/{given['server']}/maps", "/proc/self/root/etc/passwd")
    return refusals(
        {"list": lambda: len(os.listdir("/proc")), **{path: lambda path=path: _open(path) for path in files}}
    )


def descriptors(given: Given) -> str | None:
    """Looks for descriptors beside the three that it was given."""
    found = []
    for number in range(3, 64):
        try:
            kind = stat.S_IFMT(os.fstat(number).st_mode)
        except OSError:
            continue
        found.append(f"{number}: {kind:o}")
    return ", ".join(found) or None


def other_bots(given: Given) -> str | None:
    """Reads another bot's source, and lists where bots are."""
    other = given["other"]
    return refusals(
        {"source": lambda: _open(other), "list": lambda: os.listdir(os.path.dirname(os.path.dirname(other)))}
    )


def devices(given: Given) -> str | None:
    """Opens devices: memory, disks, the terminal, the kernel's log, pseudo-terminals."""
    names = ("mem", "kmem", "kmsg", "vda", "sda", "tty", "console", "ptmx", "fuse", "kvm", "net/tun", "shm", "mqueue")
    return refusals({name: lambda name=name: os.open(f"/dev/{name}", os.O_RDONLY) for name in names})


def kernel_settings(given: Given) -> str | None:
    """Reads and writes the kernel's settings."""
    core = "/proc/sys/kernel/core_pattern"
    return refusals(
        {
            "read": lambda: _open(core),
            "write": lambda: os.open(core, os.O_WRONLY),
            "host name": lambda: _open("/proc/sys/kernel/hostname"),
            "cgroups": lambda: os.listdir("/sys/fs/cgroup"),
        }
    )
