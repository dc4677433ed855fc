"""Types: the package passes mypy, and mypy knows the options and the types of their values."""
import os
import re
import subprocess
import sys
from typing import get_args

import pytest
import srcfind
import srcfind_test as t
from srcfind._calls import lib, listed, text
from srcfind._options import _KNOWN
from srcfind._signatures import FormatName

RIGHT = """
import pathlib
from typing import TYPE_CHECKING, Any
import numpy as np
import srcfind
if TYPE_CHECKING:
    from typing_extensions import Unpack
a_list: list[int] = [2, 60]
srcfind.find("x.fits", threshold=5.5, island=None, kappa=np.float32(3), local=True, negative=np.bool_(True), min_pixels=np.int64(2))
srcfind.find("x.fits", rms_box=(60, 20), beam=(10, 8.5, 40), scales=a_list, plane=(3, 1), measure_in=["a.fits", pathlib.Path("b.fits")])
srcfind.find("x.fits", rms_box=60, beam=10, scales=True, plane=3, measure_in="a.fits", hdu=1, background=-0.25, device=0)
srcfind.find(b"x.fits", rms_box="60,20", hdu="SCI", background="zero", device="cpu", connectivity=8, shapes="free", mask=pathlib.Path("m"))
srcfind.Finder(threads=2, device_memory=1024).find("x.fits").write(pathlib.Path("c.fits"))
def hand_on(path: str, **options: "Unpack[srcfind.Options]") -> int:
    return len(srcfind.find(path, **options))
hand_on("x.fits", fit=True)
srcfind.find("x.fits").write("c", format="votable")
srcfind.merge(["a.csv"], "m.csv", duplicates="keep", sort="snr")
is_artefact: Any = srcfind.find("x.fits")["Flags"] & srcfind.Flag.ARTEFACT
of_any_types: dict[str, Any] = {}
srcfind.Finder(**of_any_types)
"""

WRONG = """
import srcfind
srcfind.find("x.fits", lokal=True)
srcfind.find("x.fits", threshold="x")
srcfind.find("x.fits", local=1)
srcfind.find("x.fits", rms_box=(60, 0.5))
srcfind.find("x.fits", plane=1.5)
srcfind.find("x.fits", background="mean")
srcfind.find("x.fits", connectivity=6)
srcfind.find("x.fits", mask=True)
srcfind.find("x.fits", gpu=True)
srcfind.Finder(min_pixels=2.5)
srcfind.Finder(shapes="round")
srcfind.find("x.fits").write(3)
srcfind.find("x.fits").write("c.csv", format="cvs")
srcfind.find("x.fits").map("rmss")
srcfind.merge([], "m.csv", duplicates="mark")
srcfind.merge([], "m.csv", sort="RA")
"""


def mypy(directory, *arguments):
    """The output of mypy about the package that is installed, or about a program that imports
    it."""
    version = pytest.importorskip("mypy.version", reason="mypy is not installed").__version__
    if tuple(int(number) for number in re.findall(r"\d+", version)[:2]) < (1, 7):
        pytest.skip("mypy %s does not know Unpack: 1.7 does" % version)
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--no-error-summary",
            "--cache-dir",
            str(directory / "cache"),
            "--config-file",
            os.path.join(t.SOURCE_ROOT, "pyproject.toml"),
            *arguments,
        ],
        cwd=directory,
        capture_output=True,
        text=True,
    )


def test_options_are_those_of_the_library():
    assert list(srcfind.Options.__annotations__) == list(_KNOWN)


def test_formats_are_those_of_the_library():
    assert list(get_args(FormatName)) == [text(each.name) for each in listed(lib.srcfind_format)]


def test_package(tmp_path):
    result = mypy(tmp_path, "-p", "srcfind")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_right_options(tmp_path):
    (tmp_path / "right.py").write_text(RIGHT)
    result = mypy(tmp_path, "right.py")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_wrong_options(tmp_path):
    """Each line of the program is an error, and no other line is."""
    (tmp_path / "wrong.py").write_text(WRONG)
    result = mypy(tmp_path, "wrong.py")
    lines = [
        int(line) for line in re.findall(r"^wrong.py:(\d+): error: ", result.stdout, re.MULTILINE)
    ]
    assert lines == list(range(3, WRONG.count("\n") + 1)), result.stdout
    assert 'keyword argument "lokal" for "find"; did you mean "local"?' in result.stdout
