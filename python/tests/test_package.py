"""The package that is installed: what is in it, its examples, and that it needs no astropy."""
import doctest
import importlib.metadata
import os
import subprocess
import sys

import numpy as np
import srcfind
import srcfind_test as t

SAMPLE = os.path.join(t.SOURCE_ROOT, "data", "sample.fits")


def test_files():
    """The modules, the extension, the CUDA module and the libraries of a wheel; the commands and
    share/; but no header and no library to link with."""
    for file in importlib.metadata.files("srcfind"):
        parts = [part for part in file.parts if part != ".."]
        assert parts[0] in ("srcfind", "srcfind.libs", "bin", "share") or parts[0].startswith(
            "srcfind-"
        ), file
    assert not srcfind.__file__.startswith(t.SOURCE_ROOT + os.sep)


def test_without_astropy():
    """The structured array stands in for the table, and nothing else is missed."""
    program = """
import sys
class Blocked:
    def find_spec(self, name, *rest):
        if name.partition(".")[0] == "astropy":
            raise ImportError("blocked")
sys.meta_path.insert(0, Blocked())
import srcfind
found = srcfind.find(sys.argv[1])
assert found.table is found.array and len(found.table) == 24
assert srcfind.find(found.map("snr"), header="%-80s" % "BUNIT   = 'Jy/beam'").image.unit == "Jy/beam"
assert not any(name.partition(".")[0] == "astropy" for name in sys.modules)
"""
    subprocess.run([sys.executable, "-c", program, SAMPLE], check=True)


def test_print_as_promised():
    result = subprocess.run(
        [sys.executable, "-c", "import srcfind; print(srcfind.find(%r).table)" % SAMPLE],
        check=True,
        capture_output=True,
        text=True,
    )
    assert "J123031.24+122043.7" in result.stdout and result.stderr == ""


def test_examples():
    """The examples in the docstrings are true."""
    image = np.where(np.indices((48, 64)).sum(0) % 2, 1, -1).astype(np.float32)
    image[20, 30:32] = 100, 300
    n = 0
    names = ("_find", "_finder", "_catalogue", "_merge", "_option_list")
    for module in (srcfind, *(getattr(srcfind, name) for name in names)):
        result = doctest.testmod(
            module,
            extraglobs={"image": image, **{n: getattr(srcfind, n) for n in srcfind.__all__}},
            report=True,
        )
        assert result.failed == 0
        n += result.attempted
    assert n > 10


def test_versions():
    assert srcfind.versions().startswith("srcfind %s\n" % srcfind.__version__)
    has_module = os.path.exists(
        os.path.join(os.path.dirname(srcfind.__file__), "libsrcfind-cuda.so")
    )
    if has_module or "SRCFIND_CUDA_MODULE" in os.environ:
        assert "backends: cpu" in srcfind.versions() and "CUDA" in srcfind.versions()
        assert "built without CUDA" not in srcfind.versions()
    else:
        assert srcfind.versions().endswith("built without CUDA")
