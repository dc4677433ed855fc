"""Real images against references that SciPy made in float64."""
import json
import os

import numpy as np

import srcfind_test as t

RULES = {"lesson": "zero", "median": "median"}


def images():
    if not t.SHARED:
        return []
    found = []
    for folder, _, names in os.walk(os.path.join(t.SHARED, "data")):
        found += [os.path.join(folder, name[:-9]) for name in names if name.endswith(".ref.json")]
    return sorted(found)


def angle_between(lon, lat, lon2, lat2):
    """Degrees, for positions that are near each other or not."""
    a, b, c, d = np.radians([lon, lat, lon2, lat2])
    h = np.sin((d - b) / 2) ** 2 + np.cos(b) * np.cos(d) * np.sin((c - a) / 2) ** 2
    return np.degrees(2 * np.arcsin(np.sqrt(h)))


class Reference:
    """The reference of one image: the recorded one, or a new one of its pixels as float32."""

    def __init__(self, path, tool):
        with open(path + ".ref.json") as stream:
            self.recorded = json.load(stream)
        self.tool = tool
        wide, self.header, _ = tool.load(path)
        self.image = wide.astype(np.float32).astype(np.float64)
        self.clip, self.rules = self.recorded["clip"], self.recorded["rules"]
        if not np.array_equal(self.image, wide, equal_nan=True):
            self.search_again()

    def search_again(self):
        finite = np.isfinite(self.image)
        median, std, kept, passes = self.tool.clip(self.image[finite])
        self.clip = {"median": self.tool.num(median), "std": self.tool.num(std), "passes": len(passes),
                     "n_kept": int(kept.size)}
        self.rules = {}
        for rule, threshold in (("lesson", 5 * std), ("median", median + 5 * std)):
            mask = finite & (self.image > threshold)
            at, _ = self.tool.sky(self.header, self.image.ndim)
            self.rules[rule] = {"conn4": self.tool.measure(self.image, mask, None, at),
                                "conn8": self.tool.measure(self.image, mask, np.ones((3, 3), int), at)}

    def rows(self, rule, connectivity):
        part = self.rules[rule]["conn%d" % connectivity]
        return part["n_sources"], [dict(zip(self.recorded["columns"], row)) for row in part["rows"]]

    def rows_less_median(self, connectivity):
        """The median rule's sources with sums and centres of value - median."""
        median, std = self.clip["median"], self.clip["std"]
        mask = np.isfinite(self.image) & (self.image > median + 5 * std)
        structure = None if connectivity == 4 else np.ones((3, 3), int)
        part = self.tool.measure(self.image - median, mask, structure, None)
        return [dict(zip(self.recorded["columns"], row)) for row in part["rows"]]


class References(t.Case):

    def assert_close(self, value, expected, relative, scale=None):
        self.assertLessEqual(abs(value - expected), relative * (scale or abs(expected)),
                             "%r is not %r" % (value, expected))

    def check_clip(self, catalogue, reference):
        clip, background = reference.clip, catalogue["background"]
        if clip["median"] is None:
            self.assertTrue(background["empty"])
            self.assertEqual(catalogue["sources"], [])
            return False
        self.assertFalse(background["empty"])
        self.assertEqual(background["median"], clip["median"])
        self.assert_close(background["rms"], clip["std"], 1e-12)
        self.assertEqual(background["n_kept"], clip["n_kept"])
        self.assertEqual(background["rounds"], clip["passes"])
        return True

    def check_rows(self, rows, expected, sums):
        for row, e, s in zip(rows, expected, sums):
            self.assertEqual(row["N_pix"], e["npix"])
            self.assertEqual([row["X_min"], row["X_max"], row["Y_min"], row["Y_max"]],
                             [e["xmin"], e["xmax"], e["ymin"], e["ymax"]])
            self.assertEqual([row["Xpeak"], row["Ypeak"]], [e["max_x"], e["max_y"]])
            self.assert_close(row["Pixel_sum"], s["sum"], 1e-6)
            self.assert_close(row["Xposn"], s["x"], 1e-6, max(abs(s["x"]), 1))
            self.assert_close(row["Yposn"], s["y"], 1e-6, max(abs(s["y"]), 1))

    def check_sky(self, rows, expected):
        """Positions of the same centroid; the recorded ones are of plain values, as --background zero has."""
        for row, e in zip(rows, expected):
            lon, lat = (row.get(name, row.get(other)) for name, other in (("RA", "GLON"), ("DEC", "GLAT")))
            if e["lon"] is None:
                self.assertIsNone(lon)
            else:
                self.assertLess(angle_between(lon, lat, e["lon"], e["lat"]), 1e-7)

    def check(self, path, reference):
        for rule, background in RULES.items():
            for connectivity in (4, 8):
                with self.subTest(os.path.basename(path), rule=rule, connectivity=connectivity):
                    catalogue = t.find(path, "--background", background, "--connectivity", connectivity)
                    if not self.check_clip(catalogue, reference):
                        continue
                    n, expected = reference.rows(rule, connectivity)
                    rows = catalogue["sources"]
                    self.assertEqual(len(rows), n)
                    self.assertEqual(catalogue["detection"]["n_sources"], n)
                    sums = expected if rule == "lesson" else reference.rows_less_median(connectivity)
                    self.check_rows(rows, expected, sums)
                    if rule == "lesson":
                        self.check_sky(rows, expected)

    @t.needs_shared
    def test_images_with_a_reference(self):
        tool = t.tool("reference")
        paths = images()
        self.assertGreater(len(paths), 50)
        for path in paths:
            reference = Reference(path, tool)
            if reference.recorded["n_finite"] == 0:
                self.assertEqual(t.run(path).returncode, 1)
            else:
                self.check(path, reference)

    @t.needs_shared
    def test_beams(self):
        n = 0
        for path in images():
            with open(path + ".ref.json") as stream:
                expected = json.load(stream)["beam"]
            if not expected or expected.get("bmaj") is None:
                continue
            with self.subTest(os.path.basename(path)):
                beam = t.find(path)["image"]["beam"]
                self.assertEqual(beam["source"], expected["from"])
                self.assertEqual([beam["major_deg"], beam["minor_deg"], beam["angle_deg"]],
                                 [expected["bmaj"], expected["bmin"], expected["bpa"]])
                if "area_pixels" in expected:
                    self.assert_close(beam["area_pixels"], expected["area_pixels"], 1e-9)
                n += 1
        self.assertGreater(n, 15)


if __name__ == "__main__":
    t.main()
