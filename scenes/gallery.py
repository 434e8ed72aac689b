"""Pictures and films of all scenes, and the gallery page.

usage: gallery.py VIEW films FOLDER     a picture and a film of each scene: FOLDER/SCENE/picture.png, film.mp4
                                        and a page of them, FOLDER/gallery.md
       gallery.py VIEW page FOLDER      FOLDER/scenes.md with a small picture of each scene in FOLDER/gallery/
       gallery.py VIEW animation FILE   the README's animated picture, FILE.gif
       gallery.py VIEW models FOLDER    a small picture of each model of FOLDER beside its file

VIEW is the program mjgear-view.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LENGTH, RATE, TITLE = 4, 10, 1.0  # of a film: s, frames a second, s
PICTURE, FILM = ["--size", "1280x720", "--effects"], ["--size", "1280x720", "--no-effects"]

# scenes without visible motion: their figures show the results
FIGURES = ("drivability", "lambda", "axproj", "gap_map", "resonance", "interval")

# scene -> cases in one picture, and the joint of the curves
BESIDE = {
    "power-cut": ("backdrivable,frictionloss,frictionloss-tuned", "lift"),
    "two-loads": ("frictionloss=11,frictionloss=40,springyield=40", "empty"),
    "push": ("all", "pan"),
    "let-go": ("all", "left_finger"),
    "landing": ("worm,frictionloss", "fl_knee"),
    "taught": ("play,ideal", "elbow"),
    "tracking": ("compensated,frictionloss", "ra"),
    "stewart": ("all", "screw_4"),
    "replay": ("frictionloss", "servo"),
    "hold": ("frictionloss,frictionloss-solimp-solref,springyield-damped", "shoulder"),
    "gripper": ("welded", ""),
    "humanoid": ("yielding", "left_knee"),
    "rod-constant": ("all", ""),
    "wall-constant": ("all", "elbow"),
    "compensation": ("uncompensated", ""),
    "feedforward": ("uncompensated,constant", "shoulder"),
}

# moment of the picture: case (empty: the first), time as part of the scene, caption
MOMENT = {
    "power-cut": ("", 0.7, "The power fails. Self-locking gears keep the arm and the legs where they are. Backdrivable gears "
                  "let them fall. MuJoCo's friction lets them sink at its defaults, and holds them where it is tuned for this "
                  "pose."),
    "two-loads": ("", 0.99, "A worm holds the same arm empty and with 5 kg, and lets the motor lift it in both cases. A "
                  "constant either drops the load, or keeps the motor from moving the empty arm."),
    "push": ("", 0.25, "A person pushes an arm. A worm does not move, and a strain-wave gear yields. Constant friction makes "
             "the motor work against it ever after."),
    "let-go": ("", 0.8, "The motor of a gripper is switched off. A lead screw holds on, and a ball screw lets go."),
    "landing": ("", 0.4, "A quadruped falls from 0.3 m. Through planetary gears nearly all of the blow reaches the motors, "
                "through worms nothing."),
    "taught": ("", 0.62, "A hobby arm repeats a motion. Friction and play of its servos move its tip by millimetres."),
    "tracking": ("", 0.8, "A telescope follows the stars at 15 arc seconds a second. Its worm sticks and slips, unless the motor "
                 "compensates friction."),
    "replay": ("", 0.33, "A servo in simulation gets the goals that a real one got. The pale pendulum shows where the real one was."),
    "stewart": ("", 0.75, "A Stewart platform has six lead screws in six closed loops. It moves with its motors, and it stands without "
                "them."),
    "rod": ("gamma_v=1.05", 0.6, "The motor is off, and the rod still presses on the spring, because the load cannot drive "
            "this gear."),
    "wall": ("gamma_v=1.1,1.1", 0.62, "An arm has been pushed into an elastic wall, and stays there after the push."),
    "wall-contact": ("gamma_v=1.1,1.1", 0.62, "The same arm with a contact of MuJoCo in place of the paper's spring. Friction "
                     "and contact force are solved together."),
    "rod-constant": ("", 0.6, "Constant friction in place of the gear of the rod. A small constant does not hold the spring, "
                     "and a large one keeps the motor from reaching it (Kikuuwe, 6.1)."),
    "wall-constant": ("", 0.6, "Constant friction in place of the gears of the arm. A small constant does not keep the "
                      "contact force, and with a large one the motors cannot pull the arm off (Kikuuwe, 6.2)."),
    "drivability": ("", 0.6, "The maps show which torques of motor and load move a gear at rest (Kikuuwe, Figs. 5 and 6)."),
    "lambda": ("", 0.6, "The plots show the internal force of a joint that slips, for all pairs of coefficients (Kikuuwe, Fig. 7)."),
    "axproj": ("", 0.6, "The plots show the paper's projection along the axes for two joints (Kikuuwe, Fig. 8)."),
    "compensation": ("", 0.6, "A worm joint follows a slow sine. With friction compensation it follows smoothly, and without it sticks "
                     "(Kikuuwe, 7)."),
    "feedforward": ("", 0.6, "An arm carries 5 kg along a slow path, with the motor torques that its worm gears need, with "
                    "those without gears, and with a constant for friction."),
    "flap": ("", 0.3, "An aircraft's flap carries its aerodynamic load while its hydraulic supply breaks down. Only a "
             "reversible actuator gives way."),
    "flap-ramp": ("", 0.5, "The flap follows a ramp under load. In one direction friction helps the load, and in the other it helps the "
                  "motor."),
    "flap-creep": ("", 0.7, "The flap follows a very slow ramp, and its irreversible actuator sticks and slips."),
    "flap-stop": ("", 0.5, "The flap runs into its end of travel. When the motor turns back it comes off at once."),
    "screw-lift": ("", 0.9, "A lead screw lifts and lowers 50 kg with the efficiency that the formulas give."),
    "worm-hoist": ("", 0.5, "A worm gear hoists 20 kg, and holds them with the motor off."),
    "spur-drive": ("", 0.9, "A pair of spur gears drives a load, and then the load drives the gears."),
    "rigid": ("", 0.6, "A rigid wall is moved into an arm with self-locking gears. The arm stands still to the last bit, "
              "because friction and contact are one problem."),
    "drop": ("", 0.3, "A ball drops on a link that a gear holds without its motor."),
    "hold": ("gear", 0.5, "Dry friction of a gear holds an arm for a minute without creep. Beside it MuJoCo's own friction, "
             "at its defaults and tuned."),
    "gripper": ("screw", 0.5, "A gripper with a lead screw squeezes a box. Then its motor is switched off, and it still holds the box."),
    "arm": ("", 0.5, "An arm with worm gears rests on a table and carries a load while its motors are off."),
    "humanoid": ("", 0.3, "Two humanoids have no power. Self-locking legs stand until they are pushed over, and the others "
                 "sink down."),
    "jack": ("", 0.5, "A screw jack lifts 5 kg, and holds them."),
    "brake": ("", 0.25, "The motor of a lift fails and its brake closes. It holds the lift with a box on it, and slips above its torque."),
    "winch": ("", 0.5, "A winch winds a load up. Without power a backstop holds it."),
    "hub": ("", 0.5, "The pedals drive a wheel through a freewheel, stop, and catch up with it."),
    "limiter": ("", 0.8, "A slip clutch between motor and finger limits the grip, whatever the motor does."),
    "convergence": ("", 0.6, "Six arms strike the floor, each with another step. Their motions approach each other in "
                    "proportion to the step."),
    "two_mass": ("", 0.6, "A shaft with a gap connects two masses. Several models of the gap are compared (Nordin, Fig. 3 and Table I)."),
    "coupling": ("", 0.6, "A flexible coupling bounces between the two sides of its gap (Nordin, Fig. 6)."),
    "gap_map": ("", 0.6, "The maps show the torque of four backlash models over angle and rate (Nordin, Fig. 2)."),
    "lag": ("", 0.6, "A swing passes through a shaft with a gap. The exact shaft lags behind the dead zone model (Nordin, section 5)."),
    "hysteresis": ("", 0.6, "The hysteresis model of backlash does not know a disturbance of the load. The shaft with a gap does "
                   "(Nordin, section 1)."),
    "vibro": ("", 0.6, "A body swings slowly through a gap. The vibro-impact model engages late and the dead zone model rings (Ruderman, "
              "Fig. 5)."),
    "impact": ("", 0.6, "A body strikes the edge of a gap. The plot shows contact force over penetration (Ruderman, Fig. 6)."),
    "decay": ("", 0.6, "A push closes the gap, and the body bounces. The damping parameter alpha decides how often (Ruderman, Fig. 7)."),
    "rattle": ("", 0.6, "A body on a spring rattles in its play, which lowers its frequency and takes power (Ruderman, IV.A)."),
    "resonance": ("", 0.6, "A shaft is driven at its natural frequency, which only the model `jck` knows (Akoto, Fig. 2)."),
    "interval": ("", 0.6, "The plots show the borders of the free play over time (Akoto, Figs. 3 to 6)."),
    "rupture": ("", 0.6, "The driving torque vanishes suddenly. Only the torque of the model `jck` reverses (Akoto, Figs. 8 and 9)."),
    "gap_servo": ("", 0.6, "A servo moves a joint with play. It comes to rest or swings in a limit cycle, depending on the "
                  "side that its encoder measures."),
    "lost_motion": ("", 0.6, "An arm of six joints has play. The tip loses as much motion as the geometry of the arm says."),
}


# the beginning of the page of films, and of the page of scenes in doc/
FILMS = """# Films

A picture and a film of each scene. [Colours, ring and red arc](../doc/window.md#colours-ring-and-red-arc).

"""
PAGE = """# Scenes

A scene is a small experiment whose result is known from another source: a closed form, a paper or a separate integration.
It is an MJCF file, a script in C that moves it, and claims that are checked.

    mjgear-run --list                                     # all scenes and their cases
    mjgear-run rod                                        # all cases of one scene, CSV in results/rod/
    mjgear-run rod --case gamma_v=0.5 --duration 1        # one case, one second
    mjgear-run rod --set gear.gamma_v=0.7                 # another configuration
    mjgear-run scenes/rod/rod.xml                         # any model, without script; CSV in results/rod.xml/
    mjgear-run --all                                      # everything; exit code 1 if a claim fails
    build/venv/bin/python scenes/report.py results        # plots and summary.md

`mjgear-view SCENE` opens [a window](window.md). `./demo` plays all scenes and writes a film of each into `results/`.
[scenes/trajectory.h](../scenes/trajectory.h) names the columns of the CSV files.
The ring around a joint shows what its gear does, and the red arc shows friction ([colours](window.md#colours-ring-and-red-arc)).
`scenes/gallery.py` writes this page.

"""


def scenes(view):
    """Each scene: name, description, and with its case and the time of its picture."""
    text = subprocess.run([view, "--list"], check=True, capture_output=True, text=True).stdout
    for name, description, duration in re.findall(r"^(\S+) +(.*) \(([\d.e+-]+) s\)$", text, re.MULTILINE):
        case, part, _ = MOMENT.get(name, ("", 0.6, ""))
        yield name, description, name + ("/" + case if case else ""), str(part * float(duration))


def compared(name):
    """Options for the compared models."""
    beside, joint = BESIDE.get(name, ("", ""))
    return (["--beside", beside] if beside else []) + (["--joint", joint] if joint else [])


def run(*command):
    """A command whose messages are printed if it fails."""
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"gallery.py: {' '.join(map(str, command))}: {done.stderr}")


def figure(folder, name):
    """The first figure that report.py has made of a scene."""
    return min(folder.glob(f"{name}-*.png"))


def film(view, folder, name, scene, time):
    if name in FIGURES:
        return
    (folder / name).mkdir(parents=True, exist_ok=True)
    run(view, scene, *compared(name), "--picture", folder / name / "picture.png", "--at", time, *PICTURE)
    run(view, scene, *compared(name), "--record", folder / name / "film.mp4", "--length", str(LENGTH), "--fps",
        str(RATE), "--title", str(TITLE), *FILM)
    print(f"picture and film of {name}", flush=True)


def films(view, folder):
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        jobs = [pool.submit(film, view, folder, name, scene, time) for name, _, scene, time in scenes(view)]
        for job in jobs:
            job.result()
    page(view, folder, "{name}/picture.png", "[film]({name}/film.mp4) · ")


def page(view, folder, picture="gallery/{name}.png", film=""):
    """The page, below it the pictures where they are not there yet."""
    lines = (FILMS if film else PAGE).splitlines()
    for name, description, scene, time in scenes(view):
        shown = picture.format(name=name)
        file = folder / shown
        file.parent.mkdir(parents=True, exist_ok=True)
        if film:
            shown = figure(folder, name).name if name in FIGURES else shown
        elif name in FIGURES:
            make_figure(view, file, name)
        else:
            run(view, scene, *compared(name), "--picture", file, "--at", time, *PICTURE)
            shrink(file)
        sentence = MOMENT.get(name, ("", 0, ""))[2] or description[0].upper() + description[1:] + "."
        command = " ".join(["`mjgear-view", scene, *compared(name)]) + "`"
        link = "" if name in FIGURES else film.format(name=name)
        lines += [f"## {name}", "", f"![{name}]({shown})", "", sentence, ""]
        if link or scene != name or compared(name):
            lines += [link + command, ""]
    (folder / ("gallery.md" if film else "scenes.md")).write_text("\n".join(lines))


def make_figure(view, file, name):
    """The figure of a scene, from a fresh run."""
    with tempfile.TemporaryDirectory() as folder:
        play = pathlib.Path(view).with_name("mjgear-run")
        run(play, name, "--out", folder)
        run(sys.executable, pathlib.Path(__file__).with_name("report.py"), folder)
        shutil.copy(figure(pathlib.Path(folder), name), file)
    shrink(file, 900)


def shrink(file, width=640):
    """To a smaller size, in fewer colours: for pages."""
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", file, "-vf",
                    f"scale={width}:-1:flags=area,split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none", file.with_suffix(".tmp.png")],
                   check=True)
    file.with_suffix(".tmp.png").replace(file)


def animation(view, file):
    """The power cut as a picture that moves, as wide as a README."""
    with tempfile.TemporaryDirectory() as folder:
        film = pathlib.Path(folder) / "film.mp4"
        run(view, "power-cut", *compared("power-cut"), "--record", film, "--duration", "4.5", "--fps", "10", *PICTURE)
        run("ffmpeg", "-v", "error", "-y", "-i", film, "-vf",
            "scale=880:-1:flags=area,split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none", file)


def models(view, folder):
    """A picture of each model beside its file."""
    for file in sorted(folder.glob("*/*.xml")):
        if file.stem == file.parent.name or file.stem.startswith(file.parent.name + "_"):
            picture = file.with_suffix(".png")
            subprocess.run([view, f"./{file}", "--picture", picture, "--at", "0.5", "--duration", "1", "--no-plots", *PICTURE],
                           check=True)
            shrink(picture)


COMMANDS = {"films": films, "page": page, "animation": animation, "models": models}

if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[2] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[2]](sys.argv[1], pathlib.Path(sys.argv[3]))
