"""Real images against references that SciPy made in float64, and that are recorded beside them (in
SRCFIND_TEST_DATA)."""
import json
import os

import numpy as np

import oracle
import srcfind_test as t

RULES = {"zero": "lesson", "median": "median"}
NAMES = {
    "npix": "N_pix",
    "xmin": "X_min",
    "xmax": "X_max",
    "ymin": "Y_min",
    "ymax": "Y_max",
    "max_x": "Xpeak",
    "max_y": "Ypeak",
    "sum": "Pixel_sum",
    "x": "Xposn",
    "y": "Yposn",
    "lon": "lon",
    "lat": "lat",
}


def images():
    found = []
    for folder, _, names in os.walk(os.path.join(t.SHARED, "data")):
        found += [os.path.join(folder, name[:-9]) for name in names if name.endswith(".ref.json")]
    return sorted(found)


def recorded_of(path):
    with open(path + ".ref.json") as stream:
        return json.load(stream)


class Recorded:
    """An oracle that knows what is recorded. Pixels that are no float32 are searched again, as
    float32."""

    def __init__(self, path, recorded, tool):
        wide, header, _ = tool.load(path)
        self.image, self.recorded = wide.astype(np.float32), recorded
        self.is_recorded = np.array_equal(self.image, wide, equal_nan=True)
        self.world, _ = tool.sky(header, wide.ndim)
        self.clip = (
            self.recorded_clip(**recorded["clip"]) if self.is_recorded else oracle.clip(self.image)
        )

    @staticmethod
    def recorded_clip(median, std, n_kept, passes, **_):
        return (
            None
            if median is None
            else {"median": median, "rms": std, "n_kept": n_kept, "rounds": passes}
        )

    def sources(self, background, connectivity):
        """The sums of what is above the median are not recorded, nor are the last ones of very many
        sources."""
        subtract = self.clip["median"] if background == "median" else 0.0
        found = oracle.find(self.image, subtract + 5 * self.clip["rms"], connectivity, subtract)
        if not self.is_recorded:
            return self.with_positions(found)
        part = self.recorded["rules"][RULES[background]]["conn%d" % connectivity]
        names = [NAMES.get(name) for name in self.recorded["columns"]]
        rows = [dict(zip(names, row)) for row in part["rows"]]
        if background == "median":
            rows = [
                {**own, **{name: row[name] for name in oracle.EXACT}}
                for row, own in zip(rows, found)
            ]
        assert len(found) == part["n_sources"], "the oracle finds other sources than are recorded"
        return rows + found[len(rows) :]

    def with_positions(self, rows):
        if self.world and rows:
            at = self.world(
                np.array([row["Xposn"] for row in rows]), np.array([row["Yposn"] for row in rows])
            )
            for row, lon, lat in zip(rows, *at):
                row["lon"], row["lat"] = (lon, lat) if np.isfinite(lon) else (None, None)
        return rows


@t.unittest.skipUnless(
    t.SHARED and not t.SANITIZED,
    "SRCFIND_TEST_DATA is not set, or sanitizers, with which numbers are the same",
)
class References(oracle.Agreement, t.Case):
    def test_images_with_a_reference(self):
        tool, paths = t.tool("reference"), images()
        self.assertGreater(len(paths), 50)
        for path in paths:
            recorded = recorded_of(path)
            if recorded["n_finite"] == 0:
                self.assertEqual(t.run(path).returncode, 1)
            else:
                self.assert_agrees(path, Recorded(path, recorded, tool))

    def test_beams(self):
        n = 0
        for path in images():
            expected = recorded_of(path)["beam"]
            if not expected or expected.get("bmaj") is None:
                continue
            with self.subTest(os.path.basename(path)):
                beam = t.find(path)["image"]["beam"]
                self.assertEqual(beam["source"], expected["from"])
                self.assertEqual(
                    [beam["major_deg"], beam["minor_deg"], beam["angle_deg"]],
                    [expected["bmaj"], expected["bmin"], expected["bpa"]],
                )
                if "area_pixels" in expected:
                    self.assert_close(beam["area_pixels"], expected["area_pixels"], 1e-9)
                n += 1
        self.assertGreater(n, 15)


if __name__ == "__main__":
    t.main()
