"""mjgear-view without a display: pictures, films, tables, and messages about missing parts."""

import csv
import json
import os
import pathlib
import pty
import resource
import shutil
import signal
import subprocess
import sys
import unittest

import mujoco
import numpy as np
from PIL import Image

import mjgear

VIEW = sys.argv.pop(1)
SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])
FOLDER = pathlib.Path("pictures").absolute()
WIDTH, HEIGHT = 480, 360

# hide every display
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}


def view(*arguments, code=0, **environment):
    done = subprocess.run(
        [VIEW, *map(str, arguments)],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        env={**ENVIRONMENT, **environment},
        timeout=200,
    )
    if done.returncode != code:
        raise AssertionError(f"exit code {done.returncode}, expected {code}: {done.stderr}")
    return done


def picture(name, *arguments, **environment):
    view(*arguments, "--picture", name, "--size", f"{WIDTH}x{HEIGHT}", "--no-effects", **environment)
    return np.asarray(Image.open(FOLDER / name)).astype(int)


def project(model, data, camera, point):
    """Pixel of a point, by the pinhole camera of the textbook."""
    camera = model.camera(camera)
    local = data.cam_xmat[camera.id].reshape(3, 3).T @ (point - data.cam_xpos[camera.id])
    focal = HEIGHT / 2 / np.tan(np.radians(model.cam_fovy[camera.id]) / 2)
    return (round(WIDTH / 2 - focal * local[0] / local[2]), round(HEIGHT / 2 + focal * local[1] / local[2]))


# two motors on two joints: a gear on each of two tendons
WRIST = """<mujoco>
  <option timestep="0.002" integrator="discrete"/>
  <extension><plugin plugin="mjgear.transmission"><instance name="gears">
    <config key="tendon" value="left right"/><config key="gamma_u" value="0.2"/><config key="gamma_v" value="0.3"/>
  </instance></plugin></extension>
  <worldbody><body>
    <joint name="pitch" axis="0 1 0" damping="0.01"/><geom type="capsule" fromto="0 0 0 .2 0 0" size=".03" mass=".5"/>
    <body pos=".2 0 0">
      <joint name="roll" axis="1 0 0" damping="0.01"/><geom type="box" pos=".1 .04 .05" size=".1 .05 .02" mass=".5"/>
    </body>
  </body></worldbody>
  <tendon>
    <fixed name="left" armature="0.005"><joint joint="pitch" coef="0.5"/><joint joint="roll" coef="0.5"/></fixed>
    <fixed name="right" armature="0.005"><joint joint="pitch" coef="0.5"/><joint joint="roll" coef="-0.5"/></fixed>
  </tendon>
  <actuator><motor tendon="left"/><motor tendon="right"/></actuator>
</mujoco>"""


class Pictures(unittest.TestCase):
    def test_geometry(self):
        """Rod, ring and legend have the right places and colours."""
        pixels = picture("rod.png", "rod/gamma_v=1.05", "--no-plots", "--at", "1.2")
        mujoco.mj_loadPluginLibrary(os.environ["MJGEAR_PLUGIN_PATH"])
        model = mujoco.MjModel.from_xml_path(str(SOURCE / "scenes/rod/rod.xml"))
        data = mujoco.MjData(model)

        # the paper: from 0.9 s on it stands at -1.47503e-2 rad, pressed on the spring
        data.qpos[0] = -1.47503e-2
        mujoco.mj_forward(model, data)
        camera = model.camera(0).name
        axis = data.body("rod").xmat.reshape(3, 3)[:, 0]
        for along in (0.4, 0.6, 0.9):
            x, y = project(model, data, camera, along * axis)
            red, green, blue = pixels[y, x]
            self.assertGreater(blue, red + 40, (along, x, y))

        # none just above and below the rod
        for side in (-0.08, 0.08):
            x, y = project(model, data, camera, 0.55 * axis + np.array([0, 0, side]))
            red, green, blue = pixels[y, x]
            self.assertLess(int(blue) - int(red), 70)

        # the ring has the colour of a stuck joint: blue, not green as when it is driven
        x, y = project(model, data, camera, np.zeros(3))
        around = pixels[y - 40 : y + 40, x - 40 : x + 40].reshape(-1, 3)
        stuck = (around[:, 2] > around[:, 0] + 50) & (around[:, 2] > around[:, 1] + 30)
        driving = around[:, 1] > around[:, 2] + 40
        self.assertGreater(stuck.sum(), 60)
        self.assertEqual(driving.sum(), 0)

    def test_renderers_agree(self):
        """Two OpenGL libraries that share little draw the same picture, which equals a picture that was inspected."""
        egl = picture("egl.png", "rod/gamma_v=0.5", "--at", "1", MUJOCO_GL="egl")
        osmesa = picture("osmesa.png", "rod/gamma_v=0.5", "--at", "1", MUJOCO_GL="osmesa")
        seen = np.asarray(Image.open(SOURCE / "tests/data/rod.png")).astype(int)
        for other in (osmesa, seen):
            difference = np.abs(egl - other)
            self.assertLess(difference.mean(), 2)
            self.assertLess((difference.max(axis=2) > 48).mean(), 0.02)

    def test_exact(self):
        first = picture("first.png", "rod", "--at", "0.5")
        second = picture("second.png", "rod", "--at", "0.5")
        self.assertTrue((first == second).all())

    def test_beside(self):
        """Side by side, halves differ once the frictions act differently."""
        pixels = picture("beside.png", "rod/gamma_v=1.05", "--against", "none", "--no-plots", "--at", "1.2")
        left, right = pixels[80:, : WIDTH // 2], pixels[80:, WIDTH // 2 :]
        self.assertGreater(np.abs(left - right).mean(), 1)

    def test_every_scene(self):
        names = [line.split()[0] for line in view("--list").stdout.splitlines() if line[0] != " "]
        self.assertIn("rod", names)
        sanitized = "asan" in os.environ.get("LD_PRELOAD", "") and not os.environ.get("MJGEAR_LONG")
        for name in names[:: 6 if sanitized else 1]:
            pixels = picture(f"scene-{name}.png", name, "--at", "0.2")
            self.assertGreater(pixels[:, : WIDTH // 2].std(), 5, name)


STOCK = """
import os, sys
import mujoco, numpy as np
mujoco.mj_loadPluginLibrary(os.environ["MJGEAR_PLUGIN_PATH"])
model = mujoco.MjModel.from_xml_path(sys.argv[1])
data = mujoco.MjData(model)
data.ctrl[0] = -40
mujoco.mj_step(model, data, 600)
renderer = mujoco.Renderer(model, 240, 320)
pictures = []
for shown in (1, 0):
    option = mujoco.MjvOption()
    option.jointgroup[:] = shown
    renderer.update_scene(data, camera=0, scene_option=option)
    pictures.append(renderer.render().astype(int))
difference = np.abs(pictures[0] - pictures[1]).max(axis=2) > 40
print(difference.sum(), difference[:, 200:].sum())
"""


class Stock(unittest.TestCase):
    def test_python_renderer(self):
        """MuJoCo's own renderer, without any change to it, draws ring and arc around the bearing."""
        done = subprocess.run(
            [sys.executable, "-c", STOCK, SOURCE / "scenes/rod/rod.xml"],
            env={**ENVIRONMENT, "MUJOCO_GL": "egl"},
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        everywhere, far = map(int, done.stdout.split())
        self.assertGreater(everywhere, 200)
        self.assertEqual(far, 0)


class Films(unittest.TestCase):
    def test_film(self):
        view("rod", "--record", "rod.mp4", "--duration", "1", "--fps", "25", "--size", "320x240")
        told = subprocess.run(
            [
                "ffprobe",
                "-v",
                "error",
                "-count_frames",
                "-show_entries",
                "stream=nb_read_frames,width,height,codec_name,pix_fmt,r_frame_rate",
                "-of",
                "json",
                FOLDER / "rod.mp4",
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        stream = json.loads(told.stdout)["streams"][0]
        self.assertEqual((stream["width"], stream["height"]), (320, 240))
        self.assertEqual(stream["codec_name"], "h264")
        self.assertEqual(stream["pix_fmt"], "yuv420p")
        self.assertEqual(stream["r_frame_rate"], "25/1")
        self.assertEqual(int(stream["nb_read_frames"]), 26)

    def test_full_disk(self):
        """Whole rows stay; half a picture, half a film and a table without rows do not, and an older picture or film stays."""

        def limit(size):
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        for size, name, option in (
            (0, "full.csv", "--csv"),
            (5000, "full.csv", "--csv"),
            (4096, "full.png", "--picture"),
            (0, "old.png", "--picture"),
            (2000, "old.mp4", "--record"),
        ):
            if name.startswith("old"):
                (FOLDER / name).write_text("as it was")
            done = subprocess.run(
                [VIEW, "rod/gamma_v=1.05", "--duration", "0.5", "--size", "160x120", option, name],
                cwd=FOLDER,
                env=ENVIRONMENT,
                capture_output=True,
                text=True,
                timeout=200,
                preexec_fn=lambda: limit(size),
            )
            self.assertNotEqual(done.returncode, 0, (size, name))
            self.assertIn(name, done.stderr)
            if name.startswith("old"):
                self.assertEqual((FOLDER / name).read_text(), "as it was", done.stderr)
            else:
                self.assertEqual((FOLDER / name).exists(), size == 5000, (size, name, done.stderr))
        self.assertEqual(list(FOLDER.glob("*.part")), [])
        lines = (FOLDER / "full.csv").read_text().splitlines(keepends=True)
        self.assertGreater(len(lines), 5)
        self.assertEqual({(line.count(","), line[-1]) for line in lines}, {(lines[0].count(","), "\n")})
        with open("/dev/full", "w") as full:
            done = subprocess.run([VIEW, "--list"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(
            (done.returncode, done.stderr), (1, "mjgear-view: cannot write standard output: No space left on device\n")
        )

    def test_table(self):
        view("rod/gamma_v=1.05", "--csv", "rod.csv")
        with open(FOLDER / "rod.csv") as file:
            rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
        at = {round(row["time"], 3): row for row in rows}
        self.assertEqual(len(rows), 2000)
        self.assertEqual(at[1.39]["v_rod"], 0)
        self.assertAlmostEqual(at[1.39]["q_rod"], -1.47503e-2, delta=1e-6)

    def test_tendons(self):
        """Gears on tendons: they move with the joints, and their friction acts on the joints."""
        (FOLDER / "wrist.xml").write_text(WRIST)
        view("wrist.xml", "--csv", "wrist.csv", "--duration", "0.5")
        with open(FOLDER / "wrist.csv") as file:
            rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
        self.assertEqual(len(rows), 250)
        mujoco.mj_loadPluginLibrary(os.environ["MJGEAR_PLUGIN_PATH"])
        model = mujoco.MjModel.from_xml_string(WRIST)
        data = mujoco.MjData(model)
        for row in rows:
            damping = model.dof_damping * data.qvel
            mujoco.mj_step(model, data)
            left, right = row["friction_left"], row["friction_right"]
            self.assertAlmostEqual(row["q_left"], data.qpos.sum() / 2, delta=1e-12)
            self.assertAlmostEqual(row["v_right"], (data.qvel[0] - data.qvel[1]) / 2, delta=1e-11)
            np.testing.assert_allclose(
                [(left + right) / 2, (left - right) / 2], -data.qfrc_passive - damping, atol=1e-8
            )
        self.assertGreater(max(abs(row["friction_left"]) for row in rows), 0.01)
        self.assertGreater(max(abs(row["q_left"] - row["q_right"]) for row in rows), 0.01)

        # another friction on the same tendons
        view("wrist.xml", "--csv", "loss.csv", "--duration", "0.1", "--against", "frictionloss=0.2")
        with open(FOLDER / "loss.csv") as file:
            self.assertIn("friction_left_native", file.readline())

    def test_setting(self):
        view("rod", "--set", "gear.gamma_v=1.05", "--csv", "set.csv")
        view("rod/gamma_v=1.05", "--csv", "case.csv")
        self.assertEqual((FOLDER / "set.csv").read_text(), (FOLDER / "case.csv").read_text())

    def test_progress(self):
        """On a terminal a bar shows the progress of a long run."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(FOLDER)
            os.execve(VIEW, [VIEW, "rod", "--record", "bar.mp4", "--size", "320x240", "--length", "10"], ENVIRONMENT)
        text = b""
        try:
            while part := os.read(terminal, 4096):
                text += part
        except OSError:
            pass
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        self.assertIn(b"[#", text)
        self.assertIn(b"s left", text)


class Against(unittest.TestCase):
    """The same model beside itself with another friction, for every way in which the file refers to its gears."""

    def columns(self, file, *arguments, duration="0.1"):
        view(file, "--csv", "against.csv", "--duration", duration, *arguments)
        with open(FOLDER / "against.csv") as table:
            rows = list(csv.DictReader(table))
        return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}

    def test_models(self):
        """Without friction no joint has any, and each joint exists."""
        models = [
            path for path in sorted((SOURCE / "models").glob("*/*.xml")) if path.stem.startswith(path.parent.name)
        ]
        self.assertEqual(len(models), 10)
        rubs = 0
        for path in models:
            for against, ending in (("none", "_none"), ("frictionloss", "_native")):
                with self.subTest(path.stem, against=against):
                    columns = self.columns(path, "--against", against, duration="0.02")
                    ours = [name for name in columns if name.startswith("friction_") and not name.endswith(ending)]
                    theirs = [name for name in columns if name.startswith("friction_") and name.endswith(ending)]
                    self.assertEqual([name + ending for name in ours], theirs)
                    rubs += against == "frictionloss" and max(np.abs(columns[name]).max() for name in theirs) > 0
                    if against == "none":
                        self.assertTrue(all((columns[name] == 0).all() for name in theirs))
        self.assertGreater(rubs, 5)  # the others carry nothing at first

    def test_written_by_python(self):
        """Files of mjgear.add and to_xml: without the gears they move as the model moved before it had any."""
        arm = (
            '<mujoco><worldbody><body name="base"><body name="upper"><joint name="left shoulder" axis="0 -1 0" armature=".05"/>'
            '<geom type="capsule" fromto="0 0 0 .5 0 0" size=".03" mass="2"/><body pos=".5 0 0">'
            '<joint name="elbow" axis="0 -1 0" armature=".05"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" mass="1"/>'
            "</body></body></body></worldbody></mujoco>"
        )

        def plain():
            return mujoco.MjSpec.from_string(arm)

        def one(**values):
            spec = plain()
            mjgear.add(spec, ["left shoulder", "elbow"], eta_forward=0.6, eta_backward=-0.2, sensors=True, **values)
            return spec

        def two():
            spec = plain()
            mjgear.add(spec, "left shoulder", eta_forward=0.6, eta_backward=0.5, name="first gear")
            mjgear.add(spec, "elbow", eta_forward=0.6, eta_backward=0.5, name="second")
            return spec

        def attached(make):
            spec = mujoco.MjSpec()
            for k in range(2):
                spec.attach(make(), prefix=f"r{k}_", frame=spec.worldbody.add_frame(pos=[k, 0, 0]))
            return spec

        for name, spec, bare in (
            ("one", one(), plain()),
            ("two", two(), plain()),
            ("attached", attached(one), attached(plain)),
        ):
            with self.subTest(name):
                model = spec.compile()
                (FOLDER / f"{name}.xml").write_text(spec.to_xml())
                columns = self.columns(f"{name}.xml", "--against", "none")
                free = bare.compile()
                data = mujoco.MjData(free)
                mujoco.mj_step(free, data, len(columns["time"]))
                for j in range(model.njnt):
                    joint = model.joint(j).name
                    self.assertAlmostEqual(columns[f"q_{joint}_none"][-1], data.joint(joint).qpos[0], delta=1e-9)
                    self.assertGreater(abs(columns[f"q_{joint}_none"][-1] - columns[f"q_{joint}"][-1]), 1e-3)
                self.columns(f"{name}.xml", "--against", "frictionloss=3")

    def test_attached_in_mjcf(self):
        """<attach> and <replicate>: instances that the engine cannot delete."""
        spec = mujoco.MjSpec.from_string(
            '<mujoco><worldbody><body name="base"><joint name="j" axis="0 -1 0" armature=".05"/><geom size=".1" pos=".3 0 0"/>'
            "</body></worldbody></mujoco>"
        )
        mjgear.add(spec, "j", "worm", sensors=True)
        spec.compile()
        (FOLDER / "part.xml").write_text(spec.to_xml())
        (FOLDER / "whole.xml").write_text(
            '<mujoco><asset><model name="part" file="part.xml"/></asset><worldbody><frame pos="0 0 1"><attach model="part"'
            ' body="base" prefix="a_"/></frame><frame pos="1 0 1"><attach model="part" body="base" prefix="b_"/></frame>'
            "</worldbody></mujoco>"
        )
        (FOLDER / "row.xml").write_text(
            '<mujoco><extension><plugin plugin="mjgear.transmission"/></extension><worldbody><replicate count="2" offset="1 0 0">'
            '<body name="b"><plugin plugin="mjgear.transmission"><config key="joint" value="j"/><config key="eta_forward" value=".5"/>'
            '<config key="eta_backward" value="-.4"/></plugin><joint name="j" axis="0 -1 0" armature=".05"/>'
            '<geom size=".1" pos=".3 0 0"/></body></replicate></worldbody></mujoco>'
        )
        for file, joints in (("whole.xml", ("a_j", "b_j")), ("row.xml", ("j0", "j1"))):
            columns = self.columns(file, "--against", "none")
            for joint in joints:
                self.assertEqual(columns[f"q_{joint}"][-1], 0)
                self.assertLess(columns[f"q_{joint}_none"][-1], -0.01)


class Refusals(unittest.TestCase):
    def refused(self, code, words, *arguments, **environment):
        done = view(*arguments, code=code, **environment)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertTrue(lines[0].startswith("mjgear-view: "), lines[0])
        for word in words:
            self.assertIn(word, lines[0])

    def test_arguments(self):
        self.refused(1, ["--frob"], "rod", "--frob", "1")
        for fps in "0", "1e15", "nan":
            self.refused(1, ["--fps"], "rod", "--fps", fps)
        for size in "640", "4294967616x240", "320x240x1":
            self.refused(1, ["--size"], "rod", "--size", size)
        self.refused(1, ["--set"], "rod", "--set", "gamma_v=2")
        self.refused(1, ["even"], "rod", "--record", "odd.mp4", "--size", "321x240")
        self.refused(1, ["no case"], "rod/nonesuch", "--csv", "x.csv")
        self.refused(1, ["more than one"], "rod", "wall")

    def test_files(self):
        self.refused(2, ["nowhere.xml", "No such file"], "nowhere.xml", "--csv", "x.csv")
        self.refused(2, ["rodd is neither", "--list"], "rodd", "--csv", "x.csv")
        self.refused(1, ["--picture x.jpg", ".png"], "rod", "--picture", "x.jpg")
        (FOLDER / "broken.xml").write_text("<mujoco><worldbody><geom/></mujoco>")
        self.refused(2, ["broken.xml"], "broken.xml", "--csv", "x.csv")
        (FOLDER / "wrong.xml").write_text("<mujoco><worldbody><geom size='0'/></worldbody></mujoco>")
        self.refused(2, ["wrong.xml"], "wrong.xml", "--csv", "x.csv")
        (FOLDER / "empty.xml").write_text("")
        self.refused(2, ["empty.xml"], "empty.xml", "--csv", "x.csv")
        self.refused(2, [str(FOLDER), "directory"], FOLDER, "--csv", "x.csv")
        self.refused(2, ["gear", "gamma_v"], "rod", "--set", "gear.gamma_v=nan", "--csv", "x.csv")
        self.refused(2, ["geared joint"], SOURCE / "tests/data/slider.xml", "--against", "none", "--csv", "x.csv")
        self.refused(2, ["libmjgear.so"], "rod", "--csv", "x.csv", MJGEAR_PLUGIN="/nowhere/libmjgear.so")

    def test_display(self):
        self.refused(3, ["display"], "rod")

    def test_opengl(self):
        """EGL without a driver: the other library is used, or the line names the package to install."""
        broken = {"__EGL_VENDOR_LIBRARY_FILENAMES": "/nowhere.json"}
        self.refused(3, ["OpenGL", "libegl1"], "rod", "--picture", "x.png", MUJOCO_GL="egl", **broken)
        view("rod", "--picture", "other.png", "--at", "0", **broken)
        with Image.open(FOLDER / "other.png") as other:
            self.assertEqual(other.size, (1280, 720))

    def test_output(self):
        self.refused(4, ["/nowhere/x.png"], "rod", "--picture", "/nowhere/x.png", "--at", "0")
        self.refused(4, ["/nowhere/x.csv"], "rod", "--csv", "/nowhere/x.csv")
        self.refused(4, ["/nowhere/x.mp4"], "rod", "--record", "/nowhere/x.mp4", "--duration", "0.1")
        self.refused(4, ["install ffmpeg"], "rod", "--record", "x.mp4", PATH="/nowhere")
        if os.path.exists("/dev/full"):
            self.refused(4, ["/dev/full"], "rod", "--csv", "/dev/full")

    def test_unstable(self):
        """A model that the engine cannot step ends with a line and a code, not with a wrong film."""
        (FOLDER / "unstable.xml").write_text(
            "<mujoco><worldbody><body><joint name='j' armature='1' type='slide' stiffness='-1e9'/>"
            "<geom size='.1'/></body></worldbody><keyframe><key name='start' qpos='1'/></keyframe>"
            "</mujoco>"
        )
        self.refused(5, ["unstable"], "unstable.xml", "--csv", "x.csv", "--duration", "2")


if __name__ == "__main__":
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    unittest.main(verbosity=2)
