"""The models that ship with this package."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping

from mjgear import _catalogue, _library


def models() -> Mapping[str, pathlib.Path]:
    """The machines that ship, each an MJCF file with its gears, by name: "cobot", "jack", "quadruped" and others.

    ``mujoco.MjModel.from_xml_path(str(mjgear.models()["cobot"]))``. The README.md beside each names the sources of its numbers.

    Raises:
        FileNotFoundError: this installation has none.
    """
    package = pathlib.Path(_library.__file__).resolve().parent
    for folder in (package / "models", package.parents[1] / "models"):  # in a wheel, in a clone
        files = sorted(file for file in folder.glob("*/*.xml") if file.stem.startswith(file.parent.name))
        if files:
            return _catalogue.Known("model", {file.stem: file for file in files})
    raise FileNotFoundError(f"no models in {package}; reinstall mjgear, or take models/ of its sources")
