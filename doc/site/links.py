"""Links of the pages, which work beside the files and on the site.

A link to a public header leads to its API page, one to a folder to the folder's page, one to the README to the first page.
Targets that are not pages, source files for instance, are copied and can be downloaded.
"""

import os
import pathlib

from docutils import nodes
from sphinx.addnodes import download_reference, pending_xref

PAGES = {
    "README.md": "doc/index",
    "core/mjgear.h": "doc/api/core",
    "core/mjgear_paper.h": "doc/api/paper",
    "core/mjgear_catalogue.h": "doc/api/catalogue",
    "core/mjgear_text.h": "doc/api/text",
    "core/mjgear_report.h": "doc/api/report",
    "core/mjgear_backlash.h": "doc/api/backlash",
    "plugin/mjgear_plugin.h": "doc/api/plugin",
}

# pages that lead to others by links in their text
BELOW = {"models/README": "*/README", "doc/identify": "../data/*/README"}


def page_of(env, docname, target):
    path = os.path.normpath(pathlib.PurePosixPath(docname).parent / target.split("#")[0])
    if path in PAGES and not docname.startswith("doc/api/"):
        return PAGES[path]
    return next((name for name in (f"{path}/README", path) if name in env.found_docs), None)


def resolve(app, doctree):
    docname = app.env.docname
    for node in [*doctree.findall(download_reference), *doctree.findall(pending_xref)]:
        if isinstance(node, pending_xref) and node.get("reftype") != "myst":
            continue
        page = page_of(app.env, docname, node["reftarget"])
        if page and "#" not in node["reftarget"]:
            link = pending_xref(
                "", refdomain="std", reftype="doc", reftarget="/" + page, refexplicit=True, refdoc=docname, refwarn=True
            )
            link += nodes.inline("", "", *node.children)
            node.replace_self(link)


def add_pages_below(app, docname, source):
    if docname in BELOW:
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n:glob:\n\n{BELOW[docname]}\n```\n"


def setup(app):
    app.connect("doctree-read", resolve, priority=100)
    app.connect("source-read", add_pages_below)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
