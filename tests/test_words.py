"""No tracked text has a phrase of tests/words.txt, and codespell finds no misspelt word.

tests/test_words.py [FILE...]     these files instead of all tracked ones
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("MJGEAR_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent))
LIST = SOURCE / "tests" / "words.txt"
TEXT = {".c", ".h", ".cc", ".cpp", ".py", ".pyi", ".md", ".txt", ".cmake", ".sh", ".xml", ".ipynb", ".toml", ""}


def phrases():
    """(pattern, where, reason) of each row of the list."""
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            pattern, where, reason = line.rsplit(" | ", 2)
            yield re.compile(rf"(?<!\w){pattern}(?!\w)", re.IGNORECASE), where, reason


def tracked():
    """Every text that is checked: tracked by git, or all sources where this is not a clone."""
    done = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z"], capture_output=True, text=True, check=False)
    names = (
        done.stdout.split("\0")[:-1]
        if done.returncode == 0
        else [
            str(file.relative_to(SOURCE))
            for file in SOURCE.rglob("*")
            if file.is_file() and not {"build", "results", "dist"} & set(file.relative_to(SOURCE).parts)
        ]
    )
    left_out = ("tests/words.txt", "tests/test_words.py", "tests/corpus/", "cmake/requirements", "benchmarks/problems/")
    return [
        SOURCE / name
        for name in names
        if pathlib.PurePath(name).suffix in TEXT and not name.startswith(left_out) and (SOURCE / name).is_file()
    ]


def is_page(file):
    return (
        file.suffix in (".md", ".ipynb") and file.name != "CHANGELOG.md" and file.parent.name != "records"
    )  # which quote messages


def comments(file, text):
    """Return only the comments of a source, "" for other files and for folders outside of the list."""
    ours = ("core", "tools", "viewer", "scenes", "benchmarks")
    mark = {".c": "//", ".h": "//", ".cc": "//", ".py": "#"}.get(file.suffix)
    parts = file.relative_to(SOURCE).parts if file.is_relative_to(SOURCE) else file.parts  # a clone may have any name
    if not mark or "tests" in parts or not any(folder in parts for folder in ours):
        return ""
    return "\n".join(line[line.index(mark) :] if mark in line else "" for line in text.split("\n"))


def findings(file, rows):
    """Lines of a file with a phrase of the list; a phrase may go on in the next line."""
    whole = file.read_text(errors="replace")
    for text, places in (
        (whole, {"all"} | ({"pages"} if is_page(file) else set())),
        (comments(file, whole), {"comments"}),
    ):
        yield from phrases_in(file, text, [row for row in rows if row[1] in places])


def phrases_in(file, text, rows):
    joined = re.sub(r"\n[ \t]*(?://|#|\*)?[ \t]*", lambda match: " " * len(match[0]), text)
    for pattern, _, reason in rows:
        for match in re.finditer(pattern.pattern.replace(" ", r" +"), joined, re.IGNORECASE):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{file}:{line}: '{' '.join(match[0].split())}': {reason}"


class Words(unittest.TestCase):
    def test_texts(self):
        rows = list(phrases())
        files = tracked()
        self.assertGreater(len(files), 500)
        found = [one for file in files for one in findings(file, rows)]
        self.assertEqual(found, [], "\n".join(found))

    def test_list_can_fail(self):
        """Each row finds itself in a made-up page, also across the end of a line; a clean page has no finding."""
        samples = {
            "goes? (round|in a circle)": "goes round",
            "the (solver|version) (of today|before)": "the solver of today",
            "(is|are) no (?!longer|more|less|better|worse|such\\b)\\w+": "is no joint",
            "(is|are) (not )?to be had": "is not to be had",
            "counts? as none": "counts as none",
            "settles? on pieces": "settles on pieces",
        }
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            for line in LIST.read_text().splitlines():
                if not line or line.startswith("#"):
                    continue
                pattern, where, _ = line.rsplit(" | ", 2)
                if where == "comments":
                    source = pathlib.Path(folder) / "core" / "file.c"
                    source.parent.mkdir(exist_ok=True)
                    source.write_text(f"int x;  // joints, {pattern} move\n")
                    self.assertTrue(list(findings(source, list(phrases()))), pattern)
                    source.write_text(f'const char* text = "{pattern}";\n')
                    self.assertEqual(list(findings(source, list(phrases()))), [], pattern)
                    continue
                sample = samples.get(pattern, pattern)
                for text in (
                    f"A gear {sample} here.\n",
                    f"A gear {sample}\n".replace(" ", "\n"),
                    f"A gear {sample.upper()} here.\n",
                ):
                    page.write_text(text)
                    self.assertTrue(list(findings(page, list(phrases()))), f"{pattern}: {text!r}")
            page.write_text("A worm holds its load. The step is solved.\n")
            self.assertEqual(list(findings(page, list(phrases()))), [])

    @unittest.skipUnless(
        shutil.which("codespell") or (pathlib.Path(sys.executable).parent / "codespell").exists(), "no codespell"
    )
    def test_spelling(self):
        program = pathlib.Path(sys.executable).parent / "codespell"
        known = "reacher,datas,statics,ure,fro,nd,nknown,fo,explane,exat,doubleclick,lief,haa"
        files = [file for file in tracked() if file.suffix not in (".ipynb", ".txt", ".xml")]
        done = subprocess.run(
            [str(program) if program.exists() else "codespell", "--ignore-words-list", known, *map(str, files)],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    if len(sys.argv) > 1 and pathlib.Path(sys.argv[1]).exists():
        lines = [one for name in sys.argv[1:] for one in findings(pathlib.Path(name), list(phrases()))]
        print("\n".join(lines))
        sys.exit(bool(lines))
    unittest.main()
