"""Arrays of all kinds: the bytes of the command, without a copy where that can be."""
import re
import tracemalloc

import numpy as np
import pytest
import srcfind
import srcfind_test as t
from astropy import units
from astropy.io import fits
from astropy.nddata import CCDData, NDData, NDDataRef
from astropy.utils.masked import Masked
from astropy.wcs import WCS
from conftest import assert_same

DTYPES = (">f4", "<f4", ">f8", "<f8", "f2", "i2", ">i4", "i8", "u1")


def strided(array, layout):
    """The same values in another layout of memory."""
    height, width = array.shape
    wide = np.zeros((2 * height, 2 * width + 3), array.dtype)
    places = {
        "contiguous": wide[:height, :width].copy(),
        "padded": wide[:height, :width],
        "rows": wide[::2, :width],
        "columns": wide[:height, : 2 * width : 2],
        "upwards": wide[height - 1 :: -1, :width],
        "fortran": np.zeros((width, height), array.dtype).T,
        "axes": wide[None, None, :height, 2 : width + 2],
    }
    places[layout][...] = array
    return places[layout]


def random_image(seed):
    """An array of any type and layout with sources, and the options of a search."""
    random = np.random.default_rng(seed)
    pixels = t.noise(*random.integers(20, 150, 2), seed=seed, sigma=4) + 20
    dtype = np.dtype(DTYPES[seed % len(DTYPES)])
    pixels = np.clip(pixels, 0, 250)
    if dtype.kind == "f":
        pixels[random.random(pixels.shape) < 0.01] = np.nan
    layouts = ("contiguous", "padded", "rows", "columns", "upwards", "fortran", "axes")
    image = strided(pixels.astype(dtype), layouts[seed % len(layouts)])
    if seed % 5 == 0:
        image = np.ma.MaskedArray(image, random.random(image.shape) < 0.02)
    options = (
        {},
        {"island": 3},
        {"rms_box": (24, 8)},
        {"negative": True, "connectivity": 8},
        {"beam": (9, 7, 20.5)},
    )
    return image, options[seed % 4 + (seed % 3 == 0)]


def arguments(options):
    """Options of the command."""
    for name, value in options.items():
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        yield "--" + name.replace("_", "-") + ("" if value is True else "=" + text)


def test_bytes_of_the_command(path):
    """100 arrays give the bytes that the command writes for the same pixels in a file."""
    n_sources = 0
    for seed in range(100):
        image, options = random_image(seed)
        header = t.sky_header(FREQ=1.4e9)
        pixels = np.ma.filled(np.ma.asarray(image).astype(np.float32), np.nan)
        fits.PrimaryHDU(pixels, header).writeto(path("image.fits"), overwrite=True)
        before = image.copy()
        catalogue = srcfind.find(image, header=header, **options)
        catalogue.write(path("array.csv"), overwrite=True)
        t.run(path("image.fits"), "-q", "-o", path("file.csv"), *arguments(options), check=True)
        with open(path("array.csv"), "rb") as array, open(path("file.csv"), "rb") as file:
            assert array.read() == file.read(), (seed, image.dtype, image.strides, options)
        np.testing.assert_array_equal(image, before)
        n_sources += len(catalogue)
    assert n_sources > 1000


def peak_memory(image):
    """The most bytes that Python and NumPy held more during a search."""
    tracemalloc.start()
    try:
        srcfind.find(image, device="cpu")
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_no_copy(path):
    """float32 in either byte order, read-only, mapped from a file, with rows that are apart, is
    searched where it is."""
    image = t.noise(1000, 1200)
    mapped = np.memmap(path("pixels"), ">f4", "w+", shape=image.shape)
    mapped[...] = image
    mapped.flush()
    read_only = np.memmap(path("pixels"), ">f4", "r", shape=image.shape)
    swapped = image.astype(image.dtype.newbyteorder())
    for array in (
        image,
        swapped,
        read_only,
        image[100:, :1000],
        image[::2],
        swapped[None],
        image[:, :1],
        image[:1],
    ):
        assert peak_memory(array) < image.nbytes / 50
    for array in (image.astype(np.float64), image[:, ::-1], np.asfortranarray(image)):
        assert image.nbytes <= peak_memory(array) < 1.1 * image.nbytes


def test_alignment():
    """Floats at an odd address are copied."""
    image = t.noise(60, 70)
    packed = np.zeros(image.shape, [("byte", "u1"), ("value", "f4")])
    odd = np.frombuffer(b"x" + image.tobytes(), np.uint8)[1:].view("f4").reshape(image.shape)
    packed["value"] = image
    for array in (odd, packed["value"]):
        assert_same(srcfind.find(array), srcfind.find(image))


def test_rounded_once():
    """As NumPy rounds to float32; what is too large there is blank."""
    image = np.random.default_rng(1).normal(0, 1, (50, 60))
    image[10, 10], image[20, 20] = 1e300, 100 + 2.0**-40
    catalogue = srcfind.find(image)
    assert catalogue.background.n_blank == 1
    assert (
        catalogue.background
        == srcfind.find(np.where(image > 1e200, np.nan, image).astype(np.float32)).background
    )
    assert srcfind.find(image.tolist()).background == catalogue.background


def test_masked():
    image = np.ma.masked_greater(t.noise(60, 70), 3)
    found = srcfind.find(image)
    assert (len(found), found.background.n_blank) == (0, image.mask.sum())
    assert np.array_equal(np.isnan(found.map("rms")), image.mask)
    assert len(srcfind.find(image.data)) > 0


@pytest.mark.parametrize("shape", [(), (5,), (2, 30, 40), (1, 2, 30, 40)])
def test_wrong_shapes(shape):
    with pytest.raises(ValueError, match="two axes"):
        srcfind.find(np.zeros(shape, np.float32))


@pytest.mark.parametrize("shape", [(5, 0), (0, 5), (0, 0), (1, 0, 5), (0,), (0, 30, 40)])
def test_no_pixels(shape):
    """A ValueError that says the shape as NumPy does."""
    for array in (
        np.zeros(shape, np.float32),
        np.zeros(shape),
        np.ma.zeros(shape, ">i2"),
        np.zeros(shape).tolist(),
        units.Quantity(np.zeros(shape), "Jy"),
        NDData(np.zeros(shape)),
    ):
        if np.shape(array) == shape:  # a list may have lost an axis
            with pytest.raises(ValueError, match=re.escape(f"this array, of the shape {shape}, has none")):
                srcfind.find(array)


def test_wrong_arrays():
    for array in (
        np.zeros((5, 5), complex),
        np.zeros((5, 5), bool),
        np.array([[None]]),
        np.array([["a"]]),
        None,
        1 + 2j,
    ):
        with pytest.raises(TypeError, match="real numbers"):
            srcfind.find(array)
    with pytest.raises(srcfind.InputError, match="none of the 25 pixels"):
        srcfind.find(np.full((5, 5), np.nan))


def test_masked_of_astropy():
    """Masked arrays and quantities of astropy.utils.masked are as those of NumPy."""
    image = t.noise(60, 70)
    mask, before = image > 30, image.copy()
    expected = srcfind.find(np.ma.MaskedArray(image, mask), header="BUNIT   = 'Jy/beam'".ljust(80))
    for array in (
        Masked(image, mask) * units.Jy / units.beam,
        Masked(units.Quantity(image, "Jy / beam"), mask),
    ):
        found = srcfind.find(array)
        assert_same(found, expected)
        assert (found.background.n_blank, found.image.unit) == (mask.sum(), "Jy/beam")
    assert srcfind.find(Masked(image, mask)).background == expected.background
    np.testing.assert_array_equal(image, before)


# --- astropy.nddata ---


def test_ccddata(path):
    """A file that CCDData reads gives the catalogue of the file; mask is True where a pixel is
    blank."""
    image = t.noise(60, 70)
    image[5, 6] = np.nan
    fits.PrimaryHDU(image, t.sky_header(RESTFRQ=1.4e9)).writeto(path("image.fits"))
    expected, data = srcfind.find(path("image.fits")), CCDData.read(path("image.fits"))
    assert_same(srcfind.find(data), expected)
    assert len(expected) > 5
    data.mask = image > 30
    blanked, before = np.where(data.mask, np.nan, image), (
        data.data.copy(),
        data.mask.copy(),
        data.header.copy(),
    )
    fits.PrimaryHDU(blanked, t.sky_header(RESTFRQ=1.4e9)).writeto(path("blanked.fits"))
    found = srcfind.find(data, island=3)
    assert_same(found, srcfind.find(path("blanked.fits"), island=3))
    assert found.background.n_blank == data.mask.sum() + 1 > 10
    assert np.array_equal(np.isnan(found.map("snr")), np.isnan(blanked))
    assert (found.image.unit, found.image.beam.major, found.image.frequency) == (
        "Jy/beam",
        2.5e-3,
        1.4e9,
    )
    for one, other in zip(before, (data.data, data.mask, data.header)):
        np.testing.assert_array_equal(one, other)
    assert isinstance(data.data, np.ndarray) and not isinstance(data.data, np.ma.MaskedArray)


def test_parts_of_ccddata(path):
    """A slice has the positions of the whole; what is given counts more than what the data has; its
    unit more than BUNIT."""
    fits.PrimaryHDU(t.noise(90, 110), t.sky_header()).writeto(path("image.fits"))
    data = CCDData.read(path("image.fits"))
    whole, part = srcfind.find(path("image.fits"), rms=1, background=0), srcfind.find(
        data[10:80, 5:], rms=1, background=0
    )
    inner = part.array[part.array["Flags"] & 1 == 0]
    places = [
        np.flatnonzero(
            (whole.array["Xpeak"] == row["Xpeak"] + 5) & (whole.array["Ypeak"] == row["Ypeak"] + 10)
        )
        for row in inner
    ]
    assert len(inner) > 5 and all(len(place) == 1 for place in places)
    for name in ("RA", "DEC", "Total_flux"):
        np.testing.assert_allclose(
            whole.array[name][np.concatenate(places)], inner[name], rtol=1e-9
        )
    scaled = data.convert_unit_to("mJy / beam")
    assert scaled.header["BUNIT"] == "Jy/beam" and srcfind.find(scaled).image.unit == "mJy/beam"
    assert srcfind.find(data, header=t.sky_header(BUNIT="K")).image.unit == "K"
    wcs = WCS(t.sky_header(CRVAL1=200.0))
    np.testing.assert_array_equal(
        srcfind.find(data, wcs=wcs).array["RA"], srcfind.find(data.data, wcs=wcs).array["RA"]
    )


def test_nddata():
    """Masks of all kinds; an NDData may have neither wcs nor unit nor a header."""
    image = t.noise(60, 70).astype(np.float64)
    mask = (image > 20).astype(np.uint8) * 4
    expected = srcfind.find(np.where(mask, np.nan, image))
    masked = np.ma.MaskedArray(image, mask == 4)
    for data in (
        NDData(image, mask=mask),
        NDData(image, mask=mask != 0),
        NDData(masked),
        NDData(image[None], mask=mask[None]),
        NDData(np.ma.MaskedArray(image, image > 40), mask=mask != 0),
        NDDataRef(image.astype(">f4"), mask=mask != 0),
    ):
        assert_same(srcfind.find(data), expected)
    assert_same(srcfind.find(NDData(image)), srcfind.find(image))
    assert_same(srcfind.find(NDData(image, mask=False, meta={"BUNIT": "K"})), srcfind.find(image))
    assert srcfind.find(NDData(image, unit="K")).image.unit == "K"
    with pytest.raises(srcfind.InputError, match="none of the 4200 pixels"):
        srcfind.find(NDData(image, mask=True))
    with pytest.raises(ValueError):
        srcfind.find(NDData(image, mask=mask[:30]))
    with pytest.raises(ValueError, match="two axes"):
        srcfind.find(NDData(np.zeros((2, 5, 5))))


# --- HDUs ---


@pytest.mark.parametrize("hdu", [fits.PrimaryHDU, fits.ImageHDU, fits.CompImageHDU])
def test_hdus(hdu, path):
    header = (
        t.sky_header(BITPIX=16, BSCALE=0.5, BZERO=100.0) if hdu is fits.ImageHDU else t.sky_header()
    )
    values = (t.noise(60, 70, sigma=9)).astype(np.int16 if hdu is fits.ImageHDU else np.float32)
    before = [] if hdu is fits.PrimaryHDU else [fits.PrimaryHDU()]
    fits.HDUList([*before, hdu(values, header)]).writeto(path("image.fits"))
    with fits.open(path("image.fits")) as hdus:
        found = srcfind.find(hdus[-1])
    assert_same(found, srcfind.find(path("image.fits")))
    assert len(found) > 0 and found.image.frame == "ICRS"
    with pytest.raises(ValueError, match="no pixels"):
        srcfind.find(fits.PrimaryHDU())


def cube_file(path):
    """A file with a table, an image, and a cube of 3 x 2 planes that differ."""
    cube = np.array([[t.noise(60, 70, seed=2 * i + k) for k in range(2)] for i in range(3)])
    header = t.sky_header(
        CTYPE3="FREQ",
        CRVAL3=1e9,
        CRPIX3=1.0,
        CDELT3=1e8,
        CUNIT3="Hz",
        CTYPE4="STOKES",
        CRVAL4=1.0,
        CRPIX4=1.0,
        CDELT4=1.0,
    )
    table = fits.BinTableHDU.from_columns([fits.Column("a", "D", array=[1.0])], name="ROWS")
    fits.HDUList(
        [
            fits.PrimaryHDU(),
            table,
            fits.ImageHDU(t.noise(50, 80), t.sky_header(), name="SCI"),
            fits.ImageHDU(cube, header, name="cube"),
        ]
    ).writeto(path)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"hdu": 2},
        {"hdu": "sci"},
        {"hdu": "Cube"},
        {"hdu": 3, "plane": 2},
        {"hdu": 3, "plane": (1, 3)},
        {"hdu": "2", "plane": 1},
    ],
)
def test_open_files(options, path):
    """The HDU and the plane are those of a search of the file."""
    cube_file(path("cube.fits"))
    expected = srcfind.find(path("cube.fits"), **options)
    with fits.open(path("cube.fits")) as hdus:
        found = srcfind.find(hdus, **options)
        if "hdu" in options and str(options["hdu"]).lower() in ("3", "cube"):
            assert_same(srcfind.find(hdus[3], plane=options.get("plane")), expected)
            assert found.image.frequency == (1.1e9 if options.get("plane") == 2 else 1e9)
        np.testing.assert_array_equal(found.map("snr"), expected.map("snr"))
    assert_same(found, expected)
    assert len(found) > 3


def test_wrong_open_files(path):
    cube_file(path("cube.fits"))
    with fits.open(path("cube.fits")) as hdus:
        for options, message in (
            (
                {"hdu": 7},
                r"there is no HDU 7; there are: 0 \(no image\), 1 ROWS \(table\), 2 SCI \(80 x 50\), 3 CUBE \(70 x 60 x 2 x 3\)",
            ),
            ({"hdu": "ROWS"}, "HDU ROWS is not an image of two or more axes; there are"),
            ({"hdu": 3, "plane": 3}, "there is no plane 3 on axis 3, which has 2"),
            ({"hdu": 2, "plane": (1, 2)}, "there is no plane 2 on axis 4, which has 1"),
        ):
            with pytest.raises(srcfind.InputError, match=message):
                srcfind.find(hdus, **options)
            with pytest.raises(srcfind.InputError):
                srcfind.find(path("cube.fits"), **options)
    with pytest.raises(srcfind.InputError, match="no HDU holds an image"):
        srcfind.find(fits.HDUList([fits.PrimaryHDU()]))
