"""What one bot may use at most: memory, processor time, threads, open files. No files are written at all.

The limits are the kernel's rlimits. They are set inside the sandbox, after the change of uid: those on processes mean
nothing to root.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """The limits of one bot, for as long as it lives."""

    memory: int = 256 * 1024 * 1024
    """Bytes of address space. The limit is one of each process, so it counts on there being only one."""
    cpu_seconds: int = 300
    """Of processor time, all threads together. Deadlines end a slow bot sooner; this ends one that nobody asks."""
    threads: int = 8
    open_files: int = 32

    def values(self) -> dict[str, int]:
        """Limits by their names in the ``resource`` module, without RLIMIT_."""
        return {
            "NPROC": self.threads,
            "AS": self.memory,
            "CPU": self.cpu_seconds,
            "NOFILE": self.open_files,
            "FSIZE": 0,
            "CORE": 0,
            "MEMLOCK": 0,
            "MSGQUEUE": 0,
        }

    def command(self, prlimit: str) -> list[str]:
        """The same as a command in front of another."""
        return [prlimit, *(f"--{name.lower()}={value}" for name, value in self.values().items()), "--"]
