"""tests/papers.md is complete, and its tests exist."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ["MJGEAR_SOURCE_DIR"])
RUN = sys.argv.pop(1)
TEXT = (SOURCE / "tests" / "papers.md").read_text()

# content of each paper, counted in the papers: figures, tables, equations, and other numbered items
PAPERS = {
    "Kikuuwe": (12, 0, 86, ["Remark %d" % i for i in range(1, 7)] + ["Lemma %d" % i for i in range(1, 5)]),
    "Borello, Dalla Vedova": (17, 1, 6, []),
    "Nordin, Galic', Gutman": (6, 1, 42, ["Lemma 1", "Lemma 2", "Theorem 1"]),
    "Akoto, Spangenberg": (9, 1, 22, []),
    "Ruderman": (7, 0, 6, []),
}


def rows(paper):
    """First and second column of the paper's table."""
    section = re.search(rf"^## {re.escape(paper)}\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)[1]
    table = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")
    ]
    return [(row[0], row[1]) for row in table[2:]]


def numbers(items, pattern):
    """All numbers that the items name, ranges included; pattern has one group."""
    found = set()
    for item in items:
        spans = re.findall(rf"{pattern} to {pattern}", item)
        for first, last in spans:
            found |= set(range(int(first), int(last) + 1))
        found |= {int(n) for n in re.findall(pattern, item)}
    return found


class Papers(unittest.TestCase):
    def test_complete(self):
        for paper, (figures, tables, equations, others) in PAPERS.items():
            items = [item for item, _ in rows(paper)]
            self.assertEqual(numbers(items, r"Fig\. (\d+)"), set(range(1, figures + 1)), paper)
            self.assertEqual(numbers(items, r"\((\d+)\)"), set(range(1, equations + 1)), paper)
            self.assertEqual(len([i for i in items if i.startswith("Table")]), tables, paper)
            for other in others:
                self.assertTrue(any(re.search(rf"{other}\b", item) for item in items), f"{paper}: {other}")

    def test_names_exist(self):
        listed = subprocess.run([RUN, "--list"], check=True, capture_output=True, text=True).stdout
        scenes = set(re.findall(r"^(\S+)", listed, re.MULTILINE))
        named = set()
        for paper in PAPERS:
            for item, where in rows(paper):
                self.assertTrue(where, f"{paper}: {item} has neither file nor reason")
                for scene in re.findall(r"scene `([^`]+)`", where):
                    self.assertIn(scene, scenes, f"{paper}: {item}")
                    named.add(scene)
                for path in re.findall(r"`([^`]+/[^`]+)`", where):
                    self.assertTrue((SOURCE / path).exists(), f"{paper}: {item}: {path}")

        # every scene that says it is from a paper is on the page
        of_papers = {
            line.split()[0]
            for line in listed.splitlines()
            if re.search(r"\((Kikuuwe|Borello|Nordin|Akoto|Ruderman),", line)
        }
        self.assertFalse(of_papers - named, "not on the page")


if __name__ == "__main__":
    unittest.main()
