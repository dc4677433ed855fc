"""Masks, maps and positions in memory: the bytes of a search that has them in files, and no file
that stays."""
import gc
import os
import tempfile

import numpy as np
import pytest
import srcfind
import srcfind_test as t
from astropy import units
from astropy.coordinates import SkyCoord
from astropy.io import fits
from astropy.table import MaskedColumn, QTable, Table
from astropy.utils.masked import Masked
from conftest import assert_same

SHAPE = 90, 110
IMAGE = t.noise(*SHAPE, sigma=4).astype(np.float32)
MASK = np.indices(SHAPE).sum(0) % 37 > 2
MAPS = {
    "rms_map": np.linspace(3, 6, IMAGE.size).reshape(SHAPE),
    "background_map": np.sin(np.arange(IMAGE.size)).reshape(SHAPE),
    "detect_on": t.noise(*SHAPE, sigma=4, seed=5),
    "mask": MASK,
    "detect_rms_map": np.linspace(6, 3, IMAGE.size).reshape(SHAPE),
    "detect_background_map": np.cos(np.arange(IMAGE.size)).reshape(SHAPE),
}


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """A directory of the test's own for temporary files, in which none may stay."""
    directory = tmp_path / "temporary"
    directory.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    yield directory
    gc.collect()
    assert os.listdir(directory) == []


@pytest.fixture
def image(path):
    """The path of an image in a file."""
    fits.PrimaryHDU(IMAGE, t.sky_header()).writeto(path("image.fits"))
    return path("image.fits")


# --- maps ---


@pytest.mark.parametrize(
    "names",
    [
        ["mask"],
        ["rms_map"],
        ["background_map"],
        ["detect_on"],
        ["detect_on", "detect_rms_map"],
        list(MAPS),
    ],
)
def test_maps(names, image, path):
    """Arrays and paths give the same catalogue and maps, for an image in a file and in an array."""
    in_files, in_memory = {}, {name: MAPS[name] for name in names}
    for name in names:
        in_files[name] = path(name + ".fits")
        fits.PrimaryHDU(MAPS[name].astype(np.float32), t.sky_header()).writeto(in_files[name])
    expected = srcfind.find(image, island=3, device="cpu", **in_files)
    assert len(expected) > 5
    for found in (
        srcfind.find(image, island=3, device="cpu", **in_memory),
        srcfind.find(IMAGE, header=t.sky_header(), island=3, device="cpu", **in_memory),
        srcfind.find(IMAGE, header=t.sky_header(), island=3, device="cpu", **in_files),
    ):
        assert_same(found, expected)
        assert found.background == expected.background
        for each in ("snr", "rms", "islands"):
            np.testing.assert_array_equal(found.map(each), expected.map(each))
    assert srcfind.find(image, **in_memory).options == {
        **srcfind.find(image).options,
        **{name: name for name in names},
    }


@pytest.mark.parametrize(
    "options",
    [
        {"mask": MASK, "island": 3},
        {"mask": MASK, "detect_on": MAPS["detect_on"], "scales": (2, 4), "fit": True},
    ],
)
def test_devices(options, fake_cuda):
    """Devices search arrays with maps as the CPU does."""
    found, expected = (
        srcfind.find(IMAGE, header=t.sky_header(), device=device, **options)
        for device in (0, "cpu")
    )
    assert (found.run.backend, expected.run.backend) == ("cuda", "cpu") and len(found) > 5
    assert_same(found, expected)
    np.testing.assert_array_equal(found.segments, expected.segments)


def test_kinds_of_masks(image):
    """0 and False are blank; so is what NumPy or astropy masks in a mask."""
    expected = srcfind.find(np.where(MASK, IMAGE, np.nan))
    of_file = srcfind.find(np.where(MASK, IMAGE, np.nan), header=t.sky_header())
    assert expected.background.n_blank == (~MASK).sum() > 100
    for mask in (
        MASK,
        MASK.astype("u1"),
        MASK * 2.5,
        MASK.astype(">i4").T.copy().T,
        np.where(MASK, 1, np.nan),
        np.ma.MaskedArray(np.ones(SHAPE), ~MASK),
        Masked(np.ones(SHAPE), ~MASK),
    ):
        before = mask.copy()
        assert_same(srcfind.find(IMAGE, mask=mask), expected)
        assert srcfind.find(image, mask=mask).background == of_file.background
        np.testing.assert_array_equal(mask, before)


def test_units_of_maps(image):
    """A quantity must have the unit of the image."""
    rms = np.full(SHAPE, 4.0)
    assert_same(
        srcfind.find(image, rms_map=rms * units.Jy / units.beam), srcfind.find(image, rms_map=rms)
    )
    with pytest.raises(
        srcfind.InputError,
        match="rms_map: its unit is mJy/beam, but the unit of the image is Jy/beam",
    ):
        srcfind.find(image, rms_map=rms * units.mJy / units.beam)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"rms_map": 0.1}, "^rms_map: a path, or an array of NumPy, not float: rms=0.1 is one"),
        ({"background_map": 2}, "^background_map: .*, not int: background=2 is one number"),
        ({"mask": [[1, 2]]}, r"^mask: a path, or an array of NumPy, not list: give numpy.array"),
        ({"psf": 3, "fit": True}, "^psf: a path, not int$"),
        ({"measure_in": ["a.fits", 3]}, "^measure_in: a path, not int$"),
    ],
)
def test_values_that_are_no_files(options, message):
    with pytest.raises(TypeError, match=message):
        srcfind.Finder(**options)


def test_errors_name_the_option_of_a_path(image, path):
    """Of one that the user gave, and not that of the image."""
    for name in ("mask", "rms_map", "at", "inject"):
        with pytest.raises(srcfind.InputError, match=f"(^|: ){name}: none.x: No such file"):
            srcfind.find(image, **{name: "none.x"})
    with pytest.raises(srcfind.InputError, match="^none.fits: No such file"):
        srcfind.find("none.fits", mask="none.reg")


@pytest.mark.parametrize("name", MAPS)
def test_wrong_maps(name, image):
    needed = {"detect_on": MAPS["detect_on"]} if name.startswith("detect_") else {}
    needed.pop(name, None)
    for search in (image, IMAGE):
        shapes = r"the shape \(90, 80\), where the image has \(90, 110\)"
        with pytest.raises(srcfind.InputError, match=f"(^|: ){name}: {shapes}"):
            srcfind.find(search, **needed, **{name: np.ones((90, 80))})
    for wrong in (np.ones(90), np.ones((2, 90, 110)), np.ones((0, 110))):
        with pytest.raises(ValueError, match=f"{name}: an array with the two axes of the image"):
            srcfind.find(IMAGE, **needed, **{name: wrong})
    for wrong in (
        np.ones(SHAPE, complex),
        np.full(SHAPE, "a"),
        *([] if name == "mask" else [MASK]),
    ):
        with pytest.raises(TypeError, match=f"{name}: an array of real numbers"):
            srcfind.find(IMAGE, **needed, **{name: wrong})


def test_noise_of_no_image():
    with pytest.raises(srcfind.OptionError, match="detect_rms_map: it is .* of `detect_on`"):
        srcfind.find(IMAGE, detect_rms_map=MAPS["detect_rms_map"])


PART = np.s_[10:80, 30:100]


@pytest.mark.parametrize("trim", [(31, 100, 11, 80), "31,100,11,80", [31, 100, 11, 80]])
def test_trim(trim, image):
    """A part of an array, or of a file: rows have the pixels of the whole array, maps are those of
    the part; masks have the shape of either."""
    header = t.sky_header()
    cut = {**header, "CRPIX1": header["CRPIX1"] - 30, "CRPIX2": header["CRPIX2"] - 10}
    cut = fits.Header(cut)
    for options in ({}, {"island": 3, "fit": True}, {"mask": MASK}):
        whole = {**options, "trim": trim, "device": "cpu"}
        part = {**options, "device": "cpu"}
        part.update({"mask": MASK[PART]} if "mask" in options else {})
        expected = srcfind.find(IMAGE[PART], header=cut, **part)
        found = srcfind.find(IMAGE, header=header, **whole)
        assert len(found) == len(expected) > 3
        assert (found.image.first_x, found.image.first_y, found.image.shape) == (30, 10, (70, 70))
        np.testing.assert_array_equal(found.array["Xpeak"], expected.array["Xpeak"] + 30)
        np.testing.assert_array_equal(found.array["Y_min"], expected.array["Y_min"] + 10)
        np.testing.assert_allclose(found.array["RA"], expected.array["RA"], atol=1e-9)
        np.testing.assert_allclose(found.array["Peak_flux"], expected.array["Peak_flux"], rtol=1e-7)
        assert_same(srcfind.find(image, **whole), found)
        for each in ("snr", "rms", "islands"):
            np.testing.assert_array_equal(found.map(each), expected.map(each))
        if "mask" in options:
            assert_same(srcfind.find(IMAGE, header=header, **{**whole, "mask": MASK[PART]}), found)


def test_plane_mean(path):
    """The average of planes of a file; an array is averaged by its owner."""
    planes = np.stack([IMAGE, IMAGE, IMAGE])
    fits.PrimaryHDU(planes, t.sky_header()).writeto(path("cube.fits"))
    found = srcfind.find(path("cube.fits"), plane="mean")
    assert_same(found, srcfind.find(path("cube.fits"), plane=2))
    assert found.options["plane"] == "mean" and len(found) > 5
    with pytest.raises(srcfind.OptionError, match="mean is for cubes in files"):
        srcfind.find(IMAGE, plane="mean:1-2")


def test_wrong_trim(image):
    for search in (image, IMAGE):
        with pytest.raises(srcfind.InputError, match="which has 110 columns and 90 rows"):
            srcfind.find(search, trim=(1, 111, 1, 90))
        with pytest.raises(srcfind.OptionError, match="trim: '5,4,1,5' is not X0,X1,Y0,Y1"):
            srcfind.find(search, trim=(5, 4, 1, 5))


def test_maps_need_files_or_the_host(path, tmp_path):
    with pytest.raises(srcfind.InputError, match="directory"):
        srcfind.find(IMAGE, mask=tmp_path)


def test_finder_with_a_mask(temporary, image):
    """The file is written once, stays as long as something may need it, and is not named to the
    user."""
    finder = srcfind.Finder(mask=MASK, threshold=6)
    assert repr(finder) == "Finder(threshold=6, mask=<array>)"
    catalogues = [finder.find(each) for each in (IMAGE, image, IMAGE)]
    assert len(os.listdir(temporary)) == 1
    del finder
    assert (
        catalogues[0].map("snr").shape == SHAPE
        and catalogues[0].table.meta["options"]["mask"] == "mask"
    )


def test_other_grids(image, path):
    """An image for detection in a file must still have the coordinates of the image."""
    fits.PrimaryHDU(IMAGE).writeto(path("plain.fits"))
    with pytest.raises(srcfind.InputError, match="sky coordinates differ"):
        srcfind.find(image, detect_on=path("plain.fits"))


# --- positions ---


def test_tables(image, path):
    """Tables give the rows of a file with the same columns; angles are converted to degrees."""
    found = srcfind.find(image, fit=True, island=3)
    found.write(path("found.fits"))
    expected = srcfind.find(image, at=path("found.fits"), fit=True)
    assert len(expected) == len(found) > 5
    for table in (
        found.table,
        Table.read(path("found.fits")),
        QTable.read(path("found.fits")),
        Table(found.array),
    ):
        assert_same(srcfind.find(image, at=table, fit=True), expected)
    table = QTable({name: found.table[name] for name in ("RA", "DEC", "Source_id")})
    Table(table).write(path("few.csv"))
    few = srcfind.find(image, at=path("few.csv"))
    assert_same(srcfind.find(image, at=table), few)
    for unit in (units.hourangle, units.rad):
        table["RA"], table["DEC"] = table["RA"].to(unit), table["DEC"].to(units.arcmin)
        for kind in (QTable, Table):
            other = srcfind.find(image, at=kind(table)).array
            for name in ("Xposn", "Peak_flux"):
                np.testing.assert_allclose(other[name], few.array[name], rtol=1e-7)
    assert table["RA"].unit == units.rad


def test_columns_of_tables(path):
    """Empty cells are no positions; columns that are no numbers or texts are left out; texts name
    entries."""
    table = QTable(
        {
            "Xposn": MaskedColumn([20.0, 30.0, 0.0], mask=[False, False, True]),
            "Yposn": [40, 50, 60] * units.pix,
            "name": ["a", "b,c", 'd "e"'],
            "place": SkyCoord([1, 2, 3], [4, 5, 6], unit="deg"),
            "fluxes": np.ones((3, 2)),
        },
        meta={"comment": "x", "list": [1]},
    )
    with open(path("positions.csv"), "w") as stream:
        stream.write('Xposn,Yposn,name\n20,40,a\n30,50,"b,c"\n,60,"d ""e"""\n')
    assert_same(
        srcfind.find(IMAGE, at=table, at_all=True),
        srcfind.find(IMAGE, at=path("positions.csv"), at_all=True),
    )
    with pytest.raises(
        srcfind.InputError,
        match="^at: the image has no sky coordinates, and the catalogue no columns Xposn",
    ):
        srcfind.find(IMAGE, at=Table({"a": [1.0]}))
    assert repr(srcfind.Finder(at=table)) == "Finder(at=<table>)"


# --- HDUs ---


def test_hdu_lists(path):
    """An open file is searched at its first image, as its path is."""
    table, empty = fits.BinTableHDU(Table({"a": [1, 2]})), fits.PrimaryHDU()
    for hdus in (
        [fits.PrimaryHDU(IMAGE, t.sky_header())],
        [empty, table, fits.ImageHDU(IMAGE, t.sky_header())],
        [empty, fits.CompImageHDU(IMAGE, t.sky_header()), fits.ImageHDU(IMAGE[:50])],
    ):
        fits.HDUList(hdus).writeto(path("image.fits"), overwrite=True)
        with fits.open(path("image.fits")) as opened:
            found = srcfind.find(opened)
            assert_same(found, srcfind.find(path("image.fits")))
            assert found.image.frame == "ICRS" and found.map("snr").shape == SHAPE
    with pytest.raises(srcfind.InputError, match="no HDU holds an image of two or more axes"):
        srcfind.find(fits.HDUList([empty, table]))
