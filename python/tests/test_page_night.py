"""srcfind-page of a report: matches on the sky, which tiles are odd, and the page."""
import base64
import csv
import importlib.machinery
import importlib.util
import json
import math
import os
import re
import shutil
import zlib
from pathlib import Path

import numpy as np
import pytest
import srcfind_test as t
from browsing import column, has_no_errors, open_page, texts

pytest.importorskip("jinja2")
pytest.importorskip("astropy")

from srcfind.page import _match as m, _skymap  # noqa: E402
from srcfind.page._night import write_night_page  # noqa: E402
from srcfind.page._nights import Night  # noqa: E402
from srcfind.page._overlaps import Overlap, Overlaps, overlap_outliers  # noqa: E402
from srcfind.page._read import PageError  # noqa: E402
from srcfind.page._report import read_report  # noqa: E402

COLUMNS = (
    "image,status,message,sources,negative,rms_median,background,box,beam,unit,zeros,seconds,backend,version,options,size,mtime,"
    "output_size,output_mtime,catalogue,plane,footprint"
).split(",")
HOSTILE = "<script>alert(1)</script>\"'&</title>\u2028\n" + 10000 * "x"


# --- matches ---


@pytest.mark.parametrize(
    "lon, lat", [(0, 0), (180, 45), (0.001, 89.999), (77, -90), (359.999, -30)]
)
def test_matches_are_those_of_astropy(lon, lat):
    """Pairs and nearest ones, across RA 0 and around the poles."""
    from astropy.coordinates import SkyCoord, match_coordinates_sky, search_around_sky

    random = np.random.default_rng(1)

    def draw(n):
        away = SkyCoord(lon, lat, unit="deg").directional_offset_by(
            random.uniform(0, 360, n) * t_deg, 0.1 * np.sqrt(random.random(n)) * t_deg
        )
        return away, m.vectors(away.ra.deg, away.dec.deg)

    from astropy.units import deg as t_deg

    (a, of), (b, others) = draw(400), draw(300)
    i, j, separation, _ = search_around_sky(a, b, 0.01 * t_deg)
    found_i, found_j, distance = m.pairs(of, others, 0.01)
    assert len(i) > 100 and dict(zip(zip(i, j), separation.deg)) == pytest.approx(
        dict(zip(zip(found_i, found_j), distance)), rel=1e-6
    )
    index, distance = m.nearest(of, others, 0.005)
    expected, separation, _ = match_coordinates_sky(a, b)
    assert np.array_equal(index, np.where(separation.deg <= 0.005, expected, -1))


def test_matches_leave_no_doubt():
    """A source with a neighbour within twice the radius, in its list or in the other one, is left
    out."""
    of = m.vectors([0, 1, 1.015, 2, 3], [0, 0, 0, 0, 0])
    others = m.vectors([359.995, 1, 2, 2.015, 3.02], [0, 0, 0, 0, 0])
    i, j = m.matches(of, others, 0.01)
    assert list(i) == [0] and list(j) == [0]
    assert m.offsets(of[:1], others[:1])[0] == pytest.approx([-0.005, 0])


def test_no_positions():
    none = m.vectors([], [])
    assert len(m.pairs(none, none, 1)[0]) == len(m.matches(none, m.vectors([1], [1]), 1)[0]) == 0


# --- nights without images ---


def square(lon, lat, half=0.1):
    wide = half / math.cos(math.radians(lat))
    return " ".join(
        "%.6f %.6f" % ((lon + x * wide) % 360, lat + y * half)
        for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    )


def tiles(across=10, up=8, seed=1):
    """Rows of a report: noise that rises twofold to the north, counts of a Poisson distribution,
    tiles around RA 0."""
    random, rows = np.random.default_rng(seed), []
    for i in range(across * up):
        x, y = i % across, i // across
        rows.append(
            dict.fromkeys(COLUMNS, "")
            | {
                "image": "tiles/t%03d.fits" % i,
                "status": "done",
                "sources": str(random.poisson(40)),
                "negative": str(random.poisson(1)),
                "rms_median": repr(1e-4 * 2 ** (y / up) * math.exp(random.normal(0, 0.03))),
                "background": "0",
                "beam": "10,8,40",
                "unit": "Jy/beam",
                "zeros": "0",
                "seconds": "%.3f" % random.uniform(0.1, 0.2),
                "version": "0.1.0",
                "options": "0123456789abcdef",
                "footprint": square(
                    (x - across / 2) * 0.16 / math.cos(math.radians(-30 + 0.16 * y)), -30 + 0.16 * y
                ),
            }
        )
    return rows


def report(directory, rows, columns=COLUMNS):
    path = directory / "report.csv"
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def night(directory, rows, columns=COLUMNS):
    return Night(read_report(report(directory, rows, columns)))


def page_of(directory, rows, columns=COLUMNS):
    """The text of the page."""
    write_night_page(report(directory, rows, columns), directory / "report.html")
    return (directory / "report.html").read_text("utf-8")


def links_of(page):
    """The links of the table, as JSON."""
    packed = re.search(
        r'<script type="text/plain">([^<]+)</script>', page.read_text("utf-8")
    ).group(1)
    return json.dumps(json.loads(zlib.decompress(base64.b64decode(packed)))["links"])


def odd(directory, rows):
    """The figures for which tiles are odd, by the numbers of tiles."""
    found = {}
    for outlier in night(directory, rows).outliers:
        found.setdefault(outlier.tile, set()).add(outlier.figure)
    return found


def test_a_plain_night_has_no_outliers(tmp_path):
    assert sum(len(odd(tmp_path, tiles(20, 10, seed))) for seed in range(5)) <= 2


@pytest.mark.parametrize(
    "column, value, figure",
    [
        ("rms_median", "3.2e-04", "rms"),
        ("rms_median", "4e-05", "rms"),
        ("sources", "2", "sources"),
        ("sources", "150", "sources"),
        ("negative", "30", "negative"),
        ("beam", "20,16,40", "beam"),
        ("background", "3e-04", "background"),
        ("zeros", "0.5", "zeros"),
        ("seconds", "4", "seconds"),
        ("unit", "Jy/pixel", "unit"),
        ("rms_median", "0", "rms"),
    ],
)
def test_one_odd_tile(tmp_path, column, value, figure):
    """The tile with the odd figure, and no other one; in the middle, and in a corner."""
    for number in (34, 0):
        rows = tiles()
        rows[number][column] = value
        found = odd(tmp_path, rows)
        assert list(found) == [number] and figure in found[number]


def test_the_oddest_tile_is_first(tmp_path):
    rows = tiles()
    rows[20]["rms_median"], rows[50]["rms_median"], rows[70]["status"] = "0.0005", "0.05", "failed"
    assert list(night(tmp_path, rows).reasons) == [70, 50, 20]


def test_fast_tiles_are_not_odd(tmp_path):
    rows = tiles()
    rows[7]["seconds"] = "0.001"
    assert odd(tmp_path, rows) == {}
    for row in rows:
        row["seconds"] = "0.003"
    rows[7]["seconds"] = "0.09"  # nobody waited for that
    assert odd(tmp_path, rows) == {}


def test_spellings_of_units(tmp_path):
    rows = tiles()
    rows[3]["unit"], rows[4]["unit"], rows[5]["unit"] = "JY/BEAM", "Jy / beam", "mJy/beam"
    assert odd(tmp_path, rows) == {5: {"unit"}}


def test_gradients_are_usual_and_steps_are_not(tmp_path):
    """A row of tiles at the edge has three times the noise of the other edge; the same noise inside
    is odd."""
    rows = tiles()
    for i, row in enumerate(rows):
        row["rms_median"] = repr(1e-4 * 3 ** (i // 10 / 7))
    assert odd(tmp_path, rows) == {}
    rows[14]["rms_median"] = "0.0003"
    assert odd(tmp_path, rows) == {14: {"rms"}}


def test_failed_tiles(tmp_path):
    rows = tiles()
    rows[3].update(dict.fromkeys(COLUMNS[3:], ""), status="failed", message='cut off, "here"')
    assert "<dt>Odd tiles</dt><dd>0, and 1 failed</dd>" in page_of(tmp_path, rows)
    found = night(tmp_path, rows)
    assert [(outlier.tile, outlier.reason) for outlier in found.outliers] == [
        (3, 'cut off, "here"')
    ]


def test_planes_are_compared_with_their_like(tmp_path):
    """Two planes of each tile, of which one has ten times the noise."""
    rows = [
        dict(row, plane=plane, rms_median=repr(float(row["rms_median"]) * noise))
        for row in tiles()
        for plane, noise in (("1", 1), ("2", 10))
    ]
    assert len(night(tmp_path, rows).tiles) == 160 and odd(tmp_path, rows) == {}
    rows[40]["rms_median"] = "0.0004"
    assert odd(tmp_path, rows) == {40: {"rms"}}


def test_without_footprints_all_tiles_are_neighbours(tmp_path):
    rows = [dict(row, footprint="") for row in tiles()]
    rows[5]["rms_median"] = "0.002"
    assert odd(tmp_path, rows) == {5: {"rms"}}


def test_few_tiles(tmp_path):
    """Of seven tiles nobody knows what is usual."""
    rows = tiles(7, 1)
    rows[5]["rms_median"] = "0.002"
    assert odd(tmp_path, rows) == {}


# --- overlaps ---

SKY = np.random.default_rng(5).uniform((-1.2, -30.3), (1.2, -28.2), (12000, 2))


def write_catalogue(path, row, east=0.0, north=0.0, ratio=1.0, frame="ICRS"):
    """The sources of a sky in the footprint of a row, moved by arcseconds, with other fluxes."""
    corners = np.array(row["footprint"].split(), float).reshape(4, 2)
    lon = (corners[:, 0] + 180) % 360 - 180
    inside = (SKY > (lon.min(), corners[:, 1].min())).all(1) & (
        SKY < (lon.max(), corners[:, 1].max())
    ).all(1)
    random, sources = (
        np.random.default_rng(int(1e4 * (corners[0, 0] + 7 * corners[0, 1] + 900))),
        [],
    )
    for number in np.flatnonzero(inside):
        ra, dec = SKY[number] + random.normal(0, 0.2, 2) / 3600 / (
            math.cos(math.radians(SKY[number][1])),
            1,
        )
        sources.append(
            {
                "RA": (ra + east / 3600 / math.cos(math.radians(dec))) % 360,
                "DEC": dec + north / 3600,
                "Total_flux": ratio * (1 + number % 50) * math.exp(random.normal(0, 0.05)),
                "SNR": 20.0,
                "Flags": 0,
            }
        )
    path.write_text(
        json.dumps(
            {
                "image": {"frame": frame},
                "background": {"n_pixels": 100, "n_blank": 3},
                "sources": sources,
            }
        )
    )
    row["catalogue"] = str(path)


def overlapping(directory, **changed):
    """Rows with catalogues, of which tile 44 is changed."""
    rows = tiles()
    for i, row in enumerate(rows):
        write_catalogue(directory / ("t%03d.json" % i), row, **(changed if i == 44 else {}))
    return rows


def test_overlaps_agree(tmp_path):
    found = night(tmp_path, overlapping(tmp_path))
    assert len(found.overlaps.pairs) > 200 and found.outliers == []
    assert found.overlaps.position_scatter == pytest.approx(0.2 * math.sqrt(2), rel=0.1)
    assert found.overlaps.flux_scatter == pytest.approx(0.05 * math.sqrt(2), rel=0.1)
    assert found.blank.tolist() == [0.03] * 80


def test_a_shifted_tile(tmp_path):
    """By how much, and to where; its neighbours are not odd."""
    found = night(tmp_path, overlapping(tmp_path, east=2, north=-1.5)).outliers
    assert [(outlier.tile, outlier.figure) for outlier in found] == [(44, "positions")]
    east, north, agree, of = re.search(
        r"\(([\d.]+) arcsec east, ([\d.]+) south\) relative to (\d+) of (\d+) neighbours",
        found[0].reason,
    ).groups()
    assert (
        float(east) == pytest.approx(2, abs=0.2)
        and float(north) == pytest.approx(1.5, abs=0.2)
        and agree == of == "8"
    )


def test_another_flux_scale(tmp_path):
    found = night(tmp_path, overlapping(tmp_path, ratio=1.3)).outliers
    assert [(outlier.tile, outlier.figure) for outlier in found] == [(44, "fluxes")]
    assert float(re.match(r"fluxes ([\d.]+) times", found[0].reason).group(1)) == pytest.approx(
        1.3, abs=0.05
    )


def test_two_neighbours(tmp_path):
    """In a strip each tile has two: one that is odd makes none of them so."""
    rows = tiles(12, 1)
    for i, row in enumerate(rows):
        write_catalogue(tmp_path / ("t%d.json" % i), row, **({"north": 3} if i == 5 else {}))
    assert [(outlier.tile, outlier.figure) for outlier in night(tmp_path, rows).outliers] == [
        (5, "positions")
    ]


def blamed(directory, *pairs):
    """Which tiles are odd, of pairs (first, second, number of sources, offset to the north in
    arcsec)."""
    overlaps = Overlaps(
        [Overlap(first, second, n, 0.0, north, 1.0) for first, second, n, north in pairs], 0.2, 0.05
    )
    return [
        outlier.tile
        for outlier in overlap_outliers(
            read_report(report(directory, tiles(10, 1))).tiles, overlaps
        )
    ]


def test_which_tile_is_blamed(tmp_path):
    """Most neighbours must say the same, each with three votes at the most; all of them need three
    sources together."""
    even = [(4, 5, 9, 0.0), (5, 6, 9, 0.0), (6, 7, 9, 0.0), (7, 8, 9, 0.0)]
    assert blamed(tmp_path, *even) == []
    assert blamed(
        tmp_path,
        *even,
        (0, 1, 3, 9.0),
        (0, 2, 3, 9.0),
        (0, 3, 50, 0.0),
        (1, 4, 9, 0.0),
        (2, 5, 9, 0.0),
        (1, 2, 9, 0.0),
    ) == [0]
    # one of two is not most of them
    assert (
        blamed(tmp_path, *even, (0, 1, 50, 9.0), (0, 2, 9, 0.0), (1, 2, 9, 0.0), (1, 4, 9, 0.0))
        == []
    )
    # they do not agree
    assert (
        blamed(
            tmp_path,
            *even,
            (0, 1, 3, 9.0),
            (0, 2, 1, 4.0),
            (0, 3, 1, 0.0),
            (1, 2, 9, 0.0),
            (1, 4, 9, 0.0),
        )
        == []
    )
    assert blamed(tmp_path, *even, (0, 1, 2, 9.0)) == []


@pytest.mark.parametrize("change", [{"Flags": 1}, {"SNR": 2.0}, {"Total_flux": None}, "double"])
def test_sources_that_are_not_compared(tmp_path, change):
    """Those with flags of uncertain rows, those below S/N 7, those without a flux, and those with a
    neighbour in one of the tiles."""
    rows = tiles(10, 1)
    for i, row in enumerate(rows):
        write_catalogue(tmp_path / ("t%d.json" % i), row)
    pairs = {(pair.first, pair.second): pair.n for pair in night(tmp_path, rows).overlaps.pairs}
    path = tmp_path / "t4.json"
    catalogue = json.loads(path.read_text())
    for source in list(catalogue["sources"]):
        if change == "double":
            catalogue["sources"].append(dict(source, DEC=source["DEC"] + 15 / 3600))
        else:
            source.update(change)
    path.write_text(json.dumps(catalogue))
    found = {(pair.first, pair.second): pair.n for pair in night(tmp_path, rows).overlaps.pairs}
    assert (3, 4) in pairs and found == {pair: n for pair, n in pairs.items() if 4 not in pair}


def test_frames_are_not_mixed(tmp_path):
    found = night(tmp_path, overlapping(tmp_path, frame="FK4"))
    assert (
        all(44 not in (pair.first, pair.second) for pair in found.overlaps.pairs)
        and found.outliers == []
    )


def test_catalogues_are_found_beside_the_report(tmp_path):
    """Paths as of another directory, catalogues as CSV, one that is broken."""
    rows = overlapping(tmp_path)
    for row in rows:
        path = Path(row["catalogue"])
        row["catalogue"] = "elsewhere/" + path.with_suffix(".csv").name
        with open(path.with_suffix(".csv"), "w", newline="") as stream:
            writer = csv.DictWriter(stream, ["RA", "DEC", "Total_flux", "SNR", "Flags"])
            writer.writeheader()
            writer.writerows(json.loads(path.read_text())["sources"])
    (tmp_path / "t010.csv").write_text("no,columns\n")
    found = night(tmp_path, rows)
    assert len(found.sources) == 79 and len(found.overlaps.pairs) > 200


# --- reports ---


def test_reports_that_are_none(tmp_path):
    for content, words in (
        ("a,b\n1,2\n", "no report"),
        ("Source_id,RA\n1,2\n", "this is a catalogue: pages are made of JSON"),
        ("", "no report"),
        (None, "No such file"),
    ):
        path = tmp_path / "r.csv"
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_text(content)
        with pytest.raises(PageError, match=words):
            read_report(path)


def test_joined_and_growing_reports(tmp_path):
    """The last row of an image counts; lines of names between rows, and a row that is being
    written, do not."""
    rows = tiles(3, 1)
    path = report(tmp_path, rows + [dict(rows[0], sources="77")])
    text = path.read_text()
    path.write_text(text + text.splitlines()[0] + "\nunfinished,do")
    found = read_report(path)
    assert len(found.tiles) == 3 and found.tiles[0].text("sources") == "77" and found.n_cut == 1
    assert [
        words
        for words in write_night_page(path, tmp_path / "n.html")
        if "1 row of the report has not as many cells" in words
    ]


def test_a_report_without_tiles(tmp_path):
    path = report(tmp_path, [])
    assert write_night_page(path, tmp_path / "n.html") == [f"{path}: The report has no tiles."]
    assert "<dt>Tiles</dt><dd>0</dd>" in (tmp_path / "n.html").read_text("utf-8")


def test_an_old_report(tmp_path):
    """Without the columns of newer versions the page comes, and says so."""
    columns = [name for name in COLUMNS if name not in ("catalogue", "plane", "footprint")]
    text = page_of(tmp_path, tiles(), columns)
    assert (
        "The report lacks the columns catalogue, plane, footprint" in text
        and '<svg class="plot skymap"' not in text
    )


@pytest.mark.parametrize(
    "change",
    [
        {"footprint": "1 2 3"},
        {"footprint": "nan " * 8},
        {"footprint": "1e9 " * 8},
        {"beam": "0,0,0"},
        {"rms_median": "inf"},
        {"sources": "-5"},
        {"seconds": "1e400"},
        {"catalogue": "/dev/null"},
        {"status": "skipped"},
        {"status": ""},
        {"catalogue": "../" * 99},
        {"zeros": "x"},
    ],
)
def test_odd_cells(tmp_path, change):
    """Whatever cells have, the page comes."""
    rows = tiles()
    for row in rows[::2]:
        row.update(change)
    assert page_of(tmp_path, rows).endswith("</html>")


def test_no_tiles(tmp_path):
    assert "No tile that was searched stands out" in page_of(tmp_path, [])


def test_all_failed(tmp_path):
    rows = [
        dict(dict.fromkeys(COLUMNS, ""), image="i%d" % i, status="failed", message="no file")
        for i in range(300)
    ]
    assert "200 more are in the table" in page_of(tmp_path, rows)


def test_pages_of_tiles(tmp_path):
    """--tiles writes a page for each catalogue as JSON, and tells which one it cannot."""
    rows = tiles(10, 1)
    for i, row in enumerate(rows):
        row["catalogue"] = str(tmp_path / ("t%d.json" % i))
        Path(row["catalogue"]).write_text("{}")
    written = []

    def tile_page(catalogue, page):
        if catalogue.name == "t3.json":
            raise PageError("t3.json: broken")
        page.write_text("a page")
        written.append(page.name)

    assert write_night_page(report(tmp_path, rows), tmp_path / "report.html", tile_page) == [
        "t3.json: broken"
    ]
    assert written == ["t%d.html" % i for i in range(10) if i != 3]
    assert all(
        '"t%d.html"' % i in "".join(links_of(tmp_path / "report.html")) for i in range(10) if i != 3
    )


# --- a night of images ---


def bench():
    """tests/bench/night as a module."""
    pytest.importorskip("scipy")
    loader = importlib.machinery.SourceFileLoader(
        "night", os.path.join(t.SOURCE_ROOT, "tests", "bench", "night")
    )
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("night", loader))
    loader.exec_module(module)
    return module


def test_a_night_with_five_odd_tiles(tmp_path):
    """Of 40 tiles five are odd in the ways that nights have; they are found, and at most one
    more."""
    program = bench()
    kinds = program.make_night(str(tmp_path), 8, 5, 256, 3)
    found = Night(read_report(Path(program.search(t.COMMAND, str(tmp_path)))))
    names = {found.tiles[outlier.tile].name for outlier in found.outliers}
    assert names >= set(kinds.values()) and len(names) <= 6


# --- in a browser ---


def show(browser, directory, rows):
    """Opens the page of a report."""
    page_of(directory, rows)
    open_page(browser, directory / "report.html")


def click(browser, selector):
    browser.execute_script("document.querySelector(arguments[0]).click()", selector)


def test_the_table_has_the_report(tmp_path, browser):
    """Its numbers, sorted in both directions, and those that a filter leaves."""
    from selenium.webdriver.common.by import By

    rows = tiles()
    rows[11].update(status="failed", message="no such file", **dict.fromkeys(COLUMNS[3:], ""))
    show(browser, tmp_path, rows)
    assert column(browser, "tiles-sheet", "tile") == ["t%03d.fits" % i for i in range(80)]
    for name in ("rms_median", "sources", "seconds"):
        assert column(browser, "tiles-sheet", name) == [
            float(row[name]) if row[name] else None for row in rows
        ]
    header = next(
        button
        for button in browser.find_elements(By.CSS_SELECTOR, "#tiles-sheet th button")
        if button.text.startswith("rms_median")
    )
    header.send_keys("\ue007")  # the enter key
    expected = sorted(float(row["rms_median"]) for row in rows if row["rms_median"])
    assert column(browser, "tiles-sheet", "rms_median") == expected + [None]
    field = browser.find_element(By.CSS_SELECTOR, "#tiles-sheet input[type=search]")
    field.send_keys("status = failed")
    assert column(browser, "tiles-sheet", "tile") == ["t011.fits"] and column(
        browser, "tiles-sheet", "message"
    ) == ["no such file"]
    assert has_no_errors(browser)


@pytest.mark.parametrize("lat", [-90, -65, 0, 40, 89.9])
@pytest.mark.parametrize("wide", [0.01, 3, 60, 300])
def test_lines_of_the_map_have_labels(lat, wide):
    """Of both coordinates, on a map of any size at any place, and no label covers another one."""
    places = [
        _skymap.Place(
            np.array([(lon, low), (lon + 1e-3, low), (lon, min(low + 1e-3, 90))]), "", "", False, {}
        )
        for lon in np.linspace(0, wide, 7)
        for low in np.clip(np.linspace(lat - wide / 4, lat + wide / 4, 5), -90, 90)
    ]
    svg = str(_skymap.draw_map(places, range(len(places)), "t"))
    found = re.findall(
        r'<text class="tick[ a-z]*" x="([-\d.]+)" y="([-\d.]+)" text-anchor="(\w+)">([^<]*)°<', svg
    )
    assert len(found) >= 3
    boxes = []
    for x, y, anchor, text in found:
        size = 7 * (len(text) + 1)
        left = float(x) - (size if anchor == "end" else size / 2)
        boxes.append((left, left + size, float(y)))
    for i, (left, right, y) in enumerate(boxes):
        for other_left, other_right, other in boxes[:i]:
            assert right <= other_left or other_right <= left or abs(y - other) >= 12, found


def test_the_map(tmp_path, browser):
    """Colours follow the radio buttons, by keyboard; arrow keys walk from tile to tile, and tell
    its figures."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    rows = tiles()
    rows[34]["rms_median"] = "0.001"
    show(browser, tmp_path, rows)
    # drawn above its neighbours
    assert texts(browser, ".tile.odd title") == texts(browser, ".tile title")[-1:]
    fills = "return [...document.querySelectorAll('.tile')].map(tile => getComputedStyle(tile.querySelector('path')).fill)"
    assert len(set(browser.execute_script(fills))) == 2
    browser.find_element(By.ID, "by-status").send_keys(Keys.ARROW_RIGHT)
    assert len(set(browser.execute_script(fills))) > 20
    assert [
        element.is_displayed() for element in browser.find_elements(By.CSS_SELECTOR, ".colours")
    ] == [False, True, False]
    browser.execute_script("document.querySelector('#tile-33').focus()")
    browser.switch_to.active_element.send_keys(Keys.ARROW_LEFT)  # east is at the left
    assert texts(browser, ".chosen-tile")[0].startswith(
        "t034.fits: done, %s sources, rms 1 mJy/beam" % rows[34]["sources"]
    )
    browser.switch_to.active_element.send_keys(Keys.ARROW_UP)
    assert texts(browser, ".chosen-tile")[0].startswith("t044.fits: ")
    assert (
        browser.execute_script("return document.querySelectorAll('.tile[tabindex=\"0\"]').length")
        == 1
    )
    assert has_no_errors(browser)


def test_hostile_texts_in_a_browser(tmp_path, browser):
    """Texts of a report appear, and do nothing."""
    rows = tiles()
    for name in ("image", "message", "unit", "backend", "version", "options", "beam", "box"):
        rows[0][name] = HOSTILE
    rows[1].update(
        image="</script><img src=x onerror=alert(2)>.fits", status="failed", message=HOSTILE
    )
    rows[2].update(image="javascript:alert(3)//", status=HOSTILE)
    rows[3]["image"] = "a\udcff.fits"
    path = tmp_path / "report.csv"
    report(tmp_path, [dict(row, image=row["image"].replace("\udcff", "?")) for row in rows])
    path.write_bytes(path.read_bytes().replace(b"a?.fits", b"a\xff.fits"))
    write_night_page(path, tmp_path / "report.html")
    browser.get("file://%s" % (tmp_path / "report.html"))
    assert (
        browser.execute_script("return document.querySelectorAll('img, iframe, object').length")
        == 0
    )
    assert browser.execute_script("return [...document.scripts].filter(s => !s.type).length") == 1
    assert (
        HOSTILE[:8] in browser.find_element("tag name", "body").text
        and "a\ufffd.fits" in browser.page_source
    )
    assert has_no_errors(browser)


def test_links_to_the_pages_of_tiles(tmp_path, browser):
    """Of those that are there, with a name that needs quoting."""
    rows = tiles()
    (tmp_path / "out").mkdir()
    for name in ("a b#?.json", "c.json"):
        (tmp_path / "out" / name).write_text("{}")
    (tmp_path / "out" / "a b#?.html").write_text("the page of a tile")
    rows[0]["catalogue"], rows[1]["catalogue"] = "out/a b#?.json", "out/c.json"
    show(browser, tmp_path, rows)
    links = browser.execute_script(
        "return [...document.querySelectorAll('#tiles-sheet td a')].map(a => a.href)"
    )
    assert len(links) == 1
    browser.get(links[0])
    assert "the page of a tile" in browser.page_source
