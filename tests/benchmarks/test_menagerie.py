"""Robots in the shapes of the Menagerie's, drawn here: with gears on all joints with motors each step is solved and keeps the law.

benchmarks/robots/menagerie.py runs; it checks with the velocities of the engine."""

import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest

import mujoco

sys.path.insert(0, os.path.join(os.environ["MJGEAR_SOURCE_DIR"], "benchmarks", "robots"))
import menagerie

FLOOR = '<geom type="plane" size="9 9 .1"/>'


def link(length, size=0.03, mass=0.5):
    return f'<geom type="capsule" fromto="0 0 0 0 0 {length}" size="{size}" mass="{mass}"/>'


def limb(name, axes, length, mass=0.5, end="", limits="-1.5 1.5"):
    """Links on hinges one behind the other, along z."""
    text = end
    for k, axis in reversed(list(enumerate(axes))):
        text = f"""<body pos="0 0 {length if k else 0}"><joint name="{name}{k}" axis="{axis}" range="{limits}" armature=".01" damping=".05"/>
          {link(length, abs(length) / 8, mass)}{text}</body>"""
    return text


def joints(text):
    return [part.split('"')[0] for part in text.split('<joint name="')[1:]]


def robot(body, actuators, more="", option='timestep=".002"'):
    return f"""<mujoco><option {option}/><default><geom condim="3" friction=".8"/></default><worldbody>{FLOOR}{body}</worldbody>{more}
      <actuator>{actuators}</actuator></mujoco>"""


def motors(names, line='<position joint="{}" kp="30" kv="1" ctrlrange="-1 1" forcerange="-20 20"/>'):
    return "".join(line.format(name) for name in names)


X, Y, Z = "1 0 0", "0 1 0", "0 0 1"


def arm():
    body = f'<body pos="0 0 .1">{limb("a", (Z, Y, Y, Z, Y, Z), 0.2)}</body>'
    return robot(body, motors(joints(body)))


def quadruped():
    legs = "".join(
        f'<body pos="{x} {y} 0">{limb(f"leg{x}{y}", (X, Y, Y), -0.12, 0.3)}</body>'
        for x in (-0.2, 0.2)
        for y in (-0.1, 0.1)
    )
    return robot(
        f'<body pos="0 0 .4"><freejoint/><geom type="box" size=".2 .1 .05" mass="5"/>{legs}</body>',
        motors(joints(legs)),
    )


def humanoid():
    legs = "".join(f'<body pos="0 {y} 0">{limb(f"leg{y}", (X, Z, Y, Y, Y, X), -0.15, 1)}</body>' for y in (-0.1, 0.1))
    arms = "".join(f'<body pos="0 {y} .4">{limb(f"arm{y}", (X, Y, Y), -0.2, 0.7)}</body>' for y in (-0.25, 0.25))
    body = f'<body pos="0 0 1"><freejoint/><geom type="box" size=".1 .15 .1" mass="8"/>{legs}<body><joint name="waist" axis="{Z}" armature=".01"/>'
    body += f'<geom type="box" size=".1 .2 .2" pos="0 0 .25" mass="10"/>{arms}</body></body>'
    return robot(body, motors(joints(body), '<motor joint="{}" ctrlrange="-40 40"/>'))


def hand():
    fingers = "".join(
        f'<body pos="0 {y} .02">{limb(f"f{y}", (X, Y, Y, Y), 0.04, 0.03, limits="-.3 1.6")}</body>'
        for y in (-0.05, 0, 0.05)
    )
    body = f'<body pos="0 0 .2"><geom type="box" size=".02 .08 .02" mass=".3"/>{fingers}</body>'
    ball = '<body pos=".05 0 .35"><freejoint/><geom size=".04" mass=".1"/></body>'
    return robot(
        body + ball,
        motors(joints(body), '<position joint="{}" kp="3" kv=".1" ctrlrange="-.3 1.6"/>'),
        option='timestep=".002" cone="elliptic" impratio="10"',
    )


def gripper_with_linkage():
    side = (
        '<body pos="{0} 0 .02"><joint name="driver{0}" axis="0 {1} 0" armature=".005" damping=".1" range="0 .9"/>'
        + link(0.06, 0.008, 0.05)
    )
    side += '<body pos="0 0 .06"><joint axis="0 1 0" damping=".01"/><geom type="box" size=".005 .01 .03" pos="0 0 .03" mass=".03"/><site name="pad{0}" pos="0 0 .01"/></body></body>'
    side += (
        '<body pos="{2} 0 .02"><joint axis="0 1 0" damping=".01"/>'
        + link(0.06, 0.004, 0.02)
        + '<site name="bar{0}" pos="0 0 .06"/></body>'
    )
    body = (
        '<body pos="0 0 .1"><geom type="box" size=".05 .02 .01" mass=".3"/>'
        + side.format(0.03, 1, 0.02)
        + side.format(-0.03, -1, -0.02)
        + "</body>"
    )
    body = body.replace("<geom ", '<geom contype="0" conaffinity="0" ')
    more = """<equality><joint joint1="driver0.03" joint2="driver-0.03" solref=".005 1"/><connect site1="pad0.03" site2="bar0.03" solref=".005 1"/>
      <connect site1="pad-0.03" site2="bar-0.03" solref=".005 1"/></equality>
      <tendon><fixed name="split"><joint joint="driver0.03" coef=".5"/><joint joint="driver-0.03" coef=".5"/></fixed></tendon>"""
    return robot(body, '<position tendon="split" kp="20" kv="1" ctrlrange="0 .8" forcerange="-5 5"/>', more)


def mobile_base():
    wheel = '<body pos="{0} {1} -.05"><joint name="wheel{0}{1}" axis="0 1 0" armature=".01"/><geom type="cylinder" size=".06 .02" euler="90 0 0" mass=".5"/></body>'
    wheels = "".join(wheel.format(x, y) for x in (-0.15, 0.15) for y in (-0.15, 0.15))
    mast = '<body><joint name="lift" type="slide" axis="0 0 1" range="0 .3" armature="2"/><geom type="box" size=".03 .03 .2" pos="0 0 .2" mass="1"/>'
    mast += '<body pos="0 0 .3"><joint name="reach1" type="slide" axis="1 0 0" range="0 .2" armature="1"/><geom type="box" size=".1 .02 .02" mass=".4"/>'
    mast += '<body><joint name="reach2" type="slide" axis="1 0 0" range="0 .2"/><geom type="box" size=".1 .01 .01" mass=".2"/></body></body></body>'
    body = f'<body pos="0 0 .15"><freejoint/><geom type="box" size=".2 .12 .03" mass="8"/>{wheels}{mast}</body>'
    telescope = "<equality><joint joint1='reach2' joint2='reach1'/></equality>"
    servos = motors(
        ("lift", "reach1"), '<position joint="{}" kp="2000" kv="100" ctrlrange="0 .2" forcerange="-200 200"/>'
    )
    return robot(
        body.replace('<geom type="box"', '<geom contype="0" type="box"'),
        motors(joints(wheels), '<velocity joint="{}" kv="2" ctrlrange="-5 5"/>') + servos,
        telescope,
    )


def tendon_hand():
    """Fingers that ropes over sites close and one motor for two joints bends; springs open them."""
    finger = (
        '<body pos="0 {0} .02"><joint name="base{0}" axis="0 1 0" range="-.2 1.5" armature=".001" stiffness=".2" damping=".01"/>'
        + link(0.05, 0.008, 0.03)
    )
    finger += (
        '<site name="s{0}" pos=".01 0 .03"/><body pos="0 0 .05"><joint name="mid{0}" axis="0 1 0" range="0 1.5" armature=".001" damping=".01"/>'
        + link(0.03, 0.007, 0.02)
    )
    finger += (
        '<body pos="0 0 .03"><joint name="tip{0}" axis="0 1 0" range="0 1.5" armature=".001" damping=".01"/>'
        + link(0.03, 0.006, 0.01)
        + "</body></body></body>"
    )
    places = (-0.03, 0, 0.03)
    fingers = "".join(f'<site name="o{y}" pos=".02 {y} 0"/>{finger.format(y)}' for y in places)
    body = f'<body pos="0 0 .3"><geom type="box" size=".02 .06 .02" mass=".3"/>{fingers}</body>'
    tendons = "".join(
        f'<spatial name="rope{y}"><site site="o{y}"/><site site="s{y}"/></spatial><fixed name="j0{y}"><joint joint="mid{y}" coef="1"/><joint joint="tip{y}" coef="1"/></fixed>'
        for y in places
    )
    pulls = "".join(
        f'<motor tendon="rope{y}" ctrlrange="-5 0"/><position tendon="j0{y}" kp="1" kv=".02" ctrlrange="0 2"/><motor joint="base{y}" ctrlrange="-.1 .1"/>'
        for y in places
    )
    return robot(body, pulls, f"<tendon>{tendons}</tendon>")


def drone_with_an_arm():
    places = [(x, y) for x in (-0.2, 0.2) for y in (-0.2, 0.2)]
    sites = "".join(f'<site name="jet{x}{y}" pos="{x} {y} 0"/>' for x, y in places)
    jets = "".join(
        f'<motor site="jet{x}{y}" gear="0 0 1 0 0 {0.02 if x * y > 0 else -0.02}" ctrlrange="3 9"/>' for x, y in places
    )
    limbs = limb("arm", (Y, Y, X, Y), -0.12, 0.1)
    return robot(
        f'<body pos="0 0 2"><freejoint/><geom type="box" size=".2 .2 .02" mass="1.5"/>{sites}{limbs}</body>',
        jets + motors(joints(limbs)),
        option='timestep=".002" density="1.2" viscosity="1.8e-5"',
    )


def biped_with_rods():
    """Legs with springs and a rod that closes a loop over the knee."""
    leg = '<body pos="0 {0} 0"><joint name="roll{0}" axis="1 0 0" range="-.4 .4" armature=".04" damping=".5"/>' + link(
        -0.05, 0.03, 1
    )
    leg += (
        '<body pos="0 0 -.05"><joint name="hip{0}" axis="0 1 0" range="-1 1" armature=".09" damping=".5"/>'
        + link(-0.3, 0.03, 2)
        + '<site name="rod{0}" pos=".05 0 -.02"/>'
    )
    leg += '<body pos="0 0 -.3"><joint name="knee{0}" axis="0 1 0" range="-1 1.5" armature=".09" damping=".5"/>' + link(
        -0.1, 0.03, 0.7
    )
    leg += (
        '<body pos="0 0 -.1"><joint name="shin{0}" axis="0 1 0" stiffness="900" damping="1" range="-.2 .2"/>'
        + link(-0.25, 0.02, 0.5)
        + '<site name="heel{0}" pos=".05 0 -.2"/>'
    )
    leg += '<body pos="0 0 -.25"><joint name="foot{0}" axis="0 1 0" range="-1 1" armature=".01"/><geom type="box" size=".08 .03 .01" mass=".2"/></body></body></body></body></body>'
    body = f'<body pos="0 0 .75"><freejoint/><geom type="box" size=".1 .1 .1" mass="10"/>{leg.format(0.12)}{leg.format(-0.12)}</body>'
    rods = "".join(
        f'<spatial name="t{y}" range="0 .9" limited="true" stiffness="200" springlength=".55"><site site="rod{y}"/><site site="heel{y}"/></spatial>'
        for y in (0.12, -0.12)
    )
    names = [name for name in joints(body) if not name.startswith("shin")]
    return robot(
        body,
        motors(names, '<motor joint="{}" gear="16" ctrlrange="-2 2"/>'),
        f"<tendon>{rods}</tendon>",
        'timestep=".001" cone="elliptic"',
    )


def walker_with_adhesion():
    """Six legs with feet that stick to the ground, like a fly's."""
    foot = '<body name="{0}" pos="0 0 -.1"><geom size=".015" mass=".02"/></body>'
    legs = "".join(
        f'<body pos="{x} {y} 0">{limb(f"leg{x}{y}", (X, Y), -0.1, 0.05, foot.format(f"foot{x}{y}"))}</body>'
        for x in (-0.1, 0, 0.1)
        for y in (-0.06, 0.06)
    )
    feet = [f"foot{x}{y}" for x in (-0.1, 0, 0.1) for y in (-0.06, 0.06)]
    stick = motors(feet, '<adhesion body="{}" gain="3" ctrlrange="0 1"/>')
    return robot(
        f'<body pos="0 0 .22"><freejoint/><geom type="box" size=".12 .04 .02" mass=".5"/>{legs}</body>',
        stick + motors(joints(legs), '<position joint="{}" kp="2" kv=".05" ctrlrange="-.6 .6"/>'),
    )


DRAWN = (
    arm,
    quadruped,
    humanoid,
    hand,
    gripper_with_linkage,
    mobile_base,
    tendon_hand,
    drone_with_an_arm,
    biped_with_rods,
    walker_with_adhesion,
)


class Drawn(unittest.TestCase):
    def test_each_step_is_solved_and_keeps_the_law(self):
        with tempfile.TemporaryDirectory() as folder:
            for draw in DRAWN:
                with self.subTest(draw.__name__):
                    path = pathlib.Path(folder) / f"{draw.__name__}.xml"
                    path.write_text(draw(), encoding="utf-8")
                    head, *rows = menagerie.measure(path, 100)
                    self.assertGreaterEqual(head.get("joints", 0), 2, head)
                    self.assertEqual(
                        [(row["integrator"], row["kind"]) for row in rows],
                        [(a, b) for a in menagerie.INTEGRATORS for b in menagerie.KINDS],
                    )
                    for row in rows:
                        self.assertEqual(
                            (row["unsolved"], row["silent"], row["diverged"], row["unchecked"], row["steps"]),
                            (0, 0, row["plain_diverged"], "", 100),
                            row,
                        )


ODD = """<mujoco><option noslip_iterations="3"/><asset><mesh name="here" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/>{0}</asset><worldbody>
  <body name="upper"><joint name="a" axis="0 1 0"/><geom type="mesh" mesh="here" contype="0" conaffinity="0"/><body name="lower" pos=".1 0 0">
  <joint name="b" axis="0 1 0"/>{1}</body></body></worldbody><actuator><motor joint="a"/><motor joint="b"/></actuator></mujoco>"""


class Command(unittest.TestCase):
    def test_a_folder(self):
        """The table lists refusals, remedies that load, missing meshes and inertia, and models without joints to gear."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            inertia = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
            for robot_name, of_lower in (("text", "{}"), ("given", inertia + "{}")):
                (folder / robot_name).mkdir()
                text = ODD.format(
                    '<mesh name="lost" file="lost.stl"/>', of_lower.format('<geom type="mesh" mesh="lost"/>')
                )
                (folder / robot_name / "robot.xml").write_text(text, encoding="utf-8")
            (folder / "whole.xml").write_text(ODD.format("", '<geom size=".05"/>'), encoding="utf-8")
            (folder / "idle").mkdir()
            (folder / "idle" / "scene.xml").write_text(
                "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>", encoding="utf-8"
            )
            out, table = io.StringIO(), folder / "out" / "table.md"
            table.parent.mkdir()
            before = sys.argv
            sys.argv = [
                "menagerie.py",
                "--folder",
                name,
                "--steps",
                "20",
                "--json",
                str(folder / "out/rows.json"),
                "--table",
                str(table),
                "--fail",
            ]
            try:
                with contextlib.redirect_stdout(out):
                    self.assertEqual(menagerie.main(), 0, out.getvalue() + table.read_text())
            finally:
                sys.argv = before
            lines = {line.split("|")[1].strip(): line for line in out.getvalue().splitlines()}
            self.assertIn("no actuated hinge or slide", lines["idle"])
            self.assertRegex(lines["text"], "1 of its meshes .*; inertia of balls: lower")
            self.assertRegex(lines["given"], "1 of its meshes .*; inertia of the file")
            self.assertIn("inertia of 1 body from meshes: upper", lines["whole"])
            for line in (lines["text"], lines["given"], lines["whole"]):
                self.assertRegex(
                    line, r"\| 240 \| 0 \| 0 \| .*refused: .*noslip_iterations.*; remedy noslip_iterations 0: loads"
                )
            text = table.read_text(encoding="utf-8")
            self.assertIn(lines["whole"], text)
            self.assertEqual(len(json.loads((folder / "out/rows.json").read_text())), 4)

    def test_inertia_stays(self):
        """A robot without its meshes moves as with them."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "robot.xml"
            path.write_text(ODD.format("", '<geom size=".05"/>'), encoding="utf-8")
            full, light = mujoco.MjModel.from_xml_path(str(path)), menagerie.read(path)[0].compile()
            self.assertEqual((full.ngeom, light.ngeom, light.nmesh), (2, 1, 0))
            ends = []
            for model in (full, light):
                data = mujoco.MjData(model)
                data.ctrl[:] = 0.3
                mujoco.mj_step(model, data, 200)
                ends.append(data.qpos.copy())
            self.assertLess(abs(ends[0] - ends[1]).max(), 1e-9)


if __name__ == "__main__":
    unittest.main()
