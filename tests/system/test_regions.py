"""--mask with regions: which pixels are in them, and what is searched. The reference is here: circles
by angular distance, ellipses and boxes by the linear map at their centre, polygons by crossings."""
import gzip
import json
import math
import os
import random

import numpy as np
from astropy import units as u
from astropy.coordinates import Latitude, Longitude
from astropy.io import fits
from astropy.wcs import WCS
from scipy import ndimage

import srcfind_test as t

try:  # not on Debian: where they are installed
    import regions as package
except ImportError:
    package = None
try:
    from mocpy import MOC
except ImportError:
    MOC = None

FAKE = os.environ.get("FAKE_CUDA", "")
N = 130  # pixels along each axis: no multiple of 64
SKIES = (
    ("SIN", (0.1, 30), "ICRS", 0.02),
    ("TAN", (180, -45), "FK5", 0.01),
    ("ZEA", (10, 89.6), "ICRS", 0.03),
    ("CAR", (0, 0), "ICRS", 0.05),
    ("STG", (300, -89.9), "FK4", 0.02),
    ("TAN", (0.1, 5), "GALACTIC", 0.005),
    ("AIT", (0, 0), "GALACTIC", 2.0),
)
EQUINOX = {"FK5": 2000.0, "FK4": 1950.0}


def header_of(projection, middle, frame, pixel, n=N):
    """A header whose image is turned by 20 degrees."""
    axes = ("GLON", "GLAT") if frame == "GALACTIC" else ("RA--", "DEC-")
    wcs = WCS(naxis=2)
    wcs.wcs.ctype = [axis + "-" + projection for axis in axes]
    wcs.wcs.crval, wcs.wcs.crpix, wcs.wcs.cdelt = middle, [n / 2, n / 2], [-pixel, pixel]
    c, s = math.cos(math.radians(20)), math.sin(math.radians(20))
    wcs.wcs.pc = [[c, -s], [s, c]]
    wcs.wcs.set()
    header = wcs.to_header()
    if frame != "GALACTIC":
        header["RADESYS"] = frame
    if frame in EQUINOX:
        header["EQUINOX"] = EQUINOX[frame]
    header.update({"BUNIT": "Jy/beam", "BMAJ": 3 * pixel, "BMIN": 3 * pixel, "BPA": 0.0})
    return header


class Reference:
    """The pixels of regions of an image."""

    def __init__(self, header):
        self.header = header
        self.wcs = WCS(header)
        self.y, self.x = np.mgrid[:N, :N]
        with np.errstate(all="ignore"):
            self.sky = self.wcs.pixel_to_world(self.x, self.y)

    def ring(self, centre, inner, outer):
        distance = centre.separation(self.sky).deg
        return (distance >= inner) & (distance < outer)

    def linear(self, centre):
        """The pixel of a direction, and pixels a degree to the west and the north."""
        step = 0.01 * abs(self.header["CDELT1"]) * u.deg

        def along(angle):
            ends = [centre.directional_offset_by(angle + turn, step) for turn in (0, 180) * u.deg]
            (x, a), (y, b) = [self.wcs.world_to_pixel(end) for end in ends]
            return [float((x - y) / (2 * step.value)), float((a - b) / (2 * step.value))]

        west, north = along(-90 * u.deg), along(0 * u.deg)
        return self.wcs.world_to_pixel(centre), np.array([west, north]).T

    def turned(self, place, matrix, angle, size):
        """Coordinates of all pixels in units of the half axes."""
        c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        axes = matrix @ np.array([[c, -s], [s, c]]) @ np.diag(size)
        offsets = np.stack([self.x - place[0], self.y - place[1]]).reshape(2, -1)
        return (np.linalg.inv(axes) @ offsets).reshape(2, N, N)

    def ellipse(self, *place):
        return (self.turned(*place) ** 2).sum(0) < 1

    def box(self, *place):
        return (abs(self.turned(*place)) < 1).all(0)

    def polygon(self, x, y):
        inside = np.zeros((N, N), bool)
        for i in range(len(x)):
            x0, y0, x1, y1 = x[i - 1], y[i - 1], x[i], y[i]
            with np.errstate(all="ignore"):
                cross = (x1 - x0) * (self.y - y0) / (y1 - y0) + x0
            inside ^= ((y0 > self.y) != (y1 > self.y)) & (self.x < cross)
        return inside


def healpix(sky, order):
    """Nested cells of HEALPix (Gorski et al. 2005) of positions."""
    side = 2**order
    xyz = sky.icrs.cartesian.xyz.value
    z, quarter = xyz[2], np.arctan2(xyz[1], xyz[0]) % (2 * np.pi) * 2 / np.pi
    zone = abs(z) <= 2 / 3
    rising = np.floor(side * (0.5 + quarter - 0.75 * z)).astype(int)
    falling = np.floor(side * (0.5 + quarter + 0.75 * z)).astype(int)
    a, b = rising // side, falling // side
    base = np.where(a == b, a % 4 + 4, np.where(a < b, a % 4, b % 4 + 8))
    x, y = falling % side, side - 1 - rising % side
    whole = np.minimum(quarter.astype(int), 3)
    scaled = side * np.hypot(xyz[0], xyz[1]) / np.sqrt((1 + abs(z)) / 3)
    j = np.minimum(((quarter - whole) * scaled).astype(int), side - 1)
    k = np.minimum(((1 - quarter + whole) * scaled).astype(int), side - 1)
    north = z > 0
    base = np.where(zone, base, np.where(north, whole, whole + 8))
    x = np.where(zone, x, np.where(north, side - 1 - k, j))
    y = np.where(zone, y, np.where(north, side - 1 - j, k))
    cell = base << 2 * order
    for bit in range(order):
        cell |= ((x >> bit) & 1) << 2 * bit | ((y >> bit) & 1) << (2 * bit + 1)
    return cell


def moc_table(column, **cards):
    table = fits.BinTableHDU.from_columns([column])
    for name, value in cards.items():
        table.header[name] = value
    return fits.HDUList([fits.PrimaryHDU(), table])


def position(centre):
    return "%.11f,%.11f" % (centre.data.lon.deg, centre.data.lat.deg)


class Pixels(t.Case):
    def searched(self, header, text, *options, name="some.reg"):
        """Which pixels of an image of high values are in an island."""
        image = np.random.default_rng(1).normal(10, 0.1, (N, N)).astype(np.float32)
        self.write("high.fits", image, header)
        return self.searched_of("high.fits", text, *options, name=name)

    def searched_of(self, image, text, *options, name="some.reg"):
        with open(self.path(name), "w") as stream:
            stream.write(text)
        return self.searched_file(image, self.path(name), *options)

    def searched_file(self, image, mask, *options):
        result = t.run(
            *("-q", "--rms=1", "--background=zero", "--save=mask", "-o", self.path("o.csv")),
            *("--mask", mask, *options, self.path(image)),
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        return fits.getdata(self.path("o.mask.fits")) > 0

    def assert_same_pixels(self, got, wanted, text):
        self.assertEqual(np.argwhere(got != wanted).tolist(), [], text)


class Regions(Pixels):
    def shapes(self, reference, frame, pixel, generator):
        """A region of each shape in the frame of the image, with its pixels."""
        x, y = generator.uniform(-10, N + 10, 2)
        corners = x + generator.uniform(-40, 40, 7), y + generator.uniform(-40, 40, 7)
        centre = reference.wcs.pixel_to_world(x, y)
        points = reference.wcs.pixel_to_world(*corners)
        if not np.isfinite(centre.data.lon.deg) or not np.isfinite(points.data.lon.deg).all():
            return
        a, b = sorted(generator.uniform(2, 50, 2) * pixel)
        angle = generator.uniform(0, 360)
        at, own = position(centre), frame.lower()
        other = centre.transform_to(
            generator.choice(["icrs", "fk5", "fk4", "galactic"]), merge_attributes=False
        )
        yield f"{own};circle({at},{a:.12f})", reference.ring(centre, 0, a)
        yield f"{own};annulus({at},{a*60:.12f}',{b*60:.12f}')", reference.ring(centre, a, b)
        yield f"{other.name};circle({position(other)},{b:.12f})", reference.ring(centre, 0, b)
        if min(abs(centre.data.lat.deg), pixel) < 1:  # far away from steep curvature
            place = (*reference.linear(centre), angle)
            size = f"{at},{a:.12f},{b:.12f},{angle:.12f}"
            yield f"{own};ellipse({size})", reference.ellipse(*place, (a, b))
            yield f"{own};box({size})", reference.box(*place, (a / 2, b / 2))
        a, b = a / pixel, b / pixel
        place = ((x, y), np.eye(2), angle)
        size = f"{x + 1:.12f},{y + 1:.12f},{a:.12f},{b:.12f},{angle:.12f}"
        yield f"image;ellipse({size})", reference.ellipse(*place, (a, b))
        yield f"physical\nbox {size.replace(',', ' ')}", reference.box(*place, (a / 2, b / 2))
        corners = reference.wcs.world_to_pixel(points)
        text = ",".join(position(point) for point in points)
        yield f"{own}\npolygon({text}) # color=red", reference.polygon(*corners)

    def test_pixels_of_shapes(self):
        generator = np.random.default_rng(11)
        for projection, middle, frame, pixel in SKIES:
            header = header_of(projection, middle, frame, pixel)
            reference = Reference(header)
            for _ in range(4):
                for text, wanted in self.shapes(reference, frame, pixel, generator):
                    self.assert_same_pixels(self.searched(header, text), wanted, text)

    def test_add_and_take_out(self):
        header = header_of(*SKIES[0])
        wide, narrow = np.zeros((2, N, N), bool)
        wide[21:80, 31:100] = True
        narrow[40:70, 40:71] = True
        one, other = "box(66,51,70,60,0)", "box(56,55.5,32,31)"
        for text, wanted in (
            (f"image\n{one}\n-{other}", wide & ~narrow),
            (f"image\n-{other}\n{one}", wide & ~narrow),
            (f"image;{one};-{other};{one}", wide & ~narrow),
            (f"image\n-{other}", ~narrow),
            (f"image\n!{other} # outside", ~narrow),
            (f"# Region file format: DS9\nglobal color=red\nimage\n+{other} ||", narrow),
        ):
            self.assert_same_pixels(self.searched(header, text), wanted, text)

    def test_casa(self):
        """The same pixels as those of regions of DS9."""
        header = header_of(*SKIES[0])
        middle = "0.1deg, 29.9deg"
        for casa, ds9 in (
            (f"circle [[{middle}], 0.4deg], coord=ICRS", "icrs;circle(0.1,29.9,0.4)"),
            (f"circle[[{middle}], 24arcmin], coord=J2000, corr=[I, Q], color='#ff, a'", "fk5;circle(0.1,29.9,0.4)"),
            ("circle [[00h00m24s, +29.54.00], 1440arcsec], coord=B1950", "fk4;circle(0.1,29.9,0.4)"),
            ("circle [[00:00:24.0, +29d54m00s], 1440arcsec], coord=B1950", "fk4;circle(0.1,29.9,0.4)"),
            (f"global coord=ICRS\nannulus [[{middle}], [0.2deg, 0.4deg]]", "icrs;annulus(0.1,29.9,0.2,0.4)"),
            (f"ellipse [[{middle}], [0.5deg, 12arcmin], 25deg], coord=ICRS", "icrs;ellipse(0.1,29.9,0.5,0.2,115)"),
            (f"ellipse [[{middle}], [12pix, 5pix], 25deg], coord=ICRS", "icrs;ellipse(0.1,29.9,12i,5i,115)"),
            (f"rotbox [[{middle}], [0.5deg, 0.2deg], 25deg], coord=ICRS", "icrs;box(0.1,29.9,0.5,0.2,25)"),
            (f"centerbox [[{middle}], [0.5deg, 0.2deg]], coord=ICRS", "icrs;box(0.1,29.9,0.5,0.2)"),
            ("box [[0.3deg, 29.7deg], [359.9deg, 30.1deg]], coord=ICRS", "icrs;polygon(0.3,29.7,359.9,29.7,359.9,30.1,0.3,30.1)"),
            ("poly [[0.3deg, 29.7deg], [359.9deg, 29.8deg], [0.1deg, 30.3deg]], coord=ICRS", "icrs;polygon(0.3,29.7,359.9,29.8,0.1,30.3)"),
            ("poly [[10pix,10pix],[80pix,12pix],[40pix,90pix]]", "image;polygon(11,11,81,13,41,91)"),
            ("rotbox [[50pix,60pix],[40pix,20pix],0.3rad]", "image;box(51,61,40,20,0.3r)"),
            ("box [[50.5pix,60.5pix],[80.5pix,70.5pix]]", "image;box(66.5,66.5,30,10)"),
            (f"ann circle [[1pix,1pix],3pix]\ntext [[1pix,1pix],'a']\ncircle [[{middle}],0.4deg],coord=GALACTIC", "galactic;circle(0.1,29.9,0.4)"),
        ):  # fmt: skip
            wanted = self.searched(header, ds9)
            if "GAL" not in casa and "fk4" not in ds9:
                self.assertGreater(wanted.sum(), 100, ds9)
            for begin, name in (("#CRTFv0\n", "a.txt"), ("", "b.txt"), ("# own\n", "c.crtf")):
                if begin == "" and casa.startswith("global"):
                    continue
                got = self.searched(header, begin + casa, name=name)
                self.assert_same_pixels(got, wanted, casa)

    def test_casa_line_by_line(self):
        header = header_of(*SKIES[0])
        y, x = np.mgrid[:N, :N]
        wide, middle, dot = [(x - 60) ** 2 + (y - 60) ** 2 < r * r for r in (30, 20, 10)]
        circles = [f"circle [[60pix, 60pix], {r}pix]\n" for r in (30, 20, 10)]
        for signs, order, wanted in (
            ("+-+", (0, 1, 2), wide & ~middle | dot),
            ("-+", (1, 2), ~middle | dot),
            ("+-", (2, 0), wide & False),
            ("-", (0,), ~wide),
        ):
            text = "#CRTFv0\n" + "".join(s + circles[i] for s, i in zip(signs, order))
            self.assert_same_pixels(self.searched(header, text), wanted, text)

    def save_mocs(self, cells):
        """Writes cells of each order in all forms; returns the paths."""
        low = {str(order): [int(c) for c in some] for order, some in cells.items()}
        lines = "\n".join(
            f"{order}/" + " ".join(map(str, some[:-2])) + f",{some[-1]}-{some[-1]} {some[-2]}"
            for order, some in low.items()
        )
        uniq = np.array([4 ** (int(o) + 1) + c for o, some in low.items() for c in some])
        ranges = [
            (c << 2 * (29 - int(o)), c + 1 << 2 * (29 - int(o))) for o, l in low.items() for c in l
        ]
        ends = np.array(ranges).ravel()
        files = {"a.moc": json.dumps(low), "b.txt": lines, "c.txt": json.dumps(low, indent=1)}
        tables = {
            "d.fits": moc_table(
                fits.Column("UNIQ", "1K", array=uniq), ORDERING="NUNIQ", MOCORDER=9, COORDSYS="C"
            ),
            "e.fits": moc_table(
                fits.Column("RANGE", "1K", array=ends), ORDERING="RANGE", MOCORD_S=9, MOCDIM="SPACE"
            ),
            "f.fits": moc_table(
                fits.Column("RANGE", "2K", array=ranges), ORDERING="RANGE", MOCORD_S=9
            ),
            "g.fits": moc_table(
                fits.Column("NPIX", "1J", array=uniq.astype(np.int32)),
                PIXTYPE="HEALPIX",
                ORDERING="NUNIQ",
            ),
            "i.fits": moc_table(
                fits.Column("RANGE", "1J", array=(ends >> 2 * (29 - 13)).astype(np.int32)),
                ORDERING="RANGE",
                MOCORD_S=10,
            ),
        }
        for name, text in files.items():
            with open(self.path(name), "w") as stream:
                stream.write(text)
        for name, table in tables.items():
            table.writeto(self.path(name), overwrite=True)
        with open(self.path("e.fits"), "rb") as plain:
            with gzip.open(self.path("h.fits.gz"), "wb") as packed:
                packed.write(plain.read())
        return [self.path(name) for name in (*files, *tables, "h.fits.gz")]

    def test_maps_of_coverage(self):
        chance = np.random.default_rng(8)
        image = np.random.default_rng(1).normal(10, 0.1, (N, N)).astype(np.float32)
        for projection, middle, frame, pixel in SKIES:
            header = header_of(projection, middle, frame, pixel)
            reference = Reference(header)
            self.write("high.fits", image, header)
            there = np.isfinite(reference.sky.data.lon.deg)
            cells, wanted = {}, np.zeros((N, N), bool)
            for order in (1, 6, 8, 10):
                of_pixels = np.where(there, healpix(reference.sky, order), -1)
                all_cells = np.unique(of_pixels[there])
                some = chance.permutation(all_cells)[: max(3, len(all_cells) // 8)]
                if order == 1:
                    some = np.array([0, 1, 2]) if pixel < 1 else some[:3]
                if len(some) < 3:
                    continue
                cells[order] = some
                wanted |= np.isin(of_pixels, some)
            for path in self.save_mocs(cells):
                got = self.searched_file("high.fits", path)
                self.assert_same_pixels(got, wanted, (projection, path))

    def test_messages_of_maps_of_coverage(self):
        image = self.write("i.fits", t.noise(50, 50), t.sky_header())
        for text, message in (
            ('{"30": [1]}', "line 1: `30` is no order of cells"),
            ('{"3":\n [1, 768]}', "line 2: `768` is no cell of this order: 0 to 767"),
            ('{"3": [1 2]}', "has no ] or comma before it"),
            ('{"3" [1]}', "is no list"),
            ('{"3": [1], 4: []}', "is no order"),
            ('{"3": [1', "line 1: `` has no ]"),
            ('{"3": [', "ends too early"),
            ('{"3": [1]} x', "`x` stands behind the map"),
            ("{}", "there is no region in it"),
            ("3/1 5-3", "`5-3` is a range that ends before it begins"),
            ("3/1 768", "`768` is no cell of this order"),
            ("3/1\n4/x", "line 2: `x` is no cell"),
            ("t3/1", "is no order of cells (the space"),
        ):
            path = self.path("a.txt")
            with open(path, "w") as stream:
                stream.write(text)
            self.assert_error(2, message, image, "--mask", path)
        path = self.path("a.fits")
        number = fits.Column("UNIQ", "1K", array=[4, 70])
        for column, cards, message in (
            (number, {"ORDERING": "NESTED", "PIXTYPE": "HEALPIX"}, "ORDERING is NESTED"),
            (number, {"ORDERING": "RANGE", "MOCORD_T": 9, "MOCDIM": "TIME"}, "coverage of TIME"),
            (number, {"ORDERING": "NUNIQ", "COORDSYS": "G"}, "its COORDSYS is G"),
            (number, {"ORDERING": "RANGE", "MOCORD_S": 5, "MOCORDER": 5}, None),
            (fits.Column("UNIQ", "1K", array=[3]), {"ORDERING": "NUNIQ"}, "3 is no cell"),
            (fits.Column("UNIQ", "1K", array=[-5]), {"ORDERING": "NUNIQ"}, "-5 is no cell"),
            (
                fits.Column("R", "1K", array=[9, 5]),
                {"ORDERING": "RANGE", "MOCORD_S": 1},
                "5 is no end",
            ),
            (
                fits.Column("R", "1K", array=[9]),
                {"ORDERING": "RANGE", "MOCORD_S": 1},
                "9 is no end",
            ),
            (
                fits.Column("U", "1D", array=[9]),
                {"ORDERING": "NUNIQ"},
                "no column of whole numbers",
            ),
            (fits.Column("U", "1K", array=[]), {"ORDERING": "NUNIQ"}, "there is no region"),
        ):
            moc_table(column, **cards).writeto(path, overwrite=True)
            if message:
                self.assert_error(2, message, image, "--mask", path)
            else:
                self.assertEqual(t.run("-q", image, "--mask", path).returncode, 0)

    def test_border_is_outside(self):
        header = header_of(*SKIES[0])
        y, x = np.mgrid[:N, :N]
        far = (x - 50) ** 2 + (y - 60) ** 2
        inside = (abs(x - 50) < 10) & (abs(y - 60) < 5)
        for text, wanted in (
            ("circle(51,61,10)", far < 100),
            ("annulus(51,61,5,10)", (far < 100) & (far >= 25)),
            ("annulus(51,61,0,3,10)", far < 100),
            ("box(51,61,20,10,0)", inside),
            ("polygon(41,56,61,56,61,66,41,66)", inside),
        ):
            self.assert_same_pixels(self.searched(header, "image;" + text), wanted, text)

    def test_whole_sky_in_cylinder(self):
        """Shapes go on at the other end of the sky, and a circle around a pole is there."""
        header = header_of("CAR", (180, 0), "ICRS", 360 / N)
        header["CRPIX1"] = (N + 1) / 2
        header["PC1_1"] = header["PC2_2"] = 1
        header["PC1_2"] = header["PC2_1"] = 0
        reference = Reference(header)
        lat = np.degrees(np.arcsin(np.clip(np.sin(np.radians(reference.sky.dec.deg)), -1, 1)))
        pixel = 360 / N
        for lon in (0.1, 1.0, 359.5):
            text = f"icrs;box({lon},10,{30 * pixel},{20 * pixel},0)"
            got = self.searched(header, text)
            here = np.isfinite(reference.sky.ra.deg)
            west = (reference.sky.ra.deg - lon + 180) % 360 - 180
            scale = math.cos(math.radians(10))
            wanted = here & (abs(west * scale) < 15 * pixel) & (abs(lat - 10) < 10 * pixel)
            self.assert_same_pixels(got, wanted, text)
            self.assertGreater(got[:, :10].sum(), 50)
            self.assertGreater(got[:, -10:].sum(), 50)
        pole = self.searched(header, "icrs;circle(77,90,20)")
        self.assert_same_pixels(pole, np.isfinite(lat) & (lat > 70), "pole")

        for text, wanted in (
            (f"polygon(1,21,{N},21,{N},81,1,81)", (20, 80, 0, N)),
            (f"box({N},51,20,60,0)", (20, 80, N - 11, N)),
        ):  # pixels do not go on there
            low, high, first, end = wanted
            y, x = np.mgrid[:N, :N]
            inside = (y > low) & (y < high) & (x > first) & (x < end - (first == 0))
            got = self.searched(header, "image;" + text)
            self.assert_same_pixels(got, inside, text)

    def test_many_regions(self):
        """Each block has a list of those near it; the order of all counts."""
        chance = np.random.default_rng(6)
        global N
        before, N = N, 700  # several blocks
        try:
            for projection, middle, frame, pixel in SKIES[1:2] + SKIES[6:]:
                pixel = 0.45 if projection == "AIT" else pixel
                reference = Reference(header_of(projection, middle, frame, pixel, N))
                lines, wanted = [], np.zeros((N, N), bool)
                for i in range(120):
                    x, y = chance.uniform(-20, N + 20, 2)
                    a, b = sorted(chance.uniform(1, 30, 2))
                    centre = reference.wcs.pixel_to_world(x, y)
                    if i % 2 == 0 and np.isfinite(centre.data.lon.deg):
                        a, b = a * pixel, b * pixel
                        at = f"[{centre.data.lon.deg:.11f}deg,{centre.data.lat.deg:.11f}deg]"
                        size, inside = f"[{a:.12f}deg,{b:.12f}deg]", reference.ring(centre, a, b)
                    else:
                        at, size = f"[{x:.11f}pix,{y:.11f}pix]", f"[{a:.12f}pix,{b:.12f}pix]"
                        far = (reference.x - x) ** 2 + (reference.y - y) ** 2
                        inside = (far < b * b) & (far >= a * a)
                    sign = "+-"[i % 3 == 2]
                    lines.append(f"{sign}annulus[{at},{size}]")
                    wanted = wanted & ~inside if sign == "-" else wanted | inside
                coord = "coord=" + {"FK5": "J2000"}.get(frame, frame)
                text = "\n".join(["#CRTFv0", "global " + coord, *lines])
                self.assert_same_pixels(self.searched(reference.header, text), wanted, projection)
        finally:
            N = before

    def test_packed_text(self):
        header = header_of(*SKIES[0])
        wanted = self.searched(header, "image;circle(51,61,10)")
        for name, text in (
            ("a.reg.gz", "# own\ncircle(51,61,10)"),
            ("a.crtf.gz", "# own\nglobal coord=ICRS\ncircle[[50pix,60pix],10pix]"),
        ):
            with gzip.open(self.path(name), "wb") as stream:
                stream.write(text.encode())
            got = self.searched_file("high.fits", self.path(name))
            self.assert_same_pixels(got, wanted, name)

    def test_physical_pixels(self):
        header = header_of(*SKIES[0])
        header.update({"LTM1_1": 0.5, "LTM2_2": 0.25, "LTV1": 10, "LTV2": -3})
        got = self.searched(header, "physical;box(82,164,64,80,0)")
        y, x = np.mgrid[:N, :N]
        wanted = (abs(x - 50) < 16) & (abs(y - 37) < 10)
        self.assert_same_pixels(got, wanted, "physical")

    def test_trim(self):
        header = header_of(*SKIES[0])
        text = "image;circle(60,70,20)\n-icrs;".split("-")[0] + "\nicrs;circle(0.1,30,0.2)"
        whole = self.searched(header, text)
        part = self.searched(header, text, "--trim=31,110,41,100")
        self.assert_same_pixels(part, whole[40:100, 30:110], text)

    def messages(self):
        return (
            ("icrs\ncircle(1,2", "line 2: `circle(1,2` has no closing parenthesis"),
            ("foo(1,2,3)", "line 1: `foo` is no shape or frame"),
            ("icrs;circle(1,2,3,4)", "line 1: `circle(1,2,3,4)` has 4 numbers, and needs 3"),
            ("image;polygon(1,2,3,4,5,6,7)", "in pairs"),
            ("image;circle(1,2,-3)", "`circle(1,2,-3)` has no size"),
            ("image;annulus(1,2,5,3)", "needs its inner radius before its outer one"),
            ("image;annulus(1,2,5,7,6)", "has radii that do not rise"),
            ('fk5;circle(1,95,3")', "`95` is beyond a pole"),
            ("fk5;circle(1,x,3)", "`x` is no number"),
            ("fk5;circle(1,2furlongs,3)", "`2furlongs` has no unit of angles"),
            ("fk5;ellipse(1,2,3',4i,5)", "`4i` is not in the unit of the size before"),
            ("image;circle(1d,2,3)", "`1d` is no pixel"),
            ("ecliptic;circle(1,2,3)", "`ecliptic` is no shape or frame"),
            ("fk5 circle(1,2,3)", "`circle(1,2,3)` stands behind a frame"),
            ("image;circle(1,2,3) panda", "`panda` stands behind a shape"),
            ("global color=red", "there is no region in it"),
            ("image;circle(1,2,nan)", "is no number"),
            ("#CRTFv0\ncircle [[1pix, 2pix], 3pix", "line 2: `circle [[1pix, 2pix], 3pix` has no closing"),
            ("#CRTFv0\ncircle [[1, 2deg], 3deg]", "`1` has no unit"),
            ("#CRTFv0\ncircle [[1deg, 2deg], 3]", "`3` has no unit"),
            ("#CRTFv0\ncircle [[1deg, 2deg], 3deg]", "names no frame: add coord=J2000"),
            ("#CRTFv0\ncircle [[1deg, 2pix], 3deg], coord=ICRS", "has pixels and angles"),
            ("#CRTFv0\ncircle [[1deg, 2deg], 3deg], coord=ECLIPTIC", "`ECLIPTIC` is no frame"),
            ("#CRTFv0\ncircle [[1deg, 2deg], 3deg] coord=ICRS", "`coord=ICRS` has no , where"),
            ("#CRTFv0\ncircle [1deg, 2deg], 3deg", "`3deg` is no keyword"),
            ("#CRTFv0\nblob [[1deg, 2deg], 3deg]", "`blob` is no shape of CASA"),
            ("#CRTFv0\npoly [[1pix, 2pix], [3pix, 4pix]]", "has 2 corners, and needs three"),
            ("#CRTFv0\ncentbox [[1pix, 2pix], [3pix, 4pix]]", "`centbox` is no shape"),
            ("#CRTFv0\nellipse [[1pix, 2pix], [3pix, 4arcsec], 1deg]", "is not in the unit"),
            ("#CRTFv0\ncircle [[1deg, 95deg], 3deg], coord=ICRS", "is beyond a pole"),
            ("#CRTFv0\ncircle [[1pix, 2pix], 3pix], linewidth", "is no keyword"),
        )  # fmt: skip

    def test_messages(self):
        image = self.write("i.fits", t.noise(50, 50))
        mask = self.path("bad.reg")
        for text, message in self.messages():
            with open(mask, "w") as stream:
                stream.write(text)
            self.assertIn(mask + ": ", self.assert_error(2, message, image, "--mask", mask))
        for text, message in (
            ("fk5;circle(1,2,3)", "the image has no sky coordinates"),
            ("image;circle(1,2,3')", "the image has no sky coordinates"),
        ):
            with open(mask, "w") as stream:
                stream.write(text)
            self.assert_error(1, message, image, "--mask", mask)
        header = header_of("TAN", (10, 20), "ICRS", 0.01)
        header["CTYPE1"], header["CTYPE2"] = "ELON-TAN", "ELAT-TAN"
        image = self.write("ecliptic.fits", t.noise(50, 50), header)
        with open(mask, "w") as stream:
            stream.write("fk5;circle(1,2,3)")
        self.assert_error(
            1, "cannot be converted to the coordinates of the image", image, "--mask", mask
        )

    def test_pickles_are_not_read(self):
        image = self.write("i.fits", t.noise(50, 50))
        for name, content in (("a.mim", b"\x80\x04\x95\x00\x00"), ("b.reg", b"\x80\x03c\x00")):
            with open(self.path(name), "wb") as stream:
                stream.write(content)
            self.assert_error(2, "write_fits(", image, "--mask", self.path(name))

    def test_hostile_files(self):
        """Changed files are read, or end with one line."""
        image = self.write("i.fits", t.noise(60, 60, seed=5), t.sky_header())
        seeds = [
            "# Region file format: DS9\nfk5\ncircle(150.0,2.0,30\")\n-box(10:00:01,+2:00:10,9',2',30)\n"
            "image\npolygon(10,10,50,12,40,50)\nphysical;annulus(30,30,5,10,20)\n"
        ]
        self.mutate(image, seeds, ".reg", 150)
        seeds = [
            "#CRTFv0\nglobal coord=J2000\ncircle [[150.0deg, 2.0deg], 30arcsec], color='red'\n"
            "-rotbox [[10:00:01,+2.00.10], [9arcmin, 2arcmin], 30deg], corr=[I, Q]\n"
            "+poly [[10pix,10pix],[50pix,12pix],[40pix,50pix]]\nbox [[1pix,2pix],[9pix,8pix]]\n"
        ]
        self.mutate(image, seeds, ".crtf", 150)
        self.mutate(image, ['{"3": [1, 2, 767],\n "8": [300000], "29": [5]}', "{}"], ".moc", 100)
        self.mutate(image, ["3/1 2-5,767\n8/300000 29/"], ".txt", 50)
        cells = fits.Column("UNIQ", "1K", array=np.arange(70000, 70100))
        moc_table(cells, ORDERING="NUNIQ", MOCORDER=9).writeto(self.path("m.fits"))
        with open(self.path("m.fits"), "rb") as stream:
            self.mutate(image, [stream.read()], ".fits", 50)

    def mutate(self, image, seeds, suffix, n):
        chance = random.Random(7)
        for i in range(n):
            seed = chance.choice(seeds)
            text = bytearray(seed if isinstance(seed, bytes) else seed.encode())
            for _ in range(chance.randint(1, 8)):
                at = chance.randrange(len(text) + 1)
                kind = chance.randrange(4)
                if kind == 0:
                    text[at:at] = bytes(chance.choice(b"()[],;+-#eE9.\n\t'\"dp{}:/\x80\xff\x00"))
                elif kind == 1:
                    del text[at : at + chance.randint(1, 20)]
                elif kind == 2:
                    text[at:at] = b"9" * chance.randint(1, 400)
                else:
                    text[at:at] = text[chance.randrange(len(text) + 1) :][:40]
            path = self.path("h" + suffix)
            with open(path, "wb") as stream:
                stream.write(text)
            result = t.run("-q", image, "--mask", path)
            self.assertIn(result.returncode, (0, 1, 2), (i, text))
            if result.returncode:
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
                self.assertIn(path, result.stderr)


class Peers(Pixels):
    """The pixels are those of the Python packages regions and mocpy."""

    def of_package(self, wcs, region):
        mask = region.to_pixel(wcs).to_mask(mode="center").to_image((N, N))
        return np.zeros((N, N), bool) if mask is None else mask > 0

    def sky_regions(self, reference, frame, pixel, generator):
        """Regions where pixels are square: versions of the package differ in others."""
        x, y = generator.uniform(0, N, 2)
        centre = reference.wcs.pixel_to_world(x, y)
        _, matrix = reference.linear(centre)
        scales = np.linalg.svd(matrix)[1]
        if scales[0] > (1 + 1e-5) * scales[1]:
            return
        a, b = generator.uniform(2, 40, 2) * pixel
        angle = generator.uniform(0, 360)
        size = f"{a:.12f},{b:.12f},{angle:.12f}"
        shape = (centre, 2 * a * u.deg, 2 * b * u.deg, angle * u.deg)
        own, at = frame.lower(), position(centre)
        yield f"{own};ellipse({at},{size})", package.EllipseSkyRegion(*shape)
        shape = (centre, a * u.deg, b * u.deg, angle * u.deg)
        yield f"{own};box({at},{size})", package.RectangleSkyRegion(*shape)
        if pixel < 0.03:  # where angular distances are those of the centre's scale
            yield f"{own};circle({at},{pixel:.12f})", package.CircleSkyRegion(centre, pixel * u.deg)

    @t.unittest.skipUnless(package, "needs the Python package regions")
    def test_shapes_of_package(self):
        generator = np.random.default_rng(3)
        n = 0
        skies = (
            ("SIN", (0.1, 30), "ICRS", 0.0005),
            ("TAN", (180, -45), "FK5", 0.0003),
            ("ZEA", (10, 89.99), "ICRS", 0.0005),
            ("CAR", (0, 0), "ICRS", 0.00002),
            ("STG", (300, -89.99), "FK4", 0.0003),
            ("TAN", (0.001, 5), "GALACTIC", 0.0003),
        )
        for projection, middle, frame, pixel in skies:
            header = header_of(projection, middle, frame, pixel)
            reference = Reference(header)
            for _ in range(12):
                for text, region in self.sky_regions(reference, frame, pixel, generator):
                    wanted = self.of_package(reference.wcs, region)
                    self.assert_same_pixels(self.searched(header, text), wanted, text)
                    n += 1
                x, y = generator.uniform(0, N, (2, 6))
                corners = reference.wcs.pixel_to_world(x, y)
                text = f"{frame.lower()};polygon({','.join(map(position, corners))})"
                wanted = self.of_package(reference.wcs, package.PolygonSkyRegion(corners))
                self.assert_same_pixels(self.searched(header, text), wanted, text)
                n += 1
        self.assertGreater(n, 200)

    @t.unittest.skipUnless(MOC, "needs the Python package mocpy")
    def test_maps_of_mocpy(self):
        generator = np.random.default_rng(4)
        image = np.random.default_rng(1).normal(10, 0.1, (N, N)).astype(np.float32)
        for projection, middle, frame, pixel in SKIES:
            header = header_of(projection, middle, frame, pixel)
            reference = Reference(header)
            self.write("high.fits", image, header)
            for _ in range(3):
                centre = reference.wcs.pixel_to_world(*generator.uniform(40, N - 40, 2)).icrs
                moc = MOC.from_cone(
                    lon=Longitude(centre.ra),
                    lat=Latitude(centre.dec),
                    radius=generator.uniform(5, 40) * pixel * u.deg,
                    max_depth=11,
                )
                there = np.isfinite(reference.sky.data.lon.deg)
                wanted = np.zeros((N, N), bool)
                wanted[there] = moc.contains_skycoords(reference.sky[there].icrs)
                for name, pre_v2 in (("new.fits", False), ("old.fits", True)):
                    path = self.path(name)
                    moc.save(path, format="fits", overwrite=True, pre_v2=pre_v2)
                    got = self.searched_file("high.fits", path)
                    self.assert_same_pixels(got, wanted, (projection, name))


DISC = "image;circle(90,100,60)\n-circle(110,100,12)"


class Searches(t.Case):
    """What is searched, and what stays that of the whole image."""

    def setUp(self):
        super().setUp()
        self.image = t.noise(200, 190, seed=9, n_sources=60)
        self.image[:, 95:] *= np.linspace(1, 3, 95, dtype=np.float32)
        self.image[30:40, 60:70] = np.nan
        self.file = self.write("i.fits", self.image, t.sky_header())
        self.mask = self.path("disc.reg")
        with open(self.mask, "w") as stream:
            stream.write(DISC)
        y, x = np.mgrid[:200, :190]
        self.inside = ((x - 89) ** 2 + (y - 99) ** 2 < 3600) & (
            (x - 109) ** 2 + (y - 99) ** 2 >= 144
        )

    def rows(self, *options, **more):
        path = self.path("rows.csv")
        result = t.run("-q", "-o", path, *options, self.file, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return t.read_csv(path)

    def islands(self, *options):
        path = self.path("maps.csv")
        t.run("-q", "-o", path, "--save=islands,rms", *options, self.file, check=True)
        return fits.getdata(self.path("maps.islands.fits")), fits.getdata(
            self.path("maps.rms.fits")
        )

    def test_islands_are_those_of_the_pixels_inside(self):
        self.write("rms.fits", np.full((200, 190), 1.3, np.float32))
        for noise in ([], ["--local"], ["--rms-map", self.path("rms.fits")]):
            whole, rms = self.islands("-n3", "-i3", *noise)
            high, _ = self.islands("-n6", "-i6", *noise)
            for connectivity in (4, 8):
                structure = ndimage.generate_binary_structure(2, connectivity // 4)
                labels, n = ndimage.label((whole > 0) & self.inside, structure)
                kept = np.unique(labels[(high > 0) & self.inside])
                numbers = np.zeros(n + 1, int)
                numbers[kept[kept > 0]] = np.arange(1, (kept > 0).sum() + 1)
                options = ["-n6", "-i3", f"--connectivity={connectivity}", *noise]
                for machine in (["-j1"], ["-j3"]):
                    got, own = self.islands("--mask", self.mask, *options, *machine)
                    self.assertEqual(np.argwhere(got != numbers[labels]).tolist(), [], options)
                    np.testing.assert_array_equal(own, rms)
                self.assertGreater(len(kept), 5)
                # an island that is cut, or touches the border, has flag 1
                rows = self.rows("--mask", self.mask, *options)
                outside = ndimage.binary_dilation(
                    ~self.inside | np.isnan(self.image), np.ones((3, 3)), border_value=1
                )
                for row, label in zip(rows, kept[kept > 0]):
                    touches = bool(outside[labels == label].any())
                    self.assertEqual(int(row["Flags"]) & 1, int(touches), row)

    def test_whole_islands_have_the_rows_of_the_whole_image(self):
        for options in (["-i3"], ["-i3", "--fit"], ["-i3", "--local", "--fit"]):
            drop = ("Source_id", "Isl_id", "Flags")
            # fits see pixels outside: their margin is not cut
            rows, _ = self.rows_of(options, drop)
            cut, flags = self.rows_of(["--mask", self.mask, *options], drop)
            same = [row for row, flag in zip(cut, flags) if not int(flag) & 1]
            self.assertGreater(len(same), 8)
            for row in same:
                self.assertIn(row, rows)

    def rows_of(self, options, drop):
        rows = self.rows(*options)
        return (
            [{k: v for k, v in row.items() if k not in drop} for row in rows],
            [row["Flags"] for row in rows],
        )

    def test_mask_noise_is_a_mask(self):
        fitsmask = self.write("mask.fits", self.inside.astype(np.uint8))
        for options in (["-i3"], ["--local", "--fit"], ["--negative"]):
            self.assertEqual(
                self.rows("--mask", self.mask, "--mask-noise", *options),
                self.rows("--mask", fitsmask, *options),
            )
        whole, _ = self.islands()
        self.assertNotEqual(
            self.rows("--mask", self.mask, "--mask-noise", "-n4"),
            self.rows("--mask", self.mask, "-n4"),
        )

    def test_regions_change_the_saved_mask(self):
        def mask(*options):
            path = self.path("m.csv")
            t.run("-q", "-o", path, "--save=mask", *options, self.file, check=True)
            with open(path) as stream:
                return fits.getdata(self.path("m.mask.fits")) > 0, stream.read()

        blank = np.isnan(self.image)
        for options in (["-i3"], ["-i3", "--mask-dilate=2", "--mask-fill"]):
            alone, rows = mask(*options)
            y, x = np.mgrid[:200, :190]
            disc = (x - 89) ** 2 + (y - 99) ** 2 < 3600
            hole = (x - 109) ** 2 + (y - 99) ** 2 < 144
            for text, wanted in (
                (DISC, (alone | disc) & ~hole),
                ("image;-circle(110,100,12)", alone & ~hole),
                (
                    "#CRTFv0\n-circle[[89pix,99pix],60pix]\n+circle[[109pix,99pix],12pix]",
                    alone & ~disc | hole,
                ),
            ):
                with open(self.mask, "w") as stream:
                    stream.write(text)
                got, same = mask("--mask", self.mask, "--regions-as=mask", *options)
                self.assertEqual(np.argwhere(got != wanted & ~blank).tolist(), [], text)
                self.assertEqual(same, rows)

    def test_options_of_regions(self):
        self.assert_error(2, "regions-as: it needs regions", "--regions-as=mask", self.file)
        self.assert_error(2, "mask-noise: it needs regions", "--mask-noise", self.file)
        arguments = "--mask", self.mask, "--mask-noise", "--regions-as=mask", self.file
        self.assert_error(2, "leave one of them out", *arguments)
        fitsmask = self.write("mask.fits", self.inside.astype(np.uint8))
        for option in ("--mask-noise", "--regions-as=mask"):
            arguments = "-q", "--mask", fitsmask, option, self.file
            self.assertIn("this mask is an image", t.run(*arguments).stderr)
        result = t.run("--mask", self.mask, "--regions-as=mask", self.file)
        self.assertIn("--regions-as has no effect without --save mask", result.stderr)

    def test_json_names_the_file(self):
        catalogue = json.loads(t.run("-q", "-fjson", "--mask", self.mask, self.file).stdout)
        self.assertEqual(catalogue["options"]["mask"], self.mask)
        self.assertIsNone(catalogue["options"]["mask-noise"])

    def test_negative_and_scales(self):
        negative = -self.image
        self.write("n.fits", negative, t.sky_header())
        rows = self.rows("--negative", "--mask", self.mask)
        self.file = self.path("n.fits")
        turned = self.rows("--negative", "--mask", self.mask)
        self.assertEqual(len(rows), len(turned))
        y, x = np.mgrid[:200, :190]
        for cx, cy in ((60, 100), (40, 170)):
            self.image += 2.5 * np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / 200).astype(np.float32)
        self.file = self.write("wide.fits", self.image, t.sky_header())
        everywhere = self.rows("--scales=3", "--rms=1")
        found = self.rows("--scales=3", "--rms=1", "--mask", self.mask)
        for rows, n in ((everywhere, 2), (found, 1)):
            wide = [row for row in rows if float(row["Scale"]) > 0 or row["S_Code"] == "M"]
            near = {
                (cx, cy)
                for cx, cy in ((60, 100), (40, 170))
                for row in wide
                if math.hypot(float(row["Xposn"]) - cx, float(row["Yposn"]) - cy) < 8
            }
            self.assertEqual(len(near), n, near)
        for row in found:
            y, x = int(row["Ypeak"]), int(row["Xpeak"])  # near the centre of a sample
            self.assertTrue(self.inside[y - 1 : y + 2, x - 1 : x + 2].any(), row)

    def test_detect_on(self):
        other = self.write("other.fits", self.image[::1] * 2, t.sky_header())
        rows = self.rows("--detect-on", other, "--mask", self.mask)
        alone = self.rows("--mask", self.mask)
        self.assertEqual([r["Xpeak"] for r in rows], [r["Xpeak"] for r in alone])

    def test_forced_photometry_goes_on_outside(self):
        at = "--at=" + "150.02,1.98;150.0,2.0"
        self.assertEqual(self.rows(at, "--mask", self.mask), self.rows(at))

    def test_injected_sources_are_inside(self):
        path = self.path("c.json")
        t.run("-q", "-fjson", "-o", path, "--completeness=300", "--mask", self.mask, self.file)
        with open(path) as stream:
            bins = json.load(stream)["completeness"]["snr"]
        bright = [b for b in bins if b["low"] >= 10]
        injected, found = (sum(b[name] for b in bright) for name in ("injected", "found"))
        self.assertGreater(injected, 30)
        self.assertGreater(found, 0.7 * injected)  # three in ten pixels are searched

    def test_nothing_is_searched(self):
        with open(self.mask, "w") as stream:
            stream.write("image;circle(1000,1000,5)")
        self.assertEqual(self.rows("--mask", self.mask), [])
        self.assertEqual(self.rows("--mask", self.mask, "--scales", "--fit"), [])
        message = f"no pixel is in the regions of {self.mask}: nothing is searched"
        self.assertIn(message, t.run("--mask", self.mask, self.file).stderr)

    def test_many_images(self):
        for i in range(3):
            self.write(f"m{i}.fits", t.noise(200, 190, seed=i), t.sky_header())
        files = [self.path(f"m{i}.fits") for i in range(3)]
        t.run("-q", *files, "-o", self.path("out/"), "--mask", self.mask, check=True)
        for i in range(3):
            rows = t.read_csv(self.path(f"out/m{i}.csv"))
            self.assertTrue(rows)
            for row in rows:
                self.assertTrue(self.inside[int(row["Ypeak"]), int(row["Xpeak"])])
        with open(self.mask, "w") as stream:
            stream.write("image;circle(5,5)")  # one message for all of them
        self.assert_error(
            2, "has 2 numbers", "-q", *files, "-o", self.path("out/"), "--mask", self.mask
        )

    def test_gpu_leaves_regions_to_the_cpu(self):
        if not os.path.exists(FAKE):
            self.skipTest("no fake GPU")
        fake = {**os.environ, "SRCFIND_CUDA_MODULE": FAKE}
        self.assertEqual(self.rows("--mask", self.mask, env=fake), self.rows("--mask", self.mask))
        arguments = self.file, "--mask", self.mask
        self.assert_error(3, "regions of --mask: on the CPU only", "--gpu", *arguments, env=fake)
        result = t.run("--compare-cpu", *arguments, env=fake)
        self.assertEqual(result.returncode, 2)
        self.assertIn("nothing to compare", result.stderr)


if __name__ == "__main__":
    t.main()
