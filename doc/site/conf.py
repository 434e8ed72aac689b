"""The site of these pages, by Sphinx: ./site builds it.

The source folder is the repository itself, so a link works on the site and beside the files (links.py).
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "python")]

project = "mjgear"
author = "the authors of mjgear"
version = release = re.search(r"project\(mjgear VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
html_title = f"mjgear {version}"

# the address of the repository, where CITATION.cff names one: a link in the sidebar
repository = re.search(r"^repository-code: *(\S+)", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
html_context = {"repository": repository[1] if repository else ""}

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "c_headers",
    "films",
    "links",
    "mathml",
    "programs",
    "py_source",
    "terms",
]

root_doc = "doc/index"
include_patterns = [
    "doc/**",
    "examples/README.md",
    "examples/*.ipynb",
    "models/README.md",
    "models/*/README.md",
    "scenes/flap/README.md",
    "data/*/README.md",
    "tests/README.md",
    "tests/papers.md",
    "tests/headers.md",
    "benchmarks/*.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
]
exclude_patterns = ["build", "results", "dist", "**/.*", "doc/site", "python", "core", "plugin", "viewer", "tools"]
nitpicky = True
suppress_warnings = ["myst.header"]  # pages begin with the section that they need

# ------------------------------------------ Markdown ---------------------------------------------

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the notebook keeps its outputs; a test executes it

# ------------------------------------------ Python -----------------------------------------------

autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
add_module_names = False
python_use_unqualified_type_names = True

# types of other packages, and types of ours that are not public; C types of the engine
nitpick_ignore_regex = [("py:.*", ".*"), ("c:identifier", "(mjModel|mjData|mjtNum|size_t|va_list|bool|mjgReport_)")]

# ------------------------------------------ looks ------------------------------------------------

html_theme = "furo"
html_static_path = ["static"]
templates_path = ["templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "links.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
# links that lead out of the site are not followed by the link check: it needs no net
linkcheck_ignore = [r"https?://"]
linkcheck_anchors = True
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"
copybutton_exclude = ".linenos, .gp, .go"
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
