"""What pipelines read of the files that srcfind.bdsf writes: their code, rebuilt, and the values that
come, compared with srcfind's own catalogue."""
import csv
import re

import numpy as np
import pytest
import sky
from astropy.coordinates import SkyCoord
from astropy.io import fits
from astropy.table import Table


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """The path of a crowded sky."""
    path = str(tmp_path_factory.mktemp("sky") / "image.fits")
    sky.make(["400", path, "--beam", "5,4,30", "--density", "1500", "--elongated"])
    return path


@pytest.fixture
def img(process, image):
    """Some sources have several Gaussians, and some islands several sources."""
    img = process(image, rms_map=False, frequency=1.4e9)
    assert {source.code for source in img.sources} == {"S", "C", "M"}
    return img


@pytest.fixture
def written(img, tmp_path):
    """The path of a catalogue."""

    def write(format, kind, **options):
        path = tmp_path / f"c.{kind}.{format}"
        assert img.write_catalog(outfile=str(path), format=format, catalog_type=kind, **options)
        return path

    return write


def test_ddfacet_clusters(img, image, written):
    """ClusterCat finds the image's header in comments of the table, splits their lines at blanks, and
    takes places, fluxes and sizes."""
    path = written("fits", "srl")
    keywords = {"CRVAL1": float, "CRVAL2": float, "CDELT1": float, "NAXIS1": int}
    found = {}
    with fits.open(path) as hdus:
        for line in hdus[1].header["COMMENT"]:
            for keyword, kind in keywords.items():
                if keyword in line:
                    found[keyword] = kind(line.split()[2])
        data = hdus[1].data
    header, own = fits.getheader(image), img.catalogue.array
    assert found == {keyword: header[keyword] for keyword in keywords}
    for name in ("RA", "DEC", "Total_flux", "Maj"):
        np.testing.assert_array_equal(data[name].astype("f4"), own[name].astype("f4"))


def test_ddfacet_mask(img, image, tmp_path):
    """readExternalMaskFromFits: one HDU, four axes, not empty; it is turned."""
    path = tmp_path / "mask.fits"
    assert img.export_image(outfile=str(path), img_type="island_mask")
    with fits.open(path) as hdus:
        assert (len(hdus), hdus[0].header["NAXIS"]) == (1, 4)
        mask = hdus[0].data
    assert mask.shape == (1, 1, *fits.getdata(image).shape[-2:])
    turned = mask[0, 0].T[::-1].astype(bool)
    np.testing.assert_array_equal(turned, img.catalogue.map("islands").T[::-1] > 0)
    assert turned.any()


def test_lotss_joins_gaussians(img, written):
    """Each Gaussian of a source of code M or C is found by its source, and each source by its
    Gaussians; distances within a source are those on the sky."""
    gaussians, sources = (Table.read(written("fits", kind)) for kind in ("gaul", "srl"))
    gaussians = gaussians[gaussians["S_Code"] != "S"]
    own = img.catalogue.array
    n_found = 0
    for source, n_gaussians in zip(sources, own["N_Gaus"]):
        if source["S_Code"] == "S":
            assert n_gaussians == 1
            continue
        mine = gaussians[gaussians["Source_id"] == source["Source_id"]]
        n_found += len(mine)
        assert len(mine) == n_gaussians and set(mine["S_Code"]) == {source["S_Code"]}
        assert set(mine["Isl_id"]) == {source["Isl_id"]}
        assert mine["Total_flux"].sum() == pytest.approx(source["Total_flux"], rel=1e-6)
        places = SkyCoord(mine["RA"], mine["DEC"], unit="deg")
        centre = SkyCoord(source["RA"], source["DEC"], unit="deg")
        assert places.separation(centre).deg.max() <= 2 * source["Maj"]
    assert n_found == len(gaussians) > 0


def test_rascil(img, image, written):
    """Five lines are skipped, columns end at a comma with blanks around it; sources above zero have
    a place and a peak, and the residual and the noise are those of the image."""
    lines = written("csv", "srl").read_text().splitlines()[5:]
    names, *rows = (re.split(r"\s*,\s*", line) for line in lines)
    rows = [dict(zip(names, row)) for row in rows]
    own = img.catalogue.array
    assert all(float(row["Peak_flux"]) > 0 for row in rows) and "Spec_Indx" not in names
    for name in ("RA", "DEC", "Peak_flux"):
        np.testing.assert_allclose([float(row[name]) for row in rows], own[name], atol=1e-12)
    pixels = np.squeeze(fits.getdata(image))
    residual = pixels - img.catalogue.map("model")
    np.testing.assert_allclose(img.resid_gaus_arr, residual.T, atol=1e-6)
    np.testing.assert_array_equal(img.rms_arr, img.catalogue.map("rms").T)
    assert img.raw_rms == pytest.approx(np.std(pixels, dtype=float))  # not clipped


def test_karabo(img, written):
    """Of a table of Gaussians without the cells that are no numbers, columns by their places: number,
    RA, DEC, X, Y, total flux, and its error, which Karabo calls the peak."""
    table = []
    with open(written("csv", "gaul"), newline="") as stream:
        for row in csv.reader(stream, delimiter=",", quotechar="|"):
            if row and not row[0].startswith("#"):
                table.append([])
                for cell in row:
                    try:
                        table[-1].append(float(cell))
                    except ValueError:
                        pass
    table = np.array(table)
    assert table.ndim == 2 and table.shape[1] > 14
    own = img.catalogue.gaussians.array
    names = "RA", "DEC", "Xposn", "Yposn", "Total_flux", "E_Total_flux"
    np.testing.assert_array_equal(table[:, 0], range(img.ngaus))
    for at, name in zip((4, 6, 12, 14, 8, 9), names):
        np.testing.assert_allclose(table[:, at], own[name], atol=1e-12, err_msg=name)


def test_vlass_quick_look(img, written):
    """The catenator keeps the lines from the heading on, without its mark and without blanks;
    regions lose their labels."""
    rows, is_kept = [], False
    for line in written("csv", "srl", incl_empty=True).read_text().splitlines():
        if re.match("# Source_id", line):
            line, is_kept = line[2:], True
        if is_kept:
            rows.append(line.replace(" ", ""))
    rows = list(csv.DictReader(rows))
    own = img.catalogue.array
    assert len(rows) == len(own)
    for name in "RA DEC E_RA Total_flux E_Total_flux Peak_flux Isl_rms Maj Min PA DC_Maj".split():
        np.testing.assert_allclose([float(row[name]) for row in rows], own[name], atol=1e-12)
    highest = SkyCoord([(row["RA_max"], row["DEC_max"]) for row in rows], unit="deg")
    places = SkyCoord(own["RA"], own["DEC"], unit="deg")
    assert (highest.separation(places).deg <= own["Maj"]).all()
    assert [row["S_Code"] for row in rows] == [source.code for source in img.sources]
    regions = written("ds9", "srl", incl_empty=True).read_text().splitlines()
    ellipses = [re.sub(r"\s*#.*", "", line) for line in regions if line.startswith("ellipse")]
    assert len(ellipses) == len(own) and all(line.endswith(")") for line in ellipses)
    assert any(re.search(r"color=\w+?\s", line) for line in regions)


def test_rapthor(img, written):
    """Sources for astrometry: small ones (DC_Maj) with small errors."""
    catalogue, own = Table.read(written("fits", "srl")), img.catalogue.array
    chosen = np.ones(len(own), bool)
    for name, limit in (("DC_Maj", 10), ("E_RA", 2), ("E_DEC", 2)):
        catalogue = catalogue[catalogue[name] < limit / 3600]
        chosen &= own[name] < limit / 3600
    np.testing.assert_array_equal(catalogue["Source_id"], own["Source_id"][chosen] - 1)
    np.testing.assert_array_equal(catalogue["Isl_Total_flux"], own["Isl_Total_flux"][chosen])


def test_facetselfcal(img, written):
    """The flux of compact sources is the sum of the Gaussians of the catalogue."""
    table = Table.read(written("fits", "gaul"))
    assert float(np.copy(img.total_flux_gaus)) == pytest.approx(table["Total_flux"].sum())
