"""Messages name options as Python has them: local=True, not --local."""
import glob
import os
import re

import numpy as np
import pytest
import srcfind
import srcfind_test as t
from srcfind._calls import in_python

LITERAL = r'"(?:[^"\\\n]|\\.)*"'
# what a format of C makes of texts and numbers that stand behind an option
FORMATTED = {"%s": "words", "%g": "12.5", "%.6g": "1e-05", "%lld": "12", "%d": "3"}


def texts_of(path):
    """The texts of a source of C; those that stand side by side are one."""
    with open(path, encoding="utf-8") as stream:
        for found in re.finditer(rf"{LITERAL}(?:\s+{LITERAL})*", stream.read()):
            yield "".join(part[1:-1] for part in re.findall(LITERAL, found[0]))


def test_all_messages_of_the_library():
    """No text of the library names an option as the command does, once it is spelled for Python.
    Those in cli/ are the command's."""
    n = 0
    for path in glob.glob(os.path.join(t.SOURCE_ROOT, "src", "**", "*.c"), recursive=True):
        if os.path.join("src", "cli") in path:
            continue
        for text in texts_of(path):
            if not re.search(r"(^|[\s(])--[a-z]", text):
                continue
            for conversion, value in FORMATTED.items():
                text = text.replace(conversion, value)
            spelled = in_python(text)
            # the name of an option is put into these
            left = re.findall(r"(?<!leave )--(?!words-map)\S*", spelled)
            assert not left and "=`" not in spelled, (os.path.basename(path), spelled)
            n += 1
    assert n > 100


@pytest.mark.parametrize(
    "command, python",
    [
        ("--local measures it", "`local=True` measures it"),
        ("--rms-box sets another size", "`rms_box` sets another size"),
        ("as in --rms-box 60,20.", "as in `rms_box=(60, 20)`."),
        ("give --beam MAJ,MIN,PA, or", "give `beam=(MAJ, MIN, PA)`, or"),
        (
            "one for this plane: --beam 10,1e-05,-40.5",
            "one for this plane: `beam=(10, 1e-05, -40.5)`",
        ),
        ("--blank 0 leaves them out", "`blank=0` leaves them out"),
        ("as in --plane mean:1-12", 'as in `plane="mean:1-12"`'),
        ("--mask is 0; --mask r.fits", '`mask` is 0; `mask="r.fits"`'),
        ("narrower than by --psf /d/p.fits", 'narrower than by `psf="/d/p.fits"`'),
        ("--psf measured: too few", '`psf="measured"`: too few'),
        ("with --completeness=30 and", "with `completeness=30` and"),
        ("--save residual shows where", '`catalogue.map("residual")` shows where'),
        ("--save model,residual", '`catalogue.map("model")` and `catalogue.map("residual")`'),
        ("that --save gaussians writes", "that `catalogue.gaussians` writes"),
        ("leave --gpu and --device out", "leave `device` out"),
        ("(--cpu)", '(`device="cpu"`)'),
        ("give --radius ARCSEC, within", "give `radius=ARCSEC`, within"),
        ("at-fixed: it goes with --at", "at_fixed: it goes with `at`"),
        ("/data/a--local.fits: no -- image", "/data/a--local.fits: no -- image"),
    ],
)
def test_spelled(command, python):
    assert in_python(command) == python


def test_errors_notes_and_reasons():
    image = t.noise(60, 70)
    with pytest.raises(srcfind.OptionError, match="^at_fixed: it goes with `at`, which"):
        srcfind.Finder(at_fixed=True)
    with pytest.raises(srcfind.OptionError, match="add `fit=True` and the format"):
        srcfind.Finder(patches="island")
    with pytest.raises(srcfind.OptionError, match="^map: model needs `fit=True`"):
        srcfind.find(image).map("model")
    with pytest.raises(
        srcfind.InputError, match="give `beam=.MAJ, MIN, PA.`, or|`scales` needs the beam"
    ):
        srcfind.find(image, scales=True)
    image[:20] = 0
    with pytest.warns(srcfind.SrcfindWarning, match="`blank=0` leaves them out"):
        found = srcfind.find(image)
    assert any("`blank=0`" in note for note in found.notes)
    assert "--" not in found.run.reason and isinstance(found["N_pix"], np.ndarray)
