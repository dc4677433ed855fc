"""--columns: a catalogue with other columns, names and units, in each format."""
import json
import os
import warnings

import numpy as np
from astropy.table import Table

import srcfind_test as t

AEGEAN = [
    "island",
    "source",
    "background",
    "local_rms",
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
    "residual_std",
    "uuid",
    "psf_a",
    "psf_b",
    "psf_pa",
]
LISTS = ("aegean", "selavy", "pybdsf", "short")


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
                if table[name].dtype.kind == "f" and not name.startswith(("DC_", "Scale")):
                    self.assertFalse(np.all(table[name] == 0), (name, options))

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
            (2, "--columns: E_Maj needs --fit", "@aegean"),
            (2, "there is no list @x; there are @aegean, @selavy, @pybdsf, @short", "@x"),
            (2, "two columns are named RA", "RA=ra,DEC=RA"),
            (2, "--columns: ',DEC': each is NAME[:UNIT][=NEW]", "RA,,DEC"),
            (2, "each is NAME", "RA,"),
            (2, "each is NAME", "'x"),
            (2, "each is NAME", "'x'"),
            (2, "each is NAME", "RA=a b"),
            (2, "each is NAME", "RA='a'"),
            (2, "each is NAME", "RA=" + "x" * 28),
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
            (2, "@selavy,RA: a list with a name stands alone", "@selavy,RA"),
            (2, "--columns: RA is in deg, and cannot be converted to", "RA:\u00b5rad"),
            (2, "columns: nJy: VOTable and FITS have no spelling", "Total_flux:nJy"),
            (2, "--columns: S_Code needs --deblend", "S_Code"),
            (2, "--columns: Scale needs --scales", "Scale"),
            (2, "--columns: Spec_Indx needs --measure-in", "Spec_Indx"),
            (2, "--columns: Entry_id needs --at", "Entry_id"),
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


if __name__ == "__main__":
    t.main()
