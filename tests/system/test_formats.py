"""Formats other than CSV and JSON: what other programs read in them is what the CSV has."""
import functools
import gzip
import os
import re
import subprocess
import warnings

import numpy as np
from astropy.io import fits
from astropy.io.votable import parse as votable_parse
from astropy.table import Table

import srcfind_test as t
from test_catalogue import COLUMNS

NUMBER = r"([-+.e\d]+)"
DS9 = re.compile(r'(image;)?ellipse\(%s,%s,%s"?,%s"?,%s\) # text=\{(\d+)\}' % ((NUMBER,) * 5))
CASA = re.compile(
    r'ellipse \[\[%s(deg|pix), %s(?:deg|pix)\], \[%s(?:arcsec|pix), %s(?:arcsec|pix)\], %sdeg\](?:, coord=(\w+))?, label="(\d+)"'
    % ((NUMBER,) * 5)
)
INTEGERS = {
    "Source_id",
    "Isl_id",
    "N_Gaus",
    "Xpeak",
    "Ypeak",
    "N_pix",
    "X_min",
    "X_max",
    "Y_min",
    "Y_max",
    "Flags",
}
NO_SHAPE = 8
OBSERVATION = {
    "DATE-OBS": "2026-11-25T22:00:00",
    "TELESCOP": 'ASKAP & "ATCA"',
    "OBJECT": "Barnard's: #1",
}
FORMATS = {
    "csv": ".csv",
    "json": ".json",
    "votable": ".vot",
    "fits": ".fits",
    "ecsv": ".ecsv",
    "reg": ".reg",
    "crtf": ".crtf",
    "table": ".txt",
}


def columns_of(*options):
    """The columns that a catalogue has with these options, and those that may have empty
    integers."""
    names = list(COLUMNS)
    if "--at" in options:
        names.insert(names.index("Source_Name"), "Entry_id")
    if {"--at", "--fit"} <= set(options):
        names.insert(names.index("Flags"), "Blend")
    if "--at" not in options and {"--deblend", "--contrast", "--fit", "--shapes"} & set(options):
        names.insert(names.index("Source_Name") + 1, "S_Code")
    if {"--fit", "--shapes"} & set(options):
        names.insert(names.index("RA"), "N_Gaus")
        names[names.index("Xposn") : names.index("Xposn")] = ["RA_max", "DEC_max"]
        at = names.index("PA") + 1
        names[names.index("SNR") + 1 : names.index("SNR") + 1] = ["Pix_SNR", "Hole"]
        names[at:at] = [
            "E_Maj",
            "E_Min",
            "E_PA",
            "DC_Maj",
            "DC_Min",
            "DC_PA",
            "E_DC_Maj",
            "E_DC_Min",
            "E_DC_PA",
            "Resid_Isl_rms",
            "Resid_Isl_mean",
            "Chi2",
            "Dof",
        ]
        names.insert(names.index("E_Total_flux") + 1, "E_Total_shape")
    return (
        names,
        [
            *["N_Gaus"][: len({"--fit", "--shapes"} & set(options))],
            "Xpeak",
            "Ypeak",
            "N_pix",
            "X_min",
            "X_max",
            "Y_min",
            "Y_max",
        ]
        if {"--fit", "--shapes", "--at"} & set(options)
        else [],
    )


class Formats(t.Case):
    def image(self, **cards):
        image = t.noise(200, 220, seed=3)
        image[150, 30] = 40  # a source of one pixel: it has no shape
        return self.write("image.fits", image, t.sky_header(**cards))

    def written(self, path, suffix, *options):
        output = self.path("c" + suffix)
        self.assertEqual(t.run(path, "-q", "-o", output, *options).returncode, 0)
        return output

    def lines(self, path, suffix, *options):
        with open(self.written(path, suffix, *options)) as stream:
            return stream.read().splitlines()

    def rows(self, path, *options):
        return t.read_csv(self.written(path, ".csv", *options))

    def test_ecsv(self):
        path = self.image(**OBSERVATION, FREQ=1.4e9, BUNIT="mJy/beam", EXTNAME='it\'s "so": \\ #')
        for options in ([], ["--local", "--rms-box", "40"], ["-n", "500"]):
            table = Table.read(self.written(path, ".ecsv", *options))
            expected = self.rows(path, *options)
            self.assertEqual(len(table), len(expected))
            for name in table.colnames:
                values = [row[name] for row in expected]
                self.assertEqual(
                    [None if np.ma.is_masked(v) else v for v in table[name]], values, name
                )
            self.assertEqual(
                [str(table[name].unit) for name in ("RA", "Xposn", "Peak_flux", "Total_flux")],
                ["deg", "pix", "mJy / beam", "Jy"],
            )
            self.assertEqual(
                [table["RA"].meta["ucd"], table["N_pix"].dtype], ["pos.eq.ra;meta.main", np.int64]
            )
            self.assertEqual(
                [table.meta[name] for name in ("image", "FREQ", "bunit", "RADESYS")],
                [path, 1.4e9, "mJy/beam", "ICRS"],
            )
            self.assertEqual({name: table.meta[name] for name in OBSERVATION}, OBSERVATION)
            found = t.find(path, *options)
            self.assertEqual(table.meta["background_rms"], found["background"]["rms"])
            self.assertEqual(table.meta["options"], found["options"])
            self.assertEqual(
                table.meta.get("rms_box_size"), found["background"].get("local", {}).get("size")
            )

    def test_header_of_the_image(self):
        """FITS catalogues have it in comments, from which DDFacet's ClusterCat takes shape and
        coordinates; the same from tiles and gzip."""
        cube = t.noise(150, 170, seed=3)[None]
        header = t.sky_header(
            CTYPE3="FREQ",
            CRVAL3=1e9,
            CRPIX3=1.0,
            CDELT3=1e6,
            OBJECT="it's / M 31",
            EXTENDED=True,
            LONGTEXT="x" * 60,
        )
        header.append(fits.Card.fromstring("DOUBLE  =            1.5D+02"))
        path = self.write("image.fits", cube, header)
        fits.HDUList(
            [
                fits.PrimaryHDU(),
                fits.CompImageHDU(cube, header, compression_type="GZIP_1", quantize_level=0),
            ]
        ).writeto(self.path("tiled.fits"))
        with open(path, "rb") as plain, gzip.open(self.path("image.fits.gz"), "wb") as packed:
            packed.write(plain.read())
        found = {}
        for name in ("image.fits", "image.fits.gz", "tiled.fits"):
            with fits.open(self.written(self.path(name), ".fits", "--save", "rms")) as hdus:
                found[name] = list(hdus[1].header["COMMENT"])
        comments = found["image.fits"]
        self.assertEqual(found["image.fits.gz"], comments)
        self.assertEqual([line for line in found["tiled.fits"] if line not in comments], [])
        values = {}
        for line in comments:
            # as ClusterCat reads them
            for keyword, kind in (
                ("CRVAL1", float),
                ("CRVAL2", float),
                ("CDELT1", float),
                ("NAXIS1", int),
            ):
                if keyword in line:
                    values[keyword] = kind(line.split()[2])
        self.assertEqual(values, {"CRVAL1": 150.0, "CRVAL2": 2.0, "CDELT1": -0.0005, "NAXIS1": 170})
        for line in (
            "NAXIS = 3",
            "NAXIS3 = 1",
            "EXTENDED = True",
            "DOUBLE = 1.5E+02",
            "OBJECT = 'it''s / M 31'",
            "CTYPE1 = 'RA---SIN'",
        ):
            self.assertIn(line, comments)
        # it would take two cards, of which readers would misread the second
        self.assertNotIn("LONGTEXT", "".join(comments))

    def test_names_of_formats(self):
        """A format has its name and, without the dot, its suffixes, in letters of any case."""
        image = self.image()
        for names in (
            ("votable", "vot", "VOTable", "xml"),
            ("table", "txt"),
            ("fits", "FIT"),
            ("json", "JSON"),
        ):
            texts = {
                t.subprocess.run(
                    [t.COMMAND, image, "-f", name], capture_output=True, check=True
                ).stdout
                for name in names
            }
            self.assertEqual(len(texts), 1)

    def test_votable(self):
        path = self.image(**OBSERVATION, FREQ=1.4e9, BUNIT="mJy/beam")
        for options in (
            [],
            ["--local", "--rms-box", "40", "--negative", "-n", "3.5"],
            ["-n", "500"],
        ):
            written, expected = self.written(path, ".vot", *options), self.rows(path, *options)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                votable = votable_parse(written, verify="exception")
            first = votable.get_first_table()
            table = first.to_table()
            self.assertEqual([votable.version, len(table)], ["1.4", len(expected)])
            for name in table.colnames:
                values = [None if np.ma.is_masked(v) or v == "" else v for v in table[name]]
                self.assertEqual(values, [row[name] for row in expected], name)
            self.assertEqual(
                [str(table[name].unit) for name in ("RA", "Xposn", "Peak_flux", "Total_flux")],
                ["deg", "pix", "mJy / beam", "Jy"],
            )
            fields = {field.name: field for field in first.fields}
            self.assertEqual(
                [fields["RA"].ucd, fields["RA"].ref, fields["E_RA"].ref],
                ["pos.eq.ra;meta.main", "frame", None],
            )
            self.assertEqual(votable.get_coosys_by_id("frame").system, "ICRS")
            params = {param.name: param.value for param in first.params}
            self.assertEqual(
                [params[name] for name in ("image", "FREQ", "bunit", "option_threshold")],
                [
                    path,
                    1.4e9,
                    "mJy/beam",
                    t.find(path, *options)["options"]["threshold"].__format__("g"),
                ],
            )
            self.assertEqual({name: params[name] for name in OBSERVATION}, OBSERVATION)

    def test_columns_of_options(self):
        """Every format has the columns of --deblend, --fit and --at, and those alone, with their
        types and units."""
        path, texts = self.image(BUNIT="mJy/beam"), {"Source_Name": 31, "Entry_id": 31, "S_Code": 1}
        positions = self.path("positions.csv")
        os.rename(self.written(path, ".csv"), positions)
        for options in (
            (),
            ("--deblend",),
            ("--contrast", "2"),
            ("--fit",),
            ("--shapes", "free"),
            ("--at", positions),
            ("--at", positions, "--fit"),
        ):
            (names, optional), file = columns_of(*options), functools.partial(self.written, path)
            of = {
                name: "text" if name in texts else "integer" if name in INTEGERS else "real"
                for name in names
            }
            with self.subTest(options):
                self.assertEqual(self.lines(path, ".csv", *options)[0].split(","), names)
                catalogue = t.find(path, *options)
                self.assertEqual([column["name"] for column in catalogue["columns"]], names)
                self.assertEqual(
                    {tuple(source) for source in catalogue["sources"]},
                    {tuple(names)} if catalogue["sources"] else set(),
                )
                units = {column["name"]: column["unit"] for column in catalogue["columns"]}
                self.assertEqual(
                    {unit for name, unit in units.items() if "_Maj" in name or "_PA" in name}
                    - {"deg"},
                    set(),
                )
                self.assertEqual(units.get("Resid_Isl_rms", "mJy/beam"), "mJy/beam")
                votable = votable_parse(
                    file(".vot", *options), verify="exception"
                ).get_first_table()
                self.assertEqual([field.name for field in votable.fields], names)
                self.assertEqual(
                    [field.datatype for field in votable.fields],
                    [
                        {"text": "char", "integer": "long", "real": "double"}[of[name]]
                        for name in names
                    ],
                )
                with fits.open(file(".fits", *options)) as hdus:
                    columns = hdus["SOURCES"].columns
                    self.assertEqual(columns.names, names)
                    self.assertEqual(
                        columns.formats,
                        [
                            {"text": "%dA" % texts.get(name, 0), "integer": "K", "real": "D"}[
                                of[name]
                            ]
                            for name in names
                        ],
                    )
                    self.assertEqual(
                        {column.name: column.null for column in columns if column.null is not None},
                        dict.fromkeys(optional, -(2**63)),
                    )
                table = Table.read(file(".ecsv", *options))
                self.assertEqual(table.colnames, names)
                header = [
                    re.search(r"name: (\w+).*datatype: (\w+)", line).groups()
                    for line in self.lines(path, ".ecsv", *options)
                    if line.startswith("# - ")
                ]
                self.assertEqual(
                    header,
                    [
                        (name, {"text": "string", "integer": "int64", "real": "float64"}[of[name]])
                        for name in names
                    ],
                )

    def test_votable_of_odd_names(self):
        """Paths with what XML escapes or forbids; other frames."""
        os.mkdir(self.path('<&">\x01'))
        path = os.path.join(self.path('<&">\x01'), "image.fits")
        os.rename(self.image(CTYPE1="GLON-CAR", CTYPE2="GLAT-CAR"), path)
        votable = votable_parse(self.written(path, ".votable"), verify="exception")
        params = {param.name: param.value for param in votable.get_first_table().params}
        self.assertEqual(params["image"], path.replace("\x01", "?"))
        self.assertEqual(votable.get_coosys_by_id("frame").system, "galactic")

    def test_fits_of_odd_names(self):
        """Cards have printable ASCII alone."""
        path = self.path("Gr\u00f6\u00dfe\n.fits")
        os.rename(self.image(), path)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with fits.open(self.written(path, ".fits")) as hdus:
                hdus.verify("exception")
                self.assertEqual(os.path.basename(hdus["SOURCES"].header["IMAGE"]), "Gr????e?.fits")

    def test_votable_of_ecliptic_frames(self):
        for cards, system, equinox in (
            ({"RADESYS": "FK4", "EQUINOX": 1950.0}, "ecl_FK4", "B1950"),
            ({"RADESYS": "FK5", "EQUINOX": 1975.5}, "ecl_FK4", "B1975.5"),
            ({"RADESYS": "FK5", "EQUINOX": 2000.0}, "ecl_FK5", "J2000"),
        ):
            path = self.image(CTYPE1="ELON-CAR", CTYPE2="ELAT-CAR", **cards)
            frame = votable_parse(self.written(path, ".vot"), verify="exception").get_coosys_by_id(
                "frame"
            )
            self.assertEqual([frame.system, frame.equinox], [system, equinox])

    def test_fits(self):
        directory = self.path("a long name, with the quotes of O'Neill's, " + 60 * "x")
        os.mkdir(directory)
        path = os.path.join(directory, "image.fits")
        os.rename(self.image(**OBSERVATION, FREQ=1.4e9, BUNIT="mJy/beam"), path)
        for options in (
            [],
            ["--local", "--rms-box", "40", "--negative", "-n", "3.5"],
            ["-n", "500"],
        ):
            written, expected = self.written(path, ".fits", *options), self.rows(path, *options)
            with fits.open(written) as hdus:
                hdus.verify("exception")
                table, header = hdus["SOURCES"].data, hdus["SOURCES"].header
                self.assertEqual([len(hdus), len(table)], [2, len(expected)])
                for i, name in enumerate(table.names):
                    values = [
                        None if v == "" or (isinstance(v, np.floating) and np.isnan(v)) else v
                        for v in table[name]
                    ]
                    self.assertEqual(values, [row[name] for row in expected], name)
                    if name in ("RA", "Xposn", "Peak_flux", "Total_flux"):
                        self.assertEqual(
                            header["TUNIT%d" % (i + 1)],
                            {
                                "RA": "deg",
                                "Xposn": "pixel",
                                "Peak_flux": "mJy/beam",
                                "Total_flux": "Jy",
                            }[name],
                        )
                self.assertEqual(
                    [header["IMAGE"], header["FREQ"], header["MAPUNIT"], header["TUCD4"]],
                    [path, 1.4e9, "mJy/beam", "pos.eq.ra;meta.main"],
                )
                self.assertEqual({name: header[name] for name in OBSERVATION}, OBSERVATION)
                self.assertIn(
                    "srcfind option threshold: " + (options[-1] if "-n" in options else "5"),
                    str(header["HISTORY"]),
                )
                self.assertIn("32 negative", header["TCOMM32"])
        with open(written, "rb") as stream:
            data = stream.read()
        with open(written, "wb") as stream:
            stream.write(data[:-2880])
        self.assertNotIn(
            "already", t.run(path, "-n", "500", "-o", written, "--skip-existing").stderr
        )
        with open(written, "rb") as stream:
            self.assertEqual(stream.read(), data)

    def test_fits_that_was_cut(self):
        """Anywhere: it is made again."""
        path = self.image()
        with open(self.written(path, ".fits"), "rb") as stream:
            data = stream.read()
        for n in (1, 30, 2000, 2880, 3000, 6000, 20000, len(data) - 2880, len(data) - 100):
            with open(self.path("c.fits"), "wb") as stream:
                stream.write(data[:-n])
            self.assertNotIn(
                "already", t.run(path, "-o", self.path("c.fits"), "--skip-existing").stderr, n
            )
            with open(self.path("c.fits"), "rb") as stream:
                self.assertEqual(stream.read(), data)

    def test_maps_among_images_and_catalogues(self):
        """A map among the images is skipped: that another one has the name of its catalogue is no
        conflict."""
        image, tiles = self.image(), self.path("tiles")
        os.mkdir(tiles)
        os.rename(image, os.path.join(tiles, "a.fits"))
        for options in (["-o", tiles + "/a.csv"], ["-f", "fits", "-o", self.path("out/")]):
            t.run(os.path.join(tiles, "a.fits"), "-q", "--save", "rms", *options, check=True)
        images = [os.path.join(tiles, name) for name in ("a.fits", "a.rms.fits")]
        result = t.run(*images, "-f", "fits", "-o", self.path("out/"))
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_no_catalogue_replaces_an_image(self):
        """As with -o *.fits, or a directory that has images of the same names."""
        image, other = self.image(), self.write("other.fits", t.noise(40, 40))
        with open(other, "rb") as stream:
            before = stream.read()
        os.mkdir(self.path("out"))
        os.rename(other, self.path("out/image.fits"))
        for output in (self.path("out/image.fits"), self.path("out/")):
            result = t.run(image, "-f", "fits", "-o", output)
            self.assertEqual(result.returncode, 2)
            self.assertIn(
                "would replace this file, which is no catalogue of srcfind", result.stderr
            )
            with open(self.path("out/image.fits"), "rb") as stream:
                self.assertEqual(stream.read(), before)

    def test_no_table_replaces_an_image(self):
        """This is said before the image is searched, and nothing is written."""
        image, out = self.image(), self.path("out/")
        os.mkdir(out)
        other = self.write("out/image.gaussians.fits", t.noise(40, 40))
        result = t.run(image, "-f", "fits", "-o", out, "--fit", "--save", "gaussians,rms")
        self.assertEqual([result.returncode, os.listdir(out)], [2, [os.path.basename(other)]])
        self.assertIn("the table of Gaussians of %s would replace this file" % image, result.stderr)

    def test_no_bytes_on_a_terminal(self):
        leader, follower = os.openpty()
        result = subprocess.run(
            [t.COMMAND, self.image(), "-f", "fits"],
            stdout=follower,
            stderr=subprocess.PIPE,
            text=True,
        )
        os.close(leader)
        os.close(follower)
        self.assertEqual(result.returncode, 2)
        self.assertIn("not for a terminal", result.stderr)

    def test_unit_that_has_no_name(self):
        table = Table.read(self.written(self.image(BUNIT="counts/beam"), ".ecsv"))
        self.assertEqual([table["Peak_flux"].unit, table.meta["bunit"]], [None, "counts/beam"])

    def ellipses(self, path, *options):
        """The ellipses of DS9 and of CASA, in degrees or pixels from 0: frame, x, y, semi-axes,
        angle from north, number."""
        lines = self.lines(path, ".reg", *options)
        self.assertEqual(lines[0], "# Region file format: DS9 version 4.1")
        for before, line in zip(lines[3:], lines[4:]):
            # the frame holds until the next one
            self.assertEqual(line == lines[2], before.startswith("image;"))
        ds9 = [DS9.fullmatch(line).groups() for line in lines[3:] if line != lines[2]]
        casa = [CASA.fullmatch(line).groups() for line in self.lines(path, ".crtf", *options)[1:]]
        for a, b in zip(ds9, casa):
            sky = b[1] == "deg"
            self.assertEqual([a[0] is None and lines[2] != "image", int(a[6])], [sky, int(b[7])])
            (x, y, major, minor, angle), other = map(float, a[1:6]), list(
                map(float, (b[0], *b[2:6]))
            )
            first = 0 if sky else 1
            np.testing.assert_allclose(
                [x - first, y - first, major, minor, angle - 90], other, rtol=1e-12, atol=1e-12
            )
        self.assertEqual(len(ds9), len(casa))
        return lines[2], [[b[6], float(b[0]), *map(float, b[2:6]), int(b[7])] for b in casa]

    def test_regions(self):
        for frame, ds9, casa in (
            ({}, "icrs", "ICRS"),
            ({"RADESYS": "FK5", "EQUINOX": 2000.0}, "fk5", "J2000"),
            ({"RADESYS": "FK4", "EQUINOX": 1950.0}, "fk4", "B1950"),
            ({"CTYPE1": "GLON-CAR", "CTYPE2": "GLAT-CAR"}, "galactic", "GALACTIC"),
        ):
            path = self.image(**frame)
            lon, lat = ("GLON", "GLAT") if ds9 == "galactic" else ("RA", "DEC")
            rows, (name, ellipses) = self.rows(path), self.ellipses(path)
            self.assertEqual([name, len(ellipses)], [ds9, len(rows)])
            shapeless = 0
            for row, ellipse in zip(rows, ellipses):
                beam = row["Maj"] is None
                shapeless += beam
                shape = (
                    [9 / 2, 7.2 / 2, 30]
                    if beam
                    else [1800 * row["Maj"], 1800 * row["Min"], row["PA"]]
                )
                self.assertEqual([ellipse[0], ellipse[6]], [casa, row["Source_id"]])
                np.testing.assert_allclose(ellipse[1:6], [row[lon], row[lat], *shape], rtol=1e-12)
            self.assertGreater(shapeless, 0)

    def test_regions_without_beam_or_frame(self):
        path = self.image(BMAJ=None)
        rows, (_, ellipses) = self.rows(path), self.ellipses(path)
        for row, ellipse in zip(rows, ellipses):
            if row["Maj"] is None:
                # half a pixel of 1.8 arcsec
                np.testing.assert_allclose(ellipse[3:6], [0.9, 0.9, 0])

    def test_regions_in_pixels(self):
        """Without sky coordinates, or in a frame that DS9 does not know, they keep size and angle;
        without a shape, the beam's."""
        flat = {"CTYPE1": None, "CTYPE2": None}
        for options, cards in (
            ([], {"RADESYS": "FK5", "EQUINOX": 1975.0}),
            (["-i", "3", "--fit"], {"RADESYS": "FK5", "EQUINOX": 1975.0}),
            ([], flat),
        ):
            _, on_sky = self.ellipses(self.image(), *options)
            path = self.image(**cards)
            rows, (name, ellipses) = self.rows(path, *options), self.ellipses(path, *options)
            self.assertEqual([name, len(ellipses)], ["image", len(on_sky)])
            for row, sky, ellipse in zip(rows, on_sky, ellipses):
                self.assertEqual([ellipse[0], ellipse[6]], [None, row["Source_id"]])
                np.testing.assert_allclose(ellipse[1:3], [row["Xposn"], row["Yposn"]])
                if cards is flat and int(row["Flags"]) & NO_SHAPE:
                    self.assertEqual(ellipse[3:6], [0.5, 0.5, 0])  # and there is no beam in pixels
                    continue
                np.testing.assert_allclose(ellipse[3:5], [sky[3] / 1.8, sky[4] / 1.8], rtol=1e-4)
                if sky[3] > 1.01 * sky[4]:
                    self.assertAlmostEqual((ellipse[5] - sky[5] + 90) % 180, 90, delta=0.1)
        for row, ellipse in zip(
            self.rows(path, "-i", "3", "--fit"), self.ellipses(path, "-i", "3", "--fit")[1]
        ):
            self.assertEqual(ellipse[6], row["Source_id"])
            self.assertTrue(ellipse[3] >= ellipse[4] > 0, ellipse)

    def test_regions_off_the_sky(self):
        """Sources beyond the edge of a projection stand in pixels, between those of the sky."""
        path = self.image(
            CTYPE1="RA---SIN",
            CTYPE2="DEC--SIN",
            CDELT1=-0.6,
            CDELT2=0.6,
            CRPIX1=110,
            CRPIX2=100,
            BMAJ=2.0,
            BMIN=2.0,
        )
        rows, (name, ellipses) = self.rows(path), self.ellipses(path)
        self.assertEqual([name, len(ellipses)], ["icrs", len(rows)])
        off = [row["RA"] is None for row in rows]
        self.assertIn([True, False], [off[i : i + 2] for i in range(len(off))])
        for row, ellipse in zip(rows, ellipses):
            expected = (
                [row["Xposn"], row["Yposn"]] if row["RA"] is None else [row["RA"], row["DEC"]]
            )
            self.assertEqual(
                [ellipse[0], *ellipse[1:3]], [None if row["RA"] is None else "ICRS", *expected]
            )

    def test_table(self):
        path = self.image()
        lines = self.lines(path, ".txt")
        names = ["RA", "DEC", "Peak_flux", "E_Peak_flux", "Total_flux", "E_Total_flux", "SNR"]
        self.assertEqual(lines[0].split(), ["Source", *names, "Maj", "Flags"])
        self.assertEqual(len({len(line) for line in lines}), 1)
        for line, row in zip(lines[2:], self.rows(path)):
            cells = line.split()
            self.assertEqual([int(cells[0]), int(cells[9])], [row["Source_id"], row["Flags"]])
            for cell, name in zip(cells[1:8], names):
                digits = 0.06 if name.startswith("E_") else 1e-3
                np.testing.assert_allclose(float(cell), row[name], digits, 0.06 * (name == "SNR"))
            self.assertTrue(
                cells[8] == "-"
                if row["Maj"] is None
                else abs(float(cells[8]) / 3600 / row["Maj"] - 1) < 1e-3
            )

    def test_sizes_without_sky(self):
        """The table has sizes in pixels where the image has no sky coordinates, and says so."""
        path = self.write("pixels.fits", t.noise(150, 160))
        head, units, *lines = self.lines(path, ".txt")
        self.assertEqual(
            [head.split()[1:3], head.split()[8], units.split()],
            [["Xposn", "Yposn"], "Maj", ["pix", "pix", "pix"]],
        )
        sizes = [
            (line.split()[8], row["Maj"]) for line, row in zip(lines, self.rows(path), strict=True)
        ]
        self.assertTrue(any(major is not None for _, major in sizes))
        for cell, major in sizes:
            self.assertTrue(cell == "-" if major is None else abs(float(cell) / major - 1) < 1e-3)

    def test_more_columns_of_the_table(self):
        """Scales, spectral indices and entries; positions of small pixels have more decimals."""
        path = self.image()
        header = t.sky_header(CDELT1=-1e-7, CDELT2=1e-7, BMAJ=3e-7, BMIN=3e-7)
        small = self.write("small.fits", t.noise(150, 160), header)
        for options, name in (
            (["--scales"], "Scale"),
            (["--measure-in", path], "Spec_Indx"),
            (["--at", self.written(path, ".csv"), "--fit"], "Entry_id"),
        ):
            text = t.run(path, "-q", "-f", "table", *options).stdout.splitlines()
            ends = {re.match(r"( *\S+){10}", line).end() for line in text[2:]}
            self.assertEqual(ends, {re.match(r"( *\S+){10}", text[0]).end()}, name)
            self.assertLessEqual(max(map(len, text)), 120)
            self.assertIn(name, text[0].split())
        lines = t.run(small, "-q", "-f", "table").stdout.splitlines()
        self.assertRegex(lines[2].split()[1], r"^\d+\.\d{8}$")

    def test_long_units_of_the_table(self):
        """A unit that is cut is no other unit."""
        header = t.sky_header(BUNIT="Jy/beam.km/s", BMAJ=2e-3, BMIN=2e-3)
        names, units = self.lines(self.write("line.fits", t.noise(150, 160), header), ".txt")[:2]
        self.assertEqual(len(names), len(units))
        expected = ["deg", "deg", "Jy/beam...", "Jy/beam....", *["Jy", "km/s"] * 2, "arcsec"]
        self.assertEqual(units.split(), expected)

    def test_names_and_suffixes(self):
        """A format is chosen by name or suffix; a catalogue that is whole is not made again,
        without sources, too."""
        for path in (self.image(), self.write("flat.fits", np.ones((60, 70), np.float32))):
            for format, suffix in FORMATS.items():
                with self.subTest(format=format):
                    by_name = subprocess.run(
                        [t.COMMAND, path, "-q", "-f", format.upper()], capture_output=True
                    )
                    with open(self.written(path, suffix), "rb") as stream:
                        self.assertEqual([by_name.returncode, by_name.stdout], [0, stream.read()])
                    again = t.run(path, "-o", self.path("c" + suffix), "--skip-existing")
                    self.assertIn("is already there", again.stderr)
                    out = self.path("out-" + format)
                    self.assertEqual(
                        t.run(path, "-q", "-f", format, "-o", out + os.sep).returncode, 0
                    )
                    self.assertIn(os.path.basename(path)[:-5] + suffix, os.listdir(out))

    def test_compressed_in_blocks(self):
        """Threads compress blocks of rows; one after the other they are one gzip file, the same on
        any number of threads."""
        image = np.random.default_rng(1).normal(0, 1, (800, 800)).astype(np.float32)
        image[5::10, 5::10] = 40
        path = self.write("many.fits", image, t.sky_header())
        for suffix in (".csv", ".vot"):
            with open(self.written(path, suffix), "rb") as plain:
                expected = plain.read()
            compressed = set()
            for threads in (1, 2, 7):
                with open(self.written(path, suffix + ".gz", "--threads", threads), "rb") as stream:
                    compressed.add(stream.read())
            self.assertEqual(len(compressed), 1)
            self.assertEqual(gzip.decompress(*compressed), expected)
            self.assertLess(len(*compressed), len(expected) / 2)
            subprocess.run(["gzip", "--test", self.path("c" + suffix + ".gz")], check=True)
            self.assertIn(
                "is already there",
                t.run(path, "-o", self.path("c" + suffix + ".gz"), "--skip-existing").stderr,
            )

    def test_compressed(self):
        """The text is that of the plain file; a file that was cut is made again; maps are named
        after the stem."""
        for path in (self.image(), self.write("flat.fits", np.ones((60, 70), np.float32))):
            with gzip.open(self.written(path, ".CSV.GZ"), "rt") as stream:
                self.assertTrue(stream.read().startswith("Source_id,"))
            for suffix in (".csv", ".json", ".vot", ".xml", ".ecsv", ".reg"):
                with self.subTest(suffix=suffix), open(self.written(path, suffix), "rb") as plain:
                    compressed = self.written(path, suffix + ".gz")
                    with open(compressed, "rb") as stream:
                        data = stream.read()
                    self.assertEqual(gzip.decompress(data), plain.read())
                    self.assertEqual(data[3:8], bytes(5))  # neither name nor time
                    again = t.run(path, "-o", compressed, "--skip-existing")
                    self.assertIn("is already there", again.stderr)
                    for n in (0, 9, len(data) // 2, len(data) - 1):
                        with open(compressed, "wb") as stream:
                            stream.write(data[:n])
                        self.assertNotIn(
                            "already", t.run(path, "-o", compressed, "--skip-existing").stderr
                        )
                        with open(compressed, "rb") as stream:
                            self.assertEqual(stream.read(), data)
        t.run(path, "-q", "-f", "csv", "-o", self.path("any.gz"), "--save", "islands", check=True)
        with gzip.open(self.path("any.gz"), "rt") as stream:
            self.assertTrue(stream.read().startswith("Source_id,"))
        self.written(self.image(), ".csv.gz", "--save", "rms")
        self.assertTrue(os.path.exists(self.path("c.rms.fits")))


if __name__ == "__main__":
    t.main()
