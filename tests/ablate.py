"""Switch off one mechanism of the solver at a time, in a copy of the tree, and run the test that holds it.

    ablate.py [--folder FOLDER] [WORD...]      WORD: part of a mechanism's name; without one all

Status 1 if the test of a mechanism passes without it, or if doc/architecture.md does not name the mechanism and its test.
A mechanism without a test is not run: the table has a figure instead.
"""

import argparse
import pathlib
import sys

import mutate

NEWTON, PATH = "plugin/solver/newton.c", "plugin/solver/path.c"
START = "mjgpStart kind = (mjgpStart)(k >> fine);"

# name, test, file, old, new
MECHANISMS = [
    (
        "Gauss-Seidel sweeps",
        "test_plugin_path",
        NEWTON,
        "if (changes && k >= exchanges",
        "if (0 && changes && k >= exchanges",
    ),
    ("branch connected to rest", "test_plugin_tree", NEWTON, "(!flg_connect || !toRestBranch(p))", "1"),
    (
        "row states of the last step",
        "test_plugin_newton",
        "plugin/solver/contact.c",
        "last[i] = group->jar[i] - since[i];",
        "last[i] = group->jar[i];",
    ),
    (
        "rows at their edge",
        "test_plugin_coupling",
        NEWTON,
        "!differ || (error <= mjgpROOT",
        "!differ || (0 && error <= mjgpROOT",
    ),
    (
        "residual that still halves",
        "test_drive_train.py",
        NEWTON,
        "(error > mjgpGAINED * before || isZero(p))",
        "(0 * before > 0 || isZero(p))",
    ),
    (
        "parallel lines",
        "test_plugin_newton",
        "plugin/gear/piece.c",
        "return mju_abs(gamma - 1) < mjgpSAME || mju_abs(ratio * gamma - 1) < mjgpSAME;",
        "return 0 * (gamma + ratio) > 0;",
    ),
    (
        "trees without constraints",
        "test_plugin_tree",
        "plugin/solver/tree.c",
        "if (!Mhat->slope ||",
        "if (1 || !Mhat->slope ||",
    ),
    (
        "path from the last step",
        "test_plugin_path",
        PATH,
        START,
        f"{START} if (kind == mjgpSTART_LAST) {{ continue; }}",
    ),
    (
        "path from Newton's last iterate",
        "test_plugin_path",
        PATH,
        START,
        f"{START} if (kind == mjgpSTART_NEAR) {{ continue; }}",
    ),
    ("path from far", "", PATH, START, f"{START} if (kind == mjgpSTART_FAR) {{ continue; }}"),
    ("path from rest", "test_plugin_path", PATH, START, f"{START} if (kind == mjgpSTART_REST) {{ continue; }}"),
    ("path from rest, last acceleration", "", PATH, START, f"{START} if (kind == mjgpSTART_STILL) {{ continue; }}"),
    (
        "springs that share a load",
        "test_plugin_redundant.py",
        "plugin/solver/coupling.c",
        "(mayShare(s) && shareLoad(",
        "(0 && mayShare(s) && shareLoad(",
    ),
    (
        "round-off of neighbours",
        "test_plugin_law_error.py",
        "plugin/solver/law_error.c",
        "if (error <= mjgpLAW) {",
        "if (error <= 1e300) {",
    ),
    (
        "reference acceleration of motors behind gaps",
        "test_plugin_rotors.py",
        "plugin/model/rotors.c",
        "int moves = remove && g",
        "int moves = 0 && remove && g",
    ),
    (
        "line search with friction held",
        "",
        NEWTON,
        "shortened = (differ || p->whole) && shorten(p);",
        "shortened = p->whole && shorten(p);",
    ),
    (
        "shorter segments around cones",
        "test_plugin_path",
        PATH,
        "int solved = 0, fine = s->group->ncone > 0;",
        "int solved = 0, fine = 0;",
    ),
    (
        "release of all static bounds",
        "",
        "plugin/solver/coupling.c",
        "s->released = hasStatic(s);",
        "s->released = 0;",
    ),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*")
    parser.add_argument("--folder", type=pathlib.Path, default=mutate.SOURCE / "build" / "ablate")
    a = parser.parse_args()
    page = (mutate.SOURCE / "doc/architecture.md").read_text()
    chosen = [m for m in MECHANISMS if not a.words or any(word in m[0] for word in a.words)]
    faults, whole = 0, set()  # whole: tests that pass with all mechanisms
    a.folder.mkdir(parents=True, exist_ok=True)
    copy = mutate.Copy(a.folder)
    for name, test, file, old, new in chosen:
        path = copy.tree / file
        text = path.read_text()
        changed = mutate.apply(text, old, new, file)
        known = any(f"| {name} |" in line and test in line for line in page.splitlines())
        passes = not test
        if test and test not in whole and not copy.passes(test, 600):
            sys.exit(f"{test} fails with all mechanisms, or is no test")
        whole.add(test)
        if test:
            path.write_text(changed)
            try:
                passes = copy.passes(test, 600)
            finally:
                path.write_text(text)
        said = "no test" if not test else "NOT HELD" if passes else "held"
        faults += bool(test and passes) + (not known)
        print(f"{said:<9} {test or '-':<22} {name}{'' if known else ': NOT IN THE TABLE'}", flush=True)
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
