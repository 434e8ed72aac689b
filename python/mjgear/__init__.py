"""Gear transmissions for MuJoCo."""

import mujoco  # first: from 4.0 on it registers the plugin through this package

from mjgear import _library

_library.register()
