"""A Ray cluster of several nodes on this machine, for runs that lose some of them on the way.

A process of its own, since what Ray reads from the environment it reads once: it makes a cluster
without room for a worker, starts the run, and says what became of it.
"""

import json
import os
import sys
from functools import partial
from pathlib import Path

os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # everything on loopback
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

from ray.cluster_utils import Cluster

from precompute.jobs import ray_workers
from precompute.request import Request
from precompute.run import run


def lose_nodes(asked: Request, *, lost: int = 2) -> list[int]:
    """Run it on two nodes; once something is done so many are killed, and another comes."""
    head = {"num_cpus": 0, "_system_config": {"health_check_period_ms": 500}}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    os.environ["RAY_ADDRESS"] = str(cluster.address)
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)][:lost]
    reported: list[int] = []

    def losing(runner, plan, model, jobs, report):
        def lose(n_sequences: int) -> None:
            reported.append(n_sequences)
            report(n_sequences)
            while nodes:
                cluster.remove_node(nodes.pop(), allow_graceful=False)
                if not nodes:
                    cluster.add_node(num_cpus=1)

        runner(plan, model, jobs, lose)

    try:
        with ray_workers.ray_runner(workers=2) as runner:
            run(asked, partial(losing, runner))
    finally:
        cluster.shutdown()
    return reported


if __name__ == "__main__":
    model, corpus, output, *statistics = sys.argv[1:]
    asked = Request(model, corpus, Path(output), statistics, max_tokens=36)
    print(json.dumps(lose_nodes(asked)))
