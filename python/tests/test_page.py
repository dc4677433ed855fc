"""srcfind-page of a catalogue: what is read, what is plotted, which numbers stand there; and the
page in Chromium."""
import base64
import html
import io
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import srcfind_test as t
from browsing import column, has_no_errors, open_page, texts

pytest.importorskip("jinja2")
pytest.importorskip("PIL")
pytest.importorskip("astropy")

from astropy.io import fits  # noqa: E402
from astropy.table import QTable  # noqa: E402
from PIL import Image  # noqa: E402

from srcfind.page import _figures, _maps, _numbers, _page, _plots  # noqa: E402
from srcfind.page._catalogue import write_catalogue_page  # noqa: E402
from srcfind.page._command import main  # noqa: E402
from srcfind.page._read import OtherTable, PageError, number, read_catalogue  # noqa: E402
from srcfind.page._votable import read_any_catalogue  # noqa: E402

HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&{{ 7 * 7 }}\u2028\n"
    + 10000 * "x"
)


# --- catalogues ---


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """A catalogue of 60 sources on noise that rises to the right, with all that a page shows."""
    directory = tmp_path_factory.mktemp("searched")
    noise, y, x = np.random.default_rng(1), *np.mgrid[:300, :400]
    image = noise.normal(0, 1e-4, (300, 400)) * (1 + x / 400)
    for i in range(60):
        image += (
            1e-3
            * 1.05**i
            * np.exp(
                -((x - noise.uniform(5, 395)) ** 2 + (y - noise.uniform(5, 295)) ** 2)
                / (2 * 2.0**2)
            )
        )
    header = {
        "BUNIT": "Jy/beam",
        "BMAJ": 2.0 * 2.3548 / 3600,
        "BMIN": 2.0 * 2.3548 / 3600,
        "BPA": 0,
        "CTYPE1": "RA---SIN",
        "CTYPE2": "DEC--SIN",
        "CRVAL1": 30,
        "CRVAL2": -40,
        "CRPIX1": 200,
        "CRPIX2": 150,
        "CDELT1": -1 / 3600,
        "CDELT2": 1 / 3600,
    }
    fits.writeto(directory / "i.fits", image.astype("f4"), fits.Header(header))
    subprocess.run(
        [
            t.COMMAND,
            "-q",
            "--local",
            "-i",
            "3",
            "--fit",
            "--negative",
            "--completeness=200",
            "--save",
            "rms,picture",
            "i.fits",
            "-o",
            "c.json",
        ],
        cwd=directory,
        check=True,
    )
    return directory / "c.json"


def members_of(path):
    return json.loads(path.read_text("utf-8"))


def write(directory, members, name="c.json"):
    path = directory / name
    path.write_text(json.dumps(members), "utf-8")
    return path


def page_of(path):
    """The text of the page of a catalogue."""
    page = path.with_suffix(".html")
    write_catalogue_page(path, page)
    return page.read_text("utf-8")


def many(searched, n):
    """The members of a catalogue with n sources, which differ in all of their numbers."""
    members, draw = members_of(searched), random.Random(1)
    first = members["sources"][0]
    members["sources"] = [
        dict(
            {
                name: value * draw.uniform(0.5, 2) if isinstance(value, float) else value
                for name, value in first.items()
            },
            Source_id=i + 1,
            Xposn=draw.uniform(0, 399),
            Yposn=draw.uniform(0, 299),
        )
        for i in range(n)
    ]
    return members


def cells(text, key):
    """The texts of the small table in a section of a page."""
    section = re.search(r'<section id="%s">.*?</section>' % key, text, re.S).group()
    rows = re.findall(r"<tr>(.*?)</tr>", section, re.S)
    return [
        [html.unescape(cell) for cell in re.findall(r"<td>(.*?)</td>", row, re.S)] for row in rows
    ]


# --- axes and layers ---


@pytest.mark.parametrize(
    "values", [[1, 2], [0, 0], [-3e-7, 5e-7], [1e300, -1e300], [], [math.nan, math.inf], [5]]
)
@pytest.mark.parametrize("log", [False, True])
def test_axes_hold_their_values_and_have_ticks(values, log):
    axis = _plots.axis_over("x", values, log=log)
    shown = [value for value in values if abs(value) < 1e100 and (value > 0 or not log)]
    assert (
        math.isfinite(axis.low)
        and axis.low < axis.high
        and all(axis.low < value < axis.high for value in shown)
    )
    ticks = _plots.ticks(axis)
    assert 2 <= len(ticks) <= 12 and all(axis.low <= tick <= axis.high for tick in ticks)


def test_where_values_are():
    frame = _plots.Frame(_plots.Axis("x", 0, 10), _plots.Axis("y", 1, 100, log=True), 100, 200)
    x, y = frame.at([0, 5, 10], [1, 10, 100])
    assert list(x) == [0, 50, 100] and list(y) == [200, 100, 0]


def test_points_are_one_path():
    frame = _plots.Frame(_plots.Axis("x", 0, 1), _plots.Axis("y", 0, 1))
    svg = _plots.draw(
        frame, [_plots.Points([0.1, 0.2, math.nan, 0.2], [0.1, 0.2, 0.3, 0.2])], "title"
    )
    d = re.search(r'<path d="([^"]*)" fill="none" stroke="#0072B2"', svg).group(1)
    assert d == "M42,252h0M84,224h0"  # NaN and the second point at one place are left out


@pytest.mark.parametrize("mark", ["square", "cross", "plus"])
def test_marks_are_there_in_print(mark):
    """PDF draws nothing of a line without length, unless its ends are round."""
    frame = _plots.Frame(_plots.Axis("x", 0, 1), _plots.Axis("y", 0, 1), 100, 100)
    svg = _plots.Points([0.5], [0.5], mark=mark, size=6).drawn(frame)
    assert "h0" not in svg and 'stroke-linecap="butt"' in svg
    # a line that is as long as it is wide
    assert mark != "square" or ('d="M50,50m-3,0h6"' in svg and 'stroke-width="6"' in svg)


def test_texts_of_plots_are_escaped():
    frame = _plots.Frame(
        _plots.Axis(HOSTILE, 0, 1), _plots.Axis(HOSTILE, 0, 1), bar=_plots.Axis(HOSTILE, 0, 1)
    )
    svg = _plots.draw(frame, [_plots.Points([0], [0], HOSTILE), _plots.Rule(0.5, HOSTILE)], HOSTILE)
    assert "<script" not in svg and "<img" not in svg


# --- numbers for reading ---


@pytest.mark.parametrize(
    "value, error, text",
    [
        (0.04933, 0.00251, "0.0493 ± 0.0025"),
        (49.33, 0.0996, "49.33 ± 0.10"),
        (12345, 234, "12340 ± 230"),
        (-3.14159, 0.5, "−3.14 ± 0.50"),
        (5, 99.6, "0 ± 100"),
        (43.21, 51.96, "43 ± 52"),
        (1.23456, math.nan, "1.235"),
        (1.23456, 0, "1.235"),
        (math.nan, 1, ""),
        (1e-30, 1e-31, "10⁻³⁰ ± 10⁻³¹"),
    ],
)
def test_values_with_errors(value, error, text):
    assert _numbers.measured(value, error) == text


@pytest.mark.parametrize(
    "unit, usual, shown, factor",
    [
        ("Jy", 0.05, "mJy", 1e-3),
        ("JY/BEAM", 2e-5, "µJy/beam", 1e-6),
        ("Jy/beam", 1.0, "Jy/beam", 1),
        ("mJy/Beam", 4000, "Jy/beam", 1000),
        ("uJy/beam", 3, "µJy/beam", 1),
        ("MJy/sr", 20, "MJy/sr", 1),
        ("Jy/beam", 1e-13, "nJy/beam", 1e-9),
        ("Jy/beam", math.nan, "Jy/beam", 1),
        ("MJY/SR", 1e-6, "MJY/SR", 1),  # mega or milli
        ("K", 1e-6, "K", 1),
        (HOSTILE, 1e-6, HOSTILE, 1),
    ],
)
def test_units_of_fluxes(unit, usual, shown, factor):
    scale = _numbers.flux_scale(unit, usual)
    assert scale.unit == shown and scale.factor == pytest.approx(factor)


def test_units_of_angles():
    for arcsec, unit in (
        (1e-3, "mas"),
        (0.1, "arcsec"),
        (299, "arcsec"),
        (301, "arcmin"),
        (2e4, "deg"),
        (math.nan, "arcsec"),
    ):
        assert _numbers.angle_scale(arcsec / 3600).unit == unit, arcsec


def test_labels_do_not_overlap_on_any_frame():
    """Ticks of any axis, on any frame, are labelled where there is room."""
    for width in (90, 200, 420):
        for low, high, log in ((0, 1e-3, False), (1e-7, 1e5, True), (-3000, 90000, False)):
            frame = _plots.Frame(_plots.Axis("x", low, high, log), _plots.Axis("y", 0, 1), width)
            places = re.findall(
                r'<text class="tick" x="([\d.]+)" y="[\d.]+" text-anchor="middle">([^<]*)<',
                _plots.draw(frame, [], "t"),
            )
            ends = [(float(x) - 3.2 * len(t), float(x) + 3.2 * len(t)) for x, t in places]
            assert ends and all(b[0] > a[1] + 5 for a, b in zip(ends, ends[1:]))


@pytest.mark.parametrize("low, high, log", [(-3e-4, 5e-4, False), (1e-7, 1e5, True)])
def test_there_is_room_for_ticks_beside_the_name_of_the_axis(low, high, log):
    svg = _plots.draw(
        _plots.Frame(_plots.Axis("x", 0, 1), _plots.Axis("y", low, high, log)), [], "t"
    )
    places = re.findall(
        r'<text class="tick" x="([\d.]+)" y="[\d.]+" text-anchor="end">([^<]*)<', svg
    )
    (name,) = re.findall(r'<text class="label" x="([\d.]+)" [^>]*rotate', svg)
    # the name is 13 pixels high, a character of a tick 6.4 wide
    assert places and all(float(x) - 6.4 * len(text) > float(name) + 5 for x, text in places)


# --- reading ---


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "no JSON"),
        (b"\x89PNG\r\n\x1a\n", "no text"),
        (b"[]", "no catalogue"),
        (b'{"srcfind": "1"}', "no list of sources"),
        (b"[" * 100000, "no JSON"),
        (b'{"srcfind": "1", "sources": []}', "columns"),
        (b'{"srcfind": "1", "sources": [], "columns": []}', "its image"),
        (b'{"srcfind": "1", "sources": [7], "columns": [], "image": {}}', "not an object"),
        (
            b'{"srcfind": "1", "sources": [{"a": []}], "columns": [{"name": "a"}], "image": {}}',
            "not an object",
        ),
    ],
)
def test_files_that_are_no_catalogues(tmp_path, content, message):
    (tmp_path / "c.json").write_bytes(content)
    with pytest.raises(PageError, match=message):
        read_catalogue(tmp_path / "c.json")


def test_tables_beside_a_catalogue(searched):
    for name in ("completeness", "reliability"):
        with pytest.raises(OtherTable, match="the catalogue beside it"):
            read_catalogue(searched.with_name(f"c.{name}.json"))


def test_numbers_that_are_none(tmp_path):
    text = (
        '{"srcfind": "1", "columns": [{"name": "a"}], "image": {}, "sources": [{"a": 1e999}, {"a": NaN}, {"a": %s}, {"a": 1e200}, {"a": 2}]}'
        % ("9" * 400)
    )
    (tmp_path / "c.json").write_text(text)
    catalogue = read_catalogue(tmp_path / "c.json")
    assert catalogue.rows == [[None], [None], [None], [1e200], [2]]
    assert np.array_equal(
        catalogue.reals("a"), [math.nan, math.nan, math.nan, math.nan, 2], equal_nan=True
    )
    assert page_of(tmp_path / "c.json").endswith("</html>")


# --- the picture, and the map of the rms ---


@pytest.mark.parametrize("height, width", [(300, 400), (1, 1), (3, 2000), (1721, 40), (700, 700)])
def test_layout_is_that_of_pictures(tmp_path, height, width):
    """A bright pixel is dark where it should be on the picture, whatever size the image has."""
    image, x, y = (
        np.random.default_rng(1).normal(0, 1, (height, width)).astype("f4"),
        int(0.9 * width),
        int(0.7 * height),
    )
    image[y, x] = 1e5
    fits.writeto(tmp_path / "i.fits", image)
    subprocess.run(
        [t.COMMAND, "-q", "--save", "picture", "i.fits", "-o", "c.json"], cwd=tmp_path, check=True
    )
    size, view = _maps._layout(height, width)
    with Image.open(tmp_path / "c.picture.png") as picture:
        assert size == picture.size
        pixels = np.array(picture.convert("L"), int)
    left, top = int(view["left"] + (x + 0.5) * view["scale"]), int(
        view["top"] + view["height"] - (y + 0.5) * view["scale"]
    )
    assert height == 1 or pixels[top - 2 : top + 3, left - 2 : left + 3].min() < 60


def test_sources_are_where_the_picture_has_them(searched):
    picture, words = _maps.read_picture(read_catalogue(searched))
    with Image.open(searched.with_name("c.picture.png")) as png:
        pixels = np.array(png.convert("RGB"), int)
    view, found = picture.view, 0
    for source in members_of(searched)["sources"]:
        x = int(view["left"] + (source["Xposn"] + 0.5) * view["scale"])
        y = int(view["top"] + view["height"] - (source["Yposn"] + 0.5) * view["scale"])
        part = pixels[max(y - 20, 0) : y + 20, max(x - 20, 0) : x + 20]
        found += ((part[..., 0] > 180) & (part[..., 1] < 90)).any()
    assert words == "" and found == len(members_of(searched)["sources"]) > 20


@pytest.mark.parametrize(
    "content, message",
    [(None, "--save picture"), (b"no PNG", "cannot be read"), (b"other", "not the picture")],
)
def test_pictures_that_are_not_there(tmp_path, searched, content, message):
    path = write(tmp_path, members_of(searched))
    if content == b"other":
        Image.new("RGB", (10, 10)).save(tmp_path / "c.picture.png")
    elif content:
        (tmp_path / "c.picture.png").write_bytes(content)
    picture, words = _maps.read_picture(read_catalogue(path))
    assert picture is None and message in words


def test_large_pictures_become_small(tmp_path, searched):
    path, size = write(tmp_path, members_of(searched)), _maps._layout(300, 400)[0]
    Image.fromarray(
        np.random.default_rng(1).integers(0, 255, (size[1], size[0], 3), np.uint8)
    ).save(tmp_path / "c.picture.png")
    picture, _ = _maps.read_picture(read_catalogue(path))
    assert (
        picture.uri.startswith("data:image/jpeg")
        and len(picture.uri) < 0.7 * (tmp_path / "c.picture.png").stat().st_size
    )


def test_png_files_are_what_pillow_reads(tmp_path):
    draw = np.random.default_rng(1)
    pixels, palette = draw.integers(0, 256, (5, 7), np.uint8), draw.integers(
        0, 256, (256, 3), np.uint8
    )
    (tmp_path / "a.png").write_bytes(_maps.png(pixels, palette))
    with Image.open(tmp_path / "a.png") as picture:
        assert np.array_equal(np.array(picture.convert("RGB")), palette[pixels])


def test_the_map_is_north_up_and_blank_pixels_are_grey():
    values = np.array([[1.0, 2.0], [3.0, math.nan]])
    painted = _maps._painted(values, _plots.Axis("rms", 1, 3))
    with Image.open(io.BytesIO(base64.b64decode(painted.partition(",")[2]))) as picture:
        pixels = np.array(picture.convert("RGB")).tolist()
    assert pixels == [
        [_plots.colours(1).tolist(), [224, 224, 224]],
        [_plots.colours(0).tolist(), _plots.colours(0.5).tolist()],
    ]


def test_the_map_of_the_rms(tmp_path, searched):
    section = _maps.rms_section(read_catalogue(searched))
    local = members_of(searched)["background"]["local"]
    assert len(section.figures) == 2
    assert f", {1000 * local['rms_median']:.3g} in the median" in section.paragraphs[0]
    assert "rms (mJy/beam)" in section.figures[0].plot and "Jy/beam" in section.paragraphs[0]
    path = write(tmp_path, members_of(searched))
    assert "--save rms" in _maps.rms_section(read_catalogue(path)).paragraphs[1]
    for content in (np.zeros((4, 4), "f4"), np.zeros((300, 400), "f4")):
        fits.writeto(tmp_path / "c.rms.fits", content, overwrite=True)
        assert not _maps.rms_section(read_catalogue(path)).figures
    (tmp_path / "c.rms.fits").write_bytes(searched.with_name("c.rms.fits").read_bytes()[:9000])
    assert "search again" in _maps.rms_section(read_catalogue(path)).paragraphs[1]


# --- plots ---


def test_counts_take_completeness_out(tmp_path, searched):
    """Where 80% are found, each source counts 1.25 times; where less than 60%, nothing is said."""
    members = many(searched, 100)
    for i, source in enumerate(members["sources"]):
        source.update(Total_flux=10 ** (i / 50 - 4), Flags=0)
    bins = [
        {
            "width": 1,
            "low": low,
            "high": 10 * low,
            "injected": 50,
            "found": 40,
            "completeness": share,
            "error": 0.1,
        }
        for low, share in ((1e-5, 0.8), (1e-4, 0.8), (1e-3, 0.8))
    ]
    members["completeness"] = {"snr": bins, "flux": bins}
    catalogue = read_catalogue(write(tmp_path, members))
    flux = catalogue.reals("Total_flux")
    assert _figures._completeness_at(catalogue, flux) == pytest.approx(np.full(100, 0.8))
    members["background"]["n_blank"] = 60000
    catalogue = read_catalogue(write(tmp_path, members))
    area = (300 * 400 - 60000) / 3600**2
    assert _figures._area(catalogue) == pytest.approx(area)
    section = _figures.counts_section(catalogue)
    assert "completeness taken out" in section.figures[0].plot and len(section.figures) == 2
    # after the legend
    found, corrected = (
        float(
            re.findall(
                r'<path d="M[\d.]+,([\d.]+)[^"]*" fill="none" stroke="%s"' % colour,
                section.figures[0].plot,
            )[-1]
        )
        for colour in (_plots.BLUE, _plots.VERMILLION)
    )
    axis = _plots.axis_over("", np.arange(1, 101)[:, None] / area * [1, 1.25], log=True)
    assert found - corrected == pytest.approx(280 * (axis.place(1.25) - axis.place(1)), abs=0.11)
    for each in bins:
        each["completeness"] = 0.5
    members["completeness"] = {"snr": bins, "flux": bins}
    line = re.search(
        r'<path d="([^"]*)" fill="none" stroke="#D55E00"',
        _figures.counts_section(read_catalogue(write(tmp_path, members))).figures[0].plot,
    )
    assert line.group(1) == ""


def test_bins_that_are_incomplete_are_not_corrected():
    """A bin in which one source alone is of unknown weight has no corrected value, and not a lower
    one."""
    flux = np.geomspace(1e-4, 1e-1, 100)
    svg = _figures._euclidean_plot(flux, np.where(flux > 1.1e-4, 1.25, math.nan), 1.0).plot
    n_bins = [
        re.findall(r'<path d="([^"]*)" fill="none" stroke="%s"' % colour, svg)[-1].count("M")
        for colour in (_plots.BLUE, _plots.VERMILLION)
    ]
    assert n_bins == [9, 8]


def test_negative_sources_are_counted_apart(tmp_path, searched):
    members = many(searched, 40)
    for i, source in enumerate(members["sources"]):
        source["Flags"] = 32 if i < 7 else 128
    for i, flags in ((3, 32 + 2048), (11, 128 + 2048), (12, 2048)):  # artefacts are not counted
        members["sources"][i]["Flags"] = flags
    plot = _figures.reliability_section(read_catalogue(write(tmp_path, members))).figures[0].plot
    assert "positive: 31" in plot and "negative: 6" in plot


def test_small_tables_have_the_numbers_of_the_catalogue(searched):
    members, text = members_of(searched), page_of(searched)
    for row, each in zip(
        [row for row in cells(text, "reliability") if row], members["reliability"]
    ):
        assert row[1:] == [
            str(each["positive"]),
            str(each["negative"]),
            _numbers.short(each["reliability"]) if each["reliability"] is not None else "–",
            str(each["artefacts"]),
            str(each["negative_artefacts"]),
        ]
    everything = [row for row in cells(text, "reliability") if row][-1]
    sums = [
        sum(each[name] for each in members["reliability"])
        for name in ("positive", "negative", "artefacts", "negative_artefacts")
    ]
    assert everything[:3] + everything[4:] == ["all", *map(str, sums)]
    assert everything[3] == _numbers.short(1 - sums[1] / sums[0])
    rows = [row for row in cells(text, "completeness") if row]
    known = [
        each
        for kind in ("snr", "flux")
        for each in members["completeness"][kind]
        if each["injected"] > 0
    ]
    assert [row[2:4] for row in rows] == [
        [str(each["injected"]), str(each["found"])] for each in known
    ] and len(known) > 10
    for row, each in zip(rows, known):
        assert row[4:6] == [
            _numbers.measured(number(each, value), number(each, error)) or "–"
            for value, error in (("completeness", "error"), ("flux_ratio", "flux_scatter"))
        ]
    # edges in mJy, behind those of S/N
    low = [float(row[1].split(" to ")[0]) for row in rows][-len(members["completeness"]["flux"]) :]
    assert max(low) == pytest.approx(
        1000 * max(each["low"] for each in members["completeness"]["flux"] if each["injected"]),
        rel=1e-3,
    )
    options = dict(row for row in cells(text, "options") if row)
    assert (
        options["--threshold"] == "5"
        and options["--fit"] == "yes"
        and options["srcfind"] == members["srcfind"]
    )


def test_what_is_not_there_says_how_to_get_it(tmp_path):
    """A search without options, of an image without beam and sky; and one that finds nothing."""
    fits.writeto(tmp_path / "i.fits", np.random.default_rng(1).normal(0, 1, (99, 99)).astype("f4"))
    for threshold in ("3", "99"):
        subprocess.run(
            [t.COMMAND, "-q", "-n", threshold, "i.fits", "-o", "c.json"], cwd=tmp_path, check=True
        )
        text = page_of(tmp_path / "c.json")
        assert all(
            option in text
            for option in ("--save picture", "--local", "--completeness", "--negative")
        )
        assert ("No source was found." in text) == (threshold == "99") and ("--fit" in text) == (
            threshold == "3"
        )


def test_merged_catalogues(tmp_path, searched):
    for name in ("a.fits", "b.fits"):
        shutil.copy(searched.with_name("i.fits"), tmp_path / name)
    subprocess.run(
        [t.COMMAND, "-q", "--merge", "m.json", "a.fits", "b.fits", "-o", "."],
        cwd=tmp_path,
        check=True,
    )
    text = page_of(tmp_path / "m.json")
    assert "<dt>Images</dt><dd>2</dd>" in text


# --- hostile catalogues ---


def test_json_in_scripts_does_not_end_them():
    text = _page._in_script({HOSTILE: HOSTILE})
    assert json.loads(text) == {HOSTILE: HOSTILE} and not set("<>&\u2028") & set(text)


def test_hostile_texts_are_texts(tmp_path, searched):
    members = hostile(searched)
    text = page_of(write(tmp_path, members, "c.json"))
    # no picture
    assert len(re.findall("<script", text)) == len(re.findall("<script", page_of(searched))) - 1
    assert "<img" not in text and "49" + 3 * "x" not in text


def hostile(searched):
    """A catalogue whose texts are all hostile."""
    members = members_of(searched)
    members["notes"] = [HOSTILE]
    members["image"].update(
        {
            name: HOSTILE
            for name in ("path", "unit", "flux_unit", "frame", "object", "telescope", "date_obs")
        }
    )
    members["options"]["mask"] = HOSTILE
    members["srcfind"] = HOSTILE
    for column in members["columns"]:
        column.update(unit=HOSTILE, description=HOSTILE)
    for source in members["sources"]:
        source["Source_Name"] = HOSTILE
    return members


def changed(members, draw):
    """JSON in which a few values, anywhere, are others."""
    if isinstance(members, dict):
        return {
            name: changed(value, draw) for name, value in members.items() if draw.random() > 0.002
        }
    if isinstance(members, list):
        return [changed(value, draw) for value in members]
    odd = [
        None,
        "",
        HOSTILE[:40],
        -1,
        0,
        1e308,
        -1e308,
        5e-324,
        2**63,
        True,
        [],
        {},
        [[]],
        1e-200,
    ]
    return draw.choice(odd) if draw.random() < 0.01 else members


def test_changed_catalogues_make_a_page_or_a_message(tmp_path, searched):
    members, n_pages = members_of(searched), 0
    members["sources"] = members["sources"][:8]
    for seed in range(60):
        path = write(tmp_path, changed(members, random.Random(seed)))
        try:
            n_pages += page_of(path).endswith("</html>")
        except PageError as error:
            assert str(path) in str(error)
    assert n_pages > 5


# --- the command ---


def test_command(tmp_path, searched, capsys):
    assert main([str(searched), "-o", str(tmp_path / "p.html")]) == 0
    assert "p.html: " in capsys.readouterr().err
    assert (
        main(["-q", str(searched), "-o", str(tmp_path / "p.html")]) == 0
        and capsys.readouterr().err == ""
    )
    (tmp_path / "letter.html").write_text("mine")
    assert (
        main([str(searched), "-o", str(tmp_path / "letter.html")]) == 1
        and "another name" in capsys.readouterr().err
    )
    assert (tmp_path / "letter.html").read_text() == "mine"
    assert main([str(tmp_path / "none.json")]) == 1 and "No such file" in capsys.readouterr().err
    assert main([str(tmp_path / "two\nlines\x1b[31m.json")]) == 1
    assert "two?lines?[31m.json: No such file" in capsys.readouterr().err
    assert (
        main([str(searched), "-o", str(tmp_path / "no" / "p.html")]) == 1
        and "cannot be written" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["c.fits"],
        ["a.json", "b.json", "-o", "p.html"],
        ["--radius", "5", "c.json"],
        ["c.json", "-o", "-"],
        ["c.json", "--tiles"],
    ],
)
def test_wrong_usage(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2 and "usage" in capsys.readouterr().err


def test_command_is_installed():
    command = Path(sys.executable).with_name("srcfind-page")
    if not command.exists():
        pytest.skip("the package is not installed beside this interpreter")
    assert subprocess.run(
        [command, "--version"], stdout=subprocess.PIPE, check=True
    ).stdout.startswith(b"srcfind-page ")


def test_no_room_for_sources(searched, tmp_path):
    """Whoever gave --completeness is not told to give it."""
    members = members_of(searched)
    members["completeness"] = None
    members["options"]["completeness"] = 200
    page = page_of(write(tmp_path, members))
    assert "had room in this image" in page and "Search with --completeness" not in page


def test_sources_and_negative_ones(searched, tmp_path):
    """The head of the page counts as the command does."""
    members = members_of(searched)
    for row in members["sources"][:3]:
        row["Flags"] |= 32
    assert f"<dd>{len(members['sources'])}, 3 of them negative</dd>" in page_of(
        write(tmp_path, members)
    )


def test_merged_with_its_table(tmp_path, capsys):
    """A merged catalogue has the completeness of the table beside it, if that is of the same
    images, and negative sources."""
    random, tiles = np.random.default_rng(4), []
    for i in range(2):
        y, x = np.mgrid[:200, :200]
        pixels = random.normal(0, 1e-3, (200, 200)) + sum(
            random.uniform(0.01, 0.05)
            * np.exp(-((x - random.uniform(10, 190)) ** 2 + (y - random.uniform(10, 190)) ** 2) / 8)
            for _ in range(12)
        )
        tiles.append(tmp_path / ("t%d.fits" % i))
        fits.writeto(tiles[-1], pixels.astype(np.float32), t.sky_header(CRVAL1=150.0 + i))
    merged = tmp_path / "m.json"
    t.run(
        *tiles,
        "-q",
        "--fit",
        "-n",
        "4",
        "--negative",
        "--completeness=150",
        "-o",
        tmp_path / "out",
        "-f",
        "json",
        "--merge",
        merged,
        check=True,
    )
    page = page_of(merged)
    table = json.loads((tmp_path / "m.completeness.json").read_text())["completeness_bins"]
    assert (
        "%d artificial sources with fluxes in these ranges were injected"
        % sum(row["Injected"] for row in table)
        in page
    )
    assert all(
        _numbers.measured(row["Completeness"], row["E_Completeness"]) in page
        for row in table
        if row["Injected"]
    )
    assert "Search with --negative" not in page and "Reliability is 1" in page
    assert (
        "completeness taken out" in page
        and "are taken into account" not in page
        and "for all images" in page
    )
    (tmp_path / "m.completeness.json").write_text(
        (tmp_path / "m.completeness.json").read_text().replace("t1.fits", "t7.fits")
    )
    page = page_of(merged)
    assert (
        "to m.completeness.json, which is not there, or is of another search" in page
        and "artificial sources" not in page
    )
    assert (
        main([str(tmp_path / "m.completeness.json")]) == 1
        and "this is a table of completeness" in capsys.readouterr().err
    )


# --- in a browser ---


def show(browser, path):
    """Opens the page of a catalogue."""
    page_of(path)
    open_page(browser, path.with_suffix(".html"))


def header(browser, name):
    return next(
        button
        for button in browser.find_elements("css selector", "#sources-sheet th button")
        if button.text.startswith(name)
    )


def test_the_table_has_the_catalogue(searched, browser):
    """All columns, once they are chosen, and all digits."""
    members = members_of(searched)
    show(browser, searched)
    browser.execute_script(
        "for (const box of document.querySelectorAll('.choices input:not(:checked)')) box.click()"
    )
    names = [text.split(" ")[0] for text in texts(browser, "#sources-sheet th button")]
    assert names == [each["name"] for each in members["columns"]]
    for name in names:
        assert column(browser, "sources-sheet", name) == [
            source[name] for source in members["sources"]
        ], name
    first = members["sources"][0]["RA"]
    place = "#sources-sheet tbody tr:first-child td:nth-child(%d)" % (names.index("RA") + 1)
    assert re.fullmatch(r"\d\dh\d\dm\d\d[.\d]*s", browser.find_element("css selector", place).text)
    browser.execute_script("document.querySelector('.sheet details p input').click()")
    assert browser.find_element("css selector", place).text == repr(first)
    assert has_no_errors(browser)


def test_sorting_and_filtering(searched, browser):
    members = members_of(searched)
    show(browser, searched)
    snr = [source["SNR"] for source in members["sources"]]
    header(browser, "SNR").send_keys("\ue007")  # the enter key
    assert column(browser, "sources-sheet", "SNR") == sorted(snr)
    assert (
        browser.switch_to.active_element.text.startswith("SNR")
        and browser.execute_script(
            "return document.activeElement.parentNode.getAttribute('aria-sort')"
        )
        == "ascending"
    )
    browser.switch_to.active_element.send_keys("\ue007")
    assert column(browser, "sources-sheet", "SNR") == sorted(snr, reverse=True)
    field = browser.find_element("css selector", "input[type=search]")
    for text, keeps in (
        ("SNR > 20", lambda source: source["SNR"] > 20),
        ("snr<=20, Flags & 128", lambda source: source["SNR"] <= 20 and source["Flags"] & 128),
        ("Source_id = 3", lambda source: source["Source_id"] == 3),
        ("S_Code = s", lambda source: source["S_Code"] == "S"),
        (
            members["sources"][4]["Source_Name"][:9].lower(),
            lambda source: source["Source_Name"].startswith(
                members["sources"][4]["Source_Name"][:9]
            ),
        ),
    ):
        field.clear()
        field.send_keys(text)
        assert sorted(column(browser, "sources-sheet", "Source_id")) == [
            source["Source_id"] for source in members["sources"] if keeps(source)
        ], text
    field.clear()
    field.send_keys("Nonsense > 3")
    assert texts(browser, "[role=status]") == ["there is no column Nonsense"]
    for text, answer in (
        ("SNR > abc", "abc is no number (conditions have commas between them)"),
        ("SNR >", "SNR > what?"),
        (
            "SNR > 10 and Flags & 1",
            "10 and Flags & 1 is no number (conditions have commas between them)",
        ),
        ("SNR == 5", None),
    ):
        field.clear()
        field.send_keys(text)
        (status,) = texts(browser, "[role=status]")
        assert status == answer if answer else status.startswith("no row"), text
    assert has_no_errors(browser)


def shown_cells(browser, name):
    """The cells of a column as people see them."""
    index = [text.split(" ")[0] for text in texts(browser, "#sources-sheet th button")].index(name)
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map(cell => cell.textContent)",
        "#sources-sheet tbody td:nth-child(%d)" % (index + 1),
    )


def test_cells_for_reading(searched, browser):
    """Fluxes and sizes with errors, in one unit; positions as astropy writes them, with as many
    digits as their errors deserve."""
    from astropy.coordinates import Angle

    sources = members_of(searched)["sources"]
    show(browser, searched)
    for name, factor in (("Total_flux", 1e-3), ("Peak_flux", 1e-3), ("Maj", 1 / 3600), ("PA", 1)):
        assert shown_cells(browser, name) == [
            _numbers.measured(
                *((source[each] or math.nan) / factor for each in (name, f"E_{name}"))
            )
            for source in sources
        ], name
    for name, unit, per_degree in (("RA", "hourangle", 240), ("DEC", "deg", 3600)):
        for source, cell in zip(sources, shown_cells(browser, name)):
            across = math.cos(math.radians(source["DEC"])) if name == "RA" else 1
            error = source[f"E_{name}"] * per_degree / across
            decimals = max(0, -math.floor(math.log10(error)))
            assert len(cell.strip("s″").partition(".")[2]) == decimals, (cell, error)
            angle = Angle(cell.replace("−", "-").translate(str.maketrans("°′″", "dms")))
            assert abs(angle.deg - source[name]) * per_degree <= 0.51 * 10.0**-decimals
            assert (cell[0] in "+−") == (name == "DEC")
    units = texts(browser, "#sources-sheet th span")
    assert "mJy" in units and "mJy/beam" in units and "arcsec" in units and "h m s" in units
    assert has_no_errors(browser)


def test_conditions_with_units(searched, browser):
    """A bare number is in the unit at the head of the column, as soon as that changes, too."""
    sources = members_of(searched)["sources"]
    show(browser, searched)
    field = browser.find_element("css selector", "input[type=search]")
    middle = sorted(source["RA"] for source in sources)[30]
    hours = "%dh%dm%.4fs" % (middle // 15, middle * 4 % 60, middle * 240 % 60)
    for text, keeps in (
        ("Total_flux > 4", lambda source: source["Total_flux"] > 4e-3),
        ("Total_flux > 4 mJy", lambda source: source["Total_flux"] > 4e-3),
        ("Total_flux > 4e-3Jy", lambda source: source["Total_flux"] > 4e-3),
        ("Total_flux < 4000 uJy", lambda source: source["Total_flux"] < 4e-3),
        ("Maj > 5", lambda source: (source["Maj"] or 0) > 5 / 3600),
        ("Maj > 0.1 arcmin", lambda source: (source["Maj"] or 0) > 6 / 3600),
        ("RA > %r" % (middle - 1e-6), lambda source: source["RA"] >= middle),
        ("RA < " + hours, lambda source: source["RA"] < middle - 1e-5),
        ("DEC > −40d0m10s", lambda source: source["DEC"] > -40 - 10 / 3600),
    ):
        field.clear()
        field.send_keys(text)
        if "RA < " in text:  # seconds of the condition are rounded
            found = len(column(browser, "sources-sheet", "Source_id"))
            assert abs(found - sum(keeps(source) for source in sources)) <= 1
            continue
        assert column(browser, "sources-sheet", "Source_id") == [
            source["Source_id"] for source in sources if keeps(source)
        ], text
    field.clear()
    field.send_keys("Total_flux > 0.004")
    assert len(column(browser, "sources-sheet", "Source_id")) == len(sources)
    browser.execute_script("document.querySelector('.sheet details p input').click()")
    assert column(browser, "sources-sheet", "Source_id") == [
        source["Source_id"] for source in sources if source["Total_flux"] > 4e-3
    ]
    field.clear()
    field.send_keys("Total_flux > 4 parsec")
    assert "is no number" in texts(browser, "[role=status]")[0]
    assert has_no_errors(browser)


OVERLAPS = """
const boxes = [...document.querySelectorAll('svg.plot')].map(plot => [...plot.querySelectorAll('text.tick, text.label')]
    .map(text => [text.textContent, text.getBoundingClientRect()]));
return boxes.flatMap(texts => texts.flatMap(([a, p], i) => texts.slice(i + 1)
    .filter(([, q]) => p.left < q.right && q.left < p.right && p.top + 2 < q.bottom && q.top + 2 < p.bottom)
    .map(([b]) => `${a} over ${b}`)));
"""


@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_is_wider_than_the_screen(searched, browser, width):
    """But the tables in their scrollers; no label of a plot covers another one; one kind of
    minus."""
    size = browser.get_window_size()
    show(browser, searched)
    try:
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
        )
        browser.execute_script("document.querySelector('#sources-sheet tbody button').click()")
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width, size
        assert browser.execute_script(OVERLAPS) == []
        seen = browser.execute_script(
            "return [...document.querySelectorAll('svg text, #sources td, #facts dd, .card dd')].map(e => e.textContent)"
        )
        assert [text for text in seen if re.search(r"(^|[\s(±])-\d|\de-?\d", text)] == []
        assert any("−" in text for text in seen)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert has_no_errors(browser)


def test_the_key_of_the_picture(tmp_path, searched):
    """The colours of scales are those of the picture, there and in the plots."""
    members = many(searched, 20)
    members["columns"].append({"name": "Scale"})
    members["options"]["scales"] = "2,4,8,16"
    for i, source in enumerate(members["sources"]):
        source.update(Scale=(0, 2, 8, 16)[i % 4], Flags=32 if i == 4 else 0)
    catalogue = read_catalogue(write(tmp_path, members))
    assert _maps.picture_key(catalogue) == [
        ("#d91a1a", "not smoothed: 4"),
        ("#f28c00", "scale 2: 5"),
        ("#9926bf", "scale 8: 5"),
        ("#f28c00", "scale 16: 5"),
        ("#1a59d9", "negative: 1"),
    ]
    plot = _figures._sizes_plot(catalogue).plot
    assert all(colour in plot for colour in ("#d91a1a", "#f28c00", "#9926bf"))
    shutil.copy(searched.with_name("c.picture.png"), tmp_path / "c.picture.png")
    assert '<i style="border-color:#9926bf"></i>scale 8: 5' in page_of(tmp_path / "c.json")
    with Image.open(searched.with_name("c.picture.png")) as picture:
        pixels = np.array(picture.convert("RGB"), int)[:, :-150]
    assert (abs(pixels - (0xD9, 0x1A, 0x1A)).max(axis=2) < 3).any()


def test_artefacts_can_be_hidden(tmp_path, searched, browser):
    members = many(searched, 12)
    for i in (2, 5):
        members["sources"][i]["Flags"] |= 2048
    show(browser, write(tmp_path, members))
    everything = [source["Source_id"] for source in members["sources"]]
    assert column(browser, "sources-sheet", "Source_id") == everything
    assert "Hide 2 that may be artefacts" in texts(browser, ".controls label")
    browser.execute_script("document.querySelector('.controls input[type=checkbox]').click()")
    rest = [i for i in everything if i not in (everything[2], everything[5])]
    assert column(browser, "sources-sheet", "Source_id") == rest
    browser.find_element("css selector", "input[type=search]").send_keys("SNR > 0")
    assert column(browser, "sources-sheet", "Source_id") == rest  # both conditions hold
    browser.execute_script("document.querySelector('.controls input[type=checkbox]').click()")
    assert column(browser, "sources-sheet", "Source_id") == everything
    assert has_no_errors(browser)


def test_no_artefacts_to_hide(tmp_path, searched, browser):
    members = many(searched, 12)
    for source in members["sources"]:
        source["Flags"] &= ~2048
    show(browser, write(tmp_path, members))
    assert not any("artefacts" in text for text in texts(browser, ".controls label"))


def card(browser):
    """The names and values on the card of the chosen source."""
    return dict(zip(texts(browser, ".card dt"), texts(browser, ".card dd")))


def test_the_picture_and_the_card(searched, browser):
    """A row that is chosen by keyboard, and a source under the pointer, have their values beside
    the picture."""
    from selenium.webdriver.common.action_chains import ActionChains

    members = members_of(searched)
    source = members["sources"][2]
    show(browser, searched)
    browser.execute_script(
        "document.querySelector('#sources-sheet tbody tr:nth-child(3) button').focus()"
    )
    browser.switch_to.active_element.send_keys("\ue007")
    values = card(browser)
    names = {each["name"] for each in members["columns"]}
    for each in members["columns"]:
        is_beside = each["name"].startswith("E_") and each["name"][2:] in names  # its value
        assert not is_beside or each["name"] not in values
        if source[each["name"]] is not None and not is_beside:
            number = values[each["name"]].split(" ")[0]
            assert str(source[each["name"]]) == number or float(number) == source[each["name"]]
    assert texts(browser, ".card h3") == [
        "Source 3 %s" % source["Source_Name"]
    ] and browser.find_elements("css selector", ".card svg image")
    mark, view = browser.find_element("css selector", ".picture circle"), _maps._layout(300, 400)[1]
    assert mark.get_attribute("visibility") == "visible"
    assert float(mark.get_attribute("cx")) == pytest.approx(
        view["left"] + (source["Xposn"] + 0.5) * view["scale"]
    )

    mark, image = browser.find_element("css selector", ".picture circle"), browser.find_element(
        "css selector", ".picture img"
    )
    alone = max(
        members["sources"],
        key=lambda one: min(
            math.hypot(one["Xposn"] - other["Xposn"], one["Yposn"] - other["Yposn"])
            for other in members["sources"]
            if other is not one
        ),
    )
    zoom = image.size["width"] / int(image.get_dom_attribute("width"))
    x, y = (
        view["left"] + (alone["Xposn"] + 0.5) * view["scale"],
        view["top"] + view["height"] - (alone["Yposn"] + 0.5) * view["scale"],
    )
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", image)
    place = ActionChains(browser).move_to_element_with_offset(
        image, round(x * zoom - image.size["width"] / 2), round(y * zoom - image.size["height"] / 2)
    )
    place.perform()
    assert card(browser)["Source_id"] == str(alone["Source_id"])
    place.click().perform()
    assert texts(browser, "tr.chosen td:first-child") == [str(alone["Source_id"])]
    assert has_no_errors(browser)


def test_many_sources(tmp_path, searched, browser):
    """20,000 of them are shown in pages; 10,000 take less than 5 MB."""
    for name in ("c.picture.png", "c.rms.fits"):
        shutil.copy(searched.with_name(name), tmp_path / name)
    assert len(page_of(write(tmp_path, many(searched, 10000)))) < 5_000_000
    members = many(searched, 20000)
    show(browser, write(tmp_path, members))
    assert texts(browser, "[role=status]") == ["rows 1 to 100 of 20000"]
    header(browser, "Total_flux").send_keys("\ue007")
    assert (
        column(browser, "sources-sheet", "Total_flux")
        == sorted(source["Total_flux"] for source in members["sources"])[:100]
    )
    browser.find_elements("css selector", ".controls button")[1].send_keys("\ue007")
    assert (
        column(browser, "sources-sheet", "Total_flux")
        == sorted(source["Total_flux"] for source in members["sources"])[100:200]
    )
    assert has_no_errors(browser)


def test_hostile_texts_in_a_browser(tmp_path, searched, browser):
    """They appear, and do nothing."""
    show(browser, write(tmp_path, hostile(searched)))
    browser.execute_script("document.querySelector('#sources-sheet tbody button').click()")
    browser.execute_script(
        "for (const box of document.querySelectorAll('.choices input:not(:checked)')) box.click()"
    )
    assert (
        browser.execute_script("return document.querySelectorAll('img, iframe, object').length")
        == 0
    )
    assert browser.execute_script("return [...document.scripts].filter(s => !s.type).length") == 1
    shown = HOSTILE[:60]
    assert all(
        shown in browser.find_element("css selector", place).text
        for place in ("#notes", ".card h3", "#options")
    )
    assert (
        "onerror=alert(2)" in browser.find_element("css selector", "h1").text
        and "onerror=alert(2)" in browser.title
    )
    assert any(text == HOSTILE.strip() for text in texts(browser, "td.text"))
    assert has_no_errors(browser)


def test_pages_ask_no_network(searched, browser):
    show(browser, searched)
    assert (
        browser.execute_script(
            "return performance.getEntriesByType('resource').filter(e => !e.name.startsWith('data:')).length"
        )
        == 0
    )
    assert not re.search(r"(src|href)=\"(?!data:|#)", page_of(searched))


def test_votable(tmp_path):
    """The page of a VOTable has the sources and the facts of that of JSON, without what only JSON
    has; so has that of a merged one."""
    sample = os.path.join(t.SOURCE_ROOT, "data", "sample.fits")
    pages = {}
    for name in ("c.json", "c.vot"):
        t.run(sample, "-q", "-l", "-i", "3", "--fit", "-o", tmp_path / name, check=True)
        assert main([str(tmp_path / name), "-q"]) == 0
        pages[name] = (tmp_path / "c.html").read_text()
    from_json, from_votable = (read_any_catalogue(tmp_path / name) for name in pages)
    assert from_votable.rows == from_json.rows and from_votable.columns == from_json.columns
    for names in (("background", "local", "rms_median"), ("detection", "threshold")):
        found = [number(c.members, *names) for c in (from_json, from_votable)]
        assert found[0] == found[1] > 0
    for name in ("path", "shape", "unit", "frame", "frequency_hz", "object"):
        assert from_votable.image[name] == from_json.image[name]
    assert "found by srcfind" in pages["c.vot"] and "found by srcfind" in pages["c.json"]
    merged = tmp_path / "m.vot"
    t.run(sample, "-q", "--fit", "--merge", merged, check=True)
    assert main([str(merged), "-q"]) == 0
    assert "found by srcfind" in (tmp_path / "m.html").read_text()
    assert [image["path"] for image in read_any_catalogue(merged).images] == [sample]


def test_other_votables(tmp_path, capsys):
    """Tables beside a catalogue, tables of others, and what is none end in a line."""
    sample = os.path.join(t.SOURCE_ROOT, "data", "sample.fits")
    t.run(sample, "-q", "--fit", "--save", "gaussians", "-o", tmp_path / "c.vot", check=True)
    (tmp_path / "none.vot").write_text("x")
    QTable({"RA": [1.0]}).write(tmp_path / "other.vot", format="votable")
    for name, words in (
        ("c.gaussians.vot", "this is a table of gaussians: give the catalogue beside it"),
        ("none.vot", "this is no VOTable"),
        ("other.vot", "this is no catalogue of srcfind"),
        ("missing.vot", "No such file"),
    ):
        assert main([str(tmp_path / name)]) == 1
        assert words in capsys.readouterr().err
