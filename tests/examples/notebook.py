"""A notebook runs from the first cell to the last, and its file keeps the outputs.

    tests/examples/notebook.py NOTEBOOK [--write]

Executes it in a separate kernel, beside the file, so that its assertions hold; fails if an output differs from the file. Warnings are left out.
--write puts the new outputs into the file.
"""

import argparse
import pathlib
import sys

import nbformat
from nbclient import NotebookClient


def shown(cell):
    """Kinds of output of a cell."""
    return sorted(
        {
            output.output_type if output.output_type == "stream" else kind
            for output in cell.outputs
            for kind in output.get("data", {"": ""})
        }
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebook", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()

    kept = nbformat.read(options.notebook, as_version=4)
    new = nbformat.read(options.notebook, as_version=4)
    NotebookClient(
        new, startup_timeout=600, timeout=3600, resources={"metadata": {"path": str(options.notebook.resolve().parent)}}
    ).execute()
    for cell in new.cells:
        if cell.cell_type == "code":  # warnings name files of this machine
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]

    if options.write:
        for number, cell in enumerate(new.cells):
            cell.id = f"cell-{number}"
            cell.metadata.clear()
        new.metadata = {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
        nbformat.write(new, options.notebook)
        return 0
    lost = [
        number
        for number, (old, cell) in enumerate(zip(kept.cells, new.cells, strict=True))
        if cell.cell_type == "code" and shown(old) != shown(cell)
    ]
    for number in lost:
        print(
            f"{options.notebook}: cell {number} shows {shown(new.cells[number])}, the file keeps {shown(kept.cells[number])}; "
            f"tests/examples/notebook.py {options.notebook} --write"
        )
    return bool(lost)


if __name__ == "__main__":
    sys.exit(main())
