"""The JSON Schema of what srcfind writes. That all JSON of all tests follows it, srcfind_test.py
checks."""
import copy
import json
import os
import re
import unittest

import jsonschema

import srcfind_test as t

FAKE = os.environ.get("FAKE_CUDA", "")
SAMPLE = os.path.join(t.SOURCE_ROOT, "data", "sample.fits")
FRAMES = [
    ("RA---SIN", "DEC--SIN"),
    ("GLON-SIN", "GLAT-SIN"),
    ("ELON-SIN", "ELAT-SIN"),
    ("SLON-SIN", "SLAT-SIN"),
    ("MLON-SIN", "MLAT-SIN"),
]


def objects():
    """Name and schema of each object."""
    return t.schema()["$defs"].items()


def objects_of(kind):
    """Those in a kind of document."""
    found, names = {}, [kind]
    for name in names:
        found[name] = t.schema()["$defs"][name]
        names += set(re.findall(r"#/\$defs/(\w+)", json.dumps(found[name]))) - set(names)
    return found


class Schema(t.Case):
    def documents(self):
        """A document of each kind."""
        yield t.find(SAMPLE)
        t.run(SAMPLE, "--merge", self.path("merged.json"), "-q", check=True)
        with open(self.path("merged.json")) as stream:
            yield json.load(stream)
        t.run(
            SAMPLE, "--fit", "--save", "gaussians", "-o", self.path("found.json"), "-q", check=True
        )
        with open(self.path("found.gaussians.json")) as stream:
            yield json.load(stream)
        yield json.loads(t.run(SAMPLE, "--bench=1", "--cpu", "-f", "json").stdout)
        if os.path.exists(FAKE):
            yield json.loads(
                t.run(
                    SAMPLE,
                    "--compare-cpu",
                    "-f",
                    "json",
                    env={**os.environ, "SRCFIND_CUDA_MODULE": FAKE},
                ).stdout
            )

    def assert_refused(self, document, words=""):
        with self.assertRaisesRegex(jsonschema.ValidationError, words):
            t.validator().validate(document)

    def test_is_a_schema(self):
        jsonschema.Draft202012Validator.check_schema(t.schema())

    def test_every_object_is_strict(self):
        for name, schema in objects():
            with self.subTest(name):
                self.assertEqual(
                    [schema["type"], schema["additionalProperties"]], ["object", False]
                )
                self.assertLessEqual(set(schema["required"]), set(schema["properties"]))

    def test_every_property_is_described(self):
        for name, schema in objects():
            for member, value in schema["properties"].items():
                with self.subTest((name, member)):
                    described = (
                        value
                        if "description" in value
                        else t.schema()["$defs"][value["$ref"].split("/")[-1]]
                    )
                    self.assertTrue(described.get("description") or described.get("title"))
                    self.assertTrue({"type", "enum", "anyOf", "$ref"} & set(value))

    def test_missing_members_are_refused(self):
        for document in self.documents():
            for member in document:
                with self.subTest(member):
                    self.assert_refused(
                        {name: value for name, value in document.items() if name != member}
                    )

    def test_unknown_members_are_refused(self):
        """In every object of a document."""

        def spoil(node):
            """Yields once for each object, while it has a member too many."""
            if isinstance(node, dict):
                node["surplus"] = 1
                yield
                del node["surplus"]
            for child in (
                node.values()
                if isinstance(node, dict)
                else node[:1]
                if isinstance(node, list)
                else []
            ):
                yield from spoil(child)

        for document in self.documents():
            n = 0
            for _ in spoil(document):
                self.assert_refused(document, "surplus")
                n += 1
            self.assertGreater(n, 6)

    def test_wrong_values_are_refused(self):
        """A string in place of a number, a null that cannot be, numbers out of range, a frame of
        two names."""
        catalogue = t.find(SAMPLE)
        for path, value in (
            ("sources.0.RA", "12"),
            ("sources.0.RA", 360),
            ("sources.0.DEC", -91),
            ("sources.0.N_pix", 0),
            ("sources.0.N_pix", 2.5),
            ("sources.0.Isl_rms", 0),
            ("sources.0.S_Code", "G"),
            ("sources.0.Source_id", None),
            ("sources.0.N_pix", ""),
            ("sources.0.E_RA", -1e-9),
            ("sources.0.Flags", 4096),
            ("sources.0.GLON", 12),
            ("sources.0.E_LAT", 1),
            ("sources.0.E_Maj", 1),
            ("sources.0.DC_PA", 1),
            ("sources.0.Source_Name", "J12+34"),
            ("image.bitpix", 24),
            ("image.beam.source", "guess"),
            ("image.axes.0", "300"),
            ("options.kappa", None),
            ("options.background", "mean"),
            ("background.empty", 0),
            ("detection.connectivity", 6),
            ("quality.zeros", 1.5),
            ("columns", []),
            ("srcfind", 1),
            ("srcfind", "1"),
        ):
            with self.subTest((path, value)):
                wrong = copy.deepcopy(catalogue)
                *parents, last = [int(name) if name.isdigit() else name for name in path.split(".")]
                node = wrong
                for name in parents:
                    node = node[name]
                node[last] = value
                self.assert_refused(wrong)

    def test_columns_of_every_frame(self):
        """Names, units and descriptions are those of catalogues, of islands and, where only these
        have a column, of fits, of scales, of planes, or of --at; the schema has no other ones."""
        properties, names = t.schema()["$defs"]["source"]["properties"], set()
        with open(self.path("at.csv"), "w") as stream:
            stream.write("Xposn,Yposn\n30,30\n")
        for lon, lat in FRAMES:
            path = self.write(
                "image.fits",
                t.noise(60, 70),
                t.sky_header(CTYPE1=lon, CTYPE2=lat, BUNIT="mJy/beam"),
            )
            catalogue, *more = (
                t.find(path, *options, cwd=self.directory.name)  # a table stands beside it
                for options in (
                    [],
                    ["--fit"],
                    ["--scales"],
                    ["--measure-in", path],
                    ["--at", self.path("at.csv")],
                    ["--at", self.path("at.csv"), "--fit"],
                )
            )
            image, of_islands = catalogue["image"], [
                column["name"] for column in catalogue["columns"]
            ]
            self.assertTrue(catalogue["sources"])
            others = {
                column["name"]: column
                for fitted in reversed(more)
                for column in fitted["columns"]
                if column["name"] not in of_islands
            }
            for column in catalogue["columns"] + [*others.values()]:
                text, unit = re.fullmatch(
                    r"(.*?)(?: \[(.*)\])?", properties[column["name"]]["description"]
                ).groups()
                unit = {"image.unit": image["unit"], "image.flux_unit": image["flux_unit"]}.get(
                    unit, unit
                )
                self.assertEqual(
                    [text, unit], [column["description"], column["unit"]], column["name"]
                )
                names.add(column["name"])
        self.assertEqual(names | {"Image", "Date_obs", "Plane", "Frequency"}, set(properties))

    def test_columns_of_planes(self):
        path, properties = (
            self.write("image.fits", t.noise(60, 70), t.sky_header(BUNIT="mJy/beam")),
            t.schema()["$defs"]["plane"]["properties"],
        )
        t.run(path, "--measure-in", path, "-q", "-o", self.path("c.json"), check=True)
        with open(self.path("c.planes.json")) as stream:
            table = json.load(stream)
        units = {"image.unit": "mJy/beam", "image.flux_unit": "Jy"}
        described = [
            re.fullmatch(r"(.*?)(?: \[(.*)\])?", properties[name]["description"]).groups()
            for name in properties
        ]
        self.assertEqual(
            [
                (name, text, units.get(unit, unit))
                for name, (text, unit) in zip(properties, described)
            ],
            [
                (column["name"], column["description"], column["unit"])
                for column in table["columns"]
            ],
        )
        self.assertTrue(table["planes"])

    def test_descriptions_say_what_is_measured(self):
        """Of islands, of Gaussians, and of what is given."""
        path = self.write("image.fits", t.noise(60, 70), t.sky_header())
        with open(self.path("at.csv"), "w") as stream:
            stream.write("Xposn,Yposn\n30,30\n")
        at = ["--at", self.path("at.csv")]
        for options, peak, x in (
            ([], "highest pixel, less the background", "flux-weighted centroid"),
            (["--deblend"], "highest pixel, less the background", "flux-weighted centroid"),
            (["--fit"], "highest value of the model", "centre of flux of its Gaussians"),
            (at, "value at the position", "of the position"),
            ([*at, "--fit"], "peak of the shape", "of the position"),
        ):
            texts = {
                column["name"]: column["description"]
                for column in t.find(path, *options)["columns"]
            }
            self.assertIn(peak, texts["Peak_flux"])
            self.assertIn(x, texts["Xposn"])

    def test_manual_names_every_member(self):
        """Each kind of document has a section; columns and options are described in theirs."""

        def section(start, end):
            return manual.split(start)[1].split(end)[0]

        with open(os.path.join(t.SOURCE_ROOT, "man", "srcfind.1")) as stream:
            manual = stream.read()
        options, columns = section(".Sh OPTIONS", ".Sh IMAGES"), section(
            ".Sh CATALOGUE", ".Sh JSON"
        )
        for kind, text in (
            ("catalogue", section(".Ss JSON catalogues", ".Ss")),
            ("merged", section(".Ss JSON catalogues", ".Ss")),
            ("gaussians", section(".Ss JSON catalogues", ".Ss")),
            ("comparison", section("reports of --compare-cpu", ".Ss")),
            ("benchmark", section("reports of --bench", ".Sh")),
        ):
            for name, schema in objects_of(kind).items():
                for member in schema["properties"]:
                    with self.subTest((kind, name, member)):
                        pattern = {
                            "options": r"(?m)^\.It .*Fl -%s\b",
                            "source": r"\b%s\b",
                            "gaussian": r"\b%s\b",
                        }.get(name, r"(?m)^\.(?:It )?Cm (?:.* )?%s(?: .*)?$")
                        self.assertRegex(
                            {"options": options, "source": columns, "gaussian": columns}.get(
                                name, text
                            ),
                            pattern % re.escape(member),
                        )


if __name__ == "__main__":
    t.main()
