#!/usr/bin/env python3
"""Types the lines of a newcomer: every line of the README and of the pages for beginners, in order, in a fresh
clone and a fresh environment. ./check --long runs it.

    tests/newcomer.py [PAGE...]

Prints each line, its time and the end of its output; stops at the first line that fails. Files that the pages show
(forearm.xml, forearm.c, the programs in Python) are written and run where they stand. Lines that open a window are typed
with Xvfb, and must still show it after some seconds. The films of ./demo are played in a browser, where there is one. Prints
lines that are not typed, with the reason.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import uuid

SOURCE = pathlib.Path(__file__).resolve().parent.parent
PAGES = [
    "README.md",
    "doc/quick_start.md",
    "doc/python.md",
    "doc/scenes.md",
    "doc/window.md",
    "doc/data_sheets.md",
    "models/README.md",
]

# lines that are not typed, and why
LEFT_OUT = {
    r"^\./(check|wheel|demo)$": "typed already, or by ./check",
    r"^ctest|--preset debug": "./check runs it",
    r"^mjgear-run --all": "./demo has done it",
    r"^export PYTHONPATH": "for those who do not install",
}

# lines that open a window, and how long it is looked at
WINDOW = r"^(\./demo --view|mjgear-view (?!.*(--record|--picture|--csv|--list|--help)))"
SECONDS = 12

# names for the reader's files
HERS = {"your.xml": "forearm.xml", "robot.xml": "robot.xml"}

ROBOT = """<mujoco><worldbody><body name="base"><joint name="shoulder" axis="0 1 0" armature="0.1"/>
  <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.03"/><body pos="0.5 0 0"><joint name="elbow" axis="0 1 0" armature="0.1"/>
  <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03"/></body></body></worldbody></mujoco>"""


class Terminal:
    """A shell in which lines are typed one after the other."""

    def __init__(self, folder):
        ours = r"^(PYTHON(?!DONTWRITE)|MJGEAR|MUJOCO|LD_|VIRTUAL_ENV|CMAKE|CC$|CXX$|CFLAGS|PKG_CONFIG)"
        environment = {name: value for name, value in os.environ.items() if not re.match(ours, name)}
        home = folder / "home"
        home.mkdir()
        environment.update(HOME=str(home))
        self.shell = subprocess.Popen(
            ["bash"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def type(self, line, window=False):
        """Type a line; return its output. A window stays open for some seconds."""
        expected = 124 if window else 0
        line = f"timeout {SECONDS} xvfb-run -a {line}" if window else line
        mark = uuid.uuid4().hex
        start = time.monotonic()
        print(f"$ {line}", flush=True)
        # commands read nothing: the next lines are the shell's own input
        self.shell.stdin.write(f"{{ {line}\n}} < /dev/null\nprintf '\\n{mark} %d\\n' $?\n")
        self.shell.stdin.flush()
        said = []
        for text in self.shell.stdout:
            if text.startswith(mark):
                break
            said.append(text)
        else:
            sys.exit(f"newcomer.py: the shell ended at: {line}\n{''.join(said)}")
        status = int(text.split()[1])
        said = "".join(said).strip()
        for text in said.splitlines()[-4:]:
            print(f"    {text[:150]}")
        print(f"    [{time.monotonic() - start:.1f} s]", flush=True)
        if status != expected:
            sys.exit(f"newcomer.py: status {status} of: {line}\n{said[-4000:]}")
        return said


def pieces(text):
    """Blocks of a page in order: (language, text); indented lines have the language "sh"."""
    found = []
    for match in re.finditer(r"^```(\w*)\n([\s\S]*?)^```|((?:^    .*\n)+)", text, re.MULTILINE):
        if match[3]:
            found.append(("sh", re.sub("^    ", "", match[3], flags=re.MULTILINE)))
        else:
            found.append((match[1], match[2]))
    return found


def type_lines(terminal, block, typed):
    for line in block.splitlines():
        line = re.sub(r"\s{2,}#.*", "", line).strip()
        if not line:
            continue
        reason = next((why for pattern, why in LEFT_OUT.items() if re.search(pattern, line)), None)
        if line == "./demo" and line not in typed:
            reason = None
        typed.add(line)
        if reason:
            print(f"- {line}\n    not typed: {reason}")
            continue
        for theirs, ours in HERS.items():
            line = line.replace(theirs, ours)
        line = line.replace("<this repository>", f"{SOURCE} mjgear")
        terminal.type(line, window=re.search(WINDOW, line))
        if line == "./demo":
            play_films(terminal)


def play_films(terminal):
    if shutil.which("chromium"):
        terminal.type("python3 tests/scenes/films.py")
    else:
        print("- films\n    not played: no chromium")


def is_command(line):
    return re.match(r"(\./|build/|git |cd |pip |cc |cmake |ctest |export |[A-Z_]+=|mjgear |mjgear-(run|view) )", line)


def read(terminal, folder, page, typed):
    print(f"\n# {page}", flush=True)
    clone = folder / "mjgear" / page
    text = (clone if clone.exists() else SOURCE / page).read_text()
    for language, block in pieces(text):
        if language == "sh" and is_command(block.lstrip()):
            type_lines(terminal, block, typed)
        elif language == "xml" and block.startswith("<mujoco>"):
            (folder / "mjgear" / "forearm.xml").write_text(block)
        elif language == "c":
            (folder / "mjgear" / "forearm.c").write_text(block)
        elif language == "python":
            if page == "doc/python.md":
                block = "import mujoco, mjgear\n" + block
            (folder / "mjgear" / "typed.py").write_text(block)
            output = terminal.type("python typed.py", window="mujoco.viewer" in block)
            if "for torque in" in block:
                lines = output.splitlines()
                assert lines[:2] == ["0 [0.] [0.]", "8.1 [0.] [0.]"] and lines[2].startswith("8.25 "), output

    # commands in the text; on the page of scenes they open a window for each
    for command in [] if page == "doc/scenes.md" else re.findall(r"`((?:\./demo|mjgear-(?:run|view) )[^`]*)`", text):
        if command not in typed:
            type_lines(terminal, command, typed)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        terminal = Terminal(folder)
        typed = set()
        terminal.type("python3 -m venv environment && . environment/bin/activate")
        for i, page in enumerate(sys.argv[1:] or PAGES):
            if i == 0 and page != "README.md":
                typed.add("./demo")
                terminal.type(f"git clone -q {SOURCE} mjgear && cd mjgear && pip install . && ./demo")
            read(terminal, folder, page, typed)
            (folder / "mjgear" / "robot.xml").write_text(ROBOT)
        terminal.shell.stdin.close()
        terminal.shell.wait()


if __name__ == "__main__":
    main()
