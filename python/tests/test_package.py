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
    """The modules, the extension, the CUDA module and the libraries of a wheel; the commands, and what
    is in share/, but no header and no library of C."""
    outside = set()
    for file in importlib.metadata.files("srcfind"):
        if file.parts[0] not in ("srcfind", "srcfind.libs") and not file.parts[0].startswith(
            "srcfind-"
        ):
            outside.add(os.path.relpath(file.locate(), sys.prefix))
    commands = ("srcfind", "srcfind-merge", "srcfind-page")
    wanted = {"bin/" + name for name in commands}
    wanted |= {"share/man/man1/%s.1" % name for name in commands}
    wanted |= {"share/srcfind/srcfind.schema.json", "share/srcfind/columns/aegean"}
    wanted |= {
        "share/doc/srcfind/" + name
        for name in ("LICENSE", "examples/lightcurve.py", "docs/trust.md")
    }
    assert wanted <= outside
    assert all(name in wanted or name.startswith("share/") for name in outside), outside
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


def test_command():
    """The command of the package, whatever PATH has; its exit status and its output are those of srcfind."""
    arguments = [sys.executable, "-m", "srcfind", "-q", SAMPLE]
    result = subprocess.run(arguments, env={"PATH": ""}, check=True, capture_output=True, text=True)
    assert result.stdout.count("\n") == 1 + len(srcfind.find(SAMPLE))
    wrong = subprocess.run([*arguments, "--no-such"], capture_output=True, text=True)
    assert wrong.returncode == 2 and wrong.stderr.startswith("srcfind: ")


def test_examples():
    """The examples in the docstrings are true."""
    image = np.where(np.indices((48, 64)).sum(0) % 2, 1, -1).astype(np.float32)
    image[20, 30:32] = 100, 300
    n = 0
    for module in (srcfind, srcfind._finder, srcfind._catalogue, srcfind._merge):
        result = doctest.testmod(
            module,
            extraglobs={"image": image, "find": srcfind.find, "merge": srcfind.merge},
            report=True,
        )
        assert result.failed == 0
        n += result.attempted
    assert n > 5


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
