"""Programs under test: how they are run, how disks fill up, and their tables."""

import csv
import os
import pathlib
import resource
import signal
import subprocess

SOURCE = pathlib.Path(__file__).parents[2]

# the plugin of this build; no display, and no sanitizer's library before the program's own
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "LD_PRELOAD")}
ENVIRONMENT["MJGEAR_PLUGIN"] = os.environ["MJGEAR_PLUGIN_PATH"]


def run(*words, **options):
    """A finished program with its output as text; disk: bytes of a file at which its disk is full."""
    if "disk" in options:
        options["preexec_fn"] = _limited(options.pop("disk"))
    environment = {**ENVIRONMENT, **options.pop("env", {})}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([str(word) for word in words], env=environment, text=True, timeout=300, check=False, **pipes)


def _limited(size):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def table(path):
    """Rows of a table: dictionaries of texts."""
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def numbers(path):
    """Rows of a table: dictionaries of numbers."""
    return [{name: float(value) for name, value in row.items()} for row in table(path)]
