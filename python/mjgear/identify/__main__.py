"""``mjgear identify`` and ``mjgear protocol``."""

import os
import signal
import sys

if __name__ == "__main__" and os.name == "posix" and "OPENBLAS_NUM_THREADS" not in os.environ:
    # matrices are small, and threads of BLAS wait for each other. numpy reads this when it is loaded, which has happened by then
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def run() -> None:
    """The program. The caller leaves interrupts to the system during imports, because Python would print its own lines."""
    from mjgear.identify import cli  # behind the threads of BLAS

    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(cli.main(sys.argv[1:]))


if __name__ == "__main__":
    run()
