"""--columns: a catalogue with other columns, names and units, in each format."""
import json
import os
import uuid
import warnings

import numpy as np
from astropy import units
from astropy.coordinates import SkyCoord
from astropy.io import fits, votable
from astropy.table import Table
from astropy.wcs import WCS

import srcfind_test as t

AEGEAN = [
    "island",
    "source",
    "background",
    "local_rms",
    "ra_str",
    "dec_str",
    "ra",
    "err_ra",
    "dec",
    "err_dec",
    "peak_flux",
    "err_peak_flux",
    "int_flux",
    "err_int_flux",
    "a",
    "err_a",
    "b",
    "err_b",
    "pa",
    "err_pa",
    "flags",
    "residual_mean",
    "residual_std",
    "uuid",
    "psf_a",
    "psf_b",
    "psf_pa",
]
SELAVY = [  # of its table of components
    *(
        "island_id component_id component_name ra_hms_cont dec_dms_cont ra_deg_cont dec_deg_cont"
    ).split(),
    *("ra_err dec_err freq flux_peak flux_peak_err flux_int flux_int_err").split(),
    *("maj_axis min_axis pos_ang maj_axis_err min_axis_err pos_ang_err").split(),
    *("maj_axis_deconv min_axis_deconv pos_ang_deconv").split(),
    *("maj_axis_deconv_err min_axis_deconv_err pos_ang_deconv_err").split(),
    *("chi_squared_fit rms_fit_gauss spectral_index spectral_curvature").split(),
    *("spectral_index_err spectral_curvature_err rms_image has_siblings").split(),
    *("fit_is_estimate spectral_index_from_TT flag_c4 comment").split(),
]
LISTS = ("aegean", "selavy", "pybdsf", "short")
NOT_FITTED = 64


class Columns(t.Case):
    def image(self, name="image.fits", **cards):
        return self.write(
            name, t.noise(150, 170, seed=3, sigma=0.1), t.sky_header(FREQ=1.4e9, **cards)
        )

    def table(self, path):
        if path.endswith(".json"):
            with open(path, encoding="utf-8") as stream:
                catalogue = json.load(stream)
            os.remove(path)  # the schema describes the columns of srcfind
            table = Table(rows=catalogue["sources"]) if catalogue["sources"] else Table()
            self.assertEqual(
                [column["name"] for column in catalogue["columns"]], list(catalogue["sources"][0])
            )
            return table
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return Table.read(path, **{"format": "ascii.csv"} if path.endswith(".gz") else {})

    def test_formats(self):
        """Order, names, units and values, of rows and of the image, in each format."""
        image = self.image()
        chosen = "'x, \"y\"'=note, Total_flux:mJy=int_flux , DEC,RA=ra, Maj:arcsec = a,Source_Name=n,Beam_Min:arcsec,Frequency:MHz=f,N_pix,'7'=seven,'-1.5'=r,'nan'=none"
        names = [
            "note",
            "int_flux",
            "DEC",
            "ra",
            "a",
            "n",
            "Beam_Min",
            "f",
            "N_pix",
            "seven",
            "r",
            "none",
        ]
        options = ["-i", "3", "--min-pixels", "6"]
        rows = t.read_csv(self.out(image, "all.csv", *options))
        self.assertGreater(len(rows), 10)
        for suffix in ("csv", "ecsv", "vot", "fits", "json", "csv.gz"):
            with self.subTest(suffix):
                table = self.table(self.out(image, "c." + suffix, "--columns", chosen, *options))
                self.assertEqual(table.colnames, names)
                self.assertEqual(len(table), len(rows))
                if suffix in ("ecsv", "vot", "fits"):
                    self.assertEqual(
                        [str(table[name].unit) for name in ("int_flux", "DEC", "a", "f", "N_pix")],
                        ["mJy", "deg", "arcsec", "MHz", "None"],
                    )
                for row, of in zip(table, rows):
                    self.assertEqual(
                        [
                            str(row["note"]),
                            str(row["n"]),
                            int(row["N_pix"]),
                            int(row["seven"]),
                            float(row["r"]),
                        ],
                        ['x, "y"', of["Source_Name"], of["N_pix"], 7, -1.5],
                    )
                    np.testing.assert_allclose(
                        [float(row[name]) for name in ("int_flux", "DEC", "ra", "a", "f")],
                        [1e3 * of["Total_flux"], of["DEC"], of["RA"], 3600 * of["Maj"], 1400],
                        rtol=1e-15,
                    )
                    self.assertEqual(float(row["f"]), 1400)
                    self.assertAlmostEqual(float(row["Beam_Min"]), 3600 * t.sky_header()["BMIN"], 9)
                    self.assertTrue(
                        row["none"] is None or np.ma.is_masked(row["none"]) or np.isnan(row["none"])
                    )

    def out(self, image, name, *options):
        t.run(image, "-q", "-o", self.path(name), *options, check=True)
        return self.path(name)

    def test_all_are_measured(self):
        """Rows of no kind leave a column at 0."""
        sample = os.path.join(t.SOURCE_ROOT, "data", "sample.fits")
        at = self.path("at.csv")
        t.run(sample, "-q", "-i", "3", "-o", at, check=True)
        for options in (
            [],
            ["--fit", "--negative"],
            ["--scales"],
            ["--at", at],
            ["--fit", "--at", at],
        ):
            path = self.path("measured.fits")
            t.run(sample, "-q", "-i", "3", *options, "-o", path, check=True)
            table = Table.read(path)
            self.assertGreater(len(table), 10)
            for name in table.colnames:
                if table[name].dtype.kind == "f" and not name.startswith(("DC_", "Scale", "Blend")):
                    self.assertFalse(np.all(table[name] == 0), (name, options))

    def test_columns_beside_a_list(self):
        """Before and behind it, and two lists."""
        image, out = self.image(), self.path("c.csv")
        names = {}
        for columns in ("@short", "@pybdsf", "@pybdsf,Flags", "N_pix=n, @short ,Isl_rms"):
            t.run(image, "-q", "--fit", "--columns", columns, "-o", out, check=True)
            with open(out) as stream:
                names[columns] = stream.readline().strip().split(",")
        self.assertEqual(names["@pybdsf,Flags"], names["@pybdsf"] + ["Flags"])
        self.assertEqual(names["N_pix=n, @short ,Isl_rms"], ["n", *names["@short"], "Isl_rms"])

    def test_lists(self):
        """The lists of the folder are those of the command, and each can be written with --fit."""
        image = self.image()
        for name in LISTS:
            with self.subTest(name), open(
                os.path.join(t.SOURCE_ROOT, "columns", name), encoding="ascii"
            ) as stream:
                written = self.out(image, "c.csv", "--fit", "--columns", "@" + name)
                with open(written, encoding="ascii") as one, open(
                    self.out(image, "d.csv", "--fit", "--columns", stream.read()), encoding="ascii"
                ) as other:
                    self.assertEqual(one.read(), other.read())
        self.assertEqual(
            self.table(self.out(image, "c.fits", "--fit", "--columns", "@aegean")).colnames, AEGEAN
        )
        short = t.read_csv(self.out(image, "c.csv", "--columns", "@short"))
        self.assertEqual(len(short[0]), 10)

    def test_pybdsf(self):
        """Names, order and units are those of a table that PyBDSF wrote."""
        if not t.SHARED:
            self.skipTest("needs SRCFIND_TEST_DATA")
        theirs = Table.read(os.path.join(t.SHARED, "data", "radio", "pybdsf_tbdsf.srl.fits"))
        table = self.table(self.out(self.image(), "c.fits", "--fit", "--columns", "@pybdsf"))
        self.assertEqual(table.colnames, theirs.colnames[: len(table.colnames)])
        self.assertEqual(
            [str(table[name].unit) for name in table.colnames if name != "Resid_Isl_mean"],
            [str(theirs[name].unit) for name in table.colnames if name != "Resid_Isl_mean"],
        )

    def test_frames(self):
        """RA stands for the longitude of any frame; under a new name, it is that frame's alone."""
        image = self.image(CTYPE1="GLON-CAR", CTYPE2="GLAT-CAR")
        rows = t.read_csv(self.out(image, "all.csv"))
        for name, column in (("RA", "GLON"), ("GLON", "GLON"), ("DEC", "GLAT")):
            self.assertEqual(
                [row[column] for row in t.read_csv(self.out(image, "c.csv", "--columns", name))],
                [row[column] for row in rows],
            )
        self.assertEqual(
            list(t.read_csv(self.out(image, "c.csv", "--columns", "GLON=l,GLAT=b"))[0]), ["l", "b"]
        )
        for wrong, of in (("RA=ra", image), ("GLON=l", self.image("equatorial.fits"))):
            self.assert_error(
                1, "columns: %s: the coordinates of this image are" % wrong, of, "--columns", wrong
            )
        self.assert_error(
            1,
            "the coordinates of this image are GLON and GLAT: list these",
            image,
            "--fit",
            "--columns",
            "@aegean",
        )

    def test_what_an_image_lacks(self):
        """Without sky coordinates, beam or unit, what needs them for its unit is empty; another
        unit is an error."""
        pixels = t.noise(150, 170, seed=3, sigma=0.1)
        bare = self.write("bare.fits", pixels)
        for image, empty in (
            (bare, ("flux_int", "flux_peak", "maj_axis", "ra_err")),
            (
                self.write("beamless.fits", pixels, t.sky_header(BMAJ=None, BMIN=None, BPA=None)),
                ("flux_int",),
            ),
        ):
            rows = t.read_csv(self.out(image, "c.csv", "--fit", "--columns", "@selavy"))
            self.assertGreater(len(rows), 5)
            self.assertEqual({row[name] for row in rows for name in empty}, {None})
        self.assertEqual(
            self.table(self.out(bare, "c.ecsv", "--columns", "@short")).colnames[-2], "Maj"
        )
        kelvin = self.write("kelvin.fits", pixels, t.sky_header(BUNIT="K"))
        self.assert_error(
            1,
            "columns: Peak_flux is in K, and cannot be converted to mJy/beam",
            kelvin,
            "--columns",
            "Peak_flux:mJy/beam",
        )

    def test_nothing_is_left_beside_no_catalogue(self):
        """Maps and tables are written before the catalogue, and removed if it cannot be written."""
        image = self.image()
        with open(self.path("c.gaussians.csv"), "w", encoding="ascii") as stream:
            stream.write("Source_id,Isl_id,Gaus_id,")
        options = "--fit", "--save", "gaussians,rms", "-o", self.path("c.csv")
        self.assert_error(
            1, "cannot be converted to K", image, "--columns", "Total_flux:K", *options
        )
        self.assertEqual(os.listdir(self.directory.name), ["image.fits"])

    def test_numbers_alone(self):
        """Rows of numbers alone, of any number of bytes, are whole: over several blocks, and
        whatever is left of the last row."""
        image = self.write("noise.fits", t.noise(200, 170, seed=3, sigma=0.1), t.sky_header())
        columns = [
            "RA",
            "DEC",
            "N_pix",
            "Peak_flux",
            "Xpeak",
            "SNR",
            "Isl_id",
            "Flags",
            "Xposn",
            "Yposn",
        ]
        for least, n_rows in (("1", (1200, 3000)), ("1000", (0, 0)), ("30", (1, 30))):
            options = ["-n", "1.5", "--min-pixels", least]
            rows = t.read_csv(self.out(image, "all.csv", *options))
            self.assertTrue(n_rows[0] <= len(rows) <= n_rows[1], len(rows))
            for n in (1, 2, 3, 4, 8, 9, 10):
                for suffix in ("vot", "vot.gz", "fits"):
                    with self.subTest(least=least, n=n, suffix=suffix):
                        self.assertEqual(
                            self.numbers(
                                self.out(
                                    image,
                                    "c." + suffix,
                                    "--columns",
                                    ",".join(columns[:n]),
                                    *options,
                                )
                            ),
                            [[float(row[name]) for row in rows] for name in columns[:n]],
                        )

    def numbers(self, path):
        """The cells of each column."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            table = Table.read(path, format="votable" if ".vot" in path else None)
        return [np.asarray(table[name], float).tolist() for name in table.colnames]

    def test_many_texts(self):
        """Rows of texts that are as long as they can be, in all formats."""
        image = self.image("b" * 200 + ".fits")
        chosen = ",".join(
            ["Source_Name=n%d" % i for i in range(40)]
            + ["'%s'=c%d" % ("y" * 71, i) for i in range(10)]
            + ["Image=i%d" % i for i in range(14)]
        )
        for suffix in ("csv", "ecsv", "vot", "fits", "json"):
            table = self.table(self.out(image, "c." + suffix, "--columns", chosen))
            self.assertEqual(
                [len(table.colnames), str(table["c9"][0]), str(table["i13"][3])],
                [64, "y" * 71, image],
            )
            self.assertEqual(list(table["n0"]), list(table["n39"]))

    def test_several_images(self):
        """Each has its own beam and path; tables beside the catalogues keep all of their
        columns."""
        images = [self.image("%d.fits" % i, BMAJ=(3 + i) * 1e-3) for i in range(2)]
        t.run(
            *images,
            "-q",
            "--fit",
            "--save",
            "gaussians",
            "--columns",
            "Image,Beam_Maj,RA",
            "-o",
            self.path("out"),
            check=True,
        )
        for i, image in enumerate(images):
            rows = t.read_csv(self.path("out/%d.csv" % i))
            self.assertEqual([rows[0]["Image"], rows[0]["Beam_Maj"]], [image, (3 + i) * 1e-3])
            self.assertIn("Gaus_id", t.read_csv(self.path("out/%d.gaussians.csv" % i))[0])
        changed = [
            t.run(
                *images,
                "-o",
                self.path("o"),
                "--report",
                self.path("r.csv"),
                "--columns",
                name,
                check=True,
            )
            and t.read_csv(self.path("r.csv"))[0]["options"]
            for name in ("RA", "DEC")
        ]
        self.assertNotEqual(*changed)

    def test_wrong_usage(self):
        image = self.image()
        for status, message, *options in (
            (2, "--columns: there is no column Totl_flux; did you mean Total_flux?", "Totl_flux"),
            (2, "there is no column nonsense: their names stand", "nonsense"),
            (2, "--columns: Aegean_flags needs --fit", "@aegean"),
            (2, "there is no list @x; there are @aegean, @selavy, @pybdsf, @short", "@x"),
            (2, "two columns are named RA", "RA=ra,DEC=RA"),
            (2, "--columns: ',DEC': each is NAME[:UNIT][|NUMBER][=NEW]", "RA,,DEC"),
            (2, "each is NAME", "RA,"),
            (2, "each is NAME", "'x"),
            (2, "each is NAME", "'x'"),
            (2, "each is NAME", "RA=a b"),
            (2, "each is NAME", "RA='a'"),
            (2, "each is NAME", "RA=" + "x" * 28),
            (2, "each is NAME", "RA|=x"),
            (2, "each is NAME", "RA|a=x"),
            (2, "columns: Xpeak|0.5: a cell of Xpeak is a whole number", "Xpeak|0.5"),
            (2, "columns: Source_Name|0: a cell of Source_Name is a text", "Source_Name|0"),
            (2, "there is no column E_Majj; did you mean E_Maj", "E_Majj|-1", "--fit"),
            (2, "--columns: Aegean_flags needs --fit", "Aegean_flags"),
            (2, "each is NAME", "RA:=x"),
            (2, "--columns: '' is not a list of columns", ""),
            (2, "more than 64", ",".join("RA=r%d" % i for i in range(65))),
            (
                1,
                image + ": columns: Total_flux is in Jy, and cannot be converted to Hz",
                "Total_flux:Hz",
            ),
            (2, "N_pix is in no unit", "N_pix:Jy"),
            (2, "--columns: RA is in deg, and cannot be converted to Jy", "RA:Jy"),
            (2, "Source_Name is in no unit", "Source_Name:m"),
            (2, "there is no column ra; did you mean RA?", "ra"),
            (2, "there is no column aegean; did you mean @aegean?", "aegean"),
            (2, "two columns are named ra", "@aegean,RA=ra"),
            (2, "there is no list @y; there are", "RA,@y"),
            (2, "--columns: RA is in deg, and cannot be converted to", "RA:\u00b5rad"),
            (2, "columns: nJy: VOTable and FITS have no spelling", "Total_flux:nJy"),
            (2, "--columns: S_Code needs --deblend", "S_Code"),
            (2, "--columns: Scale needs --scales", "Scale"),
            (2, "--columns: Spec_Indx needs --measure-in", "Spec_Indx"),
            (2, "--columns: Entry_id needs --at", "Entry_id"),
            (2, "--columns: Blend needs --at and --fit", "Blend"),
            (
                2,
                "reg has columns of its own: choose csv, json, votable, fits or ecsv",
                "RA",
                "-f",
                "reg",
            ),
            (
                2,
                "--skip-existing reads catalogues with all columns",
                "RA",
                "--skip-existing",
                "-o",
                self.path("c.csv"),
            ),
            (2, "--merge reads catalogues", "RA", "--merge", self.path("m.csv")),
            (2, "--bench writes no catalogue", "RA", "--bench"),
        ):
            with self.subTest(options):
                self.assert_error(status, message, image, "--columns", *options)
        self.assertEqual(os.listdir(self.directory.name), ["image.fits"])


def letters(n):
    """a, b, ..., z, aa, ab, ..."""
    return (letters(n // 26 - 1) if n >= 26 else "") + "abcdefghijklmnopqrstuvwxyz"[n % 26]


class Meanings(t.Case):
    """The columns of another program mean what they mean there."""

    OPTIONS = ("--fit", "-i", "3", "--group", "0")

    def setUp(self):
        """Noise with pairs of points, which share islands, lone ones, and a ring that no Gaussian
        describes."""
        super().setUp()
        y, x = np.indices((300, 320))
        image = t.noise(300, 320, seed=8, n_sources=0, sigma=0.1)
        self.header = t.sky_header(FREQ=1.4e9, CRVAL2=60.0)
        widths = [self.header[name] / self.header["CDELT2"] / 2.355 for name in ("BMAJ", "BMIN")]
        sigma = np.sqrt(widths[0] * widths[1])
        for k, (row, column) in enumerate(np.mgrid[30:280:50, 30:300:50].reshape(2, -1).T):
            for at in (column, column + 3 * sigma)[: 1 + k % 2]:
                image += (2 + k) * np.exp(-((x - at) ** 2 + (y - row) ** 2) / (2 * sigma**2))
        image[140:142, 10:310] += 3
        self.image = self.write("image.fits", image.astype(np.float32), self.header)
        self.rows = self.read("all.csv")

    def read(self, name, *options):
        t.run(self.image, "-q", *self.OPTIONS, "-o", self.path(name), *options, check=True)
        return t.read_csv(self.path(name))

    def siblings(self):
        """How many rows each row's island has, and its number among them."""
        numbers, islands = [], [row["Isl_id"] for row in self.rows]
        for k, island in enumerate(islands):
            numbers.append(islands[:k].count(island))
        return [islands.count(island) for island in islands], numbers

    def test_aegean(self):
        rows = self.read("c.csv", "--columns", "@aegean")
        self.assertEqual(list(rows[0]), AEGEAN)
        counts, numbers = self.siblings()
        self.assertGreater(max(counts), 1)
        self.assertEqual([row["source"] for row in rows], numbers)
        self.assertEqual([row["island"] for row in rows], [row["Isl_id"] for row in self.rows])
        places = SkyCoord([row["ra"] for row in rows], [row["dec"] for row in rows], unit="deg")
        for row, own, place in zip(rows, self.rows, places):
            is_fitted = not int(own["Flags"]) & NOT_FITTED
            if own["PA"] is not None:
                self.assertTrue(-90 < row["pa"] <= 90)
                self.assertIn(own["PA"], (row["pa"], row["pa"] + 180))
            self.assertEqual(int(row["flags"]) & ~1, 0 if is_fitted else 16)
            for name, of in (("err_a", "E_Maj"), ("err_ra", "E_RA"), ("err_pa", "E_PA")):
                factor = 3600 if of == "E_Maj" else 1
                expected = -1 if own[of] is None else own[of] * factor
                self.assertAlmostEqual(row[name], expected, delta=1e-9 * abs(expected))
            text = [
                place.ra.to_string("hour", sep=":", precision=2, pad=True),
                place.dec.to_string(sep=":", precision=2, pad=True, alwayssign=True),
            ]
            self.assertEqual([row["ra_str"], row["dec_str"]], text)
            if is_fitted:
                self.assertEqual(row["residual_mean"], -own["Resid_Isl_mean"])
                self.assertAlmostEqual(
                    np.hypot(row["residual_mean"], row["residual_std"]) / own["Resid_Isl_rms"], 1, 9
                )
        self.assertEqual(len({str(uuid.UUID(row["uuid"])) for row in rows}), len(rows))
        self.assertEqual(rows, self.read("again.csv", "--columns", "@aegean", "-j", "3"))

    def test_aegean_of_what_is_not_fitted(self):
        """err_* are -1 where there is none, and flags 16 says why; rows of --at are priorized."""
        y, x = np.indices((120, 120))
        image = t.noise(120, 120, seed=3, n_sources=0, sigma=0.1)
        image[60, 20:100:7] += 3
        image[np.hypot(x - 60, y - 20) < 2] = np.nan
        image[30, 58:62] = 5
        self.image = self.write("image.fits", image, self.header)
        own = self.read("all.csv", "-n", "4", "-i", "4")
        rows = self.read("c.csv", "--columns", "@aegean", "-n", "4", "-i", "4")
        missing = [row for row, of in zip(rows, own) if int(of["Flags"]) & NOT_FITTED]
        self.assertGreater(len(missing), 0)
        for row in missing:
            self.assertEqual(int(row["flags"]) & 16, 16)
            self.assertEqual([row["err_a"], row["err_b"], row["err_pa"]], [-1] * 3)
        options = ["--fit", "--at", self.path("all.csv"), "--columns", "@aegean"]
        t.run(self.image, "-q", *options, "-o", self.path("at.csv"), check=True)
        for row in t.read_csv(self.path("at.csv")):
            self.assertEqual(int(row["flags"]) & 64, 64)

    def test_selavy(self):
        rows = self.read("c.csv", "--columns", "@selavy")
        self.assertEqual(list(rows[0]), SELAVY)
        counts, numbers = self.siblings()
        self.assertEqual([row["has_siblings"] for row in rows], [int(n > 1) for n in counts])
        self.assertEqual(
            [row["component_id"] for row in rows],
            ["component_%d%s" % (own["Isl_id"], letters(n)) for own, n in zip(self.rows, numbers)],
        )
        for row, own in zip(rows, self.rows):
            is_estimate = int(own["Flags"]) & NOT_FITTED > 0
            self.assertEqual(row["island_id"], "island_%d" % own["Isl_id"])
            self.assertEqual(row["fit_is_estimate"], is_estimate)
            self.assertEqual(row["flag_c4"], is_estimate or (own["Chi2"] or 0) > 5)
            self.assertEqual([row["spectral_index"], row["spectral_curvature"]], [-99, None])
            self.assertEqual(row["freq"], 1400)
            self.assertEqual(row["chi_squared_fit"] is None, is_estimate)
        self.assertEqual({row["flag_c4"] for row in rows}, {0, 1})
        # of a lone fit: sum = Chi2 x pixels, less what the fit takes
        ratios = [
            row["chi_squared_fit"] / own["Chi2"] / own["Dof"]
            for row, own in zip(rows, self.rows)
            if own["Chi2"]
        ]
        self.assertLess(np.ptp(ratios) / np.mean(ratios), 1e-9)

    def test_selavy_votable(self):
        """Fields have the IDs of Selavy; no other list has IDs."""
        for name, ids in (("selavy", ["col_" + name for name in SELAVY]), ("aegean", AEGEAN)):
            self.read_table(name)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                fields = votable.parse(self.path(name + ".vot")).get_first_table().fields
            self.assertEqual([field.ID for field in fields], ids)
            self.assertEqual(
                [field.name for field in fields], SELAVY if name == "selavy" else AEGEAN
            )

    def read_table(self, name):
        path = self.path(name + ".vot")
        t.run(self.image, "-q", *self.OPTIONS, "-o", path, "--columns", "@" + name, check=True)

    def test_spectral_index(self):
        """It is that of --measure-in, and -99 without."""
        cube = self.write(
            "cube.fits",
            np.stack([fits.getdata(self.image) * (nu / 1.4e9) ** -0.7 for nu in (1.3e9, 1.5e9)]),
            t.sky_header(
                CRVAL2=60.0, CTYPE3="FREQ", CRPIX3=1.0, CRVAL3=1.3e9, CDELT3=2e8, CUNIT3="Hz"
            ),
        )
        rows = self.read("c.csv", "--columns", "@selavy", "--measure-in", cube)
        found = [row["spectral_index"] for row in rows if row["spectral_index"] != -99]
        self.assertGreater(len(found), 10)
        self.assertLess(abs(np.median(found) + 0.7), 0.1)

    def test_pybdsf(self):
        """Sizes in the plane of the image are in pixels, and angles from its y axis; the error of
        the highest place is known of one Gaussian."""
        rows = self.read("c.csv", "--columns", "@pybdsf")
        sides = np.sqrt(np.abs(np.linalg.det(WCS(self.header).pixel_scale_matrix)))
        wcs = WCS(self.header)
        n_wide = 0
        for row, own in zip(rows, self.rows):
            self.assertEqual(row["E_RA_max"], own["E_RA"] if own["N_Gaus"] == 1 else None)
            if int(own["Flags"]) & NOT_FITTED or own["Maj"] < 1.2 * own["Min"]:
                continue
            n_wide += 1
            centre = SkyCoord(own["RA"], own["DEC"], unit="deg")
            end = centre.directional_offset_by(own["PA"] * units.deg, own["Maj"] * units.deg)
            x, y = wcs.world_to_pixel(SkyCoord([centre.ra, end.ra], [centre.dec, end.dec]))
            dx, dy = np.diff(x)[0], np.diff(y)[0]
            self.assertAlmostEqual(np.hypot(dx, dy) * sides / row["Maj_img_plane"], 1, delta=1e-3)
            turned = np.degrees(np.arctan2(-dx, dy)) - row["PA_img_plane"]
            self.assertLess(abs((turned + 90) % 180 - 90), 0.2)
        self.assertGreater(n_wide, 0)

    def test_gaussians_have_the_name_of_their_source(self):
        """So that tables of sources and of Gaussians can be joined by it."""
        t.run(
            self.image,
            "-q",
            "--fit",
            "-i",
            "3",
            "--group",
            "5",
            "--save",
            "gaussians",
            "-o",
            self.path("c.csv"),
            check=True,
        )
        sources, gaussians = (t.read_csv(self.path(name)) for name in ("c.csv", "c.gaussians.csv"))
        names = {row["Source_id"]: row["Source_Name"] for row in sources}
        self.assertTrue(any(row["N_Gaus"] > 1 for row in sources))
        for row in gaussians:
            self.assertEqual(row["Source_Name"], names[row["Source_id"]])
        for row in sources:
            mine = [g for g in gaussians if g["Source_Name"] == row["Source_Name"]]
            self.assertEqual(len(mine), row["N_Gaus"])

    def test_otherwise(self):
        """A number stands for empty cells, and for columns that the options do not measure."""
        rows = self.read(
            "c.csv", "--columns", "DC_PA|-7=a,E_Maj:arcsec|-1=b,Spec_Indx|0.5=c,Chi2|-1=d"
        )
        for row, own in zip(rows, self.rows):
            self.assertEqual(row["c"], 0.5)
            self.assertEqual(row["d"], -1 if own["Chi2"] is None else own["Chi2"])
        self.assertIn(-1, [row["d"] for row in rows])


if __name__ == "__main__":
    t.main()
