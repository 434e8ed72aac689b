"""1 024 forearms on all cores, each with a gear of its own: which of them can the motor still lift?

Needs MuJoCo 3.17 or later for mujoco.batch.
"""

import pathlib

import mujoco
import numpy as np
from mujoco.batch import Batch

import mjgear

model = mujoco.MjModel.from_xml_path(str(pathlib.Path(__file__).parent / "forearm.xml"))
batch = Batch(model, nsim=1024)
gears = mjgear.Gears(model, batch)
elbow = gears["elbow"]

# efficiencies and friction as they vary within a production
mjgear.randomize(
    gears, {"eta_forward": (0.55, 0.7), "eta_backward": (-0.25, -0.15), "coulomb": ("0 Nm", "0.3 Nm")}, rng=1
)
print(gears)

# the motor has 8 N m, and half a second
batch.ctrl = 8.0
batch.step(nstep=round(0.5 / model.opt.timestep))
lifted = batch.qpos[:, 0] > 0.01
print(f"{lifted.sum()} of {batch.nsim} are lifted, {np.count_nonzero(elbow.mode == 0)} are stuck")

# expected by the law: 8 N m lift a load of 4.905 N m if 8 eta_forward exceeds it plus the constant friction
load = 2 * 9.81 * 0.25
gamma_u, gamma_v = elbow.gamma_u, elbow.gamma_v
needed = (load * (1 + gamma_v) + elbow.coulomb) / (1 - gamma_u)
clear = abs(8 - needed) > 0.05
print(f"as the law says: {np.count_nonzero(lifted[clear] == (8 > needed)[clear])} of {clear.sum()} that are clear")
