"""Run on a Ray cluster of this machine with room for one of two workers, which dies on the way.

A process of its own, since Ray reads its environment once.
"""

import json
import os
import sys
from pathlib import Path

os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # everything on loopback
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

from ray.cluster_utils import Cluster

from precompute.jobs import workers
from precompute.jobs.plan import Job
from precompute.request import Request
from precompute.run import run


class Losing(workers.RayCrew):
    """Crew whose worker is killed as it begins its second job."""

    def begin(self, job: Job) -> None:
        worker = self._free[-1]
        super().begin(job)
        begun.append(job)
        if len(begun) == 2:
            self.ray.kill(worker)


if __name__ == "__main__":
    model, corpus, output, *statistics = sys.argv[1:]
    begun: list[Job] = []
    reported: list[Job] = []
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    os.environ["RAY_ADDRESS"] = str(cluster.address)
    workers.RayCrew = Losing
    try:
        with workers.ray_runner(workers=2) as runner:
            asked = Request(model, corpus, Path(output), statistics, max_tokens=36)
            run(
                asked,
                lambda plan, of, jobs, finish: runner(
                    *(plan, of, jobs), lambda job: (finish(job), reported.append(job))
                ),
            )
    finally:
        cluster.shutdown()
    print(json.dumps([begun, reported]))
