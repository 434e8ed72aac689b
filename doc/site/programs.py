"""Reference pages that the build makes.

Directive ``program-help:: mjgear explain`` shows what ``mjgear explain --help`` prints; ``robot-table::`` lists the known robots.
"""

import pathlib
import subprocess

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import mjgear

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class ProgramHelp(SphinxDirective):
    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        name, *words = self.arguments[0].split()
        program = ROOT / "build" / "bin" / name
        self.env.note_dependency(str(program))
        done = subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=False)
        if done.returncode:
            raise self.error(f"{self.arguments[0]} --help: {done.stderr}")
        return [nodes.literal_block(done.stdout, done.stdout, language="text")]


class RobotTable(SphinxDirective):
    def run(self):
        self.env.note_dependency(str(ROOT / "python" / "mjgear" / "_robots.json"))
        rows = [".. list-table::", "   :header-rows: 1", ""]
        for cells in [
            ("name", "robot", "gears"),
            *(
                (f"``{name}``", robot.title, "; ".join(dict.fromkeys(one.gear for one in robot.actuators)))
                for name, robot in mjgear.robots().items()
            ),
        ]:
            rows += [f"   {'*' if i == 0 else ' '} - {cell}" for i, cell in enumerate(cells)]
        return self.parse_text_to_nodes("\n".join(rows))


def setup(app):
    app.add_directive("program-help", ProgramHelp)
    app.add_directive("robot-table", RobotTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
