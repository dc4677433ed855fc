"""srcfind-page --reference: tables of all kinds, what is matched, and the figures and plots about
offsets and flux ratios."""
import json
import math
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import srcfind_test as t

pytest.importorskip("jinja2")
pytest.importorskip("astropy")

from astropy import units  # noqa: E402
from astropy.coordinates import FK5, SkyCoord  # noqa: E402
from astropy.table import Table  # noqa: E402
from astropy.time import Time  # noqa: E402

from srcfind.page._command import _frequency  # noqa: E402
from srcfind.page._comparison import match, median, ratio_median, reference_section  # noqa: E402
from srcfind.page._read import PageError, read_catalogue  # noqa: E402
from srcfind.page._reference import ReferenceOptions, read_reference  # noqa: E402

# what the catalogue has more than the reference: arcsec, arcsec, a factor
N, EAST, NORTH, RATIO = 400, 0.8, -0.5, 1.25
SHAPE = {
    "srcfind": "0.1.0",
    "image": {
        "path": "i.fits",
        "unit": "Jy/beam",
        "flux_unit": "Jy",
        "frame": "ICRS",
        "equinox": None,
        "frequency_hz": 1.4e9,
        "beam": {"major_deg": 6 / 3600, "minor_deg": 5 / 3600, "angle_deg": 0},
    },
}


def sky(seed=1, lon=0.02, lat=-45.0):
    """RA and Dec of N sources in half a degree around a place, and their fluxes in Jy."""
    random = np.random.default_rng(seed)
    away = SkyCoord(lon, lat, unit="deg").directional_offset_by(
        random.uniform(0, 360, N) * units.deg, 0.25 * np.sqrt(random.random(N)) * units.deg
    )
    return away.ra.deg, away.dec.deg, 0.001 / random.random(N)


def catalogue(path, frame="ICRS", names=("RA", "DEC"), unit="Jy", **image):
    """A catalogue of the sky, with noise of 0.3 arcsec in each coordinate and 5% in flux."""
    random, (ra, dec, flux) = np.random.default_rng(2), sky()
    dec = dec + (NORTH + random.normal(0, 0.3, N)) / 3600
    ra = (ra + (EAST + random.normal(0, 0.3, N)) / 3600 / np.cos(np.radians(dec))) % 360
    if frame == "GALACTIC":
        moved = SkyCoord(ra, dec, unit="deg").galactic
        ra, dec = moved.l.deg, moved.b.deg
    if frame == "FK4":
        moved = SkyCoord(ra, dec, unit="deg").fk4
        ra, dec = moved.ra.deg, moved.dec.deg
    cells = {
        names[0]: ra,
        names[1]: dec,
        "Total_flux": RATIO * flux * np.exp(random.normal(0, 0.05, N)),
        "SNR": flux / 1e-4,
    }
    rows = [
        dict({name: float(values[i]) for name, values in cells.items()}, Flags=0, Source_id=i + 1)
        for i in range(N)
    ]
    columns = [
        {
            "name": name,
            "unit": unit if name == "Total_flux" else None,
            "ucd": None,
            "description": "",
        }
        for name in rows[0]
    ]
    whole = dict(
        SHAPE, image=dict(SHAPE["image"], frame=frame, **image), columns=columns, sources=rows
    )
    path.write_text(json.dumps(whole))
    return read_catalogue(path)


def reference(**columns):
    """A table of the sky; columns name what is there: RA and Dec in degrees, and the flux in Jy."""
    ra, dec, flux = sky()
    values = {"ra": ra, "dec": dec, "flux": flux}
    return Table(
        {
            name: values.get(what, what) if isinstance(what, str) else what
            for name, what in columns.items()
        }
    )


def usual(path):
    table = reference(RAJ2000="ra", DEJ2000="dec", Total_flux="flux")
    table["Total_flux"].unit = "Jy"
    table.write(path, overwrite=True)
    return path


def found(tmp_path, table, **options):
    own = catalogue(tmp_path / "c.json")
    given = ReferenceOptions(table, **options)
    return match(own, read_reference(given, own), given)


# --- tables ---


@pytest.mark.parametrize("name", ["r.vot", "r.fits", "r.ecsv", "r.xml"])
def test_formats(tmp_path, name):
    table = reference(RAJ2000="ra", DEJ2000="dec", Total_flux="flux")
    table["Total_flux"].unit = "Jy"
    table.write(tmp_path / name, **({"format": "votable"} if name in ("r.vot", "r.xml") else {}))
    result = found(tmp_path, tmp_path / name)
    assert len(result.offset) > 300 and ratio_median(result).value == pytest.approx(RATIO, rel=0.02)


def test_an_earlier_run(tmp_path):
    """A catalogue of srcfind is a reference, too: it agrees with itself."""
    catalogue(tmp_path / "old.json")
    result = found(tmp_path, tmp_path / "old.json")
    assert np.abs(result.offset).max() < 1e-6 and (result.ratio == 1).all()


@pytest.mark.parametrize(
    "names",
    [
        ("RA", "DEC"),
        ("ra", "dec"),
        ("_RAJ2000", "_DEJ2000"),
        ("RAJ2000", "DEC_J2000"),
        ("ra_deg", "dec_deg"),
        ("ALPHA_J2000", "DELTA_J2000"),
    ],
)
def test_names_of_columns(tmp_path, names):
    reference(**dict(zip(names, ("ra", "dec")))).write(tmp_path / "r.csv")
    assert len(found(tmp_path, tmp_path / "r.csv").offset) > 300


def test_sexagesimal(tmp_path):
    ra, dec, _ = sky()
    places = SkyCoord(ra, dec, unit="deg")
    Table(
        {
            "RAJ2000": places.ra.to_string("hour", sep=" ", precision=3),
            "DEJ2000": places.dec.to_string(sep=" ", precision=2),
        }
    ).write(tmp_path / "r.csv")
    result = found(tmp_path, tmp_path / "r.csv")
    assert median(result.offset[:, 0]).value == pytest.approx(EAST, abs=0.1) and median(
        result.offset[:, 1]
    ).value == pytest.approx(NORTH, abs=0.1)


def test_numbers_win_over_texts(tmp_path):
    """VizieR has RAJ2000 as text beside _RAJ2000 in degrees."""
    table = reference(
        RAJ2000=["nonsense"] * N, DEJ2000=["nonsense"] * N, _RAJ2000="ra", _DEJ2000="dec"
    )
    table.write(tmp_path / "r.csv")
    assert len(found(tmp_path, tmp_path / "r.csv").offset) > 300


def test_radians_and_galactic_references(tmp_path):
    ra, dec, _ = sky()
    table = Table({"ra": np.radians(ra), "dec": np.radians(dec)}, units=("rad", "rad"))
    table.write(tmp_path / "r.vot", format="votable")
    galactic = SkyCoord(ra, dec, unit="deg").galactic
    Table({"GLON": galactic.l.deg, "GLAT": galactic.b.deg}).write(tmp_path / "g.csv")
    for name in ("r.vot", "g.csv"):
        assert median(found(tmp_path, tmp_path / name).offset[:, 0]).value == pytest.approx(
            EAST, abs=0.1
        )


@pytest.mark.parametrize(
    "frame, names", [("GALACTIC", ("GLON", "GLAT")), ("FK4", ("RA", "DEC")), ("FK5", ("RA", "DEC"))]
)
def test_frames_of_the_catalogue(tmp_path, frame, names):
    """The reference is ICRS, and goes to the frame of the catalogue; FK5 of J2000 is ICRS to 0.03
    arcsec."""
    own = catalogue(
        tmp_path / "c.json", frame, names, equinox={"FK4": 1950, "FK5": 2000}.get(frame)
    )
    given = ReferenceOptions(usual(tmp_path / "r.fits"))
    result = match(own, read_reference(given, own), given)
    assert len(result.offset) > 300
    assert math.hypot(*np.median(result.offset, axis=0)) == pytest.approx(
        math.hypot(EAST, NORTH), abs=0.1
    )


def fk4(lon="RA", lat="DEC"):
    """The sky, with positions of B1950 in the columns of these names."""
    ra, dec, _ = sky()
    old = SkyCoord(ra, dec, unit="deg").fk4
    return Table({lon: old.ra.deg, lat: old.dec.deg})


def written_vot(table, path, system):
    """A VOTable whose RA and DEC are in a COOSYS, beside one of other columns. Their IDs are not
    their names, as in answers of archives."""
    table.write(path, format="votable", overwrite=True)
    words = path.read_text().replace(
        "<RESOURCE",
        f'<COOSYS ID="other" system="galactic"/><COOSYS ID="own" {system}/><RESOURCE',
        1,
    )
    path.write_text(re.sub(r'<FIELD ID="(RA|DEC)"', r'<FIELD ref="own" ID="column_\1"', words))
    return path


def frame_of(own, path, frame=None):
    """What is said of the frame of a reference, and the offset of a catalogue from it (arcsec)."""
    given = ReferenceOptions(path, radius=6, frame=frame)
    table = read_reference(given, own)
    return table.about_frame, np.median(match(own, table, given).offset, axis=0)


@pytest.mark.parametrize(
    "kind", ["FITS", "FITS without RADESYS", "ECSV", "VOTable", "names", "--reference-frame"]
)
def test_frames_of_the_reference(tmp_path, kind):
    """Positions of B1950 are 0.6 degrees from those of J2000, and a reference may name its frame in
    several ways."""
    own, table = catalogue(tmp_path / "c.json"), fk4()
    path, frame = tmp_path / "r.csv", None
    if kind in ("FITS", "FITS without RADESYS"):
        table.meta.update({"EQUINOX": 1950.0}, **({"RADESYS": "FK4"} if kind == "FITS" else {}))
        path = tmp_path / "r.fits"
    elif kind == "ECSV":
        table.meta.update(RADESYS="FK4", EQUINOX=1950)
        path = tmp_path / "r.ecsv"
    elif kind == "names":
        table = fk4("RAB1950", "DEB1950")
    elif kind == "--reference-frame":
        frame = "FK4"
    if kind == "VOTable":
        path = written_vot(table, tmp_path / "r.vot", 'system="eq_FK4" equinox="B1950"')
    else:
        table.write(path)
    about, offset = frame_of(own, path, frame)
    assert "FK4 B1950" in about and path.name in about
    assert offset == pytest.approx([EAST, NORTH], abs=0.1)


def test_a_reference_that_names_no_frame(tmp_path):
    """It is ICRS, and the page says so, with the way out."""
    own = catalogue(tmp_path / "c.json")
    reference(RA="ra", DEC="dec").write(tmp_path / "r.csv")
    section = reference_section(own, ReferenceOptions(tmp_path / "r.csv"))[0]
    assert any(
        "taken as ICRS" in words and "--reference-frame" in words for words in section.paragraphs
    )


@pytest.mark.parametrize(
    "frame, equinox",
    [("FK4", 1950), ("FK4", 1975), ("FK5", 2000), ("FK5", 1975), ("FK5", 2015.43287)],
)
def test_a_catalogue_beside_itself(tmp_path, frame, equinox):
    """In JSON, FITS, ECSV and VOTable, which name frame and equinox, there is no offset at all."""
    own = catalogue(tmp_path / "c.json", frame, equinox=equinox)
    table = Table(
        {name: own.reals(name) for name in ("RA", "DEC")},
        meta={"RADESYS": frame, "EQUINOX": equinox},
    )
    table.write(tmp_path / "r.fits")
    table.write(tmp_path / "r.ecsv")
    letter = "B" if frame == "FK4" else "J"
    paths = [
        tmp_path / "c.json",
        tmp_path / "r.fits",
        tmp_path / "r.ecsv",
        written_vot(table, tmp_path / "r.vot", f'system="eq_{frame}" equinox="{letter}{equinox}"'),
    ]
    for path in paths:
        about, offset = frame_of(own, path)
        assert f"{frame} {letter}{equinox}" in about and np.abs(offset).max() < 1e-6, path


def test_the_only_frame_of_a_votable(tmp_path):
    """Columns that refer to no COOSYS are in the one that there is."""
    path = tmp_path / "r.vot"
    fk4().write(path, format="votable")
    path.write_text(
        path.read_text().replace(
            "<RESOURCE", '<COOSYS ID="B1950" system="FK4" equinox="1950"/><RESOURCE', 1
        )
    )
    about, offset = frame_of(catalogue(tmp_path / "c.json"), path)
    assert "FK4 B1950" in about and offset == pytest.approx([EAST, NORTH], abs=0.1)


def test_the_frame_of_a_merged_catalogue(tmp_path):
    """It is that of all its images, with the equinox."""
    own = catalogue(tmp_path / "c.json", "FK4", equinox=1975)
    members = json.loads((tmp_path / "c.json").read_text())
    members["images"] = [
        {"image": members["image"]},
        {"image": dict(members.pop("image"), path="j.fits")},
    ]
    (tmp_path / "m.json").write_text(json.dumps(members))
    about, offset = frame_of(own, tmp_path / "m.json")
    assert "FK4 B1975" in about and np.abs(offset).max() < 1e-6
    about, offset = frame_of(read_catalogue(tmp_path / "m.json"), tmp_path / "c.json")
    assert "FK4 B1975" in about and np.abs(offset).max() < 1e-6


def test_an_equinox_of_date(tmp_path):
    """A hundredth of a year is half an arcsec."""
    ra, dec, _ = sky()
    moved = SkyCoord(ra, dec, unit="deg").transform_to(
        FK5(equinox=Time(2015.43287, format="jyear"))
    )
    Table(
        {"RA": moved.ra.deg, "DEC": moved.dec.deg}, meta={"RADESYS": "FK5", "EQUINOX": 2015.43287}
    ).write(tmp_path / "r.fits")
    reference(RA="ra", DEC="dec").write(tmp_path / "plain.csv")
    own = catalogue(tmp_path / "c.json")
    offsets = [frame_of(own, tmp_path / name)[1] for name in ("r.fits", "plain.csv")]
    assert offsets[0] == pytest.approx(offsets[1], abs=0.001)


@pytest.mark.parametrize("kind", ["FITS", "VOTable"])
def test_a_frame_that_is_not_known(tmp_path, kind):
    """It is not taken for ICRS, unless the user says so."""
    own, table = catalogue(tmp_path / "c.json"), reference(RA="ra", DEC="dec")
    if kind == "FITS":
        path = tmp_path / "r.fits"
        table.meta["RADESYS"] = "FK4-NO-E"
        table.write(path)
    else:
        path = written_vot(table, tmp_path / "r.vot", 'system="ecl_FK5"')
    with pytest.raises(
        PageError,
        match="r.* in the frame (FK4-NO-E|ecl_FK5) cannot be compared: .*--reference-frame",
    ):
        frame_of(own, path)
    about, offset = frame_of(own, path, "ICRS")
    assert "as --reference-frame says" in about and offset == pytest.approx([EAST, NORTH], abs=0.1)


def test_units_of_fluxes(tmp_path):
    """mJy of the column, of the option, and peaks in mJy/beam."""
    table = reference(RA="ra", DEC="dec", S="flux")
    table["S"] *= 1000
    table["e_S"] = 0.1 * table["S"]  # the errors of fluxes are none
    table.write(tmp_path / "r.csv")
    assert ratio_median(found(tmp_path, tmp_path / "r.csv", flux="S:mJy")).value == pytest.approx(
        RATIO, rel=0.02
    )
    for unit in ("mJy", "mJy/beam"):
        table["S"].unit = table["e_S"].unit = unit
        table.write(tmp_path / "r.ecsv", overwrite=True)
        assert ratio_median(found(tmp_path, tmp_path / "r.ecsv")).value == pytest.approx(
            RATIO, rel=0.02
        )


def test_no_fluxes(tmp_path):
    """As of an optical survey: positions alone, and the page says so."""
    reference(RA="ra", DEC="dec").write(tmp_path / "r.csv")
    own = catalogue(tmp_path / "c.json")
    assert found(tmp_path, tmp_path / "r.csv").ratio is None
    section, messages = reference_section(own, ReferenceOptions(tmp_path / "r.csv"))
    assert len(section.figures) == 4
    assert (
        messages
        == [
            "%s: Fluxes are not compared: no column of the reference has a unit of fluxes. Name one with its unit, as --reference-flux S1.4:mJy."
            % (tmp_path / "r.csv")
        ]
        and messages[0].partition(": ")[2] in section.paragraphs
    )


def test_matches_by_chance_are_told(tmp_path):
    """Of a radius that is wide for the density of sources, and not of a small one; and that nothing
    matches."""
    reference(RA="ra", DEC="dec").write(tmp_path / "r.csv")
    own = catalogue(tmp_path / "c.json")
    for radius, words in ((20, "of the matches are expected by chance"), (2, None)):
        _, messages = reference_section(own, ReferenceOptions(tmp_path / "r.csv", radius=radius))
        assert (
            any(words in message for message in messages)
            if words
            else not any("by chance" in message for message in messages)
        ), messages
    far = reference(RA="ra", DEC="dec")
    far["DEC"] = -far["DEC"] - 40
    far.write(tmp_path / "far.csv")
    section, messages = reference_section(own, ReferenceOptions(tmp_path / "far.csv"))
    assert section.figures == () and "No source matches" in messages[0]


@pytest.mark.parametrize(
    "columns, flux, words",
    [
        ({"x": "ra", "y": "dec"}, None, "no columns RA and DEC .* there are: x, y"),
        (
            {"RA": "ra", "DEC": "dec", "a": "flux", "b": "flux"},
            None,
            "several columns may be the fluxes: .*a, b",
        ),
        (
            {"RA": "ra", "DEC": "dec", "a": "flux"},
            "c",
            "no column c of numbers; there are: RA, DEC, a",
        ),
        ({"RA": "ra", "DEC": "dec", "a": "flux"}, "a:parsec", "parsec is no unit of fluxes"),
        ({"RA": "text", "DEC": "text"}, None, "no angles"),
    ],
)
def test_tables_that_do_not_do(tmp_path, columns, flux, words):
    table = reference(
        **{name: [what] * N if what == "text" else what for name, what in columns.items()}
    )
    for name in ("a", "b"):
        if name in table.colnames:
            table[name].unit = "Jy"
    table.write(tmp_path / "r.ecsv")
    with pytest.raises(PageError, match=words):
        found(tmp_path, tmp_path / "r.ecsv", flux=flux)


@pytest.mark.parametrize(
    "name, content",
    [
        ("r.vot", b"<VOTABLE>"),
        ("r.fits", b"SIMPLE"),
        ("r.csv", b""),
        ("r.xyz", b"\xff\0\1"),
        ("r.json", b"{}"),
        ("no.csv", None),
    ],
)
def test_files_that_cannot_be_read(tmp_path, name, content):
    """One line that names the file."""
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(PageError, match=name) as error:
        found(tmp_path, tmp_path / name)
    assert "\n" not in str(error.value)


# --- numbers ---


def test_offsets_and_ratios(tmp_path):
    """Medians within four of their errors, and scatters as the noise that was put in."""
    result = found(tmp_path, usual(tmp_path / "r.fits"))
    for i, expected in enumerate((EAST, NORTH)):
        of = median(result.offset[:, i])
        assert abs(of.value - expected) < 4 * of.error and of.scatter == pytest.approx(0.3, rel=0.2)
        assert of.error == pytest.approx(1.2533 * 0.3 / math.sqrt(len(result.offset)), rel=0.2)
    ratio = ratio_median(result)
    assert abs(ratio.value - RATIO) < 4 * ratio.error and ratio.scatter == pytest.approx(
        0.05, rel=0.2
    )


def test_the_radius_is_the_beam(tmp_path):
    assert found(tmp_path, usual(tmp_path / "r.fits")).radius == pytest.approx(6)
    assert found(tmp_path, usual(tmp_path / "r.fits"), radius=2.5).radius == 2.5
    own = catalogue(tmp_path / "c.json")
    own.images.append({"beam": {"major_deg": 9 / 3600}})
    assert match(
        own,
        read_reference(ReferenceOptions(tmp_path / "r.fits"), own),
        ReferenceOptions(tmp_path / "r.fits"),
    ).radius == pytest.approx(9)
    own = catalogue(tmp_path / "c.json", beam=None)
    with pytest.raises(PageError, match="--radius"):
        reference_section(own, ReferenceOptions(tmp_path / "r.fits"))[0]


def test_matches_by_chance(tmp_path):
    """Of a reference that has nothing to do with the catalogue as many match as are expected by
    chance."""
    ra, dec, flux = sky(seed=9)
    Table({"RA": ra, "DEC": dec}).write(tmp_path / "r.csv")
    result = found(tmp_path, tmp_path / "r.csv", radius=15)
    n, area = N, math.pi * 0.25**2
    alone = math.exp(-2 * n / area * math.pi * (30 / 3600) ** 2)
    expected = n * n / area * math.pi * (15 / 3600) ** 2 * alone
    assert expected > 15 and abs(result.by_chance - expected) < 0.3 * expected
    assert abs(len(result.offset) - result.by_chance) < 4 * math.sqrt(result.by_chance)


def test_one_frequency(tmp_path):
    """Fluxes of the reference at 2.8 GHz, as of sources with an index of -0.7."""
    table = reference(RA="ra", DEC="dec", Total_flux="flux")
    table["Total_flux"] *= 2**-0.7
    table["Total_flux"].unit = "Jy"
    table.write(tmp_path / "r.ecsv")
    result = found(tmp_path, tmp_path / "r.ecsv", frequency=2.8e9, spectral_index=-0.7)
    assert ratio_median(result).value == pytest.approx(
        RATIO, rel=0.02
    ) and result.ratio_factor == pytest.approx(2**0.7)
    assert ratio_median(found(tmp_path, tmp_path / "r.ecsv")).value == pytest.approx(
        RATIO * 2**0.7, rel=0.02
    )
    result = found(
        tmp_path, tmp_path / "r.ecsv", frequency=2.8e9, spectral_index=-0.7, own_frequency=2.8e9
    )
    assert result.ratio_factor == 1


def real(text):
    """A number of a page, whose minus is that of print."""
    return float(text.replace("−", "-"))


def test_numbers_in_bins(tmp_path):
    """The plots have their medians as numbers: the offset to the east and the ratio are the same in
    all bins."""
    section = reference_section(
        catalogue(tmp_path / "c.json"), ReferenceOptions(usual(tmp_path / "r.fits"))
    )[0]
    tables = [figure.table for figure in section.figures if figure.table]
    assert [len(table.rows) for table in tables] == [6] * 5
    for table, column, expected in (
        *((table, 1, EAST) for table in tables[:3]),
        *((table, 1, RATIO) for table in tables[3:]),
    ):
        values = [tuple(map(real, row[column].split(" ± "))) for row in table.rows]
        assert all(abs(value - expected) < 5 * error for value, error in values)
        along = [real(row[0]) for row in table.rows]
        assert along == sorted(along)


def test_a_catalogue_without_a_frequency(tmp_path):
    own = catalogue(tmp_path / "c.json", frequency_hz=None)
    with pytest.raises(PageError, match="--frequency"):
        reference_section(
            own, ReferenceOptions(usual(tmp_path / "r.fits"), frequency=1e9, spectral_index=-0.7)
        )[0]


def test_trends(tmp_path):
    """A scale that is wrong by 2 arcsec over the field is told, and nothing else."""
    own = catalogue(tmp_path / "c.json")
    ra, dec, flux = sky()
    away = (ra - 0.02 + 180) % 360 - 180
    table = Table({"RA": ra + 2 / 3600 * away / 0.35, "DEC": dec, "Total_flux": flux})
    table["Total_flux"].unit = "Jy"
    table.write(tmp_path / "r.ecsv")
    told = [
        text
        for text in reference_section(own, ReferenceOptions(tmp_path / "r.ecsv"))[0].paragraphs
        if "changes" in text
    ]
    section = reference_section(own, ReferenceOptions(tmp_path / "r.ecsv"))[0]
    values = [real(row[1].split(" ± ")[0]) for row in section.figures[1].table.rows]
    assert values == sorted(values, reverse=True) and values[0] - values[-1] > 1.5
    assert (
        len(told) == 1
        and told[0].startswith("The offset to the east changes by −")
        and "in the west to the third in the east" in told[0]
    )


def test_sources_that_are_not_compared(tmp_path):
    """Of crowded places, with flags, and negative ones."""
    own = catalogue(tmp_path / "c.json")
    flags = next(i for i, column in enumerate(own.columns) if column.name == "Flags")
    before = len(found(tmp_path, usual(tmp_path / "r.fits")).offset)
    for row in own.rows[:100]:
        row[flags] = 32
    given = ReferenceOptions(tmp_path / "r.fits")
    result = match(own, read_reference(given, own), given)
    assert result.n_sources == N - 100 and before - 100 <= len(result.offset) < before - 50


def test_another_field(tmp_path):
    ra, dec, flux = sky(lat=20.0)
    Table({"RA": ra, "DEC": dec}).write(tmp_path / "r.csv")
    section = reference_section(
        catalogue(tmp_path / "c.json"), ReferenceOptions(tmp_path / "r.csv")
    )[0]
    assert "No source matches" in " ".join(section.paragraphs) and not section.figures


def test_unit_of_the_catalogue_is_not_jansky(tmp_path):
    own = catalogue(tmp_path / "c.json", unit="K")
    section = reference_section(own, ReferenceOptions(usual(tmp_path / "r.fits")))[0]
    assert "those of the catalogue are not in Jy" in " ".join(section.paragraphs)


def test_hostile_names(tmp_path):
    """Names are texts: the section has them as they are, and the template escapes them."""
    name = "<script>alert(1)</script>"
    table = reference(RA="ra", DEC="dec", **{name: "flux"})
    table[name].unit = "Jy"
    table.write(tmp_path / "r.ecsv")
    section = reference_section(
        catalogue(tmp_path / "c.json"), ReferenceOptions(tmp_path / "r.ecsv")
    )[0]
    assert name in " ".join(section.paragraphs) and not any(
        name in figure.plot for figure in section.figures
    )


# --- the command ---


def command(*arguments):
    program = "import sys; from srcfind.page._command import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True
    )


def test_the_command(tmp_path):
    """A catalogue of srcfind beside the true sources of the sample image, at another frequency,
    whose fluxes are in mJy."""
    image, own = os.path.join(t.SOURCE_ROOT, "data", "sample.fits"), tmp_path / "c.json"
    subprocess.run([t.COMMAND, "-q", "--local", "-i", "3", "--fit", image, "-o", own], check=True)
    truth = Table.read(os.path.join(t.SOURCE_ROOT, "data", "sample.truth.csv"))
    name = "S <script>alert(1)</script>"
    truth[name] = 1000 * truth["flux"] * 0.5**-0.7
    truth.write(tmp_path / "r.csv")
    result = command(
        own,
        "--reference",
        tmp_path / "r.csv",
        "--reference-flux",
        name + ":mJy",
        "--reference-frequency",
        "0.7GHz",
        "--spectral-index",
        "-0.7",
    )
    assert result.returncode == 0, result.stderr
    page = (tmp_path / "c.html").read_text("utf-8")
    assert (
        "Beside r.csv" in page
        and name not in page
        and "S &lt;script&gt;alert(1)&lt;/script&gt;" in page
    )
    ratio, error = re.search(
        r"flux ratio, catalogue / reference</td><td>([\d.]+) ± ([\d.]+)<", page
    ).groups()
    assert float(error) < 0.05 and abs(float(ratio) - 1) < 4 * float(error)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["c.json", "--radius", "3"], "--radius needs --reference"),
        (["c.json", "--reference", "x", "--radius", "0"], "--radius"),
        (["c.json", "--reference", "x", "--radius", "nan"], "--radius"),
        (["c.json", "--reference", "x", "--reference-frequency", "1.4GHz"], "go together"),
        (["c.json", "--reference", "x", "--spectral-index", "-0.7"], "go together"),
        (
            [
                "c.json",
                "--reference",
                "x",
                "--reference-frequency",
                "1.4 parsec",
                "--spectral-index",
                "-0.7",
            ],
            "frequency",
        ),
        (["r.csv", "--reference", "x"], "for catalogues"),
    ],
)
def test_wrong_usage(tmp_path, arguments, words):
    """Exit status 2 and a line that says why, before any file is read."""
    result = command(*arguments)
    assert result.returncode == 2 and words in result.stderr.splitlines()[-1]


def test_a_reference_that_is_missing(tmp_path):
    catalogue(tmp_path / "c.json")
    result = command(tmp_path / "c.json", "--reference", tmp_path / "no.vot")
    assert (
        result.returncode == 1
        and result.stderr.count("\n") == 1
        and "no.vot" in result.stderr
        and not (tmp_path / "c.html").exists()
    )


@pytest.mark.parametrize(
    "text, hertz", [("1.4GHz", 1.4e9), ("1400 MHz", 1.4e9), ("1.4e9", 1.4e9), ("888kHz", 8.88e5)]
)
def test_frequencies(text, hertz):
    assert _frequency(text) == pytest.approx(hertz)
