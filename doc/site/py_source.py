"""Python modules that need packages which the site's environment lacks, documented from their text.

Directive ``py-source:: python/mjgear/warp/gears.py`` with the names to document, all public ones if none is given.
"""

import ast
import inspect
import pathlib
import re

from sphinx.ext.napoleon import Config, GoogleDocstring
from sphinx.util.docutils import SphinxDirective

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def plain(text):
    """A docstring's text, in which only double backquotes are markup."""
    parts = text.split("``")
    parts[::2] = (re.sub(r"([*|]|_\b(?=\W|$))", r"\\\1", part) for part in parts[::2])
    return "``".join(parts)


def google(text):
    """The lines of a docstring with its sections Args, Returns, Raises as fields."""
    return (
        str(
            GoogleDocstring(
                plain(inspect.cleandoc(text)), Config(napoleon_custom_sections=[("Attributes", "params_style")])
            )
        ).splitlines()
        if text
        else []
    )


class PythonSource(SphinxDirective):
    required_arguments = 1
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self):
        path = ROOT / self.arguments[0]
        self.env.note_dependency(str(path))
        module = str(path.relative_to(ROOT / "python").with_suffix("")).replace("/", ".").removesuffix(".__init__")
        wanted = self.arguments[1].split() if len(self.arguments) > 1 else None
        out = [f".. py:currentmodule:: {module}", ""]
        tree = ast.parse(path.read_text())
        if wanted is None:
            out += google(ast.get_docstring(tree)) + [""]
        for node in tree.body:
            if (
                isinstance(node, (ast.FunctionDef, ast.ClassDef))
                and not node.name.startswith("_")
                and (wanted is None or node.name in wanted)
                and ast.get_docstring(node)
            ):
                out += self.entry(node, "")
        return self.parse_text_to_nodes("\n".join(out), allow_section_headings=True)

    def entry(self, node, indent, kind="function"):
        if isinstance(node, ast.ClassDef):
            init = next((one for one in node.body if getattr(one, "name", "") == "__init__"), None)
            head = f".. py:class:: {node.name}({self.arguments_of(init)})" if init else f".. py:class:: {node.name}"
        elif any(getattr(one, "id", "") == "property" for one in node.decorator_list):
            head = f".. py:property:: {node.name}"
        else:
            result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            head = f".. py:{kind}:: {node.name}({self.arguments_of(node)}){result}"
        lines = [head, "", *("   " + line for line in google(ast.get_docstring(node))), ""]
        if isinstance(node, ast.ClassDef):
            for one in node.body:
                if (
                    isinstance(one, ast.FunctionDef)
                    and not one.name.startswith("_")
                    and ast.get_docstring(one)
                    and not any(isinstance(d, ast.Attribute) for d in one.decorator_list)
                ):
                    lines += self.entry(one, "   ", "method")
        return [indent + line for line in lines]

    def arguments_of(self, node):
        return ast.unparse(node.args).removeprefix("self, ").removeprefix("self") if node else ""


def read_docstring(app, what, name, obj, options, lines):
    text = "\n".join(lines)
    lines[:] = plain(text).splitlines() if what in ("attribute", "property", "data") else google(text)
    lines.append("")


def setup(app):
    app.add_directive("py-source", PythonSource)
    app.connect("autodoc-process-docstring", read_docstring)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
