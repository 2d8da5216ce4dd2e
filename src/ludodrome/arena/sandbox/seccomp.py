"""The seccomp filter: the system calls that a stranger's bot can make, as a BPF program.

It is an allow-list. Other calls fail with EPERM, so that a Python bot gets a PermissionError and its author sees why.
No sockets, no fork, no anonymous files, no io_uring, no keys, no tracing; ``clone`` for threads only. ``bubblewrap.py``
and ``landlock_launcher.py`` install it.
"""

import errno
import platform
import struct

MACHINE = "x86_64"
"""The call numbers below are for this architecture."""

# arch/x86/entry/syscalls/syscall_64.tbl
_ALLOWED = """
read=0 write=1 close=3 stat=4 fstat=5 lstat=6 poll=7 lseek=8 mmap=9 mprotect=10 munmap=11 brk=12 rt_sigaction=13
rt_sigprocmask=14 rt_sigreturn=15 pread64=17 pwrite64=18 readv=19 writev=20 access=21 pipe=22 select=23 sched_yield=24
mremap=25 madvise=28 dup=32 dup2=33 pause=34 nanosleep=35 getitimer=36 alarm=37 setitimer=38 getpid=39 execve=59
exit=60 wait4=61 uname=63 getcwd=79 chdir=80 fchdir=81 readlink=89 umask=95 gettimeofday=96 getrlimit=97 getrusage=98
sysinfo=99 times=100 getuid=102 getgid=104 geteuid=107 getegid=108 getppid=110 getpgrp=111 getgroups=115 getresuid=118
getresgid=120 getpgid=121 getsid=124 capget=125 rt_sigpending=127 rt_sigtimedwait=128 rt_sigsuspend=130 sigaltstack=131
getpriority=140 sched_getparam=143 sched_getscheduler=145 sched_get_priority_max=146 sched_get_priority_min=147
arch_prctl=158 gettid=186 time=201 futex=202 sched_getaffinity=204 getdents64=217 set_tid_address=218
restart_syscall=219 fadvise64=221 clock_gettime=228 clock_getres=229 clock_nanosleep=230 exit_group=231 epoll_wait=232
epoll_ctl=233 tgkill=234 waitid=247 openat=257 newfstatat=262 readlinkat=267 faccessat=269 pselect6=270 ppoll=271
set_robust_list=273 epoll_pwait=281 eventfd2=290 epoll_create1=291 dup3=292 pipe2=293 getcpu=309 getrandom=318
membarrier=324 statx=332 rseq=334 faccessat2=439
"""
ALLOWED = {name: int(number) for name, number in (pair.split("=") for pair in _ALLOWED.split())}
"""System calls that are always allowed."""

_THREADS = (0x3D0F00, 0x7D0F00)
"""The flags with which glibc and musl create a thread, and only a thread."""
_DESCRIPTOR_COMMANDS = (0, 1, 2, 3, 4, 1030)
"""F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC; not F_SETPIPE_SZ, which takes the kernel's memory."""
_DEVICE_COMMANDS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""TCGETS and TIOCGWINSZ (is it a terminal?), FIONREAD, FIONBIO, FIONCLEX, FIOCLEX; not TIOCSTI."""
_PROCESS_COMMANDS = (15, 16, 0x53564D41)
"""PR_SET_NAME, PR_GET_NAME, PR_SET_VMA: names of threads and of memory."""

CONDITIONAL = {
    "clone": (56, 0, _THREADS),
    "fcntl": (72, 1, _DESCRIPTOR_COMMANDS),
    "ioctl": (16, 1, _DEVICE_COMMANDS),
    "prctl": (157, 0, _PROCESS_COMMANDS),
    "prlimit64": (302, 0, (0,)),
}
"""System calls that are allowed for certain values of one argument: call number, argument index, values.

The kernel reads each of these arguments as 32 bits, and so does the filter. ``prlimit64``: one's own limits only."""
CLONE3 = 435
"""Its flags are in memory, which no filter can read. It fails with ENOSYS, and glibc falls back to ``clone``."""

# linux/filter.h, linux/seccomp.h, linux/audit.h
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_X86_64 = 0xC000003E
_X32 = 0x40000000
"""Numbers from here on are x32 calls."""


def here() -> bool:
    """Whether the filter fits this machine's architecture."""
    return platform.machine() == MACHINE


def program() -> bytes:
    """The filter as an array of ``struct sock_filter``. Calls of another architecture kill the process."""
    lines = [
        *_if_equal(_ARCHITECTURE_AT, _X86_64, 1, 0),
        _line(_RETURN, 0, 0, _KILL),
        _line(_LOAD, 0, 0, _NUMBER_AT),
        _line(_AT_LEAST, 0, 1, _X32),
        _line(_RETURN, 0, 0, _KILL),
    ]
    for number in ALLOWED.values():
        lines += [_line(_EQUAL, 0, 1, number), _line(_RETURN, 0, 0, _ALLOW)]
    for number, argument, values in CONDITIONAL.values():
        lines += _conditional(number, argument, values)
    lines += [_line(_EQUAL, 0, 1, CLONE3), _line(_RETURN, 0, 0, _ERROR | errno.ENOSYS)]
    lines.append(_line(_RETURN, 0, 0, _ERROR | errno.EPERM))
    return b"".join(lines)


def _conditional(number: int, argument: int, values: tuple[int, ...]) -> list[bytes]:
    """For this call: allow if the argument is one of the values, else refuse. Other calls continue below."""
    inner = [_line(_LOAD, 0, 0, _ARGUMENTS_AT + 8 * argument)]
    for value in values:
        inner += [_line(_EQUAL, 0, 1, value), _line(_RETURN, 0, 0, _ALLOW)]
    inner.append(_line(_RETURN, 0, 0, _ERROR | errno.EPERM))
    return [_line(_EQUAL, 0, len(inner), number), *inner]


def _if_equal(where: int, value: int, then: int, otherwise: int) -> list[bytes]:
    return [_line(_LOAD, 0, 0, where), _line(_EQUAL, then, otherwise, value)]


def _line(code: int, then: int, otherwise: int, value: int) -> bytes:
    """One instruction; ``then`` and ``otherwise`` are the numbers of instructions to skip."""
    return struct.pack("<HBBI", code, then, otherwise, value)
