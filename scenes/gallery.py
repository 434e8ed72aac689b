"""Pictures and films of all scenes, and the gallery page.

usage: gallery.py VIEW films FOLDER     a picture and a film of each scene: FOLDER/SCENE/picture.png, film.mp4
                                        and a page of them, FOLDER/gallery.md
       gallery.py VIEW page FOLDER      FOLDER/scenes.md, and in FOLDER/gallery/ the small pictures that are missing
       gallery.py VIEW animation FILE   the README's animated picture, FILE.gif
       gallery.py VIEW models FOLDER    a small picture of each model of FOLDER beside its file

VIEW is the program mjgear-view.
"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

PICTURE = "--size 1280x720 --effects".split()
FILM = "--size 1280x720 --no-effects --length 4 --fps 10".split()

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
    mjgear-run rod --set option.timestep=5e-4             # an attribute of an element; joint:rod.damping=5 by name
    mjgear-run scenes/rod/rod.xml                         # any model, without script; CSV in results/rod.xml/
    mjgear-run --all                                      # everything; exit code 1 if a claim fails
    build/venv/bin/python scenes/report.py results        # plots and summary.md

`mjgear-view SCENE` opens [a window](window.md), where ring and red arc are explained. `./demo` writes a film of each scene into `results/`.
[scenes/trajectory.h](../scenes/trajectory.h) names the columns of the CSV files.

"""


class Scene(NamedTuple):
    """What pages show of a scene: the members of its mjgScene."""

    name: str
    shown: str  # scene or scene/case
    time: str  # of the picture, s
    beside: str
    joint: str
    still: str  # "1": no visible motion, its figure shows the results
    caption: str

    @property
    def compared(self):
        """Options for the compared models."""
        return (["--beside", self.beside] if self.beside else []) + (["--joint", self.joint] if self.joint else [])


def scenes(view):
    """All scenes by name."""
    play = pathlib.Path(view).with_name("mjgear-run")
    text = subprocess.run([play, "--pages"], check=True, capture_output=True, text=True).stdout
    return {scene.name: scene for scene in (Scene(*line.split("\t")) for line in text.splitlines())}


def run(*command):
    """A command whose messages are printed if it fails."""
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"gallery.py: {' '.join(map(str, command))}: {done.stderr}")


def figure(folder, name):
    """The first figure that report.py has made of a scene."""
    return min(folder.glob(f"{name}-*.png"))


def draw(view, file, scene):
    run(view, scene.shown, *scene.compared, "--picture", file, "--at", scene.time, *PICTURE)


def film(view, folder, scene):
    if scene.still == "1":
        return
    place = folder / scene.name
    place.mkdir(parents=True, exist_ok=True)
    draw(view, place / "picture.png", scene)
    run(view, scene.shown, *scene.compared, "--record", place / "film.mp4", *FILM)
    print(f"picture and film of {scene.name}", flush=True)


def films(view, folder):
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        jobs = [pool.submit(film, view, folder, scene) for scene in scenes(view).values()]
        for job in jobs:
            job.result()
    page(view, folder, "{name}/picture.png", "[film]({name}/film.mp4) · ")


def page(view, folder, picture="gallery/{name}.png", film=""):
    """The page, below it the pictures where they are not there yet."""
    lines = (FILMS if film else PAGE).splitlines()
    for name, scene in scenes(view).items():
        still = scene.still == "1"
        shown = picture.format(name=name)
        file = folder / shown
        file.parent.mkdir(parents=True, exist_ok=True)
        if film:
            shown = figure(folder, name).name if still else shown
        elif not file.exists() and still:
            make_figure(view, file, name)
        elif not file.exists():
            draw(view, file, scene)
            shrink(file)
        command = " ".join(["`mjgear-view", scene.shown, *scene.compared]) + "`"
        link = "" if still else film.format(name=name)
        lines += [f"## {name}", "", f"![{name}]({shown})", "", scene.caption, ""]
        if link or scene.shown != name or scene.compared:
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


def convert(source, target, width):
    """To a smaller size, in fewer colours: for pages."""
    area = f"scale={width}:-1:flags=area,split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none"
    run("ffmpeg", "-v", "error", "-y", "-i", source, "-vf", area, target)


def shrink(file, width=640):
    convert(file, file.with_suffix(".tmp.png"), width)
    file.with_suffix(".tmp.png").replace(file)


def animation(view, file):
    """The power cut as a picture that moves, as wide as a README."""
    with tempfile.TemporaryDirectory() as folder:
        film = pathlib.Path(folder) / "film.mp4"
        options = ["--duration", "4.5", "--fps", "10", *PICTURE]
        run(view, "power-cut", *scenes(view)["power-cut"].compared, "--record", film, *options)
        convert(film, file, 880)


def models(view, folder):
    """A picture of each model beside its file."""
    for file in sorted(folder.glob("*/*.xml")):
        if file.stem == file.parent.name or file.stem.startswith(file.parent.name + "_"):
            picture = file.with_suffix(".png")
            run(view, f"./{file}", "--picture", picture, *"--at 0.5 --duration 1 --no-plots".split(), *PICTURE)
            shrink(picture)


COMMANDS = {"films": films, "page": page, "animation": animation, "models": models}

if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[2] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[2]](sys.argv[1], pathlib.Path(sys.argv[3]))
