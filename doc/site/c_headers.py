"""The public C headers as pages, from the headers themselves: directive ``c-header:: core/mjgear.h``.

Our headers have one form: an opening comment, sections that begin with a ruler, and in them a comment above each
declaration. Comments stay as written; indented formulas and lists of arguments keep their lines.
"""

import pathlib
import re
import textwrap

from sphinx.util.docutils import SphinxDirective

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RULER = re.compile(r"^//-+ (.*?) -*$")


def escaped(text):
    return re.sub(r"([\\`*_|<>\[\]])", r"\\\1", text)


def markup(comment):
    """Convert the lines of a comment to reStructuredText: prose to paragraphs, lists to lists, other indented lines to literal lines."""
    lines = [line[3:] if line.startswith("// ") else line[2:] for line in comment]
    out, paragraph, items, literal = [], [], [], []

    def end():
        if paragraph:
            text = escaped(" ".join(paragraph))
            first = "\\" if re.match(r"([-+*#(]|\w{1,3}[.)])", text) else ""
            out.extend([first + text, ""])
            paragraph.clear()
        if items:
            out.extend([*("- " + escaped(" ".join(item)) for item in items), ""])
            items.clear()
        if literal:
            out.extend(
                [
                    ".. code-block:: text",
                    "",
                    *("   " + line for line in textwrap.dedent("\n".join(literal)).splitlines()),
                    "",
                ]
            )
            literal.clear()

    for line in lines:
        item = re.match(r" *- (?=\w)(.*)", line)
        if not line.strip():
            end()
        elif item and not literal:
            if not items:
                end()
            items.append([item[1].strip()])
        elif items and line.startswith("   "):
            items[-1].append(line.strip())
        elif line.startswith("  "):
            if paragraph or items:
                end()
            literal.append(line.rstrip())
        else:
            if literal or items:
                end()
            paragraph.append(line.strip())
    end()
    return out


def declarations(text):
    """(section, comment, code) of each declaration, in order; the opening comment has the section None.

    Declarations that follow one another without an empty line share the comment above the first: the others have None.
    """
    section, comment, code, opening = "", [], [], True
    for line in text.splitlines():
        ruler = RULER.match(line)
        if ruler:
            section, comment = ruler[1], []
        elif code or (
            line.strip() and not opening and not line.startswith(("//", "#", 'extern "C"', "}", "mjgBEGIN", "mjgEND"))
        ):
            code.append(line)
            bare = [one.split("//")[0] for one in code]
            depth = sum(one.count("{") - one.count("}") for one in bare)
            if depth == 0 and bare[-1].rstrip().endswith(";"):
                yield section, comment, "\n".join(one for one in code if not one.startswith("#"))
                comment, code = None, []
        elif line.startswith("//"):
            comment = [*(comment or []), line]
        elif opening and comment:
            yield None, comment, ""
            comment, opening = [], False
        elif line.startswith("#define") and comment:
            yield section, comment, line
            comment = []
        else:
            comment = []


def signature(code):
    """Kind and signature in the words of Sphinx's C domain, and whether the body is worth showing."""
    code = re.sub(r"__attribute__\(\(.*?\)\)\)?\s*|\bMJGAPI\s+", "", code)
    body = re.match(r"(?:typedef )?(struct|enum) (\w+) \{.*\}\s*(\w*);\s*$", code, re.DOTALL)
    if body:
        return body[1], body[3] or body[2], True
    flat = " ".join(re.sub(r"//.*", "", code).split()).rstrip(";")
    if flat.startswith("typedef"):
        pointer = re.search(r"\(\*(\w+)\)", flat)
        return "type", pointer[1] if pointer else flat.split()[-1], bool(pointer)
    return ("function", flat, False) if "(" in flat else ("var", flat.removeprefix("extern "), False)


def defined_elsewhere(name):
    """A declaration ahead of a struct that another header defines."""
    return any(
        re.search(rf"^\}} {name};", other.read_text(), re.MULTILINE)
        for other in [*ROOT.glob("core/*.h"), *ROOT.glob("plugin/*.h")]
    )


class Header(SphinxDirective):
    """One page of a header."""

    required_arguments = 1

    def run(self):
        path = ROOT / self.arguments[0]
        self.env.note_dependency(str(path))
        out, last, pending = [], None, None
        for section, comment, code in declarations(path.read_text()):
            if section is None:
                out += markup(comment)
                continue
            if section and section != last:
                out += ["", section[0].upper() + section[1:], "-" * len(section), ""]
                last = section
            if code.startswith("#define"):
                out += [".. code-block:: c", "", "   " + code, "", *markup(comment), ""]
                continue
            if re.fullmatch(r"struct \w+;", code.strip()):
                pending = comment  # a name for the declaration that follows
                continue
            kind, name, body = signature(code)
            if comment is None and pending:
                comment = pending
            pending = None
            if kind == "type" and not body and defined_elsewhere(name):
                pending = comment
                continue
            out += [f".. c:{kind}:: {name}", "", *("   " + line for line in markup(comment or []))]
            if body:
                out += ["   .. code-block:: c", "", *("      " + line for line in code.splitlines()), ""]
        return self.parse_text_to_nodes("\n".join(out), allow_section_headings=True)


def setup(app):
    app.add_directive("c-header", Header)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
