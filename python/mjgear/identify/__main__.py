"""``mjgear identify`` and ``mjgear protocol``."""

import sys

try:
    from mjgear.identify import cli
except ImportError as error:
    sys.exit(f"mjgear: this command needs {error.name}: pip install 'mjgear[identify]'")

if __name__ == "__main__":
    sys.exit(cli.main(sys.argv[1:]))
