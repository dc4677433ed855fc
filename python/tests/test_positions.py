"""Positions for the option at that are not in a file."""
import numpy as np
import pytest
import srcfind
from astropy import units as u
from astropy.coordinates import SkyCoord
from astropy.table import Table
from conftest import SAMPLE

RA, DEC = [187.630187, 187.7], [12.345482, 12.35]


def rows(at, **options):
    return srcfind.find(SAMPLE, at=at, **options).array


def assert_same(found, expected):
    """NaN equals NaN."""
    assert found.dtype == expected.dtype and found.tobytes() == expected.tobytes()


@pytest.fixture(scope="module")
def expected():
    return rows(Table({"RA": RA, "DEC": DEC}), fit=True)


@pytest.mark.parametrize(
    "at",
    [
        list(zip(RA, DEC)),
        np.transpose([RA, DEC]),
        np.transpose([RA, DEC]) * u.deg,
        SkyCoord(RA, DEC, unit="deg"),
        SkyCoord(RA, DEC, unit="deg", frame="fk5"),
        Table({"place": SkyCoord(RA, DEC, unit="deg"), "flux": [1.0, 2.0]}),
        "; ".join(f"{ra},{dec}" for ra, dec in zip(RA, DEC)),
    ],
    ids=["tuples", "array", "quantity", "icrs", "fk5", "mixin", "text"],
)
def test_positions(at, expected):
    assert_same(rows(at, fit=True), expected)


def test_one_position(expected):
    for at in ((RA[0], DEC[0]), SkyCoord(RA[0], DEC[0], unit="deg"), f"{RA[0]} {DEC[0]}"):
        assert_same(rows(at, fit=True), expected[:1])


def test_catalogue():
    """The entries are its sources, with their numbers and shapes."""
    found = srcfind.find(SAMPLE, fit=True, island=3)
    forced = rows(found, fit=True)
    np.testing.assert_array_equal(forced["Source_id"], found.array["Source_id"])
    np.testing.assert_allclose(forced["RA"], found.array["RA"], rtol=1e-12)
    assert_same(forced, rows(found.table, fit=True))


def test_pandas(expected):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"RA": RA, "DEC": DEC, "name": ["a", "b"]})
    found = rows(frame, fit=True)
    np.testing.assert_array_equal(found["Total_flux"], expected["Total_flux"])
    assert found["Entry_id"].tolist() == ["a", "b"]
    texts = SkyCoord(RA, DEC, unit="deg").to_string("hmsdms", precision=9)
    frame = pandas.DataFrame([text.split() for text in texts], columns=["RA", "DEC"])
    np.testing.assert_allclose(rows(frame)["RA"], RA, rtol=1e-12)


def test_rows_and_angles():
    """Rows of a catalogue, one or several, and pairs of angles."""
    found = srcfind.find(SAMPLE, fit=True)
    expected = rows(found.table, fit=True)
    bright = found[found["SNR"] > 20]
    assert 0 < len(bright) < len(found)
    fluxes = rows(bright, fit=True)["Peak_flux"]
    np.testing.assert_allclose(fluxes, expected["Peak_flux"][found["SNR"] > 20], rtol=0.2)
    assert len(rows(found[0])) == 1
    angles = rows((RA[0] * u.deg, DEC[0] * u.deg))
    np.testing.assert_array_equal(angles["Peak_flux"], rows((RA[0], DEC[0]))["Peak_flux"])
    hours = rows((RA[0] / 15 * u.hourangle, DEC[0]))
    np.testing.assert_allclose(hours["RA"], RA[0], rtol=1e-12)


def test_frames():
    """Those of the image are needed; it says so."""
    galactic = SkyCoord(RA, DEC, unit="deg").galactic
    with pytest.raises(srcfind.InputError, match="its positions are GLON and GLAT, but the image"):
        rows(galactic)
    with pytest.raises(srcfind.InputError, match="its frame is FK4"):
        rows(SkyCoord(RA, DEC, unit="deg").fk4)
    with pytest.raises(ValueError, match="at: positions in the frame barycentrictrueecliptic"):
        rows(SkyCoord(RA, DEC, unit="deg").barycentrictrueecliptic)


@pytest.mark.parametrize("at", [(1.0, 2.0, 3.0), [(1, 2, 3)], np.ones((2, 2, 2)), [], 1.0])
def test_wrong_shapes(at):
    with pytest.raises(ValueError, match=r"at: positions of the shape \(2,\) or \(n, 2\)"):
        rows(at)


def test_fixed_fluxes():
    """The table of Gaussians leaves the residual of its search."""
    found = srcfind.find(SAMPLE, fit=True, island=3)
    for at in (found.gaussians, found.gaussians.table):
        fixed = srcfind.find(SAMPLE, at=at, at_fixed=True)
        np.testing.assert_array_equal(
            fixed.array["Total_flux"], found.gaussians.array["Total_flux"]
        )
        np.testing.assert_allclose(fixed.map("residual"), found.map("residual"), atol=1e-9)


def test_injected_tables():
    """A Catalogue, a Table and a DataFrame in place of the file."""
    sources = Table({"RA": RA, "DEC": DEC, "Total_flux": [0.01, 0.02], "id": ["a", "b"]})
    found = srcfind.find(SAMPLE, fit=True, inject=sources)
    assert found.completeness.array["Injected"][7:].sum() == 2
    image = srcfind.find(SAMPLE, fit=True).map("residual")
    assert found.map("injected").shape == image.shape
    with pytest.raises(srcfind.InputError, match="inject: there is no column of fluxes"):
        srcfind.find(SAMPLE, inject=Table({"RA": RA, "DEC": DEC}))
    with pytest.raises(ValueError, match=r"inject: positions of the shape"):
        srcfind.find(SAMPLE, inject=(1.0, 2.0, 3.0))
