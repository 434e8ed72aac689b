"""Pictures and films of all scenes, and the gallery page.

usage: gallery.py VIEW films FOLDER     a picture and a film of each scene: FOLDER/SCENE/picture.png, film.mp4
       gallery.py VIEW page FOLDER      FOLDER/gallery.md with a small picture of each scene in FOLDER/gallery/

VIEW is the program mjgear-view.
"""

import pathlib
import re
import subprocess
import sys

LENGTH, RATE = 5, 20  # of a film: s, frames a second
SIZE = ["--size", "480x360"]

# what to look at: case (empty: the first), time of the picture as part of the scene, sentence
MOMENT = {
    "rod": ("gamma_v=1.05", 0.6, "The motor is off, the rod keeps pressing on the spring with 147.5 N m: the load "
            "cannot drive this gear."),
    "wall": ("gamma_v=1.1,1.1", 0.62, "The arm has been pushed into an elastic wall and stays there after the push."),
    "wall-contact": ("gamma_v=1.1,1.1", 0.62, "The same with a contact of MuJoCo in place of the paper's spring: "
                     "friction and contact force are solved together."),
    "flap": ("", 0.3, "A flap under 74 500 N m of aerodynamic load while the hydraulic supply breaks down: only a "
             "reversible actuator gives way."),
    "flap-ramp": ("", 0.5, "The flap follows a ramp: friction takes its share of the load in one direction and "
                  "gives it back in the other."),
    "flap-creep": ("", 0.7, "A slow ramp: the irreversible actuator sticks and slips."),
    "flap-stop": ("", 0.5, "The flap presses on its end of travel, from which it comes off at once."),
    "screw-lift": ("", 0.9, "A lead screw lowers 50 kg; power out over power in is the efficiency of the formulas."),
    "worm-hoist": ("", 0.5, "A worm gear hoists 20 kg and holds them with the motor off."),
    "spur-drive": ("", 0.9, "A pair of spur gears drives, then is driven."),
    "rigid": ("", 0.6, "A rigid wall is moved into an arm that cannot be driven back: the arm stands to the last bit, "
              "because friction and contact are one problem."),
    "drop": ("", 0.3, "A ball drops on a link that a gear holds without its motor."),
    "hold": ("gear", 0.5, "An arm is held for a minute by dry friction, without the creep of a constraint."),
    "gripper": ("screw", 0.5, "A gripper with a lead screw squeezes a box, its motor is switched off, and it still holds."),
    "arm": ("", 0.5, "An arm with worm gears rests on a table and carries a load, motors off."),
    "humanoid": ("", 0.2, "A humanoid with geared legs stands, is pushed and falls."),
    "jack": ("", 0.5, "A screw jack lifts 5 kg and holds them."),
}


def scenes(view):
    """Each scene: name, description, and with its case and the time of its picture."""
    text = subprocess.run([view, "--list"], check=True, capture_output=True, text=True).stdout
    for name, description, duration in re.findall(r"^(\S+) +(.*) \(([\d.e+-]+) s\)$", text, re.MULTILINE):
        case, part, _ = MOMENT.get(name, ("", 0.6, ""))
        yield name, description, name + ("/" + case if case else ""), str(part * float(duration))


def films(view, folder):
    for name, _, scene, time in scenes(view):
        (folder / name).mkdir(parents=True, exist_ok=True)
        picture, film = folder / name / "picture.png", folder / name / "film.mp4"
        subprocess.run([view, scene, "--picture", picture, "--at", time, "--record", film,
                        "--length", str(LENGTH), "--fps", str(RATE), *SIZE],
                       check=True)


def page(view, folder):
    (folder / "gallery").mkdir(parents=True, exist_ok=True)
    lines = ["# Gallery", "",
             "Made by `scenes/gallery.py`; `./demo` writes larger pictures and a film of each scene to `results/`.",
             "The ring around a joint tells what its gear does, the white arc how much of the torque friction takes and",
             "which way it acts: see [What the colours say](../README.md#seeing-it).", ""]
    for name, description, scene, time in scenes(view):
        picture = folder / "gallery" / f"{name}.png"
        subprocess.run([view, scene, "--picture", picture, "--at", time, *SIZE], check=True)
        sentence = MOMENT.get(name, ("", 0, ""))[2] or description[0].upper() + description[1:] + "."
        lines += [f"## {name}", "", f"![{description}](gallery/{name}.png)", "", sentence, "",
                  f"    ./demo --view {scene}", ""]
    (folder / "gallery.md").write_text("\n".join(lines))


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[2] not in ("films", "page"):
        sys.exit(__doc__)
    {"films": films, "page": page}[sys.argv[2]](sys.argv[1], pathlib.Path(sys.argv[3]))
