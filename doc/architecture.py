"""Draws the structure of core/ and plugin/ from their sources, and checks it.

    doc/architecture.py PICTURE.png     rooms (folders) as boxes, uses of each other's functions as arrows
    doc/architecture.py --check [PICTURE.png]
                                        exit code 1 if the structure is not what doc/architecture.md says:
                                          no two files use each other, directly or through others; a source
                                          and the header of its name are one file
                                          no two rooms of the plugin use each other
                                          the core uses nothing of the plugin
                                          doc/architecture.md names every room, and no other
                                          a function above 60 lines says why: "Long because ..." above it
                                          functions that doc/architecture.md names are in the files it names
                                          the preprocessor asks for the system in two headers alone
                                          a source has a test that mirrors it, or a row in tests/README.md
                                          doc/architecture.png shows these rooms, files and arrows
                                        with PICTURE.png it is drawn there as well

A file is a source with the header of its name, or a header. It uses another if it mentions one of its functions (mjg_, mjgi_, mjgp_), inline functions
of headers included; what a source and the header of its name use of each other does not count. The picture has its
content as text (content()) in its PNG metadata.
"""

import argparse
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST = 60
SYSTEM = re.compile(r"^\s*#.*\b(?:_WIN32|_WIN64|_MSC_VER|__MINGW\w*|__APPLE__|__linux__|__unix__)\b", re.MULTILINE)
SYSTEM_HEADERS = {"core/catalogue/c_locale.h", "tests/system.h"}  # other files for a system are chosen by CMake
DEFINITION = re.compile(r"^(?!static\b)\w[\w \t*]*?\b(mjg[ip]?_\w+)\s*\([^;{}]*\)\s*\{", re.MULTILINE)
INLINE = re.compile(r"^static inline [\w \t*()]*?\b(mjg[ip]?_\w+)\s*\([^;{}]*\)\s*\{", re.MULTILINE)
NAME = re.compile(r"\bmjg[ip]?_\w+")


def sources():
    """All C files of core and plugin, relative to the root."""
    return sorted(f.relative_to(ROOT) for top in ("core", "plugin") for f in (ROOT / top).rglob("*.c"))


def room(file):
    """The folder of a file: core/solvers, plugin/gear."""
    return str(file.parent)


def uses(files):
    """file -> set of files whose functions it mentions, and function -> file that defines it; sources and headers."""
    all_files = [*files, *sorted(f.relative_to(ROOT) for top in ("core", "plugin") for f in (ROOT / top).rglob("*.h"))]
    text = {f: re.sub(r"//.*", "", (ROOT / f).read_text()) for f in all_files}
    # headers first: a function that a header defines for want of the source (dense_newton.h) is the source's
    where = {name: f for f in reversed(all_files) for name in [*DEFINITION.findall(text[f]), *INLINE.findall(text[f])]}
    # of a header bodies of functions, not declarations
    body = {
        f: text[f] if f.suffix == ".c" else "\n".join(re.findall(r"\{.*?^\}", text[f], re.MULTILINE | re.DOTALL))
        for f in all_files
    }
    graph = {
        f: {where[n] for n in NAME.findall(body[f]) if n in where and where[n].with_suffix("") != f.with_suffix("")}
        for f in all_files
    }
    return graph, where


def cycles(graph):
    """Strongly connected components with more than one node (Tarjan)."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in graph[node]:
            if other not in order:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == order[node]:
            part = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(part) > 1:
                found.append(sorted(map(str, part)))

    for node in graph:
        if node not in order:
            visit(node)
    return found


def joined(graph):
    """The same of files without their ending: a source and the header of its name are one."""
    whole = collections.defaultdict(set)
    for f, others in graph.items():
        whole[f.with_suffix("")] |= {o.with_suffix("") for o in others}
    return dict(whole)


def rooms(graph):
    """(room, room) -> number of file pairs between them. Headers without uses of their own are tools for all rooms and
    do not count."""
    count = collections.Counter()
    for f, others in graph.items():
        count.update(
            (room(f), room(o))
            for o in others
            if room(o) != room(f)
            and not (o.suffix == ".h" and not any(room(x).startswith(room(o).split("/")[0]) for x in graph[o]))
        )
    return count


def content(files, between):
    """Text of the picture: a line for each room with its files, and for each arrow."""
    lines = []
    for name in sorted({room(f) for f in files} - {"core"}):
        lines.append(f"{name}: " + ", ".join(f.stem for f in files if room(f) == name))
    lines += sorted(f"{a} -> {b}" for a, b in between if "core" not in (a, b) and "plugin" not in (a, b))
    return "\n".join(lines)


def drawn(picture):
    """The content of a picture that draw() wrote; "" if it has none."""
    from PIL import Image

    with Image.open(picture) as image:
        return getattr(image, "text", {}).get("Description", "")


def long_functions(files):
    """(lines, file, function, says why) of functions longer than LONGEST."""
    for f in files:
        lines = (ROOT / f).read_text().split("\n")
        start = None
        for i, line in enumerate(lines):
            if line.endswith("{") and re.match(r"(?!typedef|struct|enum|extern|static const\b.*=)\w", line):
                start = i
            elif line.startswith(" ") and line.endswith(") {") and start is None:
                start = i
            elif line == "}" and start is not None:
                if i - start + 1 > LONGEST:
                    above = start
                    while above > 0 and lines[above - 1].strip() and lines[above - 1] != "}":
                        above -= 1
                    why = "Long because" in "\n".join(lines[above:start])
                    yield i - start + 1, f, lines[start].strip(), why
                start = None


def untested(files):
    """Sources without a test, and tests that do not exist or that ctest does not run."""
    page = (ROOT / "tests" / "README.md").read_text()
    elsewhere = dict(re.findall(r"^\| `([\w/.]+\.c)` \| `([\w/.]+)` \| \S", page, re.MULTILINE))
    lists = {f.parent: f.read_text() for f in (ROOT / "tests").rglob("CMakeLists.txt")}
    for f in map(str, files):
        mirrors = [
            ROOT / "tests" / pathlib.Path(f).parent / f"test_{pathlib.Path(f).stem}{end}" for end in (".c", ".py")
        ]
        own = [t for t in mirrors if t.exists()]
        if own and f in elsewhere:
            yield f"tests/README.md: {f} has a test of its own, {own[0].relative_to(ROOT)}"
        tests = own or ([ROOT / elsewhere[f]] if f in elsewhere else [])
        if not tests:
            yield f"{f} has no test, and no row in tests/README.md says where it is tested"
        for test in tests:
            words = next(re.findall(r"\w+", lists[p]) for p in test.parents if p in lists)
            if not test.exists() or not {test.stem, test.stem.removeprefix("test_")} & set(words):
                yield f"{f}: its test {test.relative_to(ROOT)} does not exist, or ctest does not run it"
    for f in set(elsewhere) - set(map(str, files)):
        yield f"tests/README.md: there is no {f}"


def check(picture=None):
    """Print all findings; return their number. Draws to picture, if one is named."""
    files = sources()
    graph, where = uses(files)
    findings = ["these files use each other: " + ", ".join(c) for c in cycles(joined(graph))]
    between = rooms(graph)
    for a, b in between:
        if a < b and (b, a) in between and a.startswith("plugin") and b.startswith("plugin"):
            findings.append(f"these rooms use each other: {a}, {b}")
        if a.startswith("core") and b.startswith("plugin"):
            findings.append(f"the core uses the plugin: {a} -> {b}")
    for lines, f, name, why in long_functions(files):
        if not why:
            findings.append(f"{f}: {lines} lines without a reason: {name}")

    findings += untested(files)

    everywhere = [
        f
        for top in ("core", "plugin", "python", "tools", "viewer", "scenes", "benchmarks", "tests")
        for f in (ROOT / top).rglob("*.[ch]")
    ]
    asking = {str(f.relative_to(ROOT)) for f in everywhere if SYSTEM.search(f.read_text())}
    findings += [
        f"{f} asks for the system, which {' and '.join(sorted(SYSTEM_HEADERS))} alone do"
        for f in sorted(asking - SYSTEM_HEADERS)
    ]
    findings += [f"{f} does not ask for the system" for f in sorted(SYSTEM_HEADERS - asking)]

    # | `function` | file | rows of the page
    page = (ROOT / "doc" / "architecture.md").read_text()
    for name, f in re.findall(r"^\| *(?:\d+ *\| *)?`(\w+)` *\| *`?([\w/.]+\.c)`? *\|", page, re.MULTILINE):
        if not (ROOT / f).exists() or not re.search(rf"\b{name}\(", (ROOT / f).read_text()):
            findings.append(f"doc/architecture.md: {name} is not in {f}")

    # | `room` | rows of the page
    named = set(re.findall(r"^\| `((?:core|plugin)/\w+)` \|", page, re.MULTILINE))
    there = {room(f) for f in files} - {"core"}
    findings += [f"doc/architecture.md does not name the room {name}" for name in sorted(there - named)]
    findings += [f"doc/architecture.md names a room that does not exist: {name}" for name in sorted(named - there)]

    try:
        shown = drawn(ROOT / "doc" / "architecture.png")
    except ImportError:
        print("the picture is not checked: no PIL")
    else:
        now, then = set(content(files, between).splitlines()), set(shown.splitlines())
        findings += [f"doc/architecture.png lacks: {line}" for line in sorted(now - then)]
        findings += [f"doc/architecture.png shows what is not so: {line}" for line in sorted(then - now)]
        if picture:
            draw(picture)
            if drawn(picture) != content(files, between):
                findings.append(f"{picture}: drawn with another content")
        if now != then:
            findings.append("draw it again: doc/architecture.py doc/architecture.png")
    print("\n".join(findings) if findings else f"{len(files)} files, {len(where)} functions: as it should be")
    return len(findings)


# places of rooms in the picture: a step enters at the top and goes down
LAYERS = [
    ["plugin/inverse"],
    ["plugin/callbacks"],
    ["plugin/observe", "plugin/solver"],
    ["plugin/model"],
    ["plugin/gear"],
    ["plugin/state", "plugin/configuration"],
    ["core/reference", "core/solvers", "core/backlash"],
    ["core/law", "core/catalogue"],
]


def draw(path):
    """Writes the picture, with its content as text."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

    files = sources()
    graph, _ = uses(files)
    between = rooms(graph)
    per_room = collections.defaultdict(list)
    for f in files:
        if room(f) != "core":  # the version number
            per_room[room(f)].append(f.stem)
    unknown = set(per_room) - {r for layer in LAYERS for r in layer}
    if unknown:
        sys.exit("rooms without a place in the picture: " + ", ".join(sorted(unknown)))

    step, width, down, place, height = 6.2, 4.6, 0.0, {}, {}
    figure, axes = plt.subplots(figsize=(15, 15))
    for layer in LAYERS:
        texts = {r: wrap(", ".join(per_room[r]), 44) for r in layer if r in per_room}
        tallest = max(len(lines) for lines in texts.values())
        for i, (name, lines) in enumerate(texts.items()):
            height[name] = 0.55 + 0.27 * len(lines)
            x, y = step * (i - (len(texts) - 1) / 2), down - (0.55 + 0.27 * tallest) / 2
            place[name] = (x, y)
            color = "#dbe9f6" if name.startswith("core") else "#fde7cf"
            axes.add_patch(
                FancyBboxPatch(
                    (x - width / 2, y - height[name] / 2),
                    width,
                    height[name],
                    facecolor=color,
                    edgecolor="#444444",
                    boxstyle="round,pad=0.02,rounding_size=0.12",
                    zorder=3,
                )
            )
            axes.text(
                x, y + height[name] / 2 - 0.22, name, ha="center", va="center", weight="bold", fontsize=13, zorder=4
            )
            axes.text(x, y - 0.2, "\n".join(lines), ha="center", va="center", fontsize=9.5, zorder=4, linespacing=1.25)
        down -= 0.55 + 0.27 * tallest + 1.25
    for (a, b), count in between.items():
        if a not in place or b not in place:
            continue
        (xa, ya), (xb, yb) = place[a], place[b]
        if abs(ya - yb) < 0.01:
            side = 1 if xb > xa else -1
            start, end, bend = (xa + side * width / 2, ya), (xb - side * width / 2, yb), 0.0
            if abs(xb - xa) > 1.5 * step:
                start, end, bend = (xa, ya - height[a] / 2), (xb, yb - height[b] / 2), -0.25 * side
        else:
            sign = 1 if yb < ya else -1
            shift = 0.32 * width * max(-1, min(1, (xb - xa) / step))
            start, end, bend = (xa + shift, ya - sign * height[a] / 2), (xb - shift, yb + sign * height[b] / 2), 0.0
            if abs(yb - ya) > 4 and abs(xb - xa) < 0.5 * step:
                side = 1 if xa + xb >= 0 else -1
                start, end, bend = (xa + side * width / 2, ya), (xb + side * width / 2, yb), -0.35 * side
        axes.add_patch(
            FancyArrowPatch(
                start,
                end,
                arrowstyle="-|>",
                mutation_scale=16,
                color="#5b6b7b",
                alpha=0.75,
                linewidth=1.0 + 0.3 * min(count, 8),
                connectionstyle=f"arc3,rad={bend}",
                zorder=2,
            )
        )
    axes.set_xlim(min(x for x, _ in place.values()) - 3.6, max(x for x, _ in place.values()) + 3.6)
    axes.set_ylim(down + 0.9, 0.3)
    axes.set_axis_off()
    figure.tight_layout()
    figure.savefig(path, dpi=90, metadata={"Description": content(files, between)})


def wrap(text, width):
    """Lines of at most width characters."""
    import textwrap

    return textwrap.wrap(text, width)


def main():
    parser = argparse.ArgumentParser(description="Draws the structure of core/ and plugin/, and checks it.")
    parser.add_argument("picture", nargs="?", help="PNG to write")
    parser.add_argument("--check", action="store_true", help="check instead of drawing")
    arguments = parser.parse_args()
    if arguments.check:
        sys.exit(1 if check(arguments.picture) else 0)
    if not arguments.picture:
        parser.error("name a picture to write, or --check")
    draw(arguments.picture)


if __name__ == "__main__":
    main()
