"""Write what a DLL exports as a module definition file, of which a linker's import library is made: exports.py DLL DEF"""

import sys
from pathlib import Path

import lief

dll = Path(sys.argv[1])
names = [function.name for function in lief.PE.parse(str(dll)).exported_functions]
Path(sys.argv[2]).write_text("\n".join([f"LIBRARY {dll.name}", "EXPORTS", *names]) + "\n")
