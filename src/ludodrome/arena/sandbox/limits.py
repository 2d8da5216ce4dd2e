"""The resource limits of a bot: memory, processor time, threads, open files. It can write no files.

They are the kernel's rlimits, set inside the sandbox after the change of uid: root is exempt from the limit on
processes.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """The limits of one bot process."""

    memory: int = 256 * 1024 * 1024
    """Bytes of address space. The limit holds for each process, and a bot has only one."""
    cpu_seconds: int = 300
    """Processor time of all threads together. Deadlines stop a slow bot; this stops one that is not asked."""
    threads: int = 8
    open_files: int = 32

    def values(self) -> dict[str, int]:
        """The limits by their names in the ``resource`` module, without RLIMIT_."""
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
        """A command prefix that sets the limits."""
        return [prlimit, *(f"--{name.lower()}={value}" for name, value in self.values().items()), "--"]
