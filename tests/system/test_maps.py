"""The real maps in data/maps: the same sources as SciPy finds, and what is known of the maps.
data/README.md tells their origin."""
import os

import oracle
import srcfind_test as t

MAPS = os.path.join(t.SOURCE_ROOT, "data", "maps")


class Maps(oracle.Agreement, t.Case):
    def check_map(self, name, image, n_sources, rms):
        """What JSON says of the image, how many sources there are by the median (4- and
        8-connected) and by --background zero, and the rms. Returns the catalogue."""
        path = os.path.join(MAPS, name)
        self.assert_agrees(path, oracle.Oracle(*oracle.read(path)))
        found = [
            t.find(path, "--background", background, "--connectivity", connectivity)
            for background in ("median", "zero")
            for connectivity in ("4", "8")
        ]
        self.assertEqual([len(catalogue["sources"]) for catalogue in found], n_sources)
        self.assertEqual({key: found[0]["image"][key] for key in image}, image)
        self.assertAlmostEqual(found[0]["background"]["rms"] / rms, 1, 5)
        return found[0]

    def check_beam(self, catalogue, major, minor, angle, area_pixels):
        """Arcsec and degrees."""
        beam = catalogue["image"]["beam"]
        self.assertEqual(beam["source"], "keywords")
        for name, value in (
            ("major_deg", major / 3600),
            ("minor_deg", minor / 3600),
            ("area_pixels", area_pixels),
        ):
            self.assertAlmostEqual(beam[name] / value, 1, 4)
        self.assertAlmostEqual(beam["angle_deg"], angle, 4)

    def brightest(self, catalogue):
        return max(catalogue["sources"], key=lambda source: source["Peak_flux"])

    def test_lofar(self):
        catalogue = self.check_map(
            "lofar.fits",
            {
                "unit": "JY/BEAM",
                "flux_unit": "Jy",
                "frame": "FK5",
                "equinox": 2000,
                "shape": [256, 256],
                "frequency_hz": 143650817.871094,
            },
            [8, 6, 8, 6],
            0.00612491,
        )
        self.check_beam(catalogue, 32.4687, 17.9584, 38.6861, 26.4275)
        source = self.brightest(catalogue)
        self.assertEqual([source["X_min"], source["Source_Name"]], [0, "J040715.95+632951.3"])
        self.assertTrue(source["Flags"] & 1)  # at the edge

    def test_magpis(self):
        """The background is far from 0, so that --background zero finds ten times as many
        sources."""
        catalogue = self.check_map(
            "magpis.fits",
            {
                "unit": "JY/BEAM",
                "flux_unit": "Jy",
                "frame": "GALACTIC",
                "equinox": None,
                "shape": [300, 300],
                "frequency_hz": None,
            },
            [14, 14, 162, 152],
            0.000395132,
        )
        self.check_beam(catalogue, 6.19992, 5.4, 0, 9.48383)
        self.assertEqual([column["name"] for column in catalogue["columns"]][3:5], ["GLON", "GLAT"])
        self.assertEqual(self.brightest(catalogue)["Source_Name"], "G010.4533+00.0245")

    def test_parkes(self):
        catalogue = self.check_map(
            "parkes.fits",
            {
                "unit": "JY/BEAM",
                "flux_unit": "Jy",
                "frame": "FK5",
                "equinox": 2000,
                "shape": [192, 192],
                "frequency_hz": 1420405750,
            },
            [69, 63, 64, 59],
            0.0560386,
        )
        self.check_beam(catalogue, 864, 864, 0, 14.6848)
        self.assertEqual(catalogue["background"]["n_blank"], 8121)
        # 61 mJy, the header says
        self.assertLess(abs(catalogue["background"]["rms"] / 0.061 - 1), 0.1)
        source = self.brightest(catalogue)  # PKS 1934-638, a calibrator of 14.9 Jy (Reynolds 1994)
        self.assertLess(
            oracle.angle_between(source["RA"], source["DEC"], 294.85428, -63.71267), 1 / 60
        )
        self.assertLess(abs(source["Peak_flux"] / 14.9 - 1), 0.1)


if __name__ == "__main__":
    t.main()
