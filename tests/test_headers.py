"""tests/headers.md lists each sentence of the public headers that denies something, and its tests exist."""

import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ.get("MJGEAR_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent))
DENIES = re.compile(r"\b(not|never|only|no|refused|cannot)\b", re.IGNORECASE)


def comments(text):
    """Paragraphs and lists of whole-line comments, and comments behind code with the lines that continue them."""
    paragraph, listed = [], False
    for line in [*text.splitlines(), ""]:
        code, mark, words = line.partition("//")
        begins = listed != (listed := not code and words.startswith("  "))
        words = words.strip()
        if paragraph and (code.strip() or not words or words.startswith("---") or begins):
            yield " ".join(" ".join(paragraph).split())
            paragraph = []
        if mark and words and not words.startswith("---"):
            paragraph.append(words)


def sentences(text):
    """Sentences that deny something."""
    parts = (part for comment in comments(text) for part in re.split(r"(?<=\.) (?=[A-Z0-9*(])", comment))
    return [part for part in parts if DENIES.search(part)]


def headers():
    """Headers that cmake --install brings, by name; that of the version is made from its .in."""
    listed = re.findall(r"[\w/]+\.h\b", re.search(r"set\(headers.*?endif", INSTALL, re.DOTALL)[0])
    paths = [SOURCE / name.lstrip("/") for name in listed]
    return {path.name: path if path.exists() else path.with_name(path.name + ".in") for path in paths}


INSTALL = (SOURCE / "cmake" / "install.cmake").read_text()


def rows():
    """(header, first words, test) of each row of the page."""
    lines = (SOURCE / "tests" / "headers.md").read_text().splitlines()
    cells = ([cell.strip(" `") for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| `"))
    return [(name, words.replace("\\|", "|"), test) for name, words, test in cells]


class Headers(unittest.TestCase):
    def test_each_sentence_has_a_row(self):
        table = rows()
        self.assertEqual(len(table), len(set(table)))
        found = {(name, part) for name, path in headers().items() for part in sentences(path.read_text())}
        self.assertGreater(len(found), 50)
        for name, part in sorted(found):
            begins = [row for row in table if row[0] == name and part.startswith(row[1])]
            self.assertEqual(len(begins), 1, f"{name}: {part}: rows {begins}")
        for name, words, _ in table:
            self.assertTrue(any(name == where and part.startswith(words) for where, part in found), f"{name}: {words}")

    def test_each_test_exists(self):
        for name, words, test in rows():
            for one in test.split("`, `"):
                if one == "none":
                    continue
                file, function = one.split("::")
                pattern = rf"^( *def|static void) {function}\("
                self.assertRegex((SOURCE / "tests" / file).read_text(), re.compile(pattern, re.MULTILINE), words)

    def test_core_knows_no_engine(self):
        """Nor allocates, locks, reads, writes or holds a global: no source names an engine, such a call or a variable."""
        calls = r"malloc|calloc|realloc|free|f?open|f?printf|f?puts|f?scanf|fwrite|fread|getenv|pthread_\w+|mtx_\w+"
        for file in sorted((SOURCE / "core").rglob("*.[ch]")):
            self.assertNotRegex(file.read_text(), rf"(?i)mujoco|\b({calls})\(", file.name)
            self.assertNotRegex(
                file.read_text(), r"(?m)^static (?!const |inline )[\w *]+(\[\w*\])*( =.*|;)$", file.name
            )


if __name__ == "__main__":
    unittest.main()
