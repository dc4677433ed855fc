"""Options that are Quantities of astropy, and the columns and rows of catalogues."""
import os

import numpy as np
import pytest
import srcfind
import srcfind_test as t
from astropy import units as u
from astropy.io import fits

SAMPLE = os.path.join(t.SOURCE_ROOT, "data", "sample.fits")
RMS = 0.05 * u.mJy / u.beam


def same(a, b):
    return len(a) == len(b) > 5 and np.allclose(a["Total_flux"], b["Total_flux"], 1e-9, 0)


def test_beam():
    expected = srcfind.find(SAMPLE, beam=(12.0, 9.0, 30.0))
    for beam in (
        (12 * u.arcsec, 0.15 * u.arcmin, np.radians(30) * u.rad),
        [12 * u.arcsec, 9, 30],
        [12 * u.arcsec, 9 * u.arcsec, 30],
    ):
        found = srcfind.find(SAMPLE, beam=beam)
        assert found.image.beam.major == pytest.approx(12 / 3600, rel=1e-12)
        assert found.image.beam.angle == pytest.approx(30, rel=1e-12)
        assert len(found) == len(expected)
    assert srcfind.find(SAMPLE, beam=12 * u.arcsec).image.beam.minor == 12 / 3600


def test_map_unit():
    """Of a file, and of each kind of image in memory; also where images have different units."""
    with fits.open(SAMPLE) as hdus:
        hdus[0].data  # is read now
        header = hdus[0].header.copy()
        expected = srcfind.find(SAMPLE, rms=5e-5, background=1e-5)
        options = {"rms": RMS, "background": 10 * u.uJy / u.beam}
        finder = srcfind.Finder(**options)
        assert same(finder.find(SAMPLE), expected)
        in_memory = srcfind.find(hdus[0].data, header=header, rms=5e-5, background=1e-5)
        for image, more in (
            (hdus, None),
            (hdus[0], None),
            (hdus[0].data, header),
            (hdus[0].data, header.tostring()),
        ):
            assert same(finder.find(image, header=more), in_memory)
        in_jansky = hdus[0].data * (u.Jy / u.beam)
        assert len(finder.find(in_jansky)) == len(in_memory)
        header["BUNIT"] = "MJY/BEAM".replace("M", "m")
        milli = (hdus[0].data * np.float32(1000)).astype(">f4")
        found = finder.find(milli, header=header)
        assert found.options["rms"] == "0.05" and len(found) == len(in_memory)
        assert same(finder.find(SAMPLE), expected)
    assert "rms=0.05 mJy / beam" in repr(finder)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"rms": 1 * u.K}, "rms: 1.0 K for an image with the unit Jy/beam$"),
        ({"blank": 1 * u.m}, "blank: 1.0 m for an image with the unit"),
    ],
)
def test_wrong_unit(options, message):
    with pytest.raises(srcfind.OptionError, match=message):
        srcfind.find(SAMPLE, **options)


def test_no_unit():
    with pytest.raises(TypeError, match="threshold: a plain number, not a Quantity"):
        srcfind.find(SAMPLE, threshold=5 * u.one)
    with pytest.raises(srcfind.OptionError, match="for an image with no unit: give a plain number"):
        srcfind.find(np.ones((30, 30), np.float32), rms=RMS)
    with pytest.raises(u.UnitConversionError):
        srcfind.find(SAMPLE, beam=3 * u.Jy)


def test_columns_and_rows():
    found = srcfind.find(SAMPLE, fit=True)
    assert np.array_equal(found["RA"], found.array["RA"]) and found["Flags"].dtype == np.int64
    assert found[0]["RA"] == found["RA"][0] and found[-1]["Source_id"] == len(found)
    assert [row["Source_id"] for row in found] == list(found["Source_id"])
    bright = found.array["SNR"] > 20
    assert list(found[bright]["Source_id"]) == list(found["Source_id"][bright])
    assert "RA" in found and "ra" not in found
    assert len(found[:3]) == 3 == len(found.gaussians[["RA", "DEC"]][:3])
    with pytest.raises(KeyError, match="there is no column Tot_flux: did you mean Total_flux"):
        found["Tot_flux"]
    with pytest.raises(KeyError, match="there is no column q'"):
        found["q"]
    with pytest.raises(IndexError):
        found[len(found)]


def test_noise_in_repr(tmp_path):
    """As the command prints it."""
    for options, words in (
        ({}, ()),
        ({"local": True}, ("-l",)),
        ({"rms": 5e-5}, ("--rms", "5e-5")),
    ):
        said = t.run(SAMPLE, *words, "-o", tmp_path / "c.csv", check=True).stderr
        shown = repr(srcfind.find(SAMPLE, **options)).partition(", rms ")[2].rstrip(">")
        noise, unit = shown.rsplit(" ", 1)
        assert f", rms {noise}" in said and unit in said
    rms = np.full(srcfind.find(SAMPLE).image.shape, 5e-5, np.float32)
    assert repr(srcfind.find(SAMPLE, rms_map=rms)).endswith(", rms from the map>")
