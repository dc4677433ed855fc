"""How pipelines read tables and maps of the command: what their code does with the columns, rebuilt,
and the values that come, compared with the plain catalogue.

In the code: the names, units and types that each reader asks for. Where the truth of the sky is
known, a pipeline keeps as many of its sources from srcfind's table as from Aegean's own."""
import collections
import csv
import os
import subprocess
import sys

import numpy as np
from astropy import units
from astropy.coordinates import SkyCoord
from astropy.io import fits, votable
from astropy.table import Table
from astropy.wcs import WCS

import srcfind_test as t
import sky  # which that finds
from peers import needs_peers, peer

try:
    import casacore.images
except ImportError:
    casacore = None

BEAM = 10, 8, 30  # arcsec, arcsec, degrees
MATCH = 5  # arcsec
NOT_FITTED = 64
SEARCH = "--local", "-n", "5", "-i", "4", "--fit"
# what a column of vast-pipeline is read from, and its type
VAST = {
    **{name: (name, str) for name in ("island_id", "component_id")},
    **{
        name: (source, float)
        for name, source in {
            "ra": "ra_deg_cont",
            "dec": "dec_deg_cont",
            "ra_err": "ra_err",
            "dec_err": "dec_err",
            "flux_peak": "flux_peak",
            "flux_peak_err": "flux_peak_err",
            "flux_int": "flux_int",
            "flux_int_err": "flux_int_err",
            "bmaj": "maj_axis",
            "err_bmaj": "maj_axis_err",
            "bmin": "min_axis",
            "err_bmin": "min_axis_err",
            "pa": "pos_ang",
            "err_pa": "pos_ang_err",
            "psf_bmaj": "maj_axis_deconv",
            "psf_bmin": "min_axis_deconv",
            "psf_pa": "pos_ang_deconv",
            "chi_squared_fit": "chi_squared_fit",
            "spectral_index": "spectral_index",
            "local_rms": "rms_image",
        }.items()
    },
    **{
        name: (name, bool)
        for name in ("flag_c4", "spectral_index_from_TT", "has_siblings", "fit_is_estimate")
    },
}
# the units that hydra gives to columns of Aegean
HYDRA = {
    **dict.fromkeys(("island", "source", "flags", "residual_mean", "residual_std", "uuid")),
    **dict.fromkeys(("background", "local_rms", "peak_flux", "err_peak_flux"), "Jy/beam"),
    **dict.fromkeys(("int_flux", "err_int_flux"), "Jy"),
    **{"ra_str": "HMS", "dec_str": "DMS"},
    **dict.fromkeys(("ra", "err_ra", "dec", "err_dec", "pa", "err_pa"), "deg"),
    **dict.fromkeys(("a", "err_a", "b", "err_b", "psf_a", "psf_b", "psf_pa"), "arcsec"),
}
# what flint looks for, without regard to case
FLINT = {
    "ra": ("RAJ2000", "ra"),
    "dec": ("DEJ2000", "dec"),
    "peakflux": ("peak_flux", "Sp"),
    "intflux": ("int_flux", "Sint"),
    "intfluxerr": ("local_rms",),
}
# the columns of the validation of MeerKAT and ASKAP for each finder; how many of their units are a Jy
FINDERS = {
    "aegean": ("int_flux err_int_flux peak_flux err_peak_flux island a local_rms ra dec flags", 1),
    "selavy": (
        "flux_int flux_int_err flux_peak flux_peak_err island_id maj_axis rms_image ra_deg_cont "
        "dec_deg_cont fit_is_estimate",
        1e3,
    ),
    "pybdsf": ("Total_flux E_Total_flux Peak_flux E_Peak_flux Isl_id Maj Isl_rms RA DEC", 1),
}
FIELDS = "flux", "flux_err", "peak", "peak_err", "island", "major", "rms", "ra", "dec", "flag"


def column(table, name, kind):
    """A column as pandas has it, with NaN for empty cells, in a type; the truth of NaN is true, so
    that no flag may be empty."""
    values = table[name]
    if kind is str:
        return np.array(values, str)
    empty = [str(value) in ("", "--") for value in values]
    assert kind is float or not any(empty), name
    return np.array(np.where(empty, "nan", values), float).astype(kind)


def read_vast(path):
    """The components that vast-pipeline reads, as columns; see its SelavyImage.read_selavy."""
    if path.endswith(".csv"):
        with open(path, newline="") as stream:
            rows = list(csv.DictReader(stream))
        table = {name: [row[name] for row in rows] for name in rows[0]}
    else:
        table = Table.read(path, format="votable", use_names_over_ids=True)
    found = {name: column(table, *of) for name, of in VAST.items()}
    assert len(set(found["component_id"])) == len(found["component_id"])
    sizes = np.array([found[name] for name in ("bmaj", "bmin", "flux_peak", "flux_int")])
    chosen = (sizes != 0).all(0)
    chosen &= (found["bmaj"] > 500 * BEAM[0] / 3600) & (found["bmin"] > 500 * BEAM[1] / 3600)
    found = {name: values[chosen] for name, values in found.items()}
    found["snr"] = found["flux_peak"] / found["local_rms"]
    found["compactness"] = found["flux_int"] / found["flux_peak"]
    for kind in ("int", "peak"):
        totals = collections.Counter()
        for island, flux in zip(found["island_id"], found[f"flux_{kind}"]):
            totals[island] += flux
        total = np.array([totals[island] for island in found["island_id"]])
        found[f"flux_{kind}_isl_ratio"] = found[f"flux_{kind}"] / total
    return found


def fields(table, finder):
    names, unit = FINDERS[finder]
    found = dict(zip(FIELDS, (np.array(table[name]) for name in names.split())))
    for name in ("flux", "flux_err", "peak", "peak_err", "rms"):
        found[name] = found[name] / unit
    return found


def kept(table, finder, telescope):
    """Which rows the validation keeps, as numbers: catalogue.filter_sources with the cuts that it has
    for a telescope."""
    f = fields(table, finder)
    if telescope == "meerkat":
        keep = (f["flux"] > 1e-3) & (f["flux"] / f["peak"] <= 1.4)
    else:
        error = np.hypot(f["flux_err"], f["peak_err"]) + (f["rms"] if finder == "selavy" else 0)
        keep = (f["flux"] > 1e-4) & ~(f["flux"] - f["peak"] > 5 * error)
    islands = collections.Counter(f["island"][keep])
    keep &= np.array([islands[island] == 1 for island in f["island"]])
    if telescope == "meerkat":
        keep &= f["major"] <= 1.5 * BEAM[0] / (3600 if finder == "pybdsf" else 1)
        if finder == "aegean":
            keep &= np.array(table["residual_std"]) <= 3 * f["rms"]
    if "flag" in f:
        keep &= f["flag"] == 0
    return np.flatnonzero(keep)


class Sky(t.Case):
    """Tables of a sky of points and wide sources."""

    SIDE, DENSITY = 768, 250

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.of_all = t.tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.of_all.cleanup)
        cls.image = os.path.join(cls.of_all.name, "image.fits")
        beam = "%g,%g,%g" % (BEAM[0] / 2, BEAM[1] / 2, BEAM[2])  # in pixels of 2 arcsec
        options = "--beam", beam, "--density", str(cls.DENSITY), "--elongated"
        sky.make([str(cls.SIDE), cls.image, *options])
        cls.add()
        cls.rows = t.find(cls.image, *SEARCH)["sources"]

    @classmethod
    def add(cls):
        """Adds to the sky what a class needs."""

    def table(self, columns, name):
        path = self.path(name)
        t.run(self.image, "-q", *SEARCH, "--columns", columns, "-o", path, check=True)
        return path

    def of(self, name, unit=1):
        """A column of the plain catalogue, with NaN for empty cells."""
        cells = [row[name] for row in self.rows]
        if isinstance(cells[0], str):
            return np.array(cells)
        return np.array(cells, float) * unit


@t.unittest.skipIf(t.SANITIZED, "the files are those of other builds")
class Vast(Sky):
    """Tables of @selavy. Some sources share an island, and some are single pixels: these are not
    fitted and have no size, so that vast-pipeline drops them."""

    SIDE, DENSITY = 400, 1500

    @classmethod
    def add(cls):
        with fits.open(cls.image, mode="update") as hdus:
            hdus[0].data[..., 7::100, 7::100] = 100 * sky.NOISE

    def drop_what_has_no_size(self):
        estimates = column(Table.read(self.table("@selavy", "all.csv")), "fit_is_estimate", bool)
        self.assertEqual(
            [row["Source_id"] for row, is_estimate in zip(self.rows, estimates) if is_estimate],
            [row["Source_id"] for row in self.rows if row["Maj"] is None],
        )
        self.assertEqual(estimates.sum(), 16)
        self.rows = [row for row in self.rows if row["Maj"] is not None]

    def test_vast_pipeline(self):
        """CSV and VOTable of @selavy: mJy and arcsec, and types; the share of each in its island."""
        self.drop_what_has_no_size()
        islands = collections.Counter(row["Isl_id"] for row in self.rows)
        in_island = np.array([islands[row["Isl_id"]] for row in self.rows])
        self.assertGreater((in_island > 1).sum(), 5)
        fluxes = collections.Counter()
        for row in self.rows:
            fluxes[row["Isl_id"]] += row["Total_flux"]
        for path in (self.table("@selavy", "c.csv"), self.table("@selavy", "c.xml")):
            found = read_vast(path)
            expected = {
                "ra": self.of("RA"),
                "dec": self.of("DEC"),
                "ra_err": self.of("E_RA", 3600),
                "dec_err": self.of("E_DEC", 3600),
                "flux_peak": self.of("Peak_flux", 1e3),
                "flux_peak_err": self.of("E_Peak_flux", 1e3),
                "flux_int": self.of("Total_flux", 1e3),
                "flux_int_err": self.of("E_Total_flux", 1e3),
                "bmaj": self.of("Maj", 3600),
                "err_bmaj": self.of("E_Maj", 3600),
                "bmin": self.of("Min", 3600),
                "err_bmin": self.of("E_Min", 3600),
                "pa": self.of("PA"),
                "err_pa": self.of("E_PA"),
                "psf_bmaj": self.of("DC_Maj", 3600),
                "psf_bmin": self.of("DC_Min", 3600),
                "psf_pa": self.of("DC_PA"),
                "spectral_index": np.full(len(self.rows), -99.0),
                "local_rms": self.of("Isl_rms", 1e3),
                "snr": self.of("Peak_flux") / self.of("Isl_rms"),
                "compactness": self.of("Total_flux") / self.of("Peak_flux"),
                "has_siblings": in_island > 1,
                "flux_int_isl_ratio": self.of("Total_flux")
                / np.array([fluxes[row["Isl_id"]] for row in self.rows]),
                "spectral_index_from_TT": np.zeros(len(self.rows), bool),
            }
            for name, values in expected.items():
                self.assertEqual(found[name].dtype, values.dtype, name)
                np.testing.assert_allclose(found[name], values, rtol=1e-12, err_msg=name)
            self.assertTrue((found["chi_squared_fit"] > 0).all())
            self.assertFalse(found["fit_is_estimate"].any())
            self.assertEqual(len(set(found["island_id"])), len(islands))

    def test_vast_post_processing(self):
        """It corrects positions and fluxes of the VOTable in place, by the IDs of its fields."""
        path, corrected = self.table("@selavy", "c.xml"), self.path("corrected.xml")
        self.drop_what_has_no_size()
        document = votable.parse(path)
        array = document.get_first_table().array
        dec = np.radians(array["col_dec_deg_cont"])
        array["col_ra_deg_cont"] += 1.5 / 3600 / np.cos(dec)
        array["col_dec_deg_cont"] -= 0.5 / 3600
        array["col_ra_err"] = np.hypot(array["col_ra_err"], 0.1)
        for name in ("flux_peak", "flux_int"):
            error = array[f"col_{name}_err"] / array[f"col_{name}"]
            array[f"col_{name}"] *= 1.1
            array[f"col_{name}_err"] = array[f"col_{name}"] * np.hypot(error, 0.02)
        array["col_rms_image"] *= 1.1
        document.to_xml(corrected)
        found = read_vast(corrected)
        places = SkyCoord(self.of("RA"), self.of("DEC"), unit="deg")
        east, north = places.spherical_offsets_to(SkyCoord(found["ra"], found["dec"], unit="deg"))
        np.testing.assert_allclose(east.arcsec, 1.5, atol=1e-4)
        np.testing.assert_allclose(north.arcsec, -0.5, atol=1e-4)
        np.testing.assert_allclose(found["flux_int"], self.of("Total_flux", 1.1e3))
        np.testing.assert_allclose(found["snr"], self.of("Peak_flux") / self.of("Isl_rms"))


@t.unittest.skipIf(t.SANITIZED, "the files are those of other builds")
class Lists(Sky):
    """Tables of each list."""

    def test_flint(self):
        """It guesses the columns of @aegean by their names."""
        table = Table.read(self.table("@aegean", "c.fits"))
        upper = [name.upper() for name in table.colnames]
        guessed = {
            key: next(table.colnames[upper.index(n.upper())] for n in names if n.upper() in upper)
            for key, names in FLINT.items()
        }
        for key, own in {
            "ra": "RA",
            "dec": "DEC",
            "peakflux": "Peak_flux",
            "intflux": "Total_flux",
            "intfluxerr": "Isl_rms",
        }.items():
            np.testing.assert_array_equal(table[guessed[key]], self.of(own))

    def test_hydra(self):
        """It gives units to columns of @aegean, and reads the file that it writes again."""
        path = self.table("@aegean", "c.fits")
        with fits.open(path) as hdus:
            self.assertEqual(set(hdus[1].columns.names), set(HYDRA))
            for name, unit in HYDRA.items():
                if unit:
                    hdus[1].columns.change_attrib(name, "unit", unit)
            hdus.writeto(self.path("units.fits"))
        table = Table.read(self.path("units.fits"))
        np.testing.assert_allclose(table["a"].quantity.to_value("deg"), self.of("Maj"), rtol=1e-12)
        np.testing.assert_allclose(table["err_b"], self.of("E_Min", 3600), rtol=1e-12)
        np.testing.assert_array_equal(table["residual_mean"], -self.of("Resid_Isl_mean"))
        texts = SkyCoord(table["ra_str"], table["dec_str"], unit=("hourangle", "deg"))
        places = SkyCoord(self.of("RA"), self.of("DEC"), unit="deg")
        self.assertLess(texts.separation(places).arcsec.max(), 0.1)

    def test_validation_of_each_list(self):
        """It keeps the same sources of all lists, but for the cut of residuals, which only Aegean has,
        and Selavy's wider limit of resolved ones."""
        tables = {
            name: Table.read(self.table("@" + name, f"{name}.{suffix}"))
            for name, suffix in (("aegean", "fits"), ("selavy", "csv"), ("pybdsf", "fits"))
        }
        for telescope in ("meerkat", "askap"):
            rows = {name: set(kept(table, name, telescope)) for name, table in tables.items()}
            self.assertGreater(len(rows["aegean"]), len(self.rows) // 3)
            self.assertEqual(rows["aegean"], rows["pybdsf"])
            self.assertLessEqual(rows["aegean"], rows["selavy"])
        places = [
            SkyCoord(f["ra"], f["dec"], unit="deg")
            for f in (fields(table, name) for name, table in tables.items())
        ]
        for other in places[1:]:
            self.assertLess(places[0].separation(other).arcsec.max(), 1e-6)

    @needs_peers
    def test_validation_beside_aegean(self):
        """Of the sources that are there, it keeps at least 98% as many of @aegean as of the table
        that Aegean makes, with cuts for MeerKAT and for ASKAP, and flags 0. Those near the limit of
        flux do not count: there it depends on the error of one measurement."""
        os.symlink(self.image, self.path("image.fits"))
        peer("BANE", "image.fits", "--cores", 1, directory=self.directory.name)
        options = "--autoload", "--seedclip", 5, "--floodclip", 4, "--cores", 1
        peer("aegean", *options, "image.fits", "--table", "a.fits", directory=self.directory.name)
        ours, theirs = (
            Table.read(path) for path in (self.table("@aegean", "c.fits"), self.path("a_comp.fits"))
        )
        self.assertEqual(ours.colnames, theirs.colnames)
        truth = Table.read(self.image.replace(".fits", ".truth.csv"))
        for telescope, limit in (("meerkat", 1.2e-3), ("askap", 7e-4)):
            true = truth[truth["flux"] > limit]
            places = SkyCoord(true["ra"], true["dec"], unit="deg")
            n = []
            for table in (ours, theirs):
                rows = table[kept(table, "aegean", telescope)]
                found = SkyCoord(rows["ra"], rows["dec"], unit="deg")
                n.append((places.match_to_catalog_sky(found)[1].arcsec < MATCH).sum())
            self.assertGreater(n[1], len(true) // 2)
            self.assertGreaterEqual(n[0], 0.98 * n[1], telescope)


@t.unittest.skipIf(t.SANITIZED, "the files are those of other builds")
class Maps(t.Case):
    """Maps of an image that has axes of a frequency and a Stokes parameter, as imagers write it."""

    def setUp(self):
        super().setUp()
        self.header = t.sky_header(
            CTYPE3="FREQ",
            CRPIX3=1.0,
            CRVAL3=1.4e9,
            CDELT3=1e6,
            CUNIT3="Hz",
            CTYPE4="STOKES",
            CRPIX4=1.0,
            CRVAL4=1.0,
            CDELT4=1.0,
        )
        y, x = np.indices((300, 340))
        random = np.random.default_rng(7)
        self.places = np.mgrid[25:300:50, 25:340:58].reshape(2, -1).T + random.uniform(-3, 3, 2)
        self.peaks = np.geomspace(0.5, 20, len(self.places))
        image = random.normal(0.3, 0.02, x.shape)
        for (row, column), peak in zip(self.places, self.peaks):
            image += peak * self.beam(y - row, x - column)
        self.image = self.write("image.fits", image.astype(np.float32)[None, None], self.header)
        t.run(
            self.image,
            "-q",
            "-i",
            "3",
            "--local",
            "--fit",
            "--save",
            "rms,background,mask,residual,model,islands",
            "-o",
            self.path("c.csv"),
            check=True,
        )

    def beam(self, dy, dx):
        """The beam's height at an offset in pixels."""
        angle = np.radians(self.header["BPA"])
        along = np.cos(angle) * dy - np.sin(angle) * dx
        across = np.sin(angle) * dy + np.cos(angle) * dx
        widths = [self.header[name] / self.header["CDELT2"] for name in ("BMAJ", "BMIN")]
        return np.exp(-4 * np.log(2) * ((along / widths[0]) ** 2 + (across / widths[1]) ** 2))

    def map(self, name):
        return np.squeeze(fits.getdata(self.path(f"c.{name}.fits")))

    def test_forced_phot(self):
        """Fluxes by the beam as a kernel, weighted with the maps of rms and background, are those of
        --at --fit, and chi squared is that of noise."""
        wcs = WCS(self.header).celestial
        rows = t.read_csv(self.path("c.csv"))
        with open(self.path("places.csv"), "w", encoding="ascii") as stream:
            stream.write("ra,dec\n" + "".join("%r,%r\n" % (row["RA"], row["DEC"]) for row in rows))
        options = "--at", self.path("places.csv"), "--local", "--fit"
        t.run(self.image, "-q", *options, "-o", self.path("at.csv"), check=True)
        forced = t.read_csv(self.path("at.csv"))
        self.assertEqual([len(rows), len(forced)], [len(self.peaks)] * 2)
        image, rms, background = np.squeeze(fits.getdata(self.image)), *map(
            self.map, ("rms", "background")
        )
        chi2 = n = 0
        for row, own in zip(rows, forced):
            x, y = wcs.world_to_pixel(SkyCoord(row["RA"], row["DEC"], unit="deg"))
            box = tuple(slice(max(round(float(c)) - 8, 0), round(float(c)) + 9) for c in (y, x))
            dy, dx = np.mgrid[box]
            kernel, noise = self.beam(dy - y, dx - x), rms[box]
            data = image[box] - background[box]
            flux = (data * kernel / noise**2).sum() / (kernel**2 / noise**2).sum()
            self.assertAlmostEqual(flux / own["Peak_flux"], 1, delta=5 * 0.02 / own["Peak_flux"])
            chi2 += (((data - flux * kernel) / noise) ** 2).sum()
            n += data.size
        self.assertAlmostEqual(chi2 / n, 1, delta=0.05)

    def test_ddfacet_mask(self):
        """An external mask is the only HDU, has four axes and is not empty; DDFacet turns it."""
        with fits.open(self.path("c.mask.fits")) as hdus:
            self.assertEqual([len(hdus), hdus[0].header["NAXIS"]], [1, 4])
            mask = hdus[0].data
        self.assertGreater(np.abs(mask).max(), 1e-10)
        n_channels, n_stokes, ny, nx = mask.shape
        turned = np.zeros((n_channels, n_stokes, nx, ny), bool)
        for channel in range(n_channels):
            for stokes in range(n_stokes):
                turned[channel, stokes] = mask[channel, stokes].T[::-1]
        islands = self.map("islands") > 0
        self.assertEqual(turned.sum(), islands.sum())
        row, column = np.argwhere(islands)[0]
        self.assertTrue(turned[0, 0, nx - 1 - column, row])

    @t.unittest.skipUnless(casacore, "python3-casacore is not installed")
    def test_casacore(self):
        """It opens each map without a complaint of a type, with the coordinates, the unit, the beam
        and the pixels that are there."""
        script = """
import json, sys
from casacore.images import image
found = []
for name in sys.argv[1:]:
    im = image(name)
    beam = im.imageinfo().get("restoringbeam", {})
    found.append([im.toworld([0, 0, 0, 0]), im.unit(), float(im.getdata()[0, 0, 40, 50]), [beam[k]["value"] for k in ("major", "minor", "positionangle")]])
print(json.dumps(found))
"""
        names = ["image.fits"] + [
            f"c.{name}.fits"
            for name in ("rms", "background", "mask", "residual", "model", "islands")
        ]
        result = subprocess.run(
            [sys.executable, "-c", script, *map(self.path, names)],
            capture_output=True,
            text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("wrong data type", result.stdout + result.stderr)
        *_, last = result.stdout.splitlines()
        found = t.json.loads(last)
        for name, (world, unit, pixel, beam) in zip(names, found):
            hdu = fits.open(self.path(name))[0]
            np.testing.assert_allclose(world, found[0][0], rtol=1e-13)
            self.assertEqual(unit, hdu.header.get("BUNIT", "").strip())
            self.assertEqual(pixel, hdu.data[0, 0, 40, 50])
            np.testing.assert_allclose(beam, found[0][3])


if __name__ == "__main__":
    t.main()
