"""Run on a Ray cluster of this machine whose only node with room dies on the way.

A process of its own, since Ray reads its environment once.
"""

import json
import os
import sys
from functools import partial
from pathlib import Path

os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # everything on loopback
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

from ray.cluster_utils import Cluster

from precompute.jobs import workers
from precompute.jobs.plan import Job
from precompute.request import Request
from precompute.run import run


def lose_node(asked: Request) -> list[Job]:
    """Return the jobs that a run with room for one of its two workers finishes.

    The node is killed once a job is done, and another comes.
    """
    head = {"num_cpus": 0, "_system_config": {"health_check_period_ms": 500}}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    os.environ["RAY_ADDRESS"] = str(cluster.address)
    nodes = [cluster.add_node(num_cpus=1)]
    reported: list[Job] = []

    def losing(runner, plan, model, jobs, on_finished):
        def lose(job: Job) -> None:
            on_finished(job)
            reported.append(job)
            while nodes:
                cluster.remove_node(nodes.pop(), allow_graceful=False)
                cluster.add_node(num_cpus=1)

        runner(plan, model, jobs, lose)

    try:
        with workers.ray_runner(workers=2) as runner:
            run(asked, partial(losing, runner))
    finally:
        cluster.shutdown()
    return reported


if __name__ == "__main__":
    model, corpus, output, *statistics = sys.argv[1:]
    asked = Request(model, corpus, Path(output), statistics, max_tokens=36)
    print(json.dumps(lose_node(asked)))
