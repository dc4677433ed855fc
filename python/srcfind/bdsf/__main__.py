"""Tells of srcfind.bdsf: usage: python -m srcfind.bdsf --path | --options

--path     prints a directory for PYTHONPATH: `import bdsf` is srcfind.bdsf there
--options  prints what becomes of each option of PyBDSF
"""
import os
import sys

from srcfind.bdsf._options import table

if sys.argv[1:] == ["--path"]:
    print(os.path.join(os.path.dirname(os.path.abspath(__file__)), "front"))
elif sys.argv[1:] == ["--options"]:
    try:
        print(table(), flush=True)
    except BrokenPipeError:  # as of head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
else:
    sys.exit(__doc__)
