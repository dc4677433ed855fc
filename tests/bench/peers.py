"""What the scripts beside it share: running srcfind, PyBDSF and Aegean, and reading their
catalogues.

Both are on PyPI: `python3 -m venv DIRECTORY && DIRECTORY/bin/pip install bdsf AegeanTools
"numpy<2.3"` (Aegean 2.3.5 stops with later versions of NumPy where it cannot invert a matrix).
DIRECTORY/bin is where this module is to look for them.
"""
import csv
import functools
import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np

PYBDSF = """
import sys
import bdsf
path, catalogue, island, mean, rows, rms = sys.argv[1:]
noise = {"rms_map": False, "rms_value": float(rms)} if rms else {"rms_map": True}
image = bdsf.process_image(path, thresh="hard", thresh_pix=5, thresh_isl=float(island), mean_map=mean, **noise,
                           frequency=1.4e9, ncores=1, quiet=True)
image.write_catalog(outfile=catalogue, format="csv", catalog_type=rows, clobber=True)
"""

WAVELETS = """
import sys
import bdsf
path, sources, gaussians = sys.argv[1:]
image = bdsf.process_image(path, thresh="hard", thresh_pix=5, thresh_isl=3, mean_map="zero", rms_map=True, rms_box=(75, 25),
                           atrous_do=True, atrous_jmax=4, frequency=1.4e9, ncores=1, quiet=True)
for catalogue, rows in (sources, "srl"), (gaussians, "gaul"):
    image.write_catalog(outfile=catalogue, format="csv", catalog_type=rows, clobber=True)
"""


# Their linear algebra would take all cores, where srcfind has one thread.
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


def search(image, *options):
    """The catalogue of the command that $SRCFIND names, with these options; None where it fails."""
    command = [os.environ.get("SRCFIND", "srcfind"), "-q", "-f", "json", *map(str, options), image]
    result = subprocess.run(command, capture_output=True, text=True)
    return json.loads(result.stdout) if result.returncode == 0 else None


def column(rows, *names):
    """Numbers of the first of the names that the rows have; NaN where a cell is empty."""
    name = next((name for name in names if rows and name in rows[0]), None)
    return np.array(
        [np.nan if row[name] in ("", None) else float(row[name]) for row in rows] if name else []
    )


def read(path):
    """The rows of a catalogue that either program wrote as CSV, names in lower case."""
    with open(path) as stream:
        lines = list(stream)
    header = next(
        (i for i, line in enumerate(lines) if re.search(r"\b(ra|lon),", line, re.I)), len(lines)
    )
    lines[header : header + 1] = [line.lower().lstrip("# ") for line in lines[header : header + 1]]
    return list(csv.DictReader(lines[header:], skipinitialspace=True))


def pixels(rows, wcs):
    """Pixels (0-based) of the rows of a catalogue."""
    return wcs.wcs_world2pix(
        np.column_stack([column(rows, "lon", "ra"), column(rows, "lat", "dec")]).reshape(-1, 2), 0
    )


def positions(path, wcs):
    """Pixels (0-based) of the sources in a catalogue that either program wrote as CSV."""
    return pixels(read(path), wcs)


def run_quietly(*command):
    result = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **ONE_THREAD},
    )
    if result.returncode != 0:
        sys.exit("%s failed:\n%s" % (command[0], result.stdout))


def run_pybdsf(programs, image, island, mean="default", rows="srl", rms=None):
    """The path of the list of sources, or of Gaussians (gaul): 5 rms at the peak, islands down to
    `island` rms, a map of the rms or one that is given, and of the mean what PyBDSF chooses, or
    "zero"."""
    catalogue = image + ".pybdsf.csv"
    run_quietly(
        os.path.join(programs, "python"),
        "-c",
        PYBDSF,
        image,
        catalogue,
        str(island),
        mean,
        rows,
        str(rms or ""),
    )
    return catalogue


def run_pybdsf_with_wavelets(programs, image):
    """The path of the list of sources: 5 and 3 rms, a map of the rms in boxes of 75 pixels, a mean
    of zero, and four orders of wavelets. Its column scale is the highest order of the source's
    Gaussians, 0 if no wavelet found one.
    """
    sources, gaussians, catalogue = (image + ".wavelets." + kind for kind in ("srl", "gaul", "csv"))
    run_quietly(os.path.join(programs, "python"), "-c", WAVELETS, image, sources, gaussians)
    rows, scales = [], {}
    if os.path.exists(sources):  # PyBDSF writes none without sources
        rows = read(sources)
        for gaussian in read(gaussians):
            scales[gaussian["source_id"]] = max(
                scales.get(gaussian["source_id"], 0), int(gaussian["wave_id"])
            )
    with open(catalogue, "w", newline="") as stream:
        writer = csv.DictWriter(stream, [*(rows[0] if rows else ["ra", "dec"]), "scale"])
        writer.writeheader()
        writer.writerows({**row, "scale": scales[row["source_id"]]} for row in rows)
    return catalogue


def run_aegean(programs, image, island, rms=None):
    """The path of the list of components, with the same thresholds, and the noise and background of
    BANE, or a given noise and no background."""
    base = image + ".aegean"
    noise = ["--forcerms", str(rms), "--forcebkg", "0"]
    if rms is None:
        run_quietly(os.path.join(programs, "BANE"), "--cores", "1", "--out", base, image)
        noise = ["--noise", base + "_rms.fits", "--background", base + "_bkg.fits"]
    run_quietly(
        os.path.join(programs, "aegean"),
        "--cores",
        "1",
        *noise,
        "--seedclip",
        "5",
        "--floodclip",
        str(island),
        "--table",
        base + ".csv",
        image,
    )
    return base + "_comp.csv"


def has_pybdsf(programs):
    python = shutil.which("python", path=programs)
    return (
        bool(python)
        and subprocess.run([python, "-c", "import bdsf"], capture_output=True).returncode == 0
    )


def installed(programs):
    """{name: function that runs it} of those that are in the directory, and the names of the
    others."""
    there = {
        "PyBDSF": has_pybdsf(programs),
        "Aegean": all(shutil.which(name, path=programs) for name in ("BANE", "aegean")),
    }
    runs = {"PyBDSF": run_pybdsf, "Aegean": run_aegean}
    return {name: runs[name] for name in runs if there[name]}, [
        name for name in runs if not there[name]
    ]


def installed_to_fit(programs, rows="srl", rms=None):
    """The same, for lists of components of the best that each does on known skies, so the functions
    take a directory and an image: PyBDSF's islands down to 3 rms, with a mean of zero; Aegean's
    down to 4, as it does by itself.
    """
    there, missing = installed(programs)
    ways = {
        "PyBDSF": {"island": 3, "mean": "zero", "rows": rows, "rms": rms},
        "Aegean": {"island": 4, "rms": rms},
    }
    return {name: functools.partial(run, **ways[name]) for name, run in there.items()}, missing
