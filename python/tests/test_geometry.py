"""A header or WCS beside an array gives what the same header gives in a file."""
import numpy as np
import pytest
import srcfind
import srcfind_test as t
from astropy import units as u
from astropy.io import fits
from astropy.wcs import WCS
from conftest import assert_same

IMAGE = t.noise(90, 110)
SKY = ("RA", "DEC", "E_RA", "E_DEC", "Maj", "Min", "PA", "Total_flux")


def of_a_file(path, header):
    fits.PrimaryHDU(IMAGE, header).writeto(path("image.fits"))
    return srcfind.find(path("image.fits"))


@pytest.mark.parametrize(
    "form",
    [
        lambda header: header,
        lambda header: header.tostring(),
        lambda header: header.tostring(endcard=False, padding=False),
    ],
)
def test_header(form, path):
    header = t.sky_header(
        **{"MJD-OBS": 61369.5}, TELESCOP="MeerKAT", OBJECT="A 2256", FREQ=1.4e9, BUNIT="mJy/beam"
    )
    expected, found = of_a_file(path, header), srcfind.find(IMAGE, header=form(header))
    assert len(found) > 5
    assert_same(found, expected)
    image = found.image
    assert (image.unit, image.frequency, image.frame, image.shape) == (
        "mJy/beam",
        1.4e9,
        "ICRS",
        (90, 110),
    )
    assert (image.beam, image.beam_source) == (srcfind.Beam(2.5e-3, 2e-3, 30.0), "keywords")
    assert (image.hdu, image.path) == (-1, "")
    assert (image.date_obs, image.telescope, image.object) == (
        "2026-11-25T12:00:00.000",
        "MeerKAT",
        "A 2256",
    )
    known = {"DATE-OBS": image.date_obs, "TELESCOP": image.telescope, "OBJECT": image.object}
    assert known.items() <= found.table.meta.items()


def test_wcs(path):
    """Without the cards of a beam the positions are there, and the fluxes are in the unit of a
    pixel."""
    header = t.sky_header()
    expected, found = of_a_file(path, header), srcfind.find(IMAGE, wcs=WCS(header))
    for name in ("RA", "DEC", "Maj", "Min", "PA", "Xposn", "Source_Name"):
        np.testing.assert_array_equal(found.array[name], expected.array[name])
    assert np.isnan(found.image.beam.major) and found.image.unit == ""


@pytest.mark.parametrize("as_text", [False, True])
def test_header_and_wcs(as_text, path):
    """The coordinates are those of the WCS alone, whatever the header has of its own."""
    header = t.sky_header(FREQ=1.4e9)
    rotated = t.sky_header(
        CDELT1=None,
        CDELT2=None,
        CD1_1=-4e-4,
        CD1_2=3e-4,
        CD2_1=3e-4,
        CD2_2=4e-4,
        CTYPE1="RA---TAN",
        CTYPE2="DEC--TAN",
        RADESYS="FK5",
        EQUINOX=2000.0,
    )
    for one, other in ((header, rotated), (rotated, header)):
        file = path("%s.fits" % one["CTYPE1"])
        fits.PrimaryHDU(IMAGE, one).writeto(file)
        expected = srcfind.find(file, beam=(9, 7, 30))
        beside = other.tostring() if as_text else other
        found = srcfind.find(IMAGE, header=beside, wcs=WCS(one), beam=(9, 7, 30))
        for name in SKY:
            np.testing.assert_allclose(found.array[name], expected.array[name], rtol=1e-12)
        assert found.image.frame == expected.image.frame and found.image.unit == "Jy/beam"
        assert other["RADESYS"] != one["RADESYS"]  # what was given is not changed


def test_wcs_of_a_plane_of_a_cube():
    """The frequency stands on an axis that the WCS does not have."""
    cube = t.sky_header(
        CTYPE3="FREQ",
        CRVAL3=1e9,
        CRPIX3=1.0,
        CDELT3=1e6,
        CUNIT3="Hz",
        CTYPE4="STOKES",
        CRVAL4=1.0,
        CRPIX4=1.0,
        CDELT4=1.0,
    )
    cube["NAXIS"] = 4
    found = srcfind.find(IMAGE, header=cube, wcs=WCS(cube, naxis=2))
    assert found.image.frequency == 1e9
    np.testing.assert_array_equal(
        found.array["RA"], srcfind.find(IMAGE, header=t.sky_header()).array["RA"]
    )


@pytest.mark.parametrize(
    "header",
    [None, t.sky_header(BUNIT=None), t.sky_header(BUNIT=None).tostring(), t.sky_header(BUNIT="K")],
)
def test_quantity(header):
    """Its unit is that of the image, unless the header has one."""
    unit = srcfind.find(IMAGE * (u.mJy / u.beam), header=header).image.unit
    assert unit == ("K" if isinstance(header, fits.Header) and "BUNIT" in header else "mJy/beam")


def test_distortion(path):
    sip = t.sky_header(
        CTYPE1="RA---TAN-SIP", CTYPE2="DEC--TAN-SIP", A_ORDER=2, A_2_0=1e-4, B_ORDER=2, B_0_2=-2e-4
    )
    expected, found = of_a_file(path, sip), srcfind.find(IMAGE, wcs=WCS(sip))
    np.testing.assert_allclose(found.array["RA"], expected.array["RA"], rtol=1e-13)


def test_wrong_headers(path):
    with pytest.raises(srcfind.OptionError, match="cards of 80"):
        srcfind.find(IMAGE, header="CTYPE1  = 'RA---SIN'")
    with pytest.raises(srcfind.OptionError, match="the header has lines"):
        srcfind.find(IMAGE, header=t.sky_header().tostring(sep="\n"))
    of_a_file(path, t.sky_header())
    for beside in ({"header": t.sky_header()}, {"wcs": WCS(t.sky_header())}):
        with pytest.raises(TypeError, match="go with arrays"):
            srcfind.find(path("image.fits"), **beside)
    for beside in ({"header": 5}, {"wcs": t.sky_header()}):
        with pytest.raises(TypeError):
            srcfind.find(IMAGE, **beside)
