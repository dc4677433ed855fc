"""What people look at: pictures, pages, and catalogues in notebooks."""
import base64
import io
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
import srcfind
import srcfind_test as t
from astropy.io import fits
from conftest import SAMPLE
from srcfind import _shown

needs_cairo = pytest.mark.skipif(
    "cairo" not in srcfind.versions()
    or "no cairo" in srcfind.versions()
    or "cairo (not" in srcfind.versions(),
    reason="cairo is not there",
)


def size_of(picture):
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    with image.open(io.BytesIO(picture)) as found:
        return found.size


def pictures_in(html):
    return [
        base64.b64decode(found)
        for found in re.findall(r'src="data:image/png;base64,([^"]*)"', html)
    ]


# --- pictures ---


@needs_cairo
def test_picture_is_that_of_the_command(path):
    """It has the same bytes, in memory and in a file."""
    for options, of_command in (
        ({}, ()),
        ({"survey": True, "trim": (11, 250, 1, 200)}, ("-s", "--trim=11,250,1,200")),
    ):
        t.run(SAMPLE, *of_command, "--save", "picture", "-o", path("c.csv"), check=True)
        with open(path("c.picture.png"), "rb") as stream:
            expected = stream.read()
        found = srcfind.find(SAMPLE, **options)
        assert found.picture() == expected
        assert found.picture(path("ours.png"), overwrite=True) is None
        with open(path("ours.png"), "rb") as stream:
            assert stream.read() == expected


@needs_cairo
def test_picture_of_an_array(path):
    """It is that of the file but for its title, in either byte order."""
    with fits.open(SAMPLE) as hdus:
        pixels, header = hdus[0].data, hdus[0].header
    of_file = srcfind.find(SAMPLE).picture()
    pictures = [
        srcfind.find(array, header=header).picture()
        for array in (pixels, pixels.astype("f4"), pixels.astype("f8"))
    ]
    assert pictures[0] == pictures[1] == pictures[2] != of_file
    images = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    below_title = [np.asarray(images.open(io.BytesIO(p)))[34:] for p in (of_file, pictures[0])]
    assert np.array_equal(*below_title)


@needs_cairo
def test_sizes():
    found = srcfind.find(t.noise(1000, 1400))
    assert size_of(found.picture())[0] == 1400 + 275
    assert size_of(found.picture(size=700)) == (700 + 275, 500 + 130)
    assert size_of(found.picture(size=300)) == (640, 200 + 130)
    for size in (199, 1721, -1):
        with pytest.raises(srcfind.OptionError, match="give 200 to 1720"):
            found.picture(size=size)


@needs_cairo
def test_pictures_replace_pictures(path):
    found = srcfind.find(SAMPLE)
    found.picture(path("p.png"))
    with pytest.raises(FileExistsError, match="overwrite=True"):
        found.picture(path("p.png"))
    found.picture(path("p.png"), overwrite=True)
    with open(path("p.png"), "w") as stream:
        stream.write("other")
    with pytest.raises(srcfind.OptionError, match="would replace this file"):
        found.picture(path("p.png"), overwrite=True)
    with pytest.raises(srcfind.OutputError):
        found.picture(path("none/p.png"))


@needs_cairo
def test_what_is_shown():
    picture = srcfind.find(SAMPLE).picture()
    assert isinstance(picture, bytes) and picture._repr_png_() == bytes(picture)
    assert repr(picture) == "<srcfind.Picture of %d x %d pixels>" % size_of(picture)
    assert str(picture) == repr(picture)


def test_no_picture(path, monkeypatch):
    """A catalogue that was pickled has none, and the error says so."""
    with pytest.raises(srcfind.OptionError, match="pickled"):
        pickle.loads(pickle.dumps(srcfind.find(SAMPLE))).picture()


# --- notebooks ---


@needs_cairo
def test_notebook(path, monkeypatch):
    """A picture, the facts and the table; without a picture of a large image, a table of Gaussians,
    a pickle, and an image that has changed."""
    found = srcfind.find(SAMPLE, fit=True)
    html = found._repr_html_()
    (picture,) = pictures_in(html)
    assert picture == found.picture(size=800) and html.count("<table>") == 1
    assert html.index("<img") < html.index("sources in") < html.index("<table>")
    assert found._repr_html_() == html
    assert not pictures_in(found.gaussians._repr_html_())
    assert not pictures_in(pickle.loads(pickle.dumps(found))._repr_html_())
    with fits.open(SAMPLE) as hdus:
        hdus.writeto(path("image.fits"))
    changed = srcfind.find(path("image.fits"))
    os.remove(path("image.fits"))
    assert not pictures_in(changed._repr_html_())
    monkeypatch.setattr(_shown, "_MOST_PIXELS", 10000)
    assert not pictures_in(srcfind.find(SAMPLE)._repr_html_())


def test_notebook_without_cairo(monkeypatch):
    """The table alone."""

    def picture(*arguments, **options):
        raise srcfind.OutputError("pictures need cairo")

    found = srcfind.find(SAMPLE)
    monkeypatch.setattr(srcfind.Catalogue, "picture", picture)
    assert found._repr_html_().startswith("<p>24 sources in ")


# --- pages ---


@pytest.fixture
def needs_page():
    for name in ("jinja2", "PIL"):
        pytest.importorskip(name, reason=name + " is not installed")


@needs_cairo
def test_page_is_that_of_the_command(path, needs_page):
    options = {"survey": True, "negative": True, "completeness": 50}
    of_command = ("-s", "--negative", "--completeness=50", "--save", "picture,rms")
    t.run(SAMPLE, *of_command, "-o", path("page.json"), check=True)
    page = [
        sys.executable,
        "-c",
        "import sys; from srcfind.page._command import main; sys.exit(main())",
    ]
    subprocess.run([*page, "-q", path("page.json")], check=True)
    os.rename(path("page.html"), path("theirs.html"))
    srcfind.find(SAMPLE, **options).page(path("page.html"))
    with open(path("page.html")) as ours, open(path("theirs.html")) as theirs:
        assert ours.read() == theirs.read().replace(
            "The sources of page.json", "The sources of sample.fits"
        )


def test_page_of_an_array(path, needs_page):
    found = srcfind.find(t.noise(200, 210), local=True, fit=True)
    found.page(path("a.html"))
    with open(path("a.html")) as stream:
        text = stream.read()
    assert "Local noise" in text and "Map of the rms" in text
    assert "The sources of an array of the shape (200, 210)," in text and "a.json" not in text
    with pytest.raises(FileExistsError, match="overwrite=True"):
        found.page(path("a.html"))
    found.page(path("a.html"), overwrite=True)
    with open(path("other.html"), "w") as stream:
        stream.write("other")
    with pytest.raises(srcfind.OutputError, match="no page of srcfind-page: give another name, or"):
        found.page(path("other.html"), overwrite=True)
    with pytest.raises(srcfind.OptionError, match="have no page"):
        found.gaussians.page(path("g.html"))
    with pytest.raises(srcfind.OptionError, match="pickled"):
        pickle.loads(pickle.dumps(found)).page(path("g.html"))
    assert not os.path.exists(path("g.html"))


def test_page_without_jinja2(path):
    """The error says what to install."""
    program = """
import sys
sys.modules["jinja2"] = None
import srcfind
try:
    srcfind.find(sys.argv[1]).page(sys.argv[2])
except ModuleNotFoundError as error:
    print(error, error.name)
"""
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, SAMPLE, path("p.html")],
        capture_output=True,
        text=True,
    )
    assert "pip install 'srcfind[page]' jinja2\n" in result.stdout, result.stderr
