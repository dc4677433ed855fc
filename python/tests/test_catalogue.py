"""Catalogues: tables, facts, maps and files have what the command writes."""
import copy
import csv
import math
import multiprocessing
import os
import pathlib
import pickle
import re
import threading
import warnings
import xml.etree.ElementTree

import numpy as np
import pytest
import srcfind
import srcfind_test as t
import sky  # which that finds
from astropy import units
from astropy.io import fits
from astropy.table import QTable
from srcfind._calls import in_python, lib
from srcfind._near import _OF_OTHERS

SAMPLE = os.path.join(t.SOURCE_ROOT, "data", "sample.fits")
OTHERS = {"negative": True, "rms_box": (40, 13), "island": 3, "blank": 0}
OTHERS_OF_COMMAND = ("--negative", "--rms-box=40,13", "-i3", "--blank=0")


def test_table(path):
    """Every cell is that of the CSV; what is empty there is NaN or "", and not masked."""
    image = path("image.fits")
    # has no coordinates
    fits.PrimaryHDU(t.noise(120, 130), t.sky_header(CDELT1=None)).writeto(image)
    for file in (SAMPLE, image):
        table = srcfind.find(file).table
        rows = list(csv.DictReader(t.run(file, "-q", check=True).stdout.splitlines()))
        assert len(table) == len(rows) > 5 and table.colnames == list(rows[0])
        for name in table.colnames:
            cells = getattr(table[name], "value", table[name])
            for cell, written in zip(cells, (row[name] for row in rows)):
                assert cell == type(cell)(written) if written else cell == "" or math.isnan(cell)
    assert np.isnan(table["RA"]).all() and (table["Source_Name"] == "").all()


def test_facts(path):
    """Units, descriptions and facts are those of the ECSV, and the figures those of the JSON."""
    for options, of_command in (({}, ()), ({"fit": True}, ("--fit",)), (OTHERS, OTHERS_OF_COMMAND)):
        found = srcfind.find(SAMPLE, **options)
        table = found.table
        t.run(SAMPLE, "-q", "-o", path("c.ecsv"), *of_command, check=True)
        expected = QTable.read(path("c.ecsv"), format="ascii.ecsv")
        for name in expected.colnames:
            assert getattr(table[name], "unit", None) == getattr(expected[name], "unit", None)
            assert table[name].info.description == expected[name].info.description
            assert table[name].info.meta == expected[name].info.meta
        ours, theirs = dict(table.meta), dict(expected.meta)
        set_options = {
            name.replace("-", "_"): str(value)
            for name, value in theirs.pop("options").items()
            if value is not None
        }
        assert (
            set_options
            == {"island": "5", **ours.pop("options")}
            == {"island": "5", **found.options}
        )
        assert ours == theirs
        written = t.find(SAMPLE, *of_command)
        for name, value in written["quality"].items():
            if hasattr(found.quality, name):
                figure = getattr(found.quality, name)
                assert figure == value or (value is None and math.isnan(figure))
        known, correlation = written["noise"]["correlation"], found.correlation
        assert (correlation is None) == (known is None) == ("fit" not in options)
        if correlation:
            assert (correlation.values == known["values"]).all()
            assert correlation.area == known["area"] and correlation.measured == known["measured"]
        assert found.background.n_kept == written["background"]["n_kept"]
        assert found.background.empty is False
    assert (found.background.box, found.background.step) == (40, 13)
    assert found.run.backend == "cpu" and found.run.threads >= 1


def test_empty_integers():
    """They are masked in a table, with and without a unit, and nothing else is; an array has the
    least integer."""
    found = srcfind.find(SAMPLE)
    for name in ("Xpeak", "N_pix"):
        found.array[name][3] = np.iinfo(np.int64).min
    table = found.table
    for name in ("Xpeak", "N_pix"):
        assert table[name].mask.tolist() == [i == 3 for i in range(len(found))]
        assert table[name][0] == found.array[name][0] * (table[name].unit or 1)
    assert (
        table["Xpeak"].unit == units.pix
        and table["Xpeak"].dtype == table["N_pix"].dtype == np.int64
    )
    assert not any(
        hasattr(table[name], "mask") for name in table.colnames if name not in ("Xpeak", "N_pix")
    )


def test_columns_of_options(path):
    """Those of --deblend and --fit, with the units and descriptions of the ECSV."""
    for options, of_command in (
        ({"deblend": True}, ["--deblend"]),
        ({"contrast": 2}, ["--contrast=2"]),
        ({"fit": True}, ["--fit"]),
        ({"shapes": "free"}, ["--shapes=free"]),
    ):
        table = srcfind.find(SAMPLE, **options).table
        t.run(SAMPLE, "-q", "-o", path("c.ecsv"), *of_command, check=True)
        expected = QTable.read(path("c.ecsv"), format="ascii.ecsv")
        assert table.colnames == expected.colnames
        assert ("S_Code" in table.colnames, "E_DC_PA" in table.colnames) == (
            True,
            "fit" in options or "shapes" in options,
        )
        for name in table.colnames:
            assert getattr(table[name], "unit", None) == getattr(expected[name], "unit", None)
            assert table[name].info.description == expected[name].info.description


def test_planes(path):
    """Those of --measure-in, by a list of paths; pixels in memory are measured in files, too; a
    pickle has them."""
    sky.make(["200", path("sky.fits"), "--density", "900", "--seed", "5"])
    pixels, header = fits.getdata(path("sky.fits")), fits.getheader(path("sky.fits"))
    name = "a, b and a name that is longer than thirty-two characters.fits"
    stokes = header.copy()
    stokes.update(CTYPE3="STOKES", CRVAL3=1.0, CRPIX3=1.0, CDELT3=1.0)
    fits.writeto(path(name), np.array([pixels, 2 * pixels]), stokes)
    t.run(
        path("sky.fits"),
        "-q",
        "--measure-in",
        "%s,%s" % (path(name).replace(",", ",,"), path("sky.fits")),
        "-o",
        path("c.ecsv"),
        check=True,
    )
    expected = QTable.read(path("c.planes.ecsv"), format="ascii.ecsv")
    found = srcfind.find(path("sky.fits"), measure_in=[path(name), pathlib.Path(path("sky.fits"))])
    planes = found.planes
    assert len(planes) == len(expected) == 3 * len(found) > 20
    assert "rows of a plane in" in repr(planes) and planes.planes is planes.gaussians is None
    assert planes.table.colnames == expected.colnames
    for column in expected.colnames:
        cells = (
            expected[column].filled("")
            if expected[column].dtype.kind == "U" and hasattr(expected[column], "filled")
            else expected[column]
        )
        assert np.array_equal(
            planes.array[column],
            np.asarray(cells),
            equal_nan=planes.array[column].dtype.kind == "f",
        )
    assert list(planes.array["Image"][:3]) == [path(name)] * 2 + [path("sky.fits")]
    for table in (planes, found.gaussians):
        assert repr((table.quality, table.notes)) == repr((found.quality, found.notes))
    again = srcfind.find(pixels, header=header, measure_in=path("sky.fits"))
    assert np.array_equal(again.planes.array["Total_flux"], planes.array["Total_flux"][2::3])
    assert np.array_equal(
        pickle.loads(pickle.dumps(found)).planes.array["Total_flux"], planes.array["Total_flux"]
    )
    with pytest.raises(srcfind.OptionError, match="rows of planes cannot be written as reg"):
        planes.write(path("planes.reg"))
    assert srcfind.find(SAMPLE).planes is None


def test_planes_of_many_files(path, monkeypatch):
    """A list may have any number of paths, with commas and @ in them, as long as paths may be."""
    sky.make(["100", path("sky.fits"), "--density", "900", "--seed", "5"])
    names = ["@,x.fits"] + ["%03d%s.fits" % (i, 200 * "x") for i in range(1, 500)]
    for name in names:
        os.symlink(path("sky.fits"), path(name))
    monkeypatch.chdir(os.path.dirname(path("sky.fits")))
    found = srcfind.find("sky.fits", measure_in=names)
    assert list(found.planes.array["Image"][:500]) == ["./@,x.fits"] + names[1:]
    assert found.options["measure_in"] == ",".join(["./@,,x.fits"] + names[1:])
    with open("list", "w", encoding="ascii") as stream:
        stream.writelines(name + "\n" for name in names)
    listed = srcfind.find("sky.fits", measure_in="@list").planes
    assert np.array_equal(listed.array["Total_flux"], found.planes.array["Total_flux"])


def test_gaussians(path):
    """Those of --save gaussians; they outlive the catalogue, and a pickle has them."""
    sky.make(["700", path("sky.fits"), "--density", "900", "--seed", "5"])
    for negative in (False, True):
        found = srcfind.find(path("sky.fits"), group=2, negative=negative)
        t.run(
            path("sky.fits"),
            "-q",
            "--group",
            "2",
            *["--negative"] * negative,
            "--save",
            "gaussians",
            "-o",
            path("c.ecsv"),
            check=True,
        )
        expected = QTable.read(path("c.gaussians.ecsv"), format="ascii.ecsv")
        gaussians = found.gaussians
        assert len(gaussians) == len(expected) == found.array["N_Gaus"].sum() > len(found) > 50
        assert "Gaussians in" in repr(gaussians) and gaussians.gaussians is None
        found_flux = dict(zip(found.array["Source_id"], found.array["Total_flux"]))
        copy = pickle.loads(pickle.dumps(found))
        del found
        assert gaussians.table.colnames == expected.colnames
        for name in expected.colnames:
            is_real = gaussians.array[name].dtype.kind == "f"
            cells = getattr(expected[name], "value", expected[name])
            assert np.array_equal(
                gaussians.array[name],
                np.ma.filled(cells, np.nan) if is_real else np.asarray(cells),
                equal_nan=is_real,
            )
        assert np.array_equal(copy.gaussians.array["Total_flux"], gaussians.array["Total_flux"])
        sums = {
            source: gaussians.array["Total_flux"][gaussians.array["Source_id"] == source].sum()
            for source in found_flux
        }
        assert all(abs(sums[source] / flux - 1) < 1e-12 for source, flux in found_flux.items())
        gaussians.write(path("again.ecsv"), overwrite=True)
        with open(path("again.ecsv")) as again, open(path("c.gaussians.ecsv")) as written:
            assert again.read() == written.read()
    assert srcfind.find(SAMPLE).gaussians is None


def test_notes(path):
    """They are warnings at the line of the caller, with the texts of the command and options as
    Python has them; a pickle has them, and plain noise has none."""
    image = t.noise(60, 70)
    image[:20] = 0
    beam = t.sky_header(BMAJ=1.5e-3, BMIN=1.5e-3, BUNIT="mjy/beam")
    for name, pixels, header in (
        ("zeros.fits", image, t.sky_header()),
        ("beam.fits", image, beam),
        ("none.fits", t.noise(200, 210), t.sky_header()),
    ):
        fits.PrimaryHDU(pixels, header).writeto(path(name))
        # without the summary
        lines = t.run(path(name), "-o", path("c.csv"), check=True).stderr.splitlines()[1:]
        lines = [in_python(line) for line in lines]
        for find in (srcfind.find, srcfind.Finder().find):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                found = find(path(name))
            assert ["srcfind: %s" % warning.message for warning in caught] == lines
            assert ["srcfind: %s: %s" % (path(name), note) for note in found.notes] == lines
            assert all(
                warning.category is srcfind.SrcfindWarning and warning.filename == __file__
                for warning in caught
            )
        assert pickle.loads(pickle.dumps(found)).notes == found.notes
        assert (len(lines) == 0) == (name == "none.fits"), lines
    with pytest.warns(
        srcfind.SrcfindWarning, match="^some 33% of the pixels are exactly 0: .* `blank=0`"
    ):
        srcfind.find(image)
    assert issubclass(srcfind.SrcfindWarning, UserWarning)


def test_units():
    """A BUNIT in capitals is understood; one that nobody knows is no unit, and its text is kept."""
    image = t.noise(60, 70)
    table = srcfind.find(image, header=t.sky_header(BUNIT="JY/BEAM")).table
    assert table["Peak_flux"].unit == units.Jy / units.beam and table["Total_flux"].unit == units.Jy
    assert table["Xpeak"].unit == units.pix and table["Xpeak"].dtype == np.int64
    catalogue = srcfind.find(image, header=t.sky_header(BUNIT="some unit"))
    assert catalogue.table["Peak_flux"].unit is None
    assert catalogue.table["Peak_flux"].info.meta == {
        "ucd": catalogue.columns[15].ucd,
        "unit": "some unit",
    }
    assert catalogue.table.meta["bunit"] == "some unit"
    assert srcfind.find(image, header=t.sky_header(BUNIT="K km/s")).table[
        "Peak_flux"
    ].unit == units.Unit("K km/s")
    without = srcfind.find(image).table
    assert without["Peak_flux"].unit is None and "unit" not in without["Peak_flux"].info.meta


def test_array():
    found = srcfind.find(SAMPLE)
    assert found.array.dtype["Source_id"] == np.int64 and found.array.dtype["RA"] == np.float64
    assert found.array["Source_Name"][0] == "J123031.24+122043.7"
    assert [column.name for column in found.columns] == list(found.array.dtype.names)
    found.table["RA"][0] = 0 * units.deg
    assert found.array["RA"][0] != 0


def rows_of(page):
    """The cells of each row of a table."""
    root = xml.etree.ElementTree.fromstring(
        "<div>%s</div>" % page.replace("<br>", "\n").replace("&hellip;", "...")
    )
    return ["".join(part.itertext()) for part in root.findall("p")], [
        ["".join(cell.itertext()) for cell in row] for row in root.iter("tr")
    ]


SHOWN = "Source_id RA DEC Peak_flux E_Peak_flux Total_flux E_Total_flux SNR Maj Flags".split()


def test_html_of_other_tables():
    """Columns that have values alone; pixels where there is no sky; tables of bins as a whole."""
    found = srcfind.find(SAMPLE, fit=True, scales=True, completeness=True, measure_in=SAMPLE)
    names = rows_of(found._repr_html_())[1][0]
    assert names == [*SHOWN[:-1], "Scale", "Flags"]
    (completeness,) = [rows_of(found.completeness._repr_html_())[1]]
    assert completeness[0] == [column.name for column in found.completeness.columns]
    assert len(completeness) == 2 + len(found.completeness) > 12
    at = srcfind.find(SAMPLE, at=[(187.7, 12.39)], fit=True)
    assert rows_of(at._repr_html_())[1][0][-1] == "Entry_id"
    of_pixels = srcfind.find(found.map("snr"))
    assert rows_of(of_pixels._repr_html_())[1][0][1:3] == ["Xposn", "Yposn"]


def test_near_names():
    """Of columns, maps and options: other letters first, then other programs' names."""
    found = srcfind.find(SAMPLE)
    with pytest.raises(KeyError, match="there is no column snr: did you mean SNR[?]"):
        found["snr"]
    with pytest.raises(srcfind.OptionError, match="no map rmss: did you mean rms, mask[?]; there"):
        found.map("rmss")
    with pytest.raises(KeyError, match="there is no option lcal: did you mean local, scales[?]"):
        srcfind.options()["lcal"]
    assert "lcal" not in srcfind.options()
    for name, meant in (("nsigma", "threshold"), ("Local", "local"), ("thresh_isl", "island")):
        with pytest.raises(TypeError, match=f"no option {name}: did you mean {meant}[?]$"):
            srcfind.find(SAMPLE, **{name: 4})


def test_near_names_are_those_of_the_command():
    """Where both know a name of another program."""
    with open(os.path.join(t.SOURCE_ROOT, "src", "cli", "near_options.c")) as stream:
        of_command = dict(re.findall(r'\{"([^"]+)", "([^"]+)"\}', stream.read().replace("-", "_")))
    both = set(of_command) & set(_OF_OTHERS)
    assert len(both) > 20 and all(of_command[name] == _OF_OTHERS[name] for name in both)
    assert set(_OF_OTHERS.values()) <= set(srcfind.options())


def test_flags():
    """They are those of srcfind.h."""
    of_library = {name: getattr(lib, name) for name in dir(lib) if name.startswith("SRCFIND_FLAG_")}
    assert {"SRCFIND_FLAG_" + flag.name: int(flag) for flag in srcfind.Flag} == of_library
    found = srcfind.find(SAMPLE, fit=True)
    is_point = found["Flags"] & srcfind.Flag.BEAM_SHAPE != 0
    assert 0 < is_point.sum() == (found["Flags"] & 128 > 0).sum() < len(found)


def test_skycoord(path):
    """In the frame of the image; of rows without positions there is none."""
    found = srcfind.find(SAMPLE, fit=True)
    assert found.skycoord.frame.name == "icrs"
    assert np.array_equal(found.skycoord.ra.deg, found["RA"])
    assert len(found.gaussians.skycoord) == len(found.gaussians)
    pixels = fits.getdata(SAMPLE)
    for name, header in (
        ("fk5", t.sky_header(RADESYS="FK5", EQUINOX=1975)),
        ("galactic", t.sky_header(CTYPE1="GLON-SIN", CTYPE2="GLAT-SIN")),
    ):
        rows = srcfind.find(pixels, header=header)
        of_astropy = rows.skycoord
        assert of_astropy.frame.name == name and len(of_astropy) == len(rows)
        assert name != "fk5" or of_astropy.equinox.jyear == 1975
        lon = rows["GLON" if name == "galactic" else "RA"]
        assert np.allclose(of_astropy.spherical.lon.deg, lon)
    for table in (srcfind.find(pixels), srcfind.find(SAMPLE, completeness=50).completeness):
        with pytest.raises(srcfind.OptionError, match="no positions on the sky"):
            table.skycoord


def test_map_of_a_part():
    """The pixel of a source in a map of a part."""
    found = srcfind.find(SAMPLE, trim=(41, 200, 31, 180), fit=True)
    y = np.rint(found["Yposn"]).astype(int) - found.image.first_y
    x = np.rint(found["Xposn"]).astype(int) - found.image.first_x
    is_point = found["Flags"] & srcfind.Flag.BEAM_SHAPE != 0
    segments = found.segments
    assert segments.shape == (150, 160)
    assert np.array_equal(segments[y, x][is_point], found["Isl_id"][is_point])


def test_html(path):
    """A notebook has the facts, the columns that are read first, and ten rows at most; texts are
    escaped, and what does not apply is empty."""
    found = srcfind.find(SAMPLE, threshold=5.5)
    found.array["Flags"][0] = np.iinfo(np.int64).min
    found.array["E_Peak_flux"][1] = np.nan
    (facts, others), (names, units_of_columns, *rows) = rows_of(found._repr_html_())
    assert others == "%d other columns are in table" % (len(found.columns) - len(SHOWN))
    assert (
        facts.startswith("%d sources in %s, rms " % (len(found), SAMPLE))
        and "threshold=5.5" in facts
        and "arcsec at" in facts
    )
    assert names == SHOWN
    assert units_of_columns == ["", "deg", "deg", *["Jy/beam"] * 2, "Jy", "Jy", "", "arcsec", ""]
    assert [row[names.index("Source_id")] for row in rows] == [
        "1",
        "2",
        "3",
        "4",
        "5",
        "...",
        *map(str, range(len(found) - 4, len(found) + 1)),
    ]
    assert rows[0][names.index("RA")] == "%.6f" % found.array["RA"][0]
    assert float(rows[0][names.index("Maj")]) == pytest.approx(3600 * found["Maj"][0], rel=1e-3)
    assert rows[0][names.index("Flags")] == rows[1][names.index("E_Peak_flux")] == ""
    image = t.noise(60, 70)
    image[:20] = 0
    fits.PrimaryHDU(image, t.sky_header(BUNIT="<b>&")).writeto(path("<i>.fits"))
    few = srcfind.find(path("<i>.fits"), threshold=60, fit=True)
    page = few._repr_html_()
    (facts, _), (_, _, *rows) = rows_of(page)
    assert len(rows) == len(few) <= 10 and "<i>" not in page and "<b>" not in page
    assert "<i>.fits, rms" in facts and "<b>&" in facts and "`blank=0`" in facts
    assert rows_of(pickle.loads(pickle.dumps(few))._repr_html_()) == rows_of(page)
    assert len(rows_of(srcfind.find(np.arange(20.0).reshape(4, 5))._repr_html_())[1]) == 2
    assert "Gaussian" in few.gaussians._repr_html_()


def test_no_source():
    found = srcfind.find(np.arange(20.0).reshape(4, 5), header=t.sky_header())
    assert (len(found), len(found.array), len(found.table)) == (0, 0, 0)
    assert found.table["RA"].unit == units.deg
    assert (
        repr(found)
        == "<srcfind.Catalogue of 0 sources in an array of the shape (4, 5), rms 5.766 Jy/beam>"
    )


FIT = {"fit": True, "negative": True}
FIT_OF_COMMAND = ("--fit", "--negative")


@pytest.mark.parametrize(
    "options, of_command", [({}, ()), (OTHERS, OTHERS_OF_COMMAND), (FIT, FIT_OF_COMMAND)]
)
def test_maps(options, of_command, path):
    """Those of a file and of an array are those that --save writes."""
    image = t.noise(310, 290)
    image[:20, :30] = 0
    fits.PrimaryHDU(image, t.sky_header()).writeto(path("image.fits"))
    names = (
        "rms",
        "background",
        "snr",
        *(("sources", "model", "residual") if options is FIT else ()),
        "islands",
    )
    t.run(
        path("image.fits"),
        "-q",
        "-o",
        path("c.csv"),
        "--save",
        ",".join(names),
        *of_command,
        check=True,
    )
    swapped = image.astype(image.dtype.newbyteorder())
    for array in (path("image.fits"), image, swapped, np.repeat(image, 2, 1)[:, ::2]):
        header = {} if isinstance(array, str) else {"header": t.sky_header()}
        found = srcfind.find(array, **header, **options)
        for name in names:
            saved = fits.getdata(path("c.%s.fits" % name))
            made = found.map(name)
            assert (
                made.dtype == (np.int32 if name in ("islands", "sources") else np.float32)
                and made.dtype.isnative
            )
            np.testing.assert_array_equal(made, saved)
        np.testing.assert_array_equal(found.segments, saved)
    assert saved.max() > 5


def test_wrong_maps(path):
    fits.PrimaryHDU(t.noise(60, 70)).writeto(path("image.fits"))
    found = srcfind.find(path("image.fits"))
    with pytest.raises(srcfind.OptionError, match="there is no map signal"):
        found.map("signal")
    with pytest.raises(srcfind.OptionError, match="residual needs `fit=True`"):
        found.map("residual")
    fits.PrimaryHDU(t.noise(61, 70)).writeto(path("image.fits"), overwrite=True)
    with pytest.raises(srcfind.InputError, match="changed"):
        found.map("rms")


def pickled(catalogue):
    """The bytes, without the catalogue: what is read from them stands alone."""
    return pickle.dumps(catalogue)


@pytest.mark.parametrize("options", [{}, OTHERS, {"fit": True, "negative": True}])
def test_pickle(options, path):
    """The table with its units and facts, the image and its noise come back; maps and files cannot
    be made."""
    for image in (SAMPLE, t.noise(60, 70, seed=4)):
        found = srcfind.find(image, **options)
        found.array["Xpeak"][0] = np.iinfo(np.int64).min  # empty
        for back in (
            pickle.loads(pickled(found)),
            copy.deepcopy(found),
            pickle.loads(pickled(pickle.loads(pickled(found)))),
        ):
            assert (
                back.array.tobytes() == found.array.tobytes()
                and back.array.dtype == found.array.dtype
            )
            assert (len(back), repr(back)) == (len(found), repr(found))
            for name in ("columns", "options", "run", "background"):
                assert getattr(back, name) == getattr(found, name)
            for name in ("image", "quality"):  # which have NaN
                assert repr(getattr(back, name)) == repr(getattr(found, name))
            assert (
                back.table.meta == found.table.meta and back.table.colnames == found.table.colnames
            )
            for name in back.table.colnames:
                assert getattr(back.table[name], "unit", None) == getattr(
                    found.table[name], "unit", None
                )
                assert back.table[name].info.meta == found.table[name].info.meta
            for call in (
                lambda: back.map("rms"),
                lambda: back.segments,
                lambda: back.write(path("c.csv")),
            ):
                with pytest.raises(ValueError, match="search the image again, or write its table"):
                    call()
        assert not os.path.exists(path("c.csv"))
    other = copy.copy(found)  # of the same memory
    del found
    assert other.map("rms").shape == (60, 70)


def assert_same_table(found, expected):
    """Columns, rows and metadata are the same."""
    assert found.columns == expected.columns and found.array.dtype == expected.array.dtype
    assert found.array.tobytes() == expected.array.tobytes()
    assert found.table.meta == expected.table.meta and repr(found) == repr(expected)
    for name in found.table.colnames:
        assert getattr(found.table[name], "unit", None) == getattr(
            expected.table[name], "unit", None
        )
        assert found.table[name].info.meta == expected.table[name].info.meta


def test_completeness(path):
    """The tables are those of the command; pixels in memory have the same."""
    pixels, header = fits.getdata(SAMPLE), fits.getheader(SAMPLE)
    t.run(
        SAMPLE,
        "-q",
        "--local",
        "--negative",
        "--completeness=80",
        "--seed=3",
        "-o",
        path("c.ecsv"),
        check=True,
    )
    for image, given in ((SAMPLE, {}), (pixels, {"header": header})):
        found = srcfind.find(image, local=True, negative=True, completeness=80, seed=3, **given)
        for name, n in (("completeness", 17), ("reliability", 8)):
            table, expected = getattr(found, name), QTable.read(
                path(f"c.{name}.ecsv"), format="ascii.ecsv"
            )
            assert (
                len(table) == n
                and f"{n} bins of sources in" in repr(table)
                and table.completeness is table.reliability is None
            )
            assert table.table.colnames == expected.colnames
            for column in expected.colnames:
                cells = (
                    np.ma.filled(
                        expected[column].value
                        if hasattr(expected[column], "unit")
                        else expected[column],
                        np.nan,
                    )
                    if expected[column].dtype.kind == "f"
                    else expected[column]
                )
                assert np.array_equal(
                    table.array[column],
                    np.asarray(cells),
                    equal_nan=expected[column].dtype.kind == "f",
                )
        assert sum(found.completeness.array["Injected"][:7]) == 80
    assert srcfind.find(SAMPLE, completeness=True).options["completeness"] == "2000"
    without = srcfind.find(SAMPLE)
    assert without.completeness is without.reliability is None
    with pytest.raises(srcfind.OptionError, match="rows of bins cannot be written as reg"):
        found.completeness.write(path("c.reg"))


def test_islands(path):
    """Those of --save islands_table; sources of --at have none."""
    t.run(SAMPLE, "-q", "--fit", "--save", "islands_table", "-o", path("c.ecsv"), check=True)
    found = srcfind.find(SAMPLE, fit=True)
    expected = QTable.read(path("c.islands_table.ecsv"), format="ascii.ecsv")
    table = found.islands
    assert f"{len(expected)} islands in" in repr(table) and len(table) == len(expected) > 5
    assert table.table.colnames == expected.colnames
    for name in ("Isl_id", "N_sources", "N_pix", "Xpeak", "Peak_flux"):
        assert np.array_equal(table.array[name], getattr(expected[name], "value", expected[name]))
    assert set(table.array["Isl_id"]) == set(found.array["Isl_id"]) and table.islands is None
    assert srcfind.find(SAMPLE, at=path("c.ecsv")).islands is None
    with pytest.raises(srcfind.OptionError, match="rows of islands cannot be written as reg"):
        table.write(path("c.reg"))


def test_covariance(path):
    """That of --save covariance; sources of a search have none."""
    at = path("pair.csv")
    with open(at, "w") as stream:
        stream.write("Xposn,Yposn\n40,40\n42,40\n42,43\n")
    t.run(
        SAMPLE, "-q", "--at", at, "--fit", "--save", "covariance", "-o", path("c.ecsv"), check=True
    )
    table = srcfind.find(SAMPLE, at=at, fit=True).covariance
    expected = QTable.read(path("c.covariance.ecsv"), format="ascii.ecsv")
    assert f"{len(expected)} covariances in" in repr(table) and len(expected) == len(table) == 2
    assert np.array_equal(table.array["Correlation"], expected["Correlation"])
    assert srcfind.find(SAMPLE, fit=True).covariance is None
    assert srcfind.find(SAMPLE, at=at).covariance is None
    with pytest.raises(srcfind.OptionError, match="rows of covariances cannot be written as reg"):
        table.write(path("c.reg"))


def test_pickle_of_tables(path):
    """The tables of Gaussians, planes and bins come back with their catalogue, or alone; they have
    no maps either."""
    found = srcfind.find(SAMPLE, fit=True, measure_in=[SAMPLE], negative=True, completeness=20)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        back = pickle.loads(pickle.dumps(found, protocol))
        assert_same_table(back, found)
        for name in ("gaussians", "islands", "planes", "completeness", "reliability"):
            expected = getattr(found, name)
            for table in (getattr(back, name), pickle.loads(pickle.dumps(expected, protocol))):
                assert_same_table(table, expected)
                assert len(table) >= min(len(found), 8) and table.gaussians is table.planes is None
                for call in (
                    lambda: table.map("rms"),
                    lambda: table.segments,
                    lambda: table.write(path("c.csv")),
                    lambda: table.write(path("c.csv"), columns="RA"),
                ):
                    with pytest.raises(
                        srcfind.OptionError,
                        match="was pickled has its table, but no maps, and cannot be written",
                    ):
                        call()
    without = pickle.loads(pickle.dumps(srcfind.find(SAMPLE)))
    assert without.gaussians is without.planes is without.completeness is None


def test_pickle_to_another_process():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        back = pool.apply(srcfind.find, (SAMPLE,), {"threshold": 6, "device": "cpu"})
    expected = srcfind.find(SAMPLE, threshold=6)
    assert back.array.tobytes() == expected.array.tobytes() and back.options == expected.options


def test_write(path, tmp_path):
    """Each format by its suffix or name gives the file of the command."""
    found = srcfind.find(SAMPLE)
    for suffix in (
        "csv",
        "json",
        "vot",
        "xml",
        "fits",
        "ecsv",
        "reg",
        "crtf",
        "txt",
        "CSV",
        "csv.gz",
    ):
        found.write(tmp_path / ("ours." + suffix))
        t.run(SAMPLE, "-q", "-o", path("theirs." + suffix), check=True)
        assert (tmp_path / ("ours." + suffix)).read_bytes() == (
            tmp_path / ("theirs." + suffix)
        ).read_bytes()
    found.write(path("plain"))
    found.write(path("odd.name"), "Csv")
    for name in ("plain", "odd.name"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "ours.csv").read_bytes()
    with pytest.raises(
        srcfind.OptionError, match=r"c.tsv: no format has this suffix; there are .csv, .json"
    ):
        found.write(path("c.tsv"))
    with pytest.raises(srcfind.OptionError, match="there is no format tsv"):
        found.write(path("c.csv"), "tsv")
    with pytest.raises(srcfind.OutputError, match="cannot be written: No such file"):
        found.write(path("nowhere/c.csv"))
    with pytest.raises(ValueError, match="NUL"):
        found.write(path("c\0.csv"))


def test_overwrite(path, tmp_path):
    """A file that is there is an error, and stays as it is, unless it is to be replaced; a device
    is no such file."""
    found = srcfind.find(t.noise(100, 110), header=t.sky_header(RESTFRQ=1.4e9), fit=True)
    for name in ("c.csv", "link.csv", "c.cluster"):
        (tmp_path / "c.csv").write_text("mine")
        if name == "link.csv":
            os.symlink(path("c.csv"), path(name))
        (tmp_path / name).write_text("mine")
        written = path("c.sagecal") if name == "c.cluster" else path(name)
        format = "SAGECal" if name == "c.cluster" else None
        for keywords in ({}, {"overwrite": False}):
            with pytest.raises(
                FileExistsError, match="%s: this file exists: overwrite=True replaces it" % name
            ):
                found.write(written, format, **keywords)
        assert (tmp_path / name).read_text() == "mine" and (
            name != "c.cluster" or not os.path.exists(written)
        )
        found.write(written, format, overwrite=True)
        assert (tmp_path / name).read_text() != "mine"
    (tmp_path / "c.cluster").unlink()
    with pytest.raises(FileExistsError, match="c.sagecal: this file exists"):
        found.write(path("c.sagecal"))
    found.write("/dev/null", "csv")
    with pytest.raises(srcfind.OutputError, match="directory"):
        found.write(str(tmp_path), "csv")
    with pytest.raises(srcfind.OptionError, match="no format has this suffix"):
        found.write(path("c.cluster"))


def test_columns_to_write(path, tmp_path):
    """They are those of --columns, as a text or a list; the catalogue keeps its own."""
    found = srcfind.find(SAMPLE, fit=True)
    names = [column.name for column in found.columns]
    for columns, of_command in (
        ("RA=ra,DEC=dec,Total_flux:mJy=int_flux", "RA=ra,DEC=dec,Total_flux:mJy=int_flux"),
        ("@aegean", "@aegean"),
        (["N_pix", "Peak_flux=f", "'x'=c"], "N_pix,Peak_flux=f,'x'=c"),
        (("Image", "Beam_Maj"), "Image,Beam_Maj"),
    ):
        for suffix in ("csv", "json", "vot", "fits", "ecsv"):
            t.run(
                SAMPLE,
                "-q",
                "--fit",
                "--columns",
                of_command,
                "-o",
                path("theirs." + suffix),
                check=True,
            )
            found.write(path("ours." + suffix), columns=columns, overwrite=True)
            assert (tmp_path / ("ours." + suffix)).read_bytes() == (
                tmp_path / ("theirs." + suffix)
            ).read_bytes()
    found.write(path("all.csv"))
    with open(path("all.csv")) as written:
        assert next(csv.reader(written)) == names == [column.name for column in found.columns]
    for columns, name, message in (
        ("Flux", "c.csv", "columns: there is no column Flux"),
        ([], "c.csv", "columns: "),
        ("N_pix:Jy", "c.csv", "cannot be converted"),
        ("@none", "c.csv", "there is no list @none"),
        ("RA", "c.reg", "columns: reg has columns of its own: choose csv"),
        ("RA", "c.skymodel", "columns: skymodel has columns of its own"),
    ):
        with pytest.raises(srcfind.Error, match=message):
            found.write(path(name), columns=columns)
        assert not os.path.exists(path(name))
    with pytest.raises(srcfind.OptionError, match="columns: DC_Maj needs `fit=True`"):
        srcfind.find(t.noise(60, 70)).write(path("c.csv"), columns="DC_Maj")
    with pytest.raises(
        srcfind.OptionError, match="tables of Gaussians, planes and bins have all of their columns"
    ):
        found.gaussians.write(path("c.csv"), columns="RA")


def test_columns_in_threads(path, monkeypatch):
    """Another thread chooses its columns when those of the first are written, and not before."""
    found = srcfind.find(SAMPLE)
    call = found._finder._call
    other = threading.Thread(
        target=found.write, args=(path("other.csv"),), kwargs={"columns": "DEC"}
    )

    def call_and_wait(*arguments):
        call(*arguments)
        if other.ident is None:
            other.start()
            other.join(0.3)  # long enough to write, if it could
            assert not os.path.exists(path("other.csv"))

    monkeypatch.setattr(found._finder, "_call", call_and_wait)
    found.write(path("c.csv"), columns="RA")
    other.join()
    for name, column in (("c.csv", "RA"), ("other.csv", "DEC")):
        with open(path(name)) as written:
            assert written.readline() == column + "\n"


def test_sky_models(path, tmp_path):
    """They are the command's, with the list of clusters beside SAGECal's, and are refused as
    there."""
    header = t.sky_header(RESTFRQ=1.4e9)
    fits.PrimaryHDU(t.noise(100, 110), header).writeto(path("image.fits"))
    for kind, letter in (
        ({}, []),
        (
            {"patches": "source", "spectral_index": -0.7},
            ["--patches", "source", "--spectral-index=-0.7"],
        ),
    ):
        found = srcfind.find(path("image.fits"), fit=True, **kind)
        of_pixels = srcfind.find(t.noise(100, 110), header=header, fit=True, **kind)
        for name in ("skymodel", "sagecal"):
            t.run(
                path("image.fits"), "-q", "--fit", *letter, "-o", path("theirs." + name), check=True
            )
            for one in (found, found.gaussians, of_pixels):
                one.write(tmp_path / ("ours." + name), overwrite=True)
                assert (tmp_path / ("ours." + name)).read_text() == (
                    tmp_path / ("theirs." + name)
                ).read_text()
        found.write(tmp_path / "ours.txt", format="bbs", overwrite=True)
        assert (tmp_path / "ours.txt").read_text() == (tmp_path / "ours.skymodel").read_text()
        assert (tmp_path / "ours.cluster").read_text() == (tmp_path / "theirs.cluster").read_text()
    for catalogue, name, error, message in (
        (
            srcfind.find(path("image.fits")),
            "c.skymodel",
            srcfind.OptionError,
            "skymodel lists Gaussians, and none were fitted: add `fit=True`",
        ),
        (
            srcfind.find(t.noise(100, 110), fit=True),
            "c.skymodel",
            srcfind.InputError,
            "the image: the format skymodel needs sky coordinates",
        ),
        (found, "c.sagecal.gz", srcfind.OptionError, "no format has this suffix"),
        (found, "c.cluster", srcfind.OptionError, "no format has this suffix"),
    ):
        with pytest.raises(error, match=message):
            catalogue.write(path(name))
        assert not os.path.exists(path(name))
    for name, format, message in (
        ("c.gz", "skymodel", "leave .gz out"),
        ("c.cluster", "sagecal", "the list of clusters has this name"),
    ):
        with pytest.raises(srcfind.OptionError, match=message):
            found.write(path(name), format)
    with pytest.raises(srcfind.OptionError, match="patches: it is for sky models"):
        srcfind.find(path("image.fits"), patches="source")


def test_write_replaces_no_image(path):
    """Neither the image that was searched nor another one; its own catalogues it does replace."""
    images = [path("own.fits"), path("other.csv.gz"), path("link.csv")]
    for image in images[:2]:
        fits.PrimaryHDU(t.noise(60, 70), t.sky_header()).writeto(image)
    os.symlink(images[0], images[2])
    before = [open(image, "rb").read() for image in images]
    for found in (srcfind.find(images[0]), srcfind.find(t.noise(60, 70))):
        for image in images:
            with pytest.raises(
                srcfind.OptionError,
                match="would replace this file, which is no catalogue of srcfind",
            ):
                found.write(image, overwrite=True)
        for _ in range(2):
            found.write(path("c.fits"), overwrite=True)
    os.link(images[0], path("c.cluster"))
    with pytest.raises(
        srcfind.OptionError, match="c.cluster: the list of clusters would replace this file"
    ):
        srcfind.find(t.noise(60, 70), header=t.sky_header(RESTFRQ=1.4e9), fit=True).write(
            path("c.sagecal"), overwrite=True
        )
    assert not os.path.exists(path("c.sagecal"))
    assert [open(image, "rb").read() for image in images] == before


def test_scales(path):
    """True stands for the option without a list; the column Scale, and what quality tells of scales
    that are too wide."""
    sky.make(["400", path("sky.fits"), "--wide", "8", "--seed", "3"])
    for scales, option in ((True, "--scales"), ([2, 60], "--scales=60,2")):
        found = srcfind.find(path("sky.fits"), local=True, island=3, scales=scales)
        t.run(
            path("sky.fits"), "-q", "--local", "-i", "3", option, "-o", path("c.ecsv"), check=True
        )
        expected = QTable.read(path("c.ecsv"), format="ascii.ecsv")
        assert (
            np.array_equal(found.array["Scale"], expected["Scale"])
            and found.array["Scale"].max() >= 2
        )
        assert np.array_equal(found.array["Total_flux"], np.asarray(expected["Total_flux"]))
        assert np.array_equal(
            found.quality.widest_left_out, np.nan if scales is True else 60, equal_nan=True
        )
        assert found.quality.background_p10 < found.quality.background_p90
