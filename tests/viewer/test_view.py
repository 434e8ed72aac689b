"""mjgear-view without a display: pictures, films, tables, and messages about missing parts."""

import os
import pathlib
import pty
import shutil
import sys
import unittest

import mujoco
import numpy as np
import programs
from PIL import Image
from programs import SOURCE

import mjgear

VIEW = sys.argv.pop(1)
FOLDER = pathlib.Path("pictures").absolute()
WIDTH, HEIGHT = 480, 360

LONG = bool(os.environ.get("MJGEAR_LONG"))
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "") and not LONG
shutil.rmtree(FOLDER, ignore_errors=True)
FOLDER.mkdir()


def view(*arguments, code=0, **environment):
    done = programs.run(VIEW, *arguments, cwd=FOLDER, env=environment)
    assert done.returncode == code, f"exit code {done.returncode}, expected {code}: {done.stderr}"
    return done


def picture(name, *arguments, **environment):
    view(*arguments, "--picture", name, "--size", f"{WIDTH}x{HEIGHT}", "--no-effects", **environment)
    return np.asarray(Image.open(FOLDER / name)).astype(int)


def table(file, *arguments, seconds=None):
    """Rows of numbers that a run writes."""
    duration = [] if seconds is None else ["--duration", seconds]
    view(file, "--csv", "table.csv", *duration, *arguments)
    return programs.numbers(FOLDER / "table.csv")


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
    def test_every_scene(self):
        names = [line.split()[0] for line in view("--list").stdout.splitlines() if line[0] != " "]
        self.assertIn("rod", names)
        for name in names[:: 20 if SANITIZED else 1 if LONG else 4]:
            pixels = picture(f"scene-{name}.png", name, "--at", "0.2")
            self.assertGreater(pixels[:, : WIDTH // 2].std(), 5, name)


class Films(unittest.TestCase):
    def test_film(self):
        view("rod", "--record", "rod.mp4", "--duration", "1", "--fps", "25", "--size", "320x240")
        words = "-v error -count_frames -of csv=p=0 -show_entries stream=codec_name,width,height,pix_fmt,r_frame_rate,nb_read_frames"
        told = programs.run("ffprobe", *words.split(), FOLDER / "rod.mp4").stdout.strip()
        self.assertEqual(told, "h264,320,240,yuv420p,25/1,26")

    def test_full_disk(self):
        """Half a picture, film or table does not stay, and an older file does."""
        for size, name, option in (
            (4096, "full.png", "--picture"),
            (2000, "old.mp4", "--record"),
            (5000, "old.csv", "--csv"),
        ):
            path, old = FOLDER / name, "as it was" if name.startswith("old") else None
            if old:
                path.write_text(old)
            words = ["rod/gamma_v=1.05", "--duration", "0.5", "--size", "160x120", option, name]
            done = programs.run(VIEW, *words, cwd=FOLDER, disk=size)
            self.assertNotEqual(done.returncode, 0, (size, name))
            self.assertIn(name, done.stderr)
            self.assertEqual(path.read_text() if path.exists() else None, old, (name, done.stderr))
        self.assertEqual(list(FOLDER.glob("*.part")), [])

    def test_table(self):
        rows = table("rod/gamma_v=1.05")
        at = {round(row["time"], 3): row for row in rows}[1.39]
        self.assertEqual((len(rows), at["v_rod"]), (2000, 0))
        self.assertAlmostEqual(at["q_rod"], -1.47503e-2, delta=1e-6)
        self.assertEqual(table("rod", "--set", "gear.gamma_v=1.05"), rows)
        (FOLDER / "kept.csv").write_text("as it was")
        (FOLDER / "kept.csv").chmod(0o640)
        view("rod/gamma_v=1.05", "--csv", "kept.csv", "--duration", "0.1")  # a new table replaces it whole
        self.assertEqual((FOLDER / "kept.csv").stat().st_mode & 0o777, 0o640)
        self.assertEqual(len(programs.table(FOLDER / "kept.csv")), 100)

    def test_tendons(self):
        """Gears on tendons: they move with the joints, and their friction acts on the joints."""
        (FOLDER / "wrist.xml").write_text(WRIST)
        rows = table("wrist.xml", seconds=0.5)
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
        self.assertIn("friction_left_native", table("wrist.xml", "--against", "frictionloss=0.2", seconds=0.1)[0])

    def test_progress(self):
        """On a terminal a bar shows the progress of a long run."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(FOLDER)
            os.execve(
                VIEW,
                [VIEW, "rod", "--record", "bar.mp4", "--size", "320x240", "--length", "6" if SANITIZED else "10"],
                programs.ENVIRONMENT,
            )
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

    def columns(self, file, *arguments, seconds=0.1):
        rows = table(file, *arguments, seconds=seconds)
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    def test_models(self):
        """Without friction no joint has any, and each joint exists."""
        models = [
            path for path in sorted((SOURCE / "models").glob("*/*.xml")) if path.stem.startswith(path.parent.name)
        ]
        self.assertEqual(len(models), 10)
        rubs = 0
        for path in models[:: 3 if SANITIZED else 1]:
            for against, ending in (("none", "_none"), ("frictionloss", "_native")):
                with self.subTest(path.stem, against=against):
                    columns = self.columns(path, "--against", against, seconds=0.02)
                    ours = [name for name in columns if name.startswith("friction_") and not name.endswith(ending)]
                    theirs = [name for name in columns if name.startswith("friction_") and name.endswith(ending)]
                    self.assertEqual([name + ending for name in ours], theirs)
                    rubs += against == "frictionloss" and max(np.abs(columns[name]).max() for name in theirs) > 0
                    if against == "none":
                        self.assertTrue(all((columns[name] == 0).all() for name in theirs))
        self.assertGreater(rubs, 1 if SANITIZED else 5)  # the others carry nothing at first

    def test_written_by_python(self):
        """Files of mjgear.add and to_xml: without the gears they move as the model moved before it had any."""
        arm = (
            '<mujoco><worldbody><body name="base"><body name="upper"><joint name="left shoulder" axis="0 -1 0" armature=".05"/>'
            '<geom type="capsule" fromto="0 0 0 .5 0 0" size=".03" mass="2"/><body pos=".5 0 0">'
            '<joint name="elbow" axis="0 -1 0" armature=".05"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" mass="1"/>'
            "</body></body></body></worldbody></mujoco>"
        )

        def spec(*gears):
            """The arm with gears: names of their joints, and their keys."""
            made = mujoco.MjSpec.from_string(arm)
            for joints, keys in gears:
                mjgear.add(made, joints, eta_forward=0.6, **keys)
            return made

        def twice(*gears):
            both = mujoco.MjSpec()
            for k in range(2):
                both.attach(spec(*gears), prefix=f"r{k}_", frame=both.worldbody.add_frame(pos=[k, 0, 0]))
            return both

        one = (["left shoulder", "elbow"], {"eta_backward": -0.2, "sensors": True})
        two = [(joint, {"eta_backward": 0.5, "name": f"gear of {joint}"}) for joint in ("left shoulder", "elbow")]
        for name, made, bare in (
            ("one", spec(one), spec()),
            ("two", spec(*two), spec()),
            ("attached", twice(one), twice()),
        ):
            with self.subTest(name):
                model = made.compile()
                (FOLDER / f"{name}.xml").write_text(made.to_xml())
                columns = self.columns(f"{name}.xml", "--against", "none")
                free = bare.compile()
                data = mujoco.MjData(free)
                mujoco.mj_step(free, data, len(columns["time"]))
                for joint in (model.joint(j).name for j in range(model.njnt)):
                    ideal = columns[f"q_{joint}_none"][-1]
                    self.assertAlmostEqual(ideal, data.joint(joint).qpos[0], delta=1e-9)
                    self.assertGreater(abs(ideal - columns[f"q_{joint}"][-1]), 1e-3)
                self.columns(f"{name}.xml", "--against", "frictionloss=3")


class Refusals(unittest.TestCase):
    """Each fault is one line with the word that is wrong, and has its exit code."""

    def refused(self, code, words, *arguments, **environment):
        done = view(*arguments, code=code, **environment)
        self.assertRegex(done.stderr, r"\Amjgear-view: .*\n\Z")
        for word in words.split():
            self.assertIn(word, done.stderr)

    def test_lines(self):
        (FOLDER / "broken.xml").write_text("<mujoco><worldbody><geom/></mujoco>")
        (FOLDER / "wrong.xml").write_text("<mujoco><worldbody><geom size='0'/></worldbody></mujoco>")
        (FOLDER / "empty.xml").write_text("")
        (FOLDER / "unstable.xml").write_text(
            "<mujoco><worldbody><body><joint name='j' armature='1' type='slide' stiffness='-1e9'/><geom size='.1'/></body></worldbody>"
            "<keyframe><key name='start' qpos='1'/></keyframe></mujoco>"
        )
        for code, words, line in (
            (1, "--frob", "rod --frob 1"),
            *((1, "--fps", f"rod --fps {fps}") for fps in ("0", "1e15", "nan")),
            *((1, "--size", f"rod --size {size}") for size in ("640", "4294967616x240", "320x240x1")),
            (1, "--set", "rod --set gamma_v=2"),
            (1, "even", "rod --record odd.mp4 --size 321x240"),
            (1, "no case", "rod/nonesuch --csv x.csv"),
            (1, "more than one", "rod wall"),
            (1, "--picture x.jpg", "rod --picture x.jpg"),
            (2, "nowhere.xml No such file", "nowhere.xml --csv x.csv"),
            (2, "rodd neither --list", "rodd --csv x.csv"),
            *((2, name, f"{name} --csv x.csv") for name in ("broken.xml", "wrong.xml", "empty.xml")),
            (2, f"{FOLDER} directory", f"{FOLDER} --csv x.csv"),
            (2, "gear gamma_v", "rod --set gear.gamma_v=nan --csv x.csv"),
            (2, "geared joint", f"{SOURCE / 'tests/data/slider.xml'} --against none --csv x.csv"),
            (3, "display", "rod"),
            (4, "/nowhere/x.png", "rod --picture /nowhere/x.png --at 0"),
            (4, "/nowhere/x.csv", "rod --csv /nowhere/x.csv"),
            (4, "/nowhere/x.mp4", "rod --record /nowhere/x.mp4 --duration 0.1"),
            (4, "/dev/full", "rod --csv /dev/full"),
            # a model that the engine cannot step ends with a line and a code, not with a wrong film
            (5, "unstable", "unstable.xml --csv x.csv --duration 2"),
        ):
            with self.subTest(line):
                self.refused(code, words, *line.split())

    def test_environment(self):
        """What is missing is named, with the package to install."""
        broken = {"__EGL_VENDOR_LIBRARY_FILENAMES": "/nowhere.json"}
        self.refused(2, "libmjgear.so", "rod", "--csv", "x.csv", MJGEAR_PLUGIN="/nowhere/libmjgear.so")
        self.refused(4, "install ffmpeg", "rod", "--record", "x.mp4", PATH="/nowhere")
        self.refused(3, "OpenGL libegl1", "rod", "--picture", "x.png", **broken)


if __name__ == "__main__":
    unittest.main(verbosity=2)
