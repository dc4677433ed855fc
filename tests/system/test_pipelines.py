"""What programs of pipelines make of masks, sky models and tables: started with real files, and
compared in values. peers.py says which programs they need."""
import json
import os
import shutil
import subprocess

import numpy as np
from astropy.io import fits
from astropy.wcs import WCS

import srcfind_test as t
import sky  # which that finds
from peers import PEERS, needs_peers, peer, peer_script

try:
    import measurement_set
except ImportError:  # no python3-casacore
    measurement_set = None

needs_wsclean = t.unittest.skipUnless(
    measurement_set and shutil.which("wsclean"), "needs wsclean and python3-casacore"
)
PIXEL = 10  # arcsec


@t.unittest.skipIf(t.SANITIZED, "the files are those of other builds")
class Masks(t.Case):
    def image(self):
        """A cube of one plane of a frequency and a Stokes parameter, as imagers write it."""
        cards = {
            "CTYPE3": "FREQ",
            "CRPIX3": 1.0,
            "CRVAL3": 1.5e8,
            "CDELT3": 1e5,
            "CTYPE4": "STOKES",
            "CRPIX4": 1.0,
            "CRVAL4": 1.0,
            "CDELT4": 1.0,
        }
        return self.write(
            "image.fits", t.noise(200, 220, sigma=0.1)[None, None] * 10, t.sky_header(**cards)
        )

    @needs_wsclean
    def test_wsclean(self):
        """It cleans inside of the mask alone, and finds the fluxes there; without a mask it cleans
        noise, too."""
        positions, fluxes = [[150.0, 40.0], [150.3, 40.2], [149.7, 39.9]], [1.0, 0.5, 0.2]
        measurement_set.write(
            self.path("sky.ms"), np.radians([150.0, 40.0]), np.radians(positions), fluxes, 0.3
        )

        def clean(name, *options):
            subprocess.run(
                [
                    "wsclean",
                    "-j",
                    "1",
                    "-size",
                    "512",
                    "512",
                    "-scale",
                    "%dasec" % PIXEL,
                    "-niter",
                    "3000",
                    "-mgain",
                    "0.8",
                    "-no-update-model-required",
                    *options,
                    "-name",
                    name,
                    "sky.ms",
                ],
                cwd=self.directory.name,
                check=True,
                capture_output=True,
                # else it refuses an OpenBLAS with threads
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )
            return fits.getdata(self.path(name + "-model.fits"))

        free = clean("free", "-threshold", "0.01")
        t.run(
            self.path("free-image.fits"),
            "-q",
            "-n",
            "8",
            "-i",
            "4",
            "--save",
            "mask",
            "--mask-dilate",
            "2",
            "-o",
            self.path("sky.csv"),
            check=True,
        )
        mask = fits.getdata(self.path("sky.mask.fits"))
        self.assertEqual(len(t.read_csv(self.path("sky.csv"))), 3)
        model = clean("masked", "-fits-mask", "sky.mask.fits")
        self.assertEqual(model.shape, mask.shape)
        self.assertTrue((model[mask == 0] == 0).all())
        self.assertTrue((free[mask == 0] != 0).any())
        self.assertAlmostEqual(model.sum(), sum(fluxes), delta=0.05)

    @needs_peers
    def test_breizorro(self):
        """It merges the mask with one of its own, and widens it as --mask-dilate does."""
        image, mask = self.image(), self.path("c.mask.fits")
        t.run(image, "-q", "-i", "3", "--save", "mask", "-o", self.path("c.csv"), check=True)
        t.run(
            image,
            "-q",
            "-i",
            "3",
            "--save",
            "mask",
            "--mask-dilate",
            "4",
            "-o",
            self.path("wide.csv"),
            check=True,
        )
        peer(
            "breizorro",
            "-r",
            image,
            "-t",
            3,
            "--make-binary",
            "--outfile",
            "own.fits",
            directory=self.directory.name,
        )
        peer(
            "breizorro",
            "-m",
            mask,
            "--merge",
            "own.fits",
            "--make-binary",
            "--outfile",
            "both.fits",
            directory=self.directory.name,
        )
        peer(
            "breizorro",
            "-m",
            mask,
            "--make-binary",
            "--dilate",
            4,
            "--outfile",
            "dilated.fits",
            directory=self.directory.name,
        )
        ours, own, both, wide, dilated = (
            np.squeeze(fits.getdata(self.path(name))) > 0
            for name in ("c.mask.fits", "own.fits", "both.fits", "wide.mask.fits", "dilated.fits")
        )
        self.assertTrue(own.any() and (own & ~ours).any() and (ours & ~own).any())
        inner = np.s_[5:-5, 5:-5]  # breizorro sets the pixels of the border to 0
        self.assertTrue(np.array_equal(both[inner], (ours | own)[inner]))
        self.assertTrue(np.array_equal(dilated[inner], wide[inner]))

    @needs_peers
    def test_lsmtool(self):
        """It groups the sky model by the regions of the mask: sources of an island together."""
        image, model = self.image(), self.path("c.skymodel")
        t.run(
            image,
            "-q",
            "-i",
            "3",
            "--fit",
            "--save",
            "mask,gaussians,islands",
            "-o",
            model,
            check=True,
        )
        found = peer_script(GROUP, model, self.path("c.mask.fits"))
        islands = {
            "s%dg1" % row["Source_id"]: row["Isl_id"]
            for row in t.read_csv(self.path("c.gaussians.csv"))
        }
        self.assertGreater(len(islands), 10)
        self.assertEqual(set(found), set(islands))
        self.assertEqual(len(set(found.values())), len(set(islands.values())))
        for name in islands:
            for other in islands:
                self.assertEqual(
                    found[name] == found[other], islands[name] == islands[other], (name, other)
                )


GROUP = """
import json, lsmtool, sys
model = lsmtool.load(sys.argv[1])
model.group(sys.argv[2])
print(json.dumps({str(name): str(patch) for name, patch in zip(model.table["Name"], model.table["Patch"])}))
"""
TIGGER = """
import json, sys, Tigger
print(json.dumps([[s.name, s.flux.I, s.pos.ra, s.pos.dec, *([s.shape.ex, s.shape.ey] if s.shape else [0, 0])] for s in Tigger.load(sys.argv[1], verbose=False).sources]))
"""


@t.unittest.skipIf(t.SANITIZED, "the files are those of other builds")
@needs_peers
class Tables(t.Case):
    def setUp(self):
        """A sky of points that stand alone, a table of them with Aegean's names, and the maps of
        srcfind."""
        super().setUp()
        self.header, random = t.sky_header(), np.random.default_rng(5)
        places, (y, x) = np.mgrid[30:400:60, 30:400:60].reshape(2, -1).T + random.uniform(
            -5, 5, (49, 2)
        ), np.indices((420, 420))
        self.peaks = np.geomspace(0.5, 30, len(places))
        angle = np.radians(self.header["BPA"])
        image = random.normal(0, 0.02, x.shape)
        for (row, column), peak in zip(places, self.peaks):
            along = np.cos(angle) * (y - row) - np.sin(angle) * (x - column)
            across = np.sin(angle) * (y - row) + np.cos(angle) * (x - column)
            widths = [self.header[name] / self.header["CDELT2"] for name in ("BMAJ", "BMIN")]
            image += peak * np.exp(
                -4 * np.log(2) * ((along / widths[0]) ** 2 + (across / widths[1]) ** 2)
            )
        self.image = self.write("image.fits", image.astype(np.float32), self.header)
        t.run(
            self.image,
            "-q",
            "--fit",
            "-i",
            "3",
            "--columns",
            "@aegean",
            "--save",
            "rms,background,residual",
            "-o",
            self.path("c.fits"),
            check=True,
        )

    def test_aegean(self):
        """aegean --priorized finds the fluxes of the table, at its places."""
        peer(
            "aegean",
            "--priorized",
            1,
            "--input",
            "c.fits",
            "image.fits",
            "--noise",
            "c.rms.fits",
            "--background",
            "c.background.fits",
            "--cores",
            1,
            "--table",
            "p.fits",
            directory=self.directory.name,
        )
        ours, theirs = (fits.getdata(self.path(name)) for name in ("c.fits", "p_comp.fits"))
        self.assertEqual([len(ours), len(theirs)], [len(self.peaks)] * 2)
        theirs = theirs[np.argsort([list(ours["uuid"]).index(uuid) for uuid in theirs["uuid"]])]
        # Aegean is up to 7% low where the beam is 4 pixels wide
        np.testing.assert_allclose(theirs["peak_flux"], ours["peak_flux"], rtol=0.08, atol=0.06)
        np.testing.assert_allclose(theirs["a"], ours["a"], rtol=1e-4)
        self.assertLess(np.abs(theirs["ra"] - ours["ra"]).max(), 1e-5)

    def test_tigger(self):
        """Tigger reads the columns as the ASCII table of PyBDSF that docs/pipelines.md makes of
        them."""
        columns = "Source_id=Gaus_id,RA,E_RA,DEC,E_DEC,Total_flux,E_Total_flux,DC_Maj,E_DC_Maj,DC_Min,E_DC_Min,DC_PA,E_DC_PA,S_Code"
        text = t.run(self.image, "-q", "--fit", "-i", "3", "--columns", columns, check=True).stdout
        with open(self.path("c.gaul"), "w", encoding="ascii") as stream:
            stream.write("# " + text.replace(",,", ",0,").replace(",,", ",0,").replace(",", " "))
        theirs = peer_script(TIGGER, self.path("c.gaul"))
        ours = [line.split(",") for line in text.splitlines()[1:]]
        self.assertEqual(len(theirs), len(self.peaks))
        for one, row in zip(theirs, ours):
            self.assertEqual([one[0], one[1]], [row[0], float(row[5])])
            np.testing.assert_allclose(
                one[2:], np.radians([float(row[i]) for i in (1, 3, 7, 9)]), rtol=1e-12
            )

    def test_aeres(self):
        """AeRes subtracts what srcfind does."""
        peer(
            "AeRes",
            "-c",
            "c.fits",
            "-f",
            "image.fits",
            "-r",
            "r.fits",
            directory=self.directory.name,
        )
        theirs, ours = np.squeeze(fits.getdata(self.path("r.fits"))), fits.getdata(
            self.path("c.residual.fits")
        )
        self.assertLess(np.abs(theirs - ours).max(), 0.005 * self.peaks.max())
        self.assertLess(np.abs(theirs).max(), 0.01 * self.peaks.max())


OPTIONS = """
import json, bdsf.opts, srcfind.bdsf
theirs = {name: repr(option._default) for name, option in vars(bdsf.opts.Opts).items() if hasattr(option, "group")}
ours = {name: repr(option.default) for name, option in srcfind.bdsf.OPTIONS.items()}
print(json.dumps([theirs, ours]))
"""
WRITE_TABLE = """
import sys, srcfind.bdsf as bdsf
img = bdsf.process_image(sys.argv[1], rms_map=False, quiet=True, outdir=".")
img.write_catalog(outfile="c.gaul", format="ascii", catalog_type="gaul")
img.write_catalog(outfile="c.fits", format="fits", catalog_type="gaul")
"""
CASA = """
import json, sys, numpy, srcfind.bdsf as bdsf
from casacore.images import image
img = bdsf.process_image(sys.argv[1], rms_map=False, quiet=True, outdir=sys.argv[2])
out = sys.argv[2] + "/mask.image"
written = [img.export_image(outfile=out, img_format="casa", img_type="island_mask", clobber=c) for c in (False, False, True)]
mask = image(out)
print(json.dumps([written, list(mask.shape()), bool((mask.getdata()[0, 0].T == (img.pyrank >= 0)).all())]))
"""
MODELS = """
import json, lsmtool, srcfind.bdsf as bdsf
from astropy.table import Table
img = bdsf.process_image("image.fits", mean_map="zero", rms_map=True, rms_box=(100, 10), frequency=1.4e8, quiet=True, outdir=".")
for kind in ("srl", "gaul"):
    img.write_catalog(outfile=f"c.{kind}.fits", format="fits", catalog_type=kind)
img.write_catalog(format="bbs", bbs_patches="source", outfile="source.skymodel", clobber=True)
sources = Table.read("c.srl.fits")
with open("photometry.skymodel", "w") as stream:
    print("FORMAT = Name, Type, Ra, Dec, I, ReferenceFrequency=1.4e8", file=stream)
    for row in sources:
        print(f"{row['Source_id']}, POINT, {row['RA']}, {row['DEC']}, {row['Isl_Total_flux']}", file=stream)
found = []
for path in ("source.skymodel", "photometry.skymodel"):
    model = lsmtool.load(path)
    names = ["Name", "Type", "Ra", "Dec", "I", "MajorAxis", "MinorAxis", "Orientation", "Patch"]
    found.append({n: model.getColValues(n).tolist() for n in names if n in model.getColNames()})
print(json.dumps(found))
"""
MAPS = """
import json, bdsf, numpy as np
from astropy.io import fits
maps = ["c.background.fits", "c.rms.fits"]
img = bdsf.process_image("image.fits", rmsmean_map_filename=maps, rms_map=True, mean_map="map", rms_box=(30, 10), quiet=True, outdir=".")
background, rms, islands = (np.squeeze(fits.getdata(name)).T for name in [*maps, "c.islands.fits"])
same = (img.mean_arr == background).all(), (img.rms_arr == rms).all(), ((img.pyrank >= 0) == (islands > 0)).all()
print(json.dumps([list(map(bool, same)), [[*s.posn_sky_centroid, s.total_flux, s.total_fluxE] for s in img.sources]]))
"""
FILTER = """
import json, sys, bdsf, lsmtool
from lsmtool.filter_skymodel.bdsf import filter_skymodel
n = filter_skymodel("image.fits", "image.fits", "in.skymodel", None, "apparent.txt", "true.txt", "v.npy",
                    output_catalog="c.fits", output_true_rms="rms.fits", ncores=1, keep_mask=True)
model = lsmtool.load("true.txt")
print(json.dumps([bdsf.__name__, n, list(map(str, model.getColValues("Name"))), list(map(str, model.getColValues("Patch")))]))
"""


@needs_peers
class InThePlaceOfPyBDSF(t.Case):
    """The module srcfind.bdsf, and code that calls PyBDSF."""

    def test_options(self):
        """srcfind.bdsf has each option of the installed PyBDSF, with its default."""
        theirs, ours = peer_script(OPTIONS)
        self.assertGreater(len(theirs), 150)
        self.assertEqual({name: ours.get(name) for name in theirs}, theirs)

    def sky(self):
        """Points with spectral axes: their pixels, and the image in image.fits."""
        random = np.random.default_rng(3)
        y, x = np.mgrid[:256, :256]
        places = [(40 * i + 25, 40 * j + 25) for i in range(6) for j in range(6)]
        image = random.normal(0, 0.01, (256, 256))
        for i, (x0, y0) in enumerate(places):
            image += (0.3 + 0.02 * i) * np.exp(
                -4 * np.log(2) * ((x - x0) ** 2 + (y - y0) ** 2) / 5**2
            )
        cards = {"CTYPE3": "FREQ", "CRVAL3": 1.4e8, "CTYPE4": "STOKES", "CRVAL4": 1.0}
        cards.update(BMAJ=10 / 3600, BMIN=10 / 3600, BPA=0.0, BUNIT="Jy/beam")
        for axis in (3, 4):
            cards.update({f"CRPIX{axis}": 1.0, f"CDELT{axis}": 1.0})
        header = t.sky_header(**cards)
        self.write("image.fits", image.astype(np.float32)[None, None], header)
        return WCS(header, naxis=2), places

    def test_lsmtool_filters_a_sky_model(self):
        """Its step of self-calibration, unchanged: components in islands stay, in patches of islands;
        others go."""
        wcs, places = self.sky()
        inside = np.array(places, float)
        outside = inside[:25] + 20  # between four points
        positions = wcs.wcs_pix2world(np.concatenate([inside, outside]), 0)
        with open(self.path("in.skymodel"), "w") as stream:
            print("FORMAT = Name, Type, Ra, Dec, I, ReferenceFrequency='1.4e8'", file=stream)
            for i, (ra, dec) in enumerate(positions):
                kind = "in" if i < len(inside) else "out"
                print(f"{kind}{i}, POINT, {ra:.8f}, {dec:.8f}, 0.5, 1.4e8", file=stream)
        corners = wcs.wcs_pix2world([[0, 0], [255, 0], [255, 255], [0, 255]], 0)
        np.save(self.path("v.npy"), np.array(corners))
        front = subprocess.run(
            [PEERS, "-m", "srcfind.bdsf", "--path"], capture_output=True, text=True, check=True
        ).stdout.strip()
        result = subprocess.run(
            [PEERS, "-c", FILTER],
            cwd=self.directory.name,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": front},
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        module, n, names, patches = json.loads(result.stdout.splitlines()[-1])
        self.assertEqual((module, n), ("srcfind.bdsf", len(places)))
        self.assertEqual(set(names), {f"in{i}" for i in range(len(places))})
        self.assertEqual(len(set(patches)), len(places))
        table = fits.getdata(self.path("c.fits"))
        self.assertEqual(len(table), len(places))
        self.assertAlmostEqual(np.median(fits.getdata(self.path("rms.fits"))), 0.01, delta=0.001)

    def test_casa_reads_its_masks(self):
        """A CASA image replaces another one with clobber alone."""
        self.sky()
        written, shape, is_same = peer_script(CASA, self.path("image.fits"), self.directory.name)
        self.assertEqual((written, shape, is_same), ([True, False, True], [1, 1, 256, 256], True))

    def test_tigger_reads_its_tables(self):
        """As PyBDSF's, by the lines of comments above them."""
        _, places = self.sky()
        subprocess.run(
            [PEERS, "-c", WRITE_TABLE, "image.fits"], cwd=self.directory.name, check=True
        )
        found = peer_script(TIGGER, self.path("c.gaul"))
        table = fits.getdata(self.path("c.fits"))
        self.assertEqual(len(found), len(places))
        for (_, flux, ra, dec, *_), row in zip(found, table):
            self.assertAlmostEqual(flux, row["Total_flux"], places=9)
            self.assertAlmostEqual(np.degrees(ra) % 360, row["RA"], places=9)
            self.assertAlmostEqual(np.degrees(dec), row["DEC"], places=9)

    def test_lsmtool_reads_its_models(self):
        """A sky model with a patch for each source, as facetselfcal asks for; and a table of which
        rapthor makes one: the values are those of the tables."""
        options = "--beam", "5,4,30", "--density", "600", "--elongated"
        sky.make(["400", self.path("image.fits"), *options])
        bbs, photometry = peer_script(MODELS, directory=self.directory.name)
        sources, gaussians = (fits.getdata(self.path(f"c.{kind}.fits")) for kind in ("srl", "gaul"))
        self.assertGreater(len(sources), 30)
        numbers = [int(name.rpartition("_g")[2]) for name in bbs["Name"]]
        self.assertEqual(sorted(numbers), gaussians["Gaus_id"].tolist())
        rows = gaussians[numbers]
        np.testing.assert_allclose(bbs["I"], rows["Total_flux"], rtol=6e-4)
        is_point = rows["DC_Maj"] == 0
        self.assertEqual(set(is_point), {False, True})
        self.assertEqual(bbs["Type"], ["POINT" if point else "GAUSSIAN" for point in is_point])
        for name, column in (("MajorAxis", "DC_Maj"), ("MinorAxis", "DC_Min")):
            np.testing.assert_allclose(bbs[name], rows[column] * 3600, rtol=6e-6)
        angles = np.where(is_point, 0, rows["DC_PA"])
        np.testing.assert_allclose(bbs["Orientation"], angles, rtol=6e-6)
        self.assertEqual(bbs["Patch"], [f"image_patch_s{number}" for number in rows["Source_id"]])
        for model, table in ((bbs, rows), (photometry, sources)):
            np.testing.assert_allclose(np.array(model["Ra"]) % 360, table["RA"], atol=1e-8)
            np.testing.assert_allclose(model["Dec"], table["DEC"], atol=1e-8)
        self.assertEqual(photometry["I"], sources["Isl_Total_flux"].tolist())

    def test_pybdsf_takes_maps(self):
        """PyBDSF itself, with the command's maps of rms and background, has its islands, to the pixel,
        and its fluxes within two errors."""
        self.sky()
        options = "-q -n 5 -i 3 --local --fit --connectivity 8 --min-pixels 6".split()
        save = "--save", "rms,background,islands", "-o", self.path("c.csv")
        t.run(self.path("image.fits"), *options, *save, check=True)
        rows = t.read_csv(self.path("c.csv"))
        same, theirs = peer_script(MAPS, directory=self.directory.name)
        self.assertEqual(same, [True] * 3)
        self.assertEqual(len(rows), len(theirs))
        own = np.array([[row["RA"], row["DEC"], row["Total_flux"]] for row in rows])
        for ra, dec, flux, error in theirs:
            offsets = np.hypot((own[:, 0] - ra) * np.cos(np.radians(dec)), own[:, 1] - dec)
            self.assertLess(offsets.min() * 3600, 1)
            self.assertLess(abs(own[np.argmin(offsets), 2] - flux), 2 * error)


if __name__ == "__main__":
    t.main()
