"""What the scripts beside it share: running PyBDSF and Aegean, and reading their catalogues.

Both are on PyPI: `python3 -m venv DIRECTORY && DIRECTORY/bin/pip install bdsf AegeanTools "numpy<2.3"` (Aegean 2.3.5 stops
with later versions of NumPy where it cannot invert a matrix). DIRECTORY/bin is where this module is to look for them.
"""
import csv
import os
import re
import shutil
import subprocess
import sys

import numpy as np

PYBDSF = """
import sys
import bdsf
image = bdsf.process_image(sys.argv[1], thresh="hard", thresh_pix=5, thresh_isl=float(sys.argv[3]),
                           rms_map=True, frequency=1.4e9, ncores=1, quiet=True)
image.write_catalog(outfile=sys.argv[2], format="csv", catalog_type="srl", clobber=True)
"""


def positions(path, wcs):
    """Pixels (0-based) of the sources in a catalogue that either program wrote as CSV."""
    with open(path) as stream:
        lines = [line.lower().lstrip("# ") for line in stream]
    header = next((i for i, line in enumerate(lines) if re.search(r"\b(ra|lon),", line)), len(lines))
    table = csv.DictReader(lines[header:], skipinitialspace=True)
    names = ("lon", "lat") if "lon" in (table.fieldnames or []) else ("ra", "dec")
    return wcs.wcs_world2pix(np.array([[float(row[name]) for name in names] for row in table]).reshape(-1, 2), 0)


def run_quietly(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        sys.exit("%s failed:\n%s" % (command[0], result.stdout))


def run_pybdsf(programs, image, island):
    """The path of the source list: 5 rms at the peak, islands down to `island` rms, a map of the rms."""
    catalogue = image + ".pybdsf.csv"
    run_quietly(os.path.join(programs, "python"), "-c", PYBDSF, image, catalogue, str(island))
    return catalogue


def run_aegean(programs, image, island):
    """The path of the list of components, with the same thresholds, and the noise and background of BANE."""
    base = image + ".aegean"
    run_quietly(os.path.join(programs, "BANE"), "--cores", "1", "--out", base, image)
    run_quietly(os.path.join(programs, "aegean"), "--cores", "1", "--noise", base + "_rms.fits",
                "--background", base + "_bkg.fits", "--seedclip", "5", "--floodclip", str(island),
                "--table", base + ".csv", image)
    return base + "_comp.csv"


def has_pybdsf(programs):
    python = shutil.which("python", path=programs)
    return bool(python) and subprocess.run([python, "-c", "import bdsf"], capture_output=True).returncode == 0


def installed(programs):
    """{name: function that runs it} of those that are in the directory, and the names of the others."""
    there = {"PyBDSF": has_pybdsf(programs),
             "Aegean": all(shutil.which(name, path=programs) for name in ("BANE", "aegean"))}
    runs = {"PyBDSF": run_pybdsf, "Aegean": run_aegean}
    return {name: runs[name] for name in runs if there[name]}, [name for name in runs if not there[name]]
