"""Pictures (--save picture): the map's grey levels, and where sources, beam and ticks stand."""
import os
import shutil

import numpy as np
from astropy.io import fits
from astropy.wcs import WCS
from PIL import Image
from scipy import ndimage

import srcfind_test as t
import sky  # which that finds

LEFT, TOP = 125, 74  # of the map on the picture
MOST, LEAST = 2000, 600  # pixels of a picture, and of an enlarged map
MAPS = os.path.join(t.SOURCE_ROOT, "data", "maps")
SAMPLE = os.path.join(t.SOURCE_ROOT, "data", "sample.fits")
BLANK = (0xD6, 0xE2, 0xF0)


class Picture(t.Case):
    def picture(self, image, *options):
        """The pixels of the picture, its rows from the top, and the rows of the catalogue."""
        t.run(image, "-q", "-o", self.path("c.csv"), "--save", "picture", *options, check=True)
        with Image.open(self.path("c.picture.png")) as picture:
            self.assertEqual([picture.mode, picture.info["Software"][:8]], ["RGB", "srcfind "])
            pixels = np.array(picture).astype(int)
        self.assertLessEqual(max(pixels.shape), MOST)
        return pixels, t.read_csv(self.path("c.csv"))

    def means(self, image, block):
        """The means of blocks, and NaN for those of blank pixels."""
        height, width = (-(-n // block) * block for n in image.shape)
        padded = np.full((height, width), np.nan)
        padded[: image.shape[0], : image.shape[1]] = image
        return np.nanmean(
            padded.reshape(height // block, block, width // block, block), axis=(1, 3)
        )

    def test_grey_levels(self):
        random = np.random.default_rng(1)
        for shape in ((50, 40), (601, 3), (2, 700), (1, 1), (3000, 5000), (1, 20000), (20000, 1)):
            with self.subTest(shape=shape):
                image = random.normal(1e-3, 2e-4, shape).astype(np.float32)
                if image.size > 1:
                    image[: shape[0] // 3, : shape[1] // 3] = np.nan
                    image[-1, -1] = 0.5
                pixels, _ = self.picture(self.write("image.fits", image), "-n", "1e6")
                clip = t.find(self.path("image.fits"), "-n", "1e6")["background"]
                block = -(-max(shape) // 1720)
                means = (self.means(image, block) - clip["median"]) / (
                    clip["rms"] or abs(clip["median"])
                )
                zoom = -(-LEAST // max(means.shape))
                top = np.arcsinh(max(10, np.nanmax(means)) / 3)
                low = np.arcsinh(-1)
                grey = 255 * np.clip(1 - (np.arcsinh(means / 3) - low) / (top - low), 0, 1)
                shown = pixels[TOP : TOP + zoom * len(means), LEFT : LEFT + zoom * means.shape[1]]
                shown = shown[zoom // 2 :: zoom, zoom // 2 :: zoom][::-1]
                blank = np.isnan(grey)
                self.assertTrue((shown[blank] == BLANK).all())
                self.assertLessEqual(np.abs(shown[~blank] - grey[~blank][:, None]).max(), 1)

    def map_place(self, image, pixels):
        """Left, top, scale and height of the map on the picture."""
        height, width = image.shape
        block = -(-max(image.shape) // 1720)
        zoom = -(-LEAST // max(-(-height // block), -(-width // block)))
        return zoom / block, TOP + zoom * -(-height // block)

    def pixel_of(self, place, x, y):
        """Where the centre of a pixel of the image is on the picture."""
        scale, bottom = place
        return LEFT + (x + 0.5) * scale, bottom - (y + 0.5) * scale

    def check_ellipses(self, path, *options):
        pixels, rows = self.picture(path, *options)
        image = fits.getdata(path)
        place = self.map_place(image.reshape(image.shape[-2:]), pixels)
        red = (pixels[:, :, 0] > pixels[:, :, 1] + 60) & (pixels[:, :, 0] > pixels[:, :, 2] + 60)
        filled = ndimage.binary_fill_holes(red)
        for row in rows:
            x, y = self.pixel_of(place, row["Xposn"], row["Yposn"])
            # at an edge there is only part of it
            if min(row["Xposn"], row["Yposn"]) > 12 and not int(row["Flags"]) & 1:
                self.assertTrue(filled[int(y), int(x)], row)
        found, n = ndimage.label(filled)
        return rows, [ndimage.find_objects(found == i + 1)[0] for i in range(n)], place

    def test_ellipses(self):
        """Each ellipse is centred on its source, and encloses twice its FWHM."""
        self.check_sizes("-i", "3")

    def test_fitted_ellipses(self):
        """They are those of the Gaussians."""
        self.check_sizes("-i", "3", "--fit")

    def half_sides(self, row, place):
        """Half the sides of the box around an ellipse of the sample; east is at the left, north
        above."""
        # 2" pixels
        angle, axes = (
            np.radians(row["PA"] or 0),
            np.array([row["Maj"] or 9 / 3600, row["Min"] or 9 / 3600]) * 3600 / 2 * place[0],
        )
        return np.hypot(axes[0] * np.sin(angle), axes[1] * np.cos(angle)), np.hypot(
            axes[0] * np.cos(angle), axes[1] * np.sin(angle)
        )

    def check_sizes(self, *options):
        rows, boxes, place = self.check_ellipses(SAMPLE, *options)
        self.assertEqual([len(boxes), len(rows)], [24, 24])
        for row in rows:
            x, y = self.pixel_of(place, row["Xposn"], row["Yposn"])
            box = min(
                boxes,
                key=lambda b: abs((b[0].start + b[0].stop) / 2 - y)
                + abs((b[1].start + b[1].stop) / 2 - x),
            )
            self.assertLess(abs((box[0].start + box[0].stop) / 2 - y), 1.5)
            self.assertLess(abs((box[1].start + box[1].stop) / 2 - x), 1.5)
            half_x, half_y = self.half_sides(row, place)
            self.assertLess(abs((box[1].stop - box[1].start) / 2 - half_x), 1.6)
            self.assertLess(abs((box[0].stop - box[0].start) / 2 - half_y), 1.6)

    def test_ellipses_on_real_maps(self):
        """In any projection and orientation each source is within an ellipse."""
        for name, least in (("parkes", 40), ("lofar", 1), ("magpis", 3)):
            with self.subTest(name):
                rows, _, _ = self.check_ellipses(os.path.join(MAPS, name + ".fits"))
                self.assertGreaterEqual(len(rows), least)

    def size_of_mark(self, pixels, place, x, y):
        """Half the sides of the box around the red ellipse at a pixel of the image, in its
        pixels."""
        red = (pixels[:, :, 0] > pixels[:, :, 1] + 60) & (pixels[:, :, 0] > pixels[:, :, 2] + 60)
        found, _ = ndimage.label(ndimage.binary_fill_holes(red))
        column, row = self.pixel_of(place, x, y)
        box = ndimage.find_objects(found == found[int(row), int(column)])[0]
        return (box[1].stop - box[1].start) / 2 / place[0], (
            box[0].stop - box[0].start
        ) / 2 / place[0]

    def test_marks_without_shape_or_sky(self):
        """A source of one pixel has twice the beam; without a sky the mark surrounds the pixels."""
        image = t.noise(150, 150, n_sources=0)
        image[75, 40] = 90
        image[70:74, 100:112] = 50
        header = t.sky_header(
            CDELT1=-1 / 3600, CDELT2=1 / 3600, BMAJ=14 / 3600, BMIN=6 / 3600, BPA=90.0
        )
        pixels, rows = self.picture(self.write("image.fits", image, header))
        self.assertEqual(len(rows), 2)
        place = self.map_place(image, pixels)
        np.testing.assert_allclose(self.size_of_mark(pixels, place, 40, 75), [14, 6], atol=0.5)
        pixels, _ = self.picture(self.write("image.fits", image))
        np.testing.assert_allclose(
            self.size_of_mark(pixels, place, 105.5, 71.5), [12 / 2**0.5, 4 / 2**0.5], atol=0.5
        )

    def test_mark_of_a_source_without_pixels(self):
        """A fitted source that is highest nowhere has a circle where it stands, also without a
        sky."""
        empty, seed = [], 1
        while not empty and seed < 30:
            seed += 1
            sky.make(["300", self.path("sky.fits"), "--density", "6000", "--seed", str(seed)])
            image = fits.getdata(self.path("sky.fits"))
            path = self.write("image.fits", image)
            pixels, rows = self.picture(path, "-n", "2", "-i", "1", "--fit")
            empty = [row for row in rows if row["N_pix"] is None]
        self.assertTrue(empty)
        place, red = self.map_place(image, pixels), pixels[:, :, 0] > pixels[:, :, 1] + 60
        for row in empty:
            x, y = self.pixel_of(place, row["Xposn"], row["Yposn"])
            around = [
                red[int(y + 4 * np.sin(a)), int(x + 4 * np.cos(a))]
                for a in np.linspace(0, 2 * np.pi, 16)
            ]
            self.assertGreater(np.mean(around), 0.7)

    def test_negative_sources(self):
        image = t.noise(200, 200, n_sources=0)
        image[40:43, 150:153] = -60
        image[120:123, 60:63] = 60
        pixels, rows = self.picture(self.write("image.fits", image), "--negative")
        place = self.map_place(image, pixels)
        self.assertEqual([row["Flags"] >= 32 for row in rows], [False, True])
        for row, channel in zip(rows, (0, 2)):
            coloured = pixels[:, :, channel] > pixels[:, :, 2 - channel] + 60
            coloured[:, -150:] = coloured[:TOP] = False  # the bar and the legend
            y, x = np.nonzero(coloured)
            np.testing.assert_allclose(
                [x.mean() + 0.5, y.mean() + 0.5],
                self.pixel_of(place, row["Xposn"], row["Yposn"]),
                atol=1.5,
            )

    def test_beam(self):
        """Its axes and its angle, in images of all orientations."""
        for turn, flip in ((0, 1), (30, 1), (90, -1), (200, 1)):
            with self.subTest(turn=turn, flip=flip):
                cards = {
                    "BMAJ": 60 / 3600,
                    "BMIN": 25 / 3600,
                    "BPA": 40.0,
                    "CDELT1": -flip * 2 / 3600,
                    "CDELT2": 2 / 3600,
                    "CROTA2": turn,
                }
                path = self.write(
                    "image.fits", t.noise(256, 300, n_sources=0), t.sky_header(**cards)
                )
                pixels, _ = self.picture(path)
                bottom = TOP + 2 * 256
                black = (pixels < 30).all(axis=2)[bottom - 160 : bottom - 2, LEFT + 2 : LEFT + 160]
                found, n = ndimage.label(black)
                y, x = np.nonzero(found == 1 + np.argmax(np.bincount(found.ravel())[1:]))
                values, vectors = np.linalg.eigh(np.cov(np.array([x, -y])))
                # an even ellipse: its variance along an axis is a quarter of the semi-axis squared
                np.testing.assert_allclose(2 * np.sqrt(values[::-1]), [30, 12.5], atol=0.6)
                # from the centre of the image along the major axis
                wcs = WCS(fits.getheader(path))
                lon, lat = wcs.wcs_pix2world(149.5, 127.5, 0)
                ahead = wcs.wcs_world2pix(
                    lon + 1e-3 * np.sin(np.radians(40)) / np.cos(np.radians(lat)),
                    lat + 1e-3 * np.cos(np.radians(40)),
                    0,
                )
                angle = np.degrees(np.arctan2(ahead[1] - 127.5, ahead[0] - 149.5))
                away = (
                    np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])) - angle + 90
                ) % 180 - 90
                self.assertLess(abs(away), 2)

    def test_large_beam(self):
        """It does not hide the map: a line, and nothing filled."""
        path = self.write(
            "image.fits",
            t.noise(100, 100, n_sources=0),
            t.sky_header(CDELT1=-2 / 3600, CDELT2=2 / 3600, BMAJ=0.11, BMIN=0.08),
        )
        pixels, _ = self.picture(path)
        self.assertLess((pixels[TOP : TOP + 600, LEFT : LEFT + 600] < 30).all(axis=2).mean(), 0.01)
        self.assertLess((pixels[TOP : TOP + 600, LEFT : LEFT + 600] > 250).all(axis=2).mean(), 0.05)

    def scale_bar(self, pixels, shape):
        """The row and the ends of the longest black line inside the map: the scale bar; in pixels
        of the picture. None where there is none."""
        scale, bottom = self.map_place(np.empty(shape), pixels)
        found = None
        for row in range(TOP + 2, bottom - 2):
            black = (pixels[row, LEFT + 2 : LEFT + int(scale * shape[1]) - 2] == 0).all(axis=1)
            ends = np.flatnonzero(np.diff(np.concatenate([[0], black.astype(int), [0]])))
            for first, last in zip(ends[::2], ends[1::2]):
                if last - first > max(20, found[2] - found[1] if found else 0):
                    found = row, LEFT + 2 + first, LEFT + 2 + last
        return found

    def test_scale_bar(self):
        """Along it, the sky has a round angle: at a pole, in galactic maps, for pixels that are no
        squares, in turned and in small maps."""
        round_angles = [
            digit * unit / 3600 for unit in (1, 60, 3600) for digit in (1, 2, 5, 10, 20, 30)
        ] + [digit * 10.0**power / 3600 for power in range(-5, 0) for digit in (1, 2, 5)]
        small = {"CDELT1": -1e-9, "CDELT2": 1e-9}
        for n, cards in enumerate(
            (
                {},
                {"CRVAL2": 89.99},
                {"CRVAL2": -90.0, "CDELT1": -0.05, "CDELT2": 0.05},
                {"CTYPE1": "GLON-CAR", "CTYPE2": "GLAT-CAR", "CRVAL1": 0.0, "CRVAL2": 0.0},
                {"CDELT1": -3e-3, "CDELT2": 1e-3, "CROTA2": 37.0},
                {"CDELT1": 1e-3, "CDELT2": 7e-3},
                small,
            )
        ):
            with self.subTest(cards=cards):
                image = t.noise(200, 300, n_sources=0)
                path = self.write("image%d.fits" % n, image, t.sky_header(**cards))
                pixels, _ = self.picture(path, "-n", "9")
                row, first, last = self.scale_bar(pixels, image.shape)
                scale, bottom = self.map_place(image, pixels)
                x = (np.array([first, last]) - LEFT) / scale - 0.5
                y = np.full(2, (bottom - row - 0.5) / scale - 0.5)
                lon, lat = np.radians(
                    WCS(fits.getheader(path)).wcs_pix2world(np.column_stack([x, y]), 0).T
                )
                half = np.sqrt(
                    np.sin((lat[1] - lat[0]) / 2) ** 2
                    + np.cos(lat[0]) * np.cos(lat[1]) * np.sin((lon[1] - lon[0]) / 2) ** 2
                )
                angle = np.degrees(2 * np.arcsin(half))
                nearest = min(round_angles, key=lambda each: abs(np.log(each / angle)))
                self.assertLess(abs(angle / nearest - 1), 0.03)
                self.assertTrue(0.09 < (last - first) / (2 * 300) < 0.3, (first, last))

    def test_no_scale_bar(self):
        """Without a sky, in a map of the whole sky whose corners are off it, and where it had no
        room."""
        sky = t.sky_header(
            CTYPE1="RA---AIT", CTYPE2="DEC--AIT", CRVAL1=0.0, CRVAL2=0.0, CDELT1=-1.2, CDELT2=1.2
        )
        for n, (shape, header) in enumerate(
            (((200, 300), None), ((150, 300), sky), ((700, 30), t.sky_header()))
        ):
            image = t.noise(*shape, n_sources=0)
            pixels, _ = self.picture(self.write("image%d.fits" % n, image, header), "-n", "9")
            self.assertIsNone(self.scale_bar(pixels, shape))

    def test_absurd_beams(self):
        """What is far larger than the sheet is not drawn: the map is as it is without it, and the
        run ends."""
        data = t.noise(100, 100, n_sources=5)
        expected = None
        for beam in (20.0, 1e6, 1e9, 1e60):
            pixels, _ = self.picture(
                self.write("image.fits", data, t.sky_header(BMAJ=beam, BMIN=beam))
            )
            expected = pixels if expected is None else expected
            self.assertTrue(
                np.array_equal(
                    pixels[TOP : TOP + 600, LEFT : LEFT + 600],
                    expected[TOP : TOP + 600, LEFT : LEFT + 600],
                )
            )

    def ticks(self, pixels, shape):
        """The image's coordinates of the ticks along the lower and the left edge."""
        scale, bottom = self.map_place(np.empty(shape), pixels)
        right = LEFT + int(scale * shape[1])
        columns = LEFT + np.nonzero((pixels[bottom + 4, LEFT:right] < 128).all(axis=1))[0]
        rows = TOP + np.nonzero((pixels[TOP:bottom, LEFT - 4] < 128).all(axis=1))[0]
        return (columns + 0.5 - LEFT) / scale - 0.5, (bottom - rows - 0.5) / scale - 0.5

    def check_round(self, coordinate, at):
        """Whether a coordinate is a multiple of some round step within a pixel of each tick."""
        here, near = coordinate(at), coordinate(at + 1)
        tolerance = np.abs(near - here)
        self.assertGreaterEqual(len(at), 2)
        steps = [digit * 10.0**power for power in range(-6, 6) for digit in (1, 2, 5)]
        steps += [
            digit * unit for unit in (1, 60, 3600) for digit in (1, 2, 3, 5, 6, 10, 12, 20, 30, 90)
        ]
        gap = np.median(np.abs(np.diff(here)))
        step = min(steps, key=lambda s: abs(np.log(s / gap)))
        self.assertLess(abs(np.log(step / gap)), 0.15)
        self.assertTrue(
            (np.abs(here - step * np.round(here / step)) <= tolerance).all(), (here, step)
        )

    def test_ticks(self):
        """They are where astropy finds round coordinates."""
        paths = [SAMPLE] + [os.path.join(MAPS, name + ".fits") for name in ("lofar", "parkes")]
        paths.append(self.write("wide.fits", t.noise(200, 1000), t.sky_header()))
        for cards in (
            {"CROTA2": 25.0},
            {"CTYPE1": "RA---TAN", "CTYPE2": "DEC--TAN", "CRVAL1": 0.01, "CRVAL2": -71.0},
            {"CRVAL2": 89.5, "CRPIX2": -300},
        ):
            paths.append(
                self.write("image%d.fits" % len(paths), t.noise(200, 310), t.sky_header(**cards))
            )
        for path in paths:
            with self.subTest(path), fits.open(path) as hdus:
                pixels, _ = self.picture(path)
                shape, wcs = hdus[0].data.shape[-2:], WCS(hdus[0].header).celestial
                middle = wcs.wcs_pix2world(
                    [[shape[1] / 2, shape[0] / 2], [shape[1] / 2 + 1, shape[0] / 2]], 0
                )
                east, north = np.abs(np.diff(middle, axis=0)[0]) * [
                    np.cos(np.radians(middle[0, 1])),
                    1,
                ]
                first = 0 if east > north else 1  # the coordinate along the lower edge
                scale = 240, 3600  # seconds of time, and of arc
                x, y = self.ticks(pixels, shape)

                def lower(at):
                    values = wcs.wcs_pix2world(at, np.full(len(at), -0.5), 0)[first]
                    return (np.unwrap(values, period=360) if first == 0 else values) * scale[first]

                def left(at):
                    values = wcs.wcs_pix2world(np.full(len(at), -0.5), at, 0)[1 - first]
                    return (np.unwrap(values, period=360) if first == 1 else values) * scale[
                        1 - first
                    ]

                self.check_round(lower, x)
                self.check_round(left, y)

    def test_labels_do_not_overlap(self):
        """Long labels at the left end before the name of their axis; those below a low map end
        before the bar, and the name below a narrow one before the unit."""
        for n, (shape, cdelt) in enumerate(
            (((200, 310), 1e-9), ((20, 900), 1e-6), ((700, 20), 1e-3))
        ):
            image = t.noise(*shape, n_sources=0)
            path = self.write(
                "image%d.fits" % n,
                image,
                t.sky_header(CDELT1=-cdelt, CDELT2=cdelt, BUNIT="Jy/beam"),
            )
            pixels, _ = self.picture(path, "-n", "9")
            scale, bottom = self.map_place(image, pixels)
            right = LEFT + int(scale * shape[1])
            dark = (pixels < 128).all(axis=2)
            # the name of the left axis, white columns, labels, and the ticks
            columns, _ = ndimage.label(dark[TOP - 8 : bottom, : LEFT - 8].any(axis=0))
            ends = [np.flatnonzero(columns == i) for i in (1, 2)]
            self.assertTrue(ends[0][-1] < 20 and ends[1][0] - ends[0][-1] > 3, columns)
            if shape[0] == 20:  # below the map, left of the bar
                self.assertFalse(dark[bottom + 2 : bottom + 40, right + 17 : right + 19].any())
            if shape[1] == 20:  # the name of the lower axis, left of the unit
                self.assertFalse(dark[bottom + 42 : bottom + 56, right + 17 : right + 19].any())
                self.assertTrue(dark[bottom + 42 : bottom + 56, : right + 17].any())

    def test_pixel_ticks(self):
        pixels, _ = self.picture(self.write("image.fits", t.noise(200, 310)))
        x, y = self.ticks(pixels, (200, 310))
        np.testing.assert_allclose(x, np.arange(len(x)) * (x[1] - x[0]), atol=0.51)
        self.assertEqual([round(n, 3) for n in (y[0] - y[1], x[1] - x[0])], [50, 100])

    def black(self, pixels, left, top, right, bottom):
        """The black pixels of a part of the picture."""
        return (pixels[int(top) : int(bottom), int(left) : int(right)] < 60).all(axis=2)

    def check_numbers(self, *options):
        """Whether each source of the sample, which stand apart, has a number of as many digits as
        its Source_id."""
        pixels, rows = self.picture(SAMPLE, *options)
        place = self.map_place(fits.getdata(SAMPLE), pixels)
        for row in rows:
            x, y = self.pixel_of(place, row["Xposn"], row["Yposn"])
            half = self.half_sides(row, place)[0]
            columns = np.nonzero(
                self.black(pixels, x + half + 1, y - 6, x + half + 22, y + 6).any(axis=0)
            )[0]
            digits = 1 if columns[-1] - columns[0] < 7 else 2
            self.assertEqual(digits, len(str(int(row["Source_id"]))), row)
            self.assertFalse(self.black(pixels, x - half - 22, y - 6, x - half - 1, y + 6).any())
        self.assertEqual(len(rows), 24)

    def test_numbers(self):
        """They are at the right of sources, and of positions of --at."""
        self.check_numbers("-i", "3", "--fit")
        shutil.copy(self.path("c.csv"), self.path("first.csv"))
        self.check_numbers("--at", self.path("first.csv"))

    def test_most_numbers(self):
        """The 500 sources of highest SNR have numbers, and no other."""
        image = np.random.default_rng(1).normal(0, 1, (1000, 1000)).astype(np.float32)
        image[20::40, 20:960:40] = 100
        image[20::40, 20:180:40] = 15  # 100 of 600
        image[980, 940] = 1e5  # the only one that is drawn black
        pixels, rows = self.picture(self.write("image.fits", image), "-n", "8")
        self.assertEqual(len(rows), 600)
        digits = self.black(pixels, LEFT + 2, TOP, LEFT + 998, TOP + 1000)
        digits[16:23, 935:942] = False
        _, n = ndimage.label(ndimage.binary_dilation(digits, np.ones((5, 11))))
        self.assertEqual(self.black(pixels, LEFT + 2, TOP, LEFT + 160, TOP + 1000).sum(), 0)
        self.assertEqual(n, 500)

    def gaussian(self, shape, peak, x, y, fwhm):
        rows, columns = np.mgrid[: shape[0], : shape[1]]
        return peak * np.exp(-4 * np.log(2) * ((columns - x) ** 2 + (rows - y) ** 2) / fwhm**2)

    def check_ring(self, pixels, place, x, y, semi_axis, least):
        """Red pixels along a circle, whose sizes are in pixels of the image."""
        reddish = pixels[:, :, 0] > pixels[:, :, 1] + 25
        reddish = ndimage.binary_dilation(reddish, np.ones((3, 3)))
        x, y = self.pixel_of(place, x, y)
        angles = np.linspace(0, 2 * np.pi, 60)
        ring = reddish[
            (y + semi_axis * place[0] * np.sin(angles)).astype(int),
            (x + semi_axis * place[0] * np.cos(angles)).astype(int),
        ]
        (self.assertGreater if least else self.assertLess)(ring.mean(), least or 0.3)

    def test_gaussians_of_a_source(self):
        """A core in a halo: the ellipse of both, and thin ones of FWHM inside."""
        image = ndimage.gaussian_filter(t.noise(200, 200, n_sources=0), 6 / 2.355) * 9
        image += self.gaussian(image.shape, 150, 100, 90, 6) + self.gaussian(
            image.shape, 60, 100, 90, 30
        )
        path = self.write(
            "image.fits",
            image,
            t.sky_header(CDELT1=-1 / 3600, CDELT2=1 / 3600, BMAJ=6 / 3600, BMIN=6 / 3600, BPA=0.0),
        )
        for options, is_thin in ((["--fit"], True), (["--fit", "--group", "0"], False)):
            pixels, rows = self.picture(path, "-i", "3", "--save", "picture,gaussians", *options)
            parts, place = t.read_csv(self.path("c.gaussians.csv")), self.map_place(image, pixels)
            self.assertEqual([len(rows), len(parts)], [1 if is_thin else 2, 2])
            for row in rows:
                self.check_ring(pixels, place, row["Xposn"], row["Yposn"], row["Maj"] * 3600, 0.9)
            for part in parts:
                self.check_ring(
                    pixels,
                    place,
                    part["Xposn"],
                    part["Yposn"],
                    part["Maj"] * 1800,
                    0.8 if is_thin else 0,
                )

    def length_of_line(self, pixels):
        """How far the line that says what the ellipses are goes."""
        columns = np.nonzero((pixels[TOP - 20 : TOP - 6, LEFT:] < 128).all(axis=2).any(axis=0))[0]
        return columns[-1] if len(columns) else 0

    def test_line_of_ellipses(self):
        """It is there with ellipses, and longer where there are more kinds; a narrow sheet has it
        whole."""
        image, lengths = t.noise(270, 270, n_sources=0), []
        header = t.sky_header(
            CDELT1=-1 / 3600, CDELT2=1 / 3600, BMAJ=6 / 3600, BMIN=6 / 3600, BPA=0.0
        )
        for peak, x, y, fwhm in (
            (0, 0, 0, 1),
            (100, 50, 50, 6),
            (-100, 150, 50, 6),
            (90, 56, 50, 6),  # two Gaussians are one source
        ):
            image += self.gaussian(image.shape, peak, x, y, fwhm).astype(np.float32)
            pixels, rows = self.picture(
                self.write("image.fits", image, header), "-i", "3", "--fit", "--negative"
            )
            lengths.append(self.length_of_line(pixels))
        self.assertEqual(lengths[0], 0)
        self.assertEqual(lengths, sorted(set(lengths)))
        narrow = t.noise(200, 20, n_sources=0) + self.gaussian((200, 20), 100, 10, 50, 6).astype(
            np.float32
        )
        narrow[150, 10] = 60
        pixels, rows = self.picture(self.write("image.fits", narrow, header), "-i", "3")
        self.assertEqual([row["Maj"] is None for row in rows], [False, True])
        self.assertLess(self.length_of_line(pixels), pixels.shape[1] - LEFT - 3)
        self.assertGreater(self.length_of_line(pixels), 300)

    def test_two_lines_of_ellipses(self):
        """Where one line would be too long, the legend has two, and name and number of sources
        share one."""
        image = t.noise(200, 200, n_sources=0) + self.gaussian((200, 200), 90, 50, 50, 6)
        image -= self.gaussian(image.shape, 90, 150, 50, 6)
        image += self.gaussian(image.shape, 30, 60, 130, 24) + self.gaussian(
            image.shape, 30, 75, 130, 6
        )
        image[10:31, 90:111] = np.nan  # around a pixel that alone cannot be fitted
        image[20, 100] = 60
        header = t.sky_header(
            CDELT1=-1 / 3600, CDELT2=1 / 3600, BMAJ=6 / 3600, BMIN=6 / 3600, BPA=0.0
        )
        many = ["--negative", "--scales=2,4,8"]
        none, lengths = ["-n", "1e6"], {}  # of the three lines
        for name in ("i.fits", "a" * 75 + ".fits"):
            path = self.write(name, image.astype(np.float32), header)
            for options in (none, many):
                pixels, _ = self.picture(path, "-i", "3", "--fit", *options)
                dark = (pixels[: TOP - 2, LEFT:] < 128).all(axis=2)
                lengths[name[0], options is many] = [
                    np.flatnonzero(np.append(True, line.any(axis=0)))[-1]
                    for line in (dark[:29], dark[30:48], dark[50:])
                ]
        self.assertLess(lengths["i", False][0], 50)  # the name alone
        self.assertEqual(lengths["i", False][2], 0)
        name, first, second = lengths["i", True]
        self.assertTrue(name > 250 and first > 600 and 100 < second < first, lengths)
        # a name that is too long to share its line: the legend has one line, in a smaller font
        self.assertEqual(lengths["a", True][0], lengths["a", False][0])
        self.assertTrue(lengths["a", True][1] < 300 and lengths["a", True][2] > 600, lengths)

    def test_dashed(self):
        """With a fit, the ellipse of a source that was not fitted has gaps: of a flank, whose peak
        is blank."""
        image = t.noise(200, 200, n_sources=0)
        image += self.gaussian(image.shape, 600, 100, 100, 23.5)
        flank = image[109:116, 109:116].copy()
        image[40:161, 40:161] = np.nan
        image[109:116, 109:116] = flank
        path = self.write(
            "image.fits",
            image,
            t.sky_header(CDELT1=-1 / 3600, CDELT2=1 / 3600, BMAJ=6 / 3600, BMIN=6 / 3600, BPA=0.0),
        )
        for options, is_fitted in (([], True), (["--fit"], False)):
            pixels, rows = self.picture(path, "-i", "3", *options)
            x, y = self.pixel_of(self.map_place(image, pixels), rows[0]["Xposn"], rows[0]["Yposn"])
            filled = ndimage.binary_fill_holes(pixels[:, :, 0] > pixels[:, :, 1] + 60)
            self.assertEqual(
                [len(rows), int(rows[0]["Flags"]) & 64 == 0, filled[int(y), int(x)]],
                [1, is_fitted, is_fitted],
            )

    def test_corner_of_the_beam(self):
        """It covers no source where there is a corner without one."""
        image = t.noise(200, 200, n_sources=0)
        for n, (x, y) in enumerate(((6, 6), (193, 6), (6, 193), (193, 193))):
            image += self.gaussian(image.shape, 40, x, y, 6).astype(np.float32)
            pixels, rows = self.picture(
                self.write(
                    "image.fits",
                    image,
                    t.sky_header(
                        CDELT1=-1 / 3600, CDELT2=1 / 3600, BMAJ=6 / 3600, BMIN=6 / 3600, BPA=0.0
                    ),
                )
            )
            self.assertEqual(len(rows), n + 1)
            found, _ = ndimage.label(
                (pixels[TOP + 1 : TOP + 599, LEFT + 1 : LEFT + 599] == 0).all(axis=2)
            )
            y, x = ndimage.center_of_mass(found == 1 + np.argmax(np.bincount(found.ravel())[1:]))
            corner = int(x > 300) + 2 * int(y < 300)
            self.assertEqual(corner, (1, 2, 3, 0)[n])

    def test_many_sources(self):
        """Those of highest SNR are marked."""
        image = np.random.default_rng(1).normal(0, 1, (1000, 1000)).astype(np.float32)
        image[5::10, 5::10] = 40
        image[505:1000:10, 5::10] = 80
        pixels, rows = self.picture(self.write("image.fits", image))
        self.assertGreaterEqual(len(rows), 10000)
        red = pixels[:, :, 0] > pixels[:, :, 1] + 60
        self.assertGreater(red[TOP : TOP + 480, LEFT : LEFT + 1000].mean(), 0.1)
        self.assertEqual(red[TOP + 510 : TOP + 1000, LEFT : LEFT + 1000].sum(), 0)

    def bytes_of(self, path, *options):
        t.run(path, "-q", "-o", self.path("b.csv"), "--save", "picture", *options, check=True)
        with open(self.path("b.picture.png"), "rb") as stream:
            return stream.read()

    def test_same_bytes(self):
        """On any number of threads."""
        path = self.write("image.fits", t.noise(3000, 2100), t.sky_header())
        one = self.bytes_of(path, "--threads", "1")
        self.assertEqual(one, self.bytes_of(path, "--threads", "7"))
        self.assertEqual(one, self.bytes_of(path, "--threads", "7"))

    def test_odd_names(self):
        """Names that are not UTF-8, and long ones."""
        for name in (b"a\xff\xfe\x01b.fits", "Größe ☃.fits".encode(), b"x" * 200 + b".fits"):
            path = os.path.join(self.directory.name.encode(), name)
            shutil.copy(SAMPLE, path)
            result = t.subprocess.run(
                [t.COMMAND, path, "-q", "-o", self.path("out") + "/", "--save", "picture"]
            )
            self.assertEqual(result.returncode, 0)
        for name in os.listdir(self.path("out").encode()):
            if name.endswith(b".png"):
                with Image.open(os.path.join(self.path("out").encode(), name)) as picture:
                    picture.load()

    def test_skip_existing(self):
        """A picture that is there and whole is not drawn again; one that was cut, or is missing,
        is."""
        image, picture = self.write("image.fits", t.noise(100, 120)), self.path("c.picture.png")
        options = [image, "-o", self.path("c.csv"), "--save", "picture", "--skip-existing"]
        t.run(*options, check=True)
        with open(picture, "rb") as stream:
            sound = stream.read()
        self.assertIn("is already there", t.run(*options).stderr)
        for n in (0, 7, 40, len(sound) - 1):
            with open(picture, "wb") as stream:
                stream.write(sound[:n])
            result = t.run(*options)
            if n > 0 and n < 60:
                self.assertEqual(result.returncode, 2)  # it might be anybody's
                os.remove(picture)
                result = t.run(*options)
            self.assertNotIn("already", result.stderr)
            with open(picture, "rb") as stream:
                self.assertEqual(stream.read(), sound)

    def test_foreign_picture(self):
        """A picture that srcfind did not draw is not replaced."""
        image, picture = self.write("image.fits", t.noise(100, 120)), self.path("c.picture.png")
        Image.new("RGB", (8, 8)).save(picture)
        result = t.run(image, "-o", self.path("c.csv"), "--save", "picture")
        self.assertEqual(result.returncode, 2)
        self.assertIn("c.picture.png: the map of", result.stderr)

    def test_blank_image(self):
        result = t.run(
            self.write("image.fits", np.full((50, 60), np.nan, np.float32)),
            "-o",
            self.path("c.csv"),
            "--save",
            "picture",
        )
        self.assertEqual([result.returncode, os.listdir(self.directory.name)], [1, ["image.fits"]])
        self.assertEqual(len(result.stderr.splitlines()), 1)


if __name__ == "__main__":
    t.main()
