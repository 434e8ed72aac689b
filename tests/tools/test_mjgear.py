"""The command line tool: its answers against formulas written here, every refusal, the generated page."""

import json
import math
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import mujoco

TOOL = sys.argv[1]
SOURCE = os.environ["MJGEAR_SOURCE_DIR"]


def run(*arguments):
    result = subprocess.run([TOOL, *arguments], capture_output=True, text=True, check=False)
    return result.returncode, result.stdout, result.stderr


def ask(*arguments, code=0):
    status, out, err = run(*arguments, "--json")
    assert status == code, f"{arguments}: {status} {out} {err}"
    return json.loads(out)


def near(value, expected, tolerance=1e-12):
    assert abs(value - expected) <= tolerance * max(1, abs(expected)), f"{value}, not {expected}"


def test_explain():
    facts = ask(
        "explain",
        "type=worm",
        "lead_angle=5deg",
        "pressure_angle=20deg",
        "mu=0.1",
        "armature=200gcm2",
        "inertia=3",
        "load=10",
    )
    rho = math.atan(0.1 / math.cos(math.radians(20)))
    lead = math.radians(5)
    eta_f, eta_b = math.tan(lead) / math.tan(lead + rho), math.tan(lead - rho) / math.tan(lead)
    near(facts["eta_forward"], eta_f)
    near(facts["eta_backward"], eta_b)
    near(facts["eta_forward"], 0.447, 5e-4)
    near(facts["eta_backward"], -0.214, 5e-4)
    near(facts["motor_torque_raises"], 10 / eta_f)
    near(facts["motor_torque_lowers"], 10 * eta_b)
    near(facts["apparent_inertia_forward"], eta_f * 2e-5 + 3)
    assert facts["apparent_inertia_backward"] is None
    assert facts["load_torque_starts_motor_off"] is None
    assert not facts["backdrivable"] and facts["forward_drivable"]

    text = run(
        "explain",
        "type=efficiency",
        "eta_forward=0.6",
        "eta_backward=-0.2",
        "coulomb=2",
        "armature=0.1",
        "viscous=0.3",
        "inertia=3",
        "backlash=exact",
        "half_gap=1deg",
        "stiffness=1000",
    )[1]
    for line in (
        "friction 2 N m sliding, 2 N m at rest",
        "from -3 to 3.22222 N m",
        "unloaded: 2.8 N m; load alone",
        "0.1 kg m2 at the output",
        "3.06 kg m2 if the motor drives",
        "0.3 N m/(rad/s)",
        "half_gap 0.0174533 rad, stiffness 1000 N m/rad",
        # the law and the rule of thumb do not contradict each other
        "NON-BACKDRIVABLE (self-locking)",
        "for 0.6 it would not, wrongly. Its backward efficiency, -0.2, decides",
    ):
        assert line in text, line
    slide = run("explain", "acme_screw", "coulomb=3", "armature=2", "viscous=1")[1]
    assert "3 N sliding" in slide and "2 kg at the output" in slide and "1 N s/m" in slide and "N m" not in slide, slide
    assert "rule of thumb" not in run("explain", "eta_forward=0.4", "eta_backward=-0.2")[1]

    text = run("explain", "worm")[1]
    for word in ("NON-BACKDRIVABLE", "0.446989", "-0.214365", "Assumed: lead angle 5 deg"):
        assert word in text, word


def test_convert():
    """There and back through every description, to 1e-12."""
    start = ["eta_forward=0.6", "eta_backward=0.4", "coulomb=2", "static_ratio=1.1"]
    extra = {"worm": ["pressure_angle=0.3"]}
    for middle in ("coefficients", "efficiency", "starting", "leadscrew", "worm"):
        there = ask("convert", middle, *start, *extra.get(middle, []))
        back = ask("convert", "efficiency", *(f"{k}={v!r}".replace("'", "") for k, v in there.items()))
        near(back["eta_forward"], 0.6)
        near(back["eta_backward"], 0.4)
        near(back["coulomb"], 2)

    spur = ["type=spur", "radius_in=20mm", "radius_out=50mm", "pressure_angle=20deg", "mu=0.1", "contact=9mm"]
    there = ask("convert", "efficiency", *spur)
    back = ask(
        "convert",
        "spur",
        *(f"{k}={v!r}" for k, v in there.items() if k != "type"),
        "pressure_angle=20deg",
        "mu=0.1",
        "radius_in=20mm",
    )
    near(back["radius_out"], 0.05)
    near(back["contact"], 0.009)
    assert ask("convert", "starting", "worm", code=1)["problems"] == [
        "without load-independent friction there is no starting torque; describe it as type efficiency"
    ]


def test_refusals():
    problems = ask("explain", "eta_foward=0.8", "coulomb=x", "foo", "mu=1mm", "type=helix", "zzz=1", code=1)["problems"]
    for word in (
        "did you mean eta_forward",
        "coulomb = 'x' is not a number",
        "'foo' is neither",
        "unit 'mm' does not fit",
        "type = 'helix' is unknown",
        "'mjgear keys' lists all",
    ):
        assert sum(word in line for line in problems) == 1, f"{word}: {problems}"
    assert "eta_forward = 1.2" in run("explain", "eta_forward=1.2")[2]
    assert run("explain")[0] == 1
    for usage in ([], ["dance"], ["explain", "worm", "--loud"], ["convert"], ["draw", "x.png", "worm"], ["check"]):
        status, _, err = run(*usage)
        assert status == 2 and "usage:" in err, usage
    status, _, err = run("draw", "/nowhere/x.svg", "worm")
    assert status == 1 and "cannot write" in err


def test_help():
    """Each command has its own help; misspelt words are named, with the likely one."""
    usage = run("--help")[1]
    for command in ("explain", "convert", "mjcf", "draw", "check", "presets", "keys"):
        assert f"mjgear {command} " in usage
        status, out, err = run(command, "--help")
        assert status == 0 and out.startswith(f"usage: mjgear {command}") and not err, command
    for arguments, line in (
        (["explane", "worm"], "unknown command 'explane'; did you mean explain"),
        (["explain", "worm", "--jsn"], "unknown option '--jsn'; did you mean --json"),
        (["explain", "worm", "--joint", "x"], "--joint is no option of this command"),
        (["mjcf", "worm", "--joint"], "option '--joint' needs a value"),
        (["mjcf", "worm", "--joint", ""], "--joint: the name is empty"),
        (
            ["check", "-x.xml"],
            "unknown option '-x'; --help lists all, and a file whose name begins with - stands behind --",
        ),
        (["presets", "foo"], "presets takes no 'foo'; 'mjgear explain PRESET' tells about one"),
        (["keys", "foo"], "keys takes no 'foo'"),
        (["explain", "worm", "--json=3"], "option '--json=3' takes no value"),
    ):
        status, _, err = run(*arguments)
        assert status == 2 and line in err.splitlines()[0], err
    for word, line in (
        ("wrom", "did you mean worm"),
        ("harmonic_dirve", "did you mean harmonic_drive"),
        ("backlash=exat", "did you mean exact"),
        ("half_gap=1deg", "write backlash=exact"),
    ):
        assert line in run("explain", word if "=" not in word else "worm", *([word] if "=" in word else []))[2], word
    types = re.search("write (.*)", run("explain", "type=helix")[2])[1].replace(" or ", ", ").split(", ")
    assert len(types) == 11
    for name in types:
        assert name in run("convert", "--help")[1], name
    version = re.search(r"project\(mjgear VERSION ([0-9.]+)", pathlib.Path(SOURCE, "CMakeLists.txt").read_text())[1]
    assert run("--version")[1] == f"mjgear {version}, MuJoCo {mujoco.mj_versionString()}\n"


def test_ranges_in_the_unit_that_was_written():
    screw = ["type=leadscrew", "mu=0.1"]
    assert (
        "lead_angle = 95deg is out of range; write a value below 90deg" in run("explain", *screw, "lead_angle=95deg")[2]
    )
    assert "write 0.785398 for 45 degrees" in run("explain", *screw, "lead_angle=45")[2]


def test_slides():
    """A screw moves a slide: forces in N."""
    assert "under a load of 20 N it stands still for motor forces from" in run("explain", "acme_screw", "load=20")[1]
    assert "N m" in run("explain", "worm")[1]


def test_presets():
    presets = ask("presets")
    assert len(presets) > 20
    for preset in presets:
        facts = ask("explain", preset["name"])
        assert facts["gamma_v"] == preset["facts"]["gamma_v"]
        assert preset["source"]
    text = ""
    for name, words in (("doc/presets.md", []), ("doc/records/servos.md", ["servos"])):
        with open(os.path.join(SOURCE, name), encoding="utf-8") as page:
            text += page.read()
        assert text.endswith(run("presets", "--markdown", *words)[1]), (
            f"{name} is old: mjgear presets --markdown {' '.join(words)} > {name}"
        )
    for preset in presets:
        assert len(re.findall(rf"^\| `{preset['name']}` \|", text, re.MULTILINE)) == 1, preset["name"]
    assert run("presets", "servos")[0] and run("presets", "--markdown", "servo")[0]


def test_keys():
    keys = {key["name"]: key for key in ask("keys")}
    assert keys["lead_angle"]["unit"] == "rad" and keys["armature"]["engine"]


def test_drive_train():
    """Backstops, ratchets, tables, brakes, clutches, gaps on tendons: keys, effects, and one line for each mistake."""
    tables = {
        f"{what}_{over}"
        for what, over in (
            ("coulomb", "speed"),
            ("coulomb", "temperature"),
            ("gamma", "torque"),
            ("gamma", "speed"),
            ("gamma", "temperature"),
        )
    }
    assert tables | {"oneway", "tooth_pitch", "tooth_phase", "temperature", "slip_torque", "freewheel"} <= {
        key["name"] for key in ask("keys")
    }
    gear = ["gamma_u=0.1", "gamma_v=0.2", "coulomb=1"]
    assert "turns backward only" in run("explain", *gear, "oneway=-1")[1]
    ratchet = run("mjcf", *gear, "oneway=1", "tooth_pitch=5deg")[1]
    assert (
        '<config key="oneway" value="1"/>' in ratchet
        and f'<config key="tooth_pitch" value="{math.radians(5):.5g}' in ratchet
    ), ratchet
    cold = run("explain", *gear, "temperature=0", "coulomb_temperature=0 3 40 1")[1]
    near(float(re.search(r"motor alone, unloaded: ([\d.]+)", cold)[1]), 3 / (1 - 0.1), 1e-5)  # u = 0.1 u + 3
    for words, line in (
        (["oneway=0.3"], "oneway = 0.3 is no direction"),
        (["oneway=2"], "out of range"),
        (["tooth_pitch=0.1"], "tooth_pitch has no effect"),
        (["temperature=20"], "temperature has no effect"),
        (["gamma_torque=0 1 5"], "without a factor"),
        (["coulomb_speed=-1 2 5 3"], "begins below 0"),
    ):
        status, out, errors = run("explain", *gear, *words)
        assert status and not out and line in errors and errors.count("\n") == 1, errors

    # in a model
    brake = ask("check", os.path.join(SOURCE, "scenes/drive/brake.xml"))["joints"][0]
    assert (brake["holding_torque"], brake["sliding_torque"]) == (110, 95)
    config = {
        "tendon": "t",
        "gamma_u": 0,
        "gamma_v": 0.1,
        "backlash": "exact",
        "half_gap": 0.01,
        "stiffness": 100,
        "rotor_inertia": 0.3,
    }
    keys = "".join(f"<config key='{key}' value='{value}'/>" for key, value in config.items())
    bodies = "<body><joint name='a' type='slide'/><geom size='.1'/><body><joint name='b' type='slide'/><geom size='.1'/><site name='y'/></body></body>"
    fixed = "<fixed name='t'><joint joint='a' coef='1'/><joint joint='b' coef='1'/></fixed>"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "differential.xml")
        for tendon in (fixed, "<spatial name='t'><site site='x'/><site site='y'/></spatial>"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(
                    f"<mujoco><extension><plugin plugin='mjgear.transmission'><instance name='g'>{keys}</instance></plugin></extension>"
                    f"<worldbody><site name='x'/>{bodies}</worldbody><tendon>{tendon}</tendon><actuator><motor tendon='t'/></actuator></mujoco>"
                )
            if tendon == fixed:
                gap = ask("check", path)["joints"][0]
                assert (gap["tendon"], gap["backlash"], gap["half_gap"], gap["armature"]) == (
                    "t",
                    "exact",
                    0.01,
                    0.3,
                ), gap
            else:
                problems = ask("check", path, code=1)["problems"]
                assert (
                    len(problems) == 1 and "only fixed ones have backlash" in problems[0] and "\n" not in problems[0]
                ), problems


def model(text, joint="elbow"):
    """A model around the tool's output."""
    parts = text.split("\n\n")
    return f"""<mujoco>{parts[0]}<worldbody><body>{parts[1]}<geom size=".1" pos=".3 0 0"/></body>
        </worldbody>{parts[2] if len(parts) > 2 else f'<actuator><motor joint="{joint}"/></actuator>'}
        </mujoco>"""


def test_mjcf():
    """Printed MJCF loads, with the plugin, for every preset."""
    mujoco.mj_loadPluginLibrary(os.environ["MJGEAR_PLUGIN_PATH"])
    for preset in ask("presets"):
        status, out, err = run("mjcf", preset["name"], "--joint", "elbow")
        assert status == 0, err
        m = mujoco.MjModel.from_xml_string(model(out))
        d = mujoco.MjData(m)
        mujoco.mj_step(m, d, 10)
        near(m.dof_armature[0], preset["facts"]["armature"])
        near(m.dof_damping[0], preset["facts"]["viscous"])


def test_names_in_mjcf():
    """For any name of a joint the lines to paste are XML, and the engine finds that joint."""
    for name in ('a"b', "a<b>&c", "two words", "it's", "it's two", "'quoted'", "&amp;", "x" * 300, "tab\there"):
        shown = name.replace("\t", "")
        status, out, err = run("mjcf", "worm", "armature=0.1", "--joint", name)
        assert status == 0, err
        lines = out[out.index("<extension>") :]
        joint = re.search("<joint[^>]*/>", lines).group()
        extension = lines[: lines.index("</extension>") + len("</extension>")]
        model = mujoco.MjModel.from_xml_string(
            f'<mujoco>{extension}<worldbody><body>{joint}<geom size=".1"/></body></worldbody></mujoco>'
        )
        assert model.joint(shown).id == 0 and model.nplugin == 1, name
        assert xml.etree.ElementTree.fromstring(extension).find(".//instance").get("name") == f"{shown}_gear", name


def test_mjcf_of_several_joints_and_gaps():
    words = [
        "harmonic_drive",
        "backlash=exact",
        "half_gap=1deg",
        "stiffness=1e4",
        "--joint",
        "left",
        "--joint",
        "right",
    ]
    text = run("mjcf", *words)[1]
    assert '<config key="joint" value="left right"/>' in text and '<instance name="gears">' in text
    assert '<config key="backlash" value="exact"/>' in text and "<!-- rotor_inertia: write" in text
    assert text.count("<joint name=") == 2 and "armature" not in text
    assert '<config key="rotor_inertia" value="0.25"/>' in run("mjcf", *words, "armature=0.25")[1]

    # all numbers of a gap, each under its own name, where its law uses it
    text = run("mjcf", *words, "rotor_inertia=0.5")[1]
    assert '<config key="rotor_inertia" value="0.5"/>' in text and "write" not in text
    clutch = run(
        "mjcf", "worm", "backlash=torsion", "stiffness=100", "slip_torque=30Nm", "freewheel=1", "rotor_inertia=0.5"
    )[1]
    for key, value in (("slip_torque", "30"), ("freewheel", "1"), ("rotor_inertia", "0.5")):
        assert f'<config key="{key}" value="{value}"/>' in clutch, clutch
    assert "backlash 'exact' does not use slip_torque; leave it out" in run("explain", *words[:4], "slip_torque=3")[2]
    assert {"slip_torque", "freewheel", "rotor_inertia"} <= {key["name"] for key in ask("keys")}

    # a slide; the output asks for the armature, which the preset lacks
    text = run("mjcf", "acme_screw", "--joint", "nut")[1]
    assert '<joint name="nut" type="slide"/>' in text and "<!-- armature: write the motor's inertia" in text
    text = run("mjcf", "mx64_m1", "--joint", "elbow")[1]
    assert "<!-- armature" not in text and ' armature="0.0119512"' in text

    answer = ask("mjcf", *words)
    assert [joint["name"] for joint in answer["joints"]] == ["left", "right"] and answer["backlash"] == "exact"
    assert ask("mjcf", "acme_screw")["joints"] == [{"name": "joint", "type": "slide", "armature": 0, "damping": 0}]


def test_check_warns_of_the_wrong_kind_of_joint():
    """A screw on a hinge and a worm on a slide load, and are warned about."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.xml")
        for preset, kind, warned in (
            ("acme_screw", "hinge", True),
            ("acme_screw", "slide", False),
            ("worm", "slide", True),
            ("worm", "hinge", False),
        ):
            text = model(run("mjcf", preset, "--joint", "elbow")[1].replace(' type="slide"', ""))
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace('<joint name="elbow"', f'<joint name="elbow" type="{kind}"'))
            joint = ask("check", path)["joints"][0]
            assert ("warning" in joint) == warned, (preset, kind, joint)
            assert ("WARNING" in run("check", path)[1]) == warned


BROKEN = """<mujoco>
  <option integrator="RK4"/>
  <extension><plugin plugin="mjgear.transmission">
    <!-- <config key="not_a_key" value="1"/> -->
    <instance name="arm"><config key="joint" value="j1 elbow"/><config key="gama_u" value="0.1"/>
      <config key="eta_forward" value="-0.3"/></instance>
    <instance name="leg"><config key="joint" value="j2"/><config key='columb' value='1'/>
      <config key="type" value="worm"/><config key="lead_angle" value="5"/><config key="mu" value="a"/>
    </instance></plugin></extension>
  <worldbody><body><joint name="j1" axis="0 1 0"/><geom size=".1"/>
    <body><joint name="j2" axis="0 1 0"/><geom size=".1" pos=".5 0 0"/></body></body></worldbody>
  <actuator><motor joint="j1"/></actuator>
</mujoco>"""


def test_check():
    """A wrong MJCF gets all its errors in one run."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "broken.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(BROKEN)
        problems = ask("check", path, code=1)["problems"]
        for word in (
            "'arm': unknown key 'gama_u'; did you mean gamma_u",
            "'leg': unknown key 'columb'; did you mean coulomb",
            "joint 'elbow' is not in the model",
            "joint 'j1': eta_forward = -0.3",
            "key 'mu': 'a' is not a number",
            "RK4",
        ):
            assert sum(word in line for line in problems) == 1, f"{word}: {problems}"
        assert len(problems) == 6, problems
        text = run("check", path)[1]
        assert text.count("\n") == 7 and "6 problems" in text

        # a file that is not MJCF, and a missing one
        with open(path, "w", encoding="utf-8") as file:
            file.write("<mujoco><worldbody>")
        assert "the engine reads no further" in ask("check", path, code=1)["problems"][0]
        assert ask("check", path + "x", code=1)["problems"]

        # a valid one: forecast for its joints
        good = BROKEN.replace("RK4", "Euler").replace(" elbow", "").replace("gama_u", "ratio")
        good = good.replace("-0.3", "0.8").replace("'columb'", "'coulomb'").replace('"a"', '"0.1"')
        good = good.replace('"5"', '"0.08726646259971647"').replace(
            '<config key="mu"', '<config key="pressure_angle" value="0.3490658503988659"/><config key="mu"'
        )
        with open(path, "w", encoding="utf-8") as file:
            file.write(good)
        answer = ask("check", path)
        assert not answer["problems"]
        left = [line for line in answer["warnings"] if "is left behind" in line]
        assert len(left) == good.count("<instance")

        # the first gear has neither a rotor nor constant friction, the second locks and has no motor
        idle = [line for line in answer["warnings"] if line not in left]
        assert (
            len(idle) == 2
            and "joint 'j1': the gear has neither rotor inertia" in idle[0]
            and "joint 'j2': the gear cannot be driven back" in idle[1]
        )
        assert run("check", path)[1].count("warning: ") == len(answer["warnings"])
        first, second = answer["joints"]
        assert first["joint"] == "j1" and second["joint"] == "j2"
        near(first["eta_forward"], 0.8)
        near(second["eta_forward"], 0.446989, 1e-5)
        assert second["first_pose_stands"] and not first["first_pose_stands"]
        m = mujoco.MjModel.from_xml_path(path)
        d = mujoco.MjData(m)
        mujoco.mj_step(m, d)
        assert d.qvel[1] == 0 and d.qvel[0] != 0

        # instances that a body references travel with it
        names = re.findall('<instance name="(.*?)"', good)
        homes = "".join(
            f'<body><plugin plugin="mjgear.transmission" instance="{name}"/><geom size="1"/></body>' for name in names
        )
        with open(path, "w", encoding="utf-8") as file:
            file.write(good.replace("<worldbody>", "<worldbody>" + homes))
        assert ask("check", path)["warnings"] == idle

        # with backlash, right and wrong
        gap = """<config key="backlash" value="exact"/><config key="half_gap" value="0.01"/>
            <config key="stiffness" value="1e4"/><config key="rotor_inertia" value="0.3"/>"""
        with open(path, "w", encoding="utf-8") as file:
            file.write(good.replace('<config key="ratio"', gap + '<config key="ratio"'))
        first, second = ask("check", path)["joints"]
        assert first["backlash"] == "exact" and "backlash" not in second
        near(first["half_gap"], 0.01)
        near(first["armature"], 0.3)
        assert "behind a rotor of its own" in run("check", path)[1]
        with open(path, "w", encoding="utf-8") as file:
            file.write(good.replace('<config key="ratio"', gap.replace('"0.01"', '"-1"') + '<config key="ratio"'))
        assert any("half_gap" in line for line in ask("check", path, code=1)["problems"])


def limited(size=0):
    """A disk that is full after so many bytes."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def test_motors_and_loads():
    """The actuators of each gear by their transmission; check and add warn of a self-locking gear without a motor."""
    keys = '<config key="joint" value="a b"/><config key="eta_forward" value=".4"/><config key="eta_backward" value="-.2"/>'
    xml = f"""<mujoco><extension><plugin plugin="mjgear.transmission"><instance name="g">{keys}</instance></plugin></extension><worldbody><site name="o"/>
      <body name="base"><plugin plugin="mjgear.transmission" instance="g"/><joint name="a" actuatorgravcomp="true" armature=".1"/><geom size=".1"/>
      <body name="tip" pos="1 0 0"><joint name="b" armature=".1"/><geom size=".1"/><site name="s" pos=".1 .1 0"/></body></body></worldbody>
      <tendon><spatial name="t"><site site="o"/><site site="s"/></spatial></tendon><actuator><motor name="m" joint="a"/><motor tendon="t"/>
      <adhesion name="cup" body="tip" ctrlrange="0 1"/><motor name="jet" site="s"/></actuator></mujoco>"""
    for named, motors in (("", []), ("jet", ["jet"])):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(xml.replace(keys, keys + f'<config key="motor" value="{named}"/>'))
            file.flush()
            answer = ask("check", file.name)
            first, second = answer["joints"]
            assert first["motors"] == ["m", *motors, "gravity compensation"] and second["motors"] == motors
            assert first["loads"] == second["loads"] == ["actuator 1", "cup", *(["jet"] if not named else [])]
            stranded = [line for line in answer["warnings"] if "no actuator is its motor" in line]
            assert [("'b'" in line, "'a'" in line) for line in stranded] == ([] if named else [(True, False)])
            assert ("  motors             m, " in run("check", file.name)[1]) and mujoco.MjModel.from_xml_path(
                file.name
            )


def test_unknown_keys_of_every_instance():
    """In an included file, of a sensor, in two instances, with an empty value, and where the engine refuses the model."""
    keys = '<instance name="a"><config key="joint" value="j"/><config key="eta_forward" value=".8"/><config key="gama_u" value="1"/></instance>'
    more = (
        keys.replace('"a"', '"b"')
        .replace('"j"', '"k"')
        .replace("</instance>", '<config key="columb" value=""/></instance>')
    )
    part = f'<mujoco><extension><plugin plugin="mjgear.transmission">{keys}{more}</plugin></extension></mujoco>'
    body = '<body><joint name="{0}"/><geom size=".1"/></body>'
    sensor = '<sensor><plugin plugin="mjgear.transmission" objtype="joint" objname="j"><config key="teeth" value="2"/></plugin></sensor>'
    whole = f'<mujoco><include file="part.xml"/><worldbody>{body.format("j")}{body.format("k")}</worldbody>{sensor}</mujoco>'
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("part.xml", "whole.xml", "refused.xml")]
        for path, text in zip(paths, (part, whole, whole.replace('objname="j"', 'objname="l"')), strict=True):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        for path in paths[1:]:
            problems = ask("check", path, code=1)["problems"]
            for line in ("'a': unknown key 'gama_u'", "'b': unknown key 'columb'", ": unknown key 'teeth'"):
                assert sum(line in one for one in problems) == 1, f"{line}: {problems}"
        assert "the engine reads no further" in problems[-1], problems
        assert any("'b': unknown key 'gama_u'" in one for one in ask("check", paths[1], code=1)["problems"])


def test_check_of_what_is_no_file():
    for path in ("/dev/zero", "/dev/full", "/tmp", "/proc/self/fd/0"):
        done = subprocess.run(
            [TOOL, "check", path], stdin=subprocess.PIPE, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 1, path
        assert done.stdout == f"{path}: this is no plain file; save the model in one\n{path}: 1 problem\n", done.stdout
    with tempfile.NamedTemporaryFile(suffix=".xml") as file:
        file.truncate(2 << 30)
        done = subprocess.run([TOOL, "check", file.name], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 1 and "the file is larger than 1 GiB" in done.stdout, done.stdout


def test_json_of_names_that_are_no_text():
    """Every answer is JSON: invalid UTF-8 in the name of a file is replaced, valid text stays."""
    for name, shown in (
        (b"\xff\xc3\xa4", "\ufffd\u00e4"),
        (b"\xe2\x82\xac\xe2\x82", "\u20ac\ufffd\ufffd"),
        (b"\xed\xa0\x80", "\ufffd" * 3),
        (b"\xf0\x9f\x98\x80\xf5", "\U0001f600\ufffd"),
        (b'\xc0\x80"\\\n', '\ufffd\ufffd"\\\n'),
        (b"\xf4\x90\x80\x80", "\ufffd" * 4),
    ):
        done = subprocess.run([TOOL, "check", "--json", name + b".xml"], capture_output=True, check=False)
        assert done.returncode == 1
        assert json.loads(done.stdout.decode("utf-8", "strict"))["file"] == f"{shown}.xml", done.stdout


def test_full_disk():
    """No partial picture stays, and the program fails."""
    with tempfile.TemporaryDirectory() as folder:
        for size in (0, 4096):
            path = pathlib.Path(folder) / f"{size}.svg"
            done = subprocess.run(
                [TOOL, "draw", path, "worm"], capture_output=True, text=True, check=False, preexec_fn=limited(size)
            )
            assert (done.returncode, done.stderr) == (1, f"mjgear: cannot write {path}: File too large\n"), done
            assert not path.exists()

        # the old content stays
        path.write_text("old")
        done = subprocess.run(
            [TOOL, "draw", path, "worm"], capture_output=True, text=True, check=False, preexec_fn=limited(1024)
        )
        assert done.returncode == 1 and path.read_text() == "old" and os.listdir(folder) == [path.name]
        assert (
            run("draw", str(path), "worm")[0] == 0
            and path.read_text().startswith("<svg")
            and os.listdir(folder) == [path.name]
        )
    for words in (
        ["--help"],
        ["--version"],
        ["keys"],
        ["keys", "--help"],
        ["explain", "worm", "--json"],
        ["mjcf", "worm"],
    ):
        with open("/dev/full", "w") as full:
            done = subprocess.run([TOOL, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, done.stderr) == (
            1,
            "mjgear: cannot write standard output: No space left on device\n",
        ), done


def test_draw():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "worm.svg")
        status, _, err = run("draw", path, "worm", "coulomb=0.1")
        assert status == 0, err
        root = xml.etree.ElementTree.parse(path).getroot()
        texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
        assert "driving: f_v = 0.447 f_u - 0.04512" in texts and "gamma_v" in texts
        drawn = ask("draw", path, "worm")
        assert drawn["file"] == path and abs(drawn["eta_forward"] - 0.447) < 5e-4
        assert os.path.getsize(path) > 3000

        # no number of a picture overflows
        for number in ("1e308", "1e-320", "-1e101", "0", "nan", "inf"):
            for word in ("load", "inertia"):
                status, _, err = run("draw", path, "worm", f"{word}={number}")
                assert (status == 1 and "out of range" in err) or (word, number) == ("inertia", "0"), (
                    word,
                    number,
                    err,
                )
        for load in ("1e100", "-1e-100"):
            assert run("draw", path, "worm", f"load={load}")[0] == 0 and "nan" not in pathlib.Path(path).read_text()

        # both ends of each line slide: u - x = +-(|gamma_u u + gamma_v x| + c), in the law's own words
        for gear in (
            ["eta_forward=0.7", "eta_backward=0.5", "coulomb=2"],
            ["worm", "coulomb=0.3"],
            ["worm"],
            ["gamma_u=0", "gamma_v=0", "coulomb=1"],
            ["bilateral_drive"],
        ):
            facts = ask("draw", path, *gear)
            root = xml.etree.ElementTree.parse(path).getroot()
            left, size = float(root.find(".//{*}clipPath/{*}rect").get("x")), 360
            lines = [
                node
                for node in root.iter("{http://www.w3.org/2000/svg}line")
                if node.get("stroke") in ("#2f6db3", "#c0392b")
            ]
            assert len(lines) == 4
            for node in lines:
                for end in "12":
                    u = ((float(node.get("x" + end)) - left) / size * 2 - 1) * facts["limit"]
                    x = ((60 + size - float(node.get("y" + end))) / size * 2 - 1) * facts["limit"]
                    friction = abs(facts["gamma_u"] * u + facts["gamma_v"] * x) + facts["coulomb"]
                    assert abs(abs(u - x) - friction) < 1e-3 * facts["limit"], (gear, u, x)


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(name)
