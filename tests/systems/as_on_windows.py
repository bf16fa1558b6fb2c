"""Hides what Windows lacks from the code of this project, once this file is imported.

Libraries have other code there, and keep that of this system here. What this project imports as
`os` and `signal` says that this is Windows, and refuses what interrupts a process there.
"""

import builtins
import os
import signal
import subprocess
import types

MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "readline")
OF_OS = (
    *("fork", "forkpty", "getuid", "getgid", "geteuid", "pread", "pwrite", "sync", "mkfifo"),
    *("setsid", "killpg", "getpgid", "nice", "uname", "sysconf", "statvfs", "fchmod", "chown"),
    *("wait3", "wait4", "waitid", "getloadavg", "sched_getaffinity", "getpriority", "ttyname"),
    *("getpgrp", "setpgid", "getsid", "setuid", "setgid", "lchown", "chroot", "mknod", "ctermid"),
    *("posix_spawn", "posix_spawnp", "register_at_fork", "readv", "writev", "sendfile"),
    *("memfd_create", "eventfd", "sched_setaffinity", "sched_yield", "setpriority", "fchown"),
)
OF_SIGNAL = (
    *("SIGALRM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGPIPE", "SIGQUIT", "SIGKILL"),
    *("setitimer", "getitimer", "alarm", "ITIMER_REAL", "pthread_sigmask", "pthread_kill"),
    *("sigwait", "siginterrupt", "pause"),
)
REFUSED = ("pass_fds", "preexec_fn", "start_new_session")
"""Settings of a process that subprocess refuses there."""


OF_THIS_PROJECT = ("analysis", "pages", "precompute")


def _without(module: types.ModuleType, lacking: tuple[str, ...], **own: object) -> types.ModuleType:
    """Return a copy of a module without some names, each of which it has."""
    changed = types.ModuleType(module.__name__)
    vars(changed).update(vars(module) | own)
    for name in lacking:
        delattr(changed, name)
    return changed


def _kill(process: int, number: int, real=os.kill) -> None:
    assert number not in (0, 1), "this interrupts the process"
    real(process, number)


def _import(name, globals=None, *given, real=builtins.__import__, **named):
    importer = ((globals or {}).get("__package__") or "").partition(".")[0]
    if importer not in OF_THIS_PROJECT:
        return real(name, globals, *given, **named)
    if name in MODULES:
        raise ModuleNotFoundError(name)
    return _CHANGED.get(name) or real(name, globals, *given, **named)


def _start(self, *given, real=subprocess.Popen.__init__, **settings):
    assert not {name for name in REFUSED if settings.get(name)}, settings
    real(self, *given, **settings)


_CHANGED = {
    "os": _without(os, OF_OS, name="nt", kill=_kill),
    "signal": _without(signal, OF_SIGNAL),
}
builtins.__import__ = _import
subprocess.Popen.__init__ = _start
