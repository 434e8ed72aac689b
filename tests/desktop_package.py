"""The installed package on another system: the README's ten lines, motions, refusals, names and line ends.

    desktop_package.py OUT.json [--bare]     runs, and writes what came out
    desktop_package.py A.json B.json         compares: numbers to 1e-12 of the largest of their list, texts word for word

With --bare mjgear is not imported: mj_loadPluginLibrary loads the plugin, and motions of the scenes alone are written.
"""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import platform
import re
import sys
import tempfile
import warnings

import mujoco
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
NAMES = ("Zahnräder öffnen", "齿轮 模型", "歯車 2")
ARM = """<mujoco><worldbody><body><joint name="elbow" axis="0 1 0" armature="0.1"/><geom size=".1" pos=".3 0 0" mass="1"/>
<body pos=".5 0 0"><joint name="wrist" axis="0 1 0" armature="0.1"/><geom size=".1" pos=".2 0 0" mass="1"/></body></body></worldbody>
<actuator><motor joint="elbow"/><motor joint="wrist"/></actuator></mujoco>"""


def motion(model, push, steps=1500):
    """Positions and velocities of a motion driven by push: time -> torque on dofs, controls."""
    data = mujoco.MjData(model)
    rows = []
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    for k in range(steps):
        load, drive = push(data.time)
        data.qfrc_applied[:] = load
        data.ctrl[:] = drive
        mujoco.mj_step(model, data)
        if k % 50 == 0:
            rows.append([*data.qpos, *data.qvel])
    assert np.ptp(rows) > 0.1, "nothing moves"
    return rows


def motions(scenes):
    """The rod and the arm at its wall, pushed back and forth."""
    found = {}
    for name in ("rod/rod.xml", "wall/wall.xml", "wall/contact.xml"):
        model = mujoco.MjModel.from_xml_path(str(scenes / name))
        # back and forth, so that gears drive, are driven and rest; steps, because sin has other last bits elsewhere
        found[name] = motion(model, lambda t: (10 * (int(3 * t) % 3 - 1), 40 * (int(7 * t) % 3 - 1)))
    return found


def ten_lines():
    """Return the output of the first Python block of the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1], {})
    return out.getvalue()


def refusals():
    """Lines that the library and the package tell."""
    import mjgear

    def add(**keys):
        spec = mujoco.MjSpec.from_string(ARM)
        mjgear.add(spec, ["elbow"], **keys)
        return spec.compile()

    model = add(eta_forward=0.7, eta_backward=0.5)
    gears = mjgear.Gears(model, mujoco.MjData(model))
    calls = (
        lambda: add(eta_forwrd=0.7),
        lambda: add(eta_forward=0, eta_backward=0.5),
        lambda: add(eta_forward=float("nan"), eta_backward=0.5),
        lambda: add(half_gap=0.1, eta_forward=0.7, eta_backward=0.5),
        lambda: add(eta_forward=0.7, eta_backward=0.5, coulomb="2 Ns"),
        lambda: add(preset="no such gear"),
        lambda: mjgear.add(mujoco.MjSpec.from_string(ARM), ["shoulder"], gamma_u=0.1, gamma_v=0.2),
        lambda: gears["elbow"].set(coulomb=-1),
        lambda: gears["elbow"].set(lead_angle=0.1),
        lambda: mjgear.randomize(gears, {"coulomb": (2, 1)}),
        lambda: mujoco.MjModel.from_xml_string(ARM.replace("<worldbody>", '<option integrator="RK4"/><extension><plugin plugin="mjgear.transmission"><instance name="g"><config key="joint" value="elbow"/><config key="gamma_u" value="x1"/></instance></plugin></extension><worldbody>', 1)),
    )  # fmt: skip
    lines = []
    for call in calls:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                call()
                lines.append("accepted")
            except Exception as error:  # only the text of the error counts
                lines.append(f"{type(error).__name__}: {error}")
            lines.extend(f"warning: {one.message}" for one in warned)
    return lines


def names():
    """Files in folders with umlauts, Chinese and Japanese letters and spaces; CRLF in JSON and CSV."""
    import mjgear

    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            place = pathlib.Path(folder) / name
            place.mkdir()
            spec = mujoco.MjSpec.from_string(ARM)
            mjgear.add(spec, ["elbow", "wrist"], eta_forward=0.7, eta_backward=0.5)
            file = place / f"{name}.xml"
            file.write_text(spec.to_xml(), encoding="utf-8", newline="\r\n")
            model = mujoco.MjModel.from_xml_string(file.read_text(encoding="utf-8"))
            report = mjgear.check(str(file))
            found.append([len(report.problems), str(report)])
            intervals = place / f"{name}.json"
            intervals.write_bytes(
                b'{\r\n  "coulomb": [0.1, 0.3],\r\n  "eta_forward": ["0.6", 0.8],\r\n  "eta_backward": 0.5\r\n}\r\n'
            )
            drawn = mjgear.randomize(mjgear.Gears(model, mujoco.MjData(model)), str(intervals), 1)
            found.append(drawn.sample.tolist())
    return found


def logs():
    """The same for logs with CRLF, which mjgear.identify reads; None without scipy."""
    if not importlib.util.find_spec("scipy"):
        return None
    from mjgear.identify import logs

    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            log = pathlib.Path(folder) / f"{name}.csv"
            log.write_bytes(
                b"time,position,torque\r\n"
                + b"".join(b"%.3f,%.6f,%.6f\r\n" % (k / 200, np.sin(k / 50), np.cos(k / 50)) for k in range(400))
            )
            read = logs.read(log)
            found.append([read.name, read.n, float(np.sum(read.data["velocity"]))])
    return found


def run(bare):
    package = pathlib.Path(importlib.util.find_spec("mjgear").origin).parent
    scenes = next(folder for folder in (package / "scenes", ROOT / "scenes") if folder.exists())
    release = mujoco.mj_versionString()
    if bare:
        libraries = pathlib.Path(os.environ.get("MJGEAR_LIBRARIES", package / "lib"))
        found = sorted(
            f
            for f in libraries.glob("*mjgear*")
            if re.fullmatch(rf"(lib)?mjgear(-{re.escape(release)})?\.(so|dll|dylib)", f.name)
        )
        os.environ["PATH"] = os.pathsep.join(
            (str(libraries), os.environ["PATH"])
        )  # folder in which Windows looks for OpenBLAS
        mujoco.mj_loadPluginLibrary(str(found[-1]))
        return {"release": release, "motions": motions(scenes)}
    import mjgear

    assert mjgear.__version__
    return {
        "release": release,
        "motions": motions(scenes),
        "ten lines": ten_lines(),
        "refusals": refusals(),
        "names": names(),
        "logs": logs(),
    }


def compare(a, b, where=""):
    """Returns the largest difference of numbers, relative to the largest of their list."""
    if a is None or b is None:
        print(f"{where}: not on both")
        return 0
    if isinstance(a, dict):
        assert a.keys() == b.keys(), (where, a.keys(), b.keys())
        return max((compare(a[key], b[key], f"{where}/{key}") for key in a), default=0)
    if (
        isinstance(a, list)
        and a
        and all(isinstance(row, list) for row in a)
        and all(isinstance(x, float) for row in a for x in row)
    ):
        one, two = np.array(a), np.array(b)
        worst = float(np.abs(one - two).max() / max(1, np.abs(one).max()))
        assert worst <= 1e-12, (where, worst)
        print(f"{where}: {one.size} numbers, largest difference {worst:.1e}")
        return worst
    if isinstance(a, list):
        assert len(a) == len(b), (where, len(a), len(b))
        return max((compare(x, y, f"{where}[{k}]") for k, (x, y) in enumerate(zip(a, b, strict=True))), default=0)
    if where == "/release" and a != b:
        print(f"{a} and {b}")
        return 0
    assert a == b if not isinstance(a, float) else abs(a - b) <= 1e-12 * max(1, abs(a)), (where, a, b)
    return 0


if __name__ == "__main__":
    files = [word for word in sys.argv[1:] if not word.startswith("--")]
    if len(files) == 2:
        read = [json.loads(pathlib.Path(file).read_text(encoding="utf-8")) for file in files]
        print(f"the same, numbers to {compare(*read):.1e}")
    else:
        result = run("--bare" in sys.argv)
        if files:
            pathlib.Path(files[0]).write_text(json.dumps(result, ensure_ascii=False, indent=1), encoding="utf-8")
        print(
            f"{platform.system()} {platform.machine()}, MuJoCo {result['release']}: {', '.join(key for key in result)}"
        )
