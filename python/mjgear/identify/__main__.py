"""``mjgear identify`` and ``mjgear protocol``."""

import os
import sys

if __name__ == "__main__" and os.name == "posix" and "OPENBLAS_NUM_THREADS" not in os.environ:
    # matrices are small, and threads of BLAS wait for each other. It reads this when numpy is loaded, which it is by now
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])

from mjgear.identify import cli  # noqa: E402  # behind the threads of BLAS

if __name__ == "__main__":
    sys.exit(cli.main(sys.argv[1:]))
