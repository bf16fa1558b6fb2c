"""Print the addresses that a cluster started by a run listens on, one line per process."""

import os
import re
from pathlib import Path

from precompute.jobs import workers


def addresses() -> dict[str, str]:
    """The address of each socket that listens, by its inode."""
    hosts = {}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A":
                hosts[fields[9]] = fields[1].split(":")[0]
    return hosts


def sockets(process: Path) -> list[str]:
    """Inodes of the open sockets of a process of Ray, or of this one."""
    try:
        command = (process / "cmdline").read_text()
        if "ray" not in command and int(process.name) != os.getpid():
            return []
        links = [os.readlink(link) for link in (process / "fd").iterdir()]
    except OSError:
        return []
    return [match[1] for link in links if (match := re.fullmatch(r"socket:\[(\d+)\]", link))]


if __name__ == "__main__":
    os.environ.pop("RAY_ADDRESS", None)
    ray = workers.ray_module()
    with workers.joined_cluster(ray):
        remote = ray.remote(lambda: os.getpid())
        ray.get(remote.remote())
        known = addresses()
        for process in Path("/proc").glob("[0-9]*"):
            listening = sorted({known[socket] for socket in sockets(process) if socket in known})
            if listening:
                print("listens", *listening)
