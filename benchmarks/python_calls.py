"""What calls of the Python package cost beside a step of the same model, in microseconds of a core.

PYTHONPATH=python MJGEAR_LIBRARIES=build/lib build/venv/bin/python benchmarks/python_calls.py
"""

import time
import timeit

import mujoco

import mjgear

MODEL = "<mujoco><worldbody><body><joint name='a' armature='.1'/><geom size='.1'/></body></worldbody><actuator><motor joint='a'/></actuator></mujoco>"


def main() -> None:
    spec = mujoco.MjSpec.from_string(MODEL)
    mjgear.add(spec, "a", eta_forward=0.8, sensors=True)
    model = spec.compile()
    data = mujoco.MjData(model)
    gear = mjgear.Gears(model, data)["a"]
    for text, call in {
        "mujoco.mj_step(model, data)": lambda: mujoco.mj_step(model, data),
        "gear.friction": lambda: gear.friction,
        "gear.state": lambda: gear.state,
        "gear.eta_forward": lambda: gear.eta_forward,
        "gear.brake": lambda: gear.brake,
        "gear.set(coulomb=0.1)": lambda: gear.set(coulomb=0.1),
        "getattr(gear, 'frictoin', None)": lambda: getattr(gear, "frictoin", None),
        "mjgear.presets()": mjgear.presets,
        "mjgear.keys()": mjgear.keys,
        "mjgear.Gears(model, data)": lambda: mjgear.Gears(model, data),
    }.items():
        print(f"{text:34} {min(timeit.repeat(call, timer=time.process_time, number=300, repeat=100)) / 300 * 1e6:8.2f}")


if __name__ == "__main__":
    main()
