"""Index entries of what tables explain: a search for a key of MJCF or a term of the glossary leads to its row.

A table whose first column is called "key", "term" or "function" gets an entry for each name in that column.
"""

import re

from docutils import nodes
from sphinx.addnodes import index
from sphinx.transforms import SphinxTransform

KINDS = ("key", "term", "function")

# words that readers search for and that no title has, of each page
WORDS = {
    "doc/limits": ("Windows", "macOS"),
    "doc/building": ("Windows", "Wine"),
    "doc/performance": ("performance", "overhead"),
    "doc/presets": ("BAM",),
    "doc/quick_start": ("C program, load the plugin",),
    "doc/python": ("domain randomization",),
    "doc/robots": ("known robots",),
    "doc/training": ("save", "restore", "snapshot", "checkpoint"),
    "doc/identify_servo": ("log columns",),
}


def names_of(cell):
    """What stands in a first column: names in code, without code the words between commas."""
    code = [node.astext() for node in cell.findall(nodes.literal)]
    prose = "".join(node.astext() for node in cell.findall(nodes.Text) if not isinstance(node.parent, nodes.literal))
    words = re.sub(r" *\(.*\)", "", prose).split(", ")
    return [name for name in [*code, *(word.strip(" ,") for word in words)] if name and not name.startswith('"')]


class Terms(SphinxTransform):
    default_priority = 400  # before the domain of the index reads the document

    def apply(self):
        section = next(self.document.findall(nodes.section), None)
        for word in WORDS.get(self.document.settings.env.docname, ()) if section else ():
            section.insert(1, index(entries=[("single", word, section["ids"][0], "main", None)]))
        for table in self.document.findall(nodes.table):
            head = next(table.findall(nodes.thead), None)
            kind = head.next_node(nodes.entry).astext() if head else ""
            for row in next(table.findall(nodes.tbody)).findall(nodes.row) if kind in KINDS else ():
                cell = row.next_node(nodes.entry)
                for name in names_of(cell):
                    place = nodes.make_id(f"{kind} {name}")
                    if place in self.document.ids:
                        continue
                    target = nodes.target("", "", ids=[place])
                    self.document.note_explicit_target(target)
                    entry = index(
                        entries=[("single", name, place, "main", None)]
                    )  # main: before pages that have the word in their text
                    cell.insert(0, [entry, target])


def setup(app):
    app.add_transform(Terms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
