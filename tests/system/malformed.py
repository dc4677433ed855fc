"""A corpus of malformed and treacherous FITS files, each with what srcfind has to make of it.

usage: malformed.py DIRECTORY, to look at them; test_malformed.py searches them all.

Every case starts from a picture with SOURCES sources that is sound, and breaks one thing.
"""
import gzip
import io
import os
import sys

import numpy as np
from astropy.io import fits

from srcfind_test import tiled

WIDTH, HEIGHT, SOURCES = 60, 50, 3
CASES = {}


class Case:
    """Bytes of a file, and what comes of them: words of the one line of error, or a catalogue with
    so many sources, of which (some) columns are empty or have a flag."""

    def __init__(self, data, words=None, sources=SOURCES, empty=(), flag=0, size=None):
        self.data, self.words, self.sources, self.empty, self.flag, self.size = (
            data,
            words,
            sources,
            empty,
            flag,
            size,
        )


def case(name, data, words=None, **outcome):
    assert name not in CASES, name
    CASES[name] = Case(data, [words] if isinstance(words, str) else words, **outcome)


def picture():
    random = np.random.default_rng(5)
    image = random.normal(0, 1, (HEIGHT, WIDTH))
    for x, y in ((10, 12), (40, 20), (25, 38)):
        image[y - 1 : y + 2, x - 1 : x + 2] += [[15, 25, 15], [25, 40, 25], [15, 25, 15]]
    return image.astype(np.float32)


IMAGE = picture()
WHOLE = np.round(IMAGE * 10).astype(np.int16)


# --- headers card by card ---


def card(keyword, value=None, comment=""):
    if value is None:
        return keyword
    if isinstance(value, bool):
        value = "%20s" % "FT"[value]
    elif isinstance(value, str):
        value = "'%-8s'" % value
    else:
        value = "%20s" % value
    return "%-8s= %s%s" % (keyword, value, comment)


FACTS = {"SIMPLE": True, "BITPIX": -32, "NAXIS": 2, "NAXIS1": WIDTH, "NAXIS2": HEIGHT}
SKY = {
    "BUNIT": "Jy/beam",
    "BMAJ": 3e-3,
    "BMIN": 2e-3,
    "BPA": 10.0,
    "CTYPE1": "RA---SIN",
    "CTYPE2": "DEC--SIN",
    "CRPIX1": 30.0,
    "CRPIX2": 25.0,
    "CRVAL1": 150.0,
    "CRVAL2": 2.0,
    "CDELT1": -5e-4,
    "CDELT2": 5e-4,
    "CUNIT1": "deg",
    "CUNIT2": "deg",
}


def cards(changes=None, extra=(), base=None):
    """Cards of the sound header with some changed, or left out (None), and others behind."""
    values = dict(base or {**FACTS, **SKY})
    values.update(changes or {})
    return [card(k, v) for k, v in values.items() if v is not None] + list(extra)


def block(text_cards, end=True):
    text = b"".join(c.encode("latin-1").ljust(80)[:80] for c in text_cards) + (
        b"END".ljust(80) if end else b""
    )
    return text.ljust(-(-len(text) // 2880) * 2880)


def pixels(image=IMAGE, kind=">f4"):
    data = image.astype(kind).tobytes()
    return data.ljust(-(-len(data) // 2880) * 2880, b"\0")


def changed(changes=None, extra=(), data=None):
    return block(cards(changes, extra)) + (pixels() if data is None else data)


GOOD = changed()
HEADER = len(GOOD) - len(pixels())


def truncated():
    for size in (1, 79, 80, 2000, HEADER - 1):
        case("cut at %d" % size, GOOD[:size], "does not begin" if size == 1 else "first header")
    case("empty", b"", "empty")
    case("header alone", GOOD[:HEADER], "truncated")
    case("one pixel short", GOOD[: HEADER + 4 * WIDTH * HEIGHT - 4], "truncated")
    case("one byte short", GOOD[: HEADER + 4 * WIDTH * HEIGHT - 1], "truncated")
    case("no padding", GOOD[: HEADER + 4 * WIDTH * HEIGHT])
    case("padding cut", GOOD[:-7])
    case("junk behind", GOOD + b"junk" * 1000)
    case("text", b"Source_id,RA,DEC\n" * 500, "not a FITS file")
    case("END missing", block(cards(), end=False) + pixels() * 3, "no END")
    case("END alone", b"END".ljust(2880), "not a FITS file")
    case("END in a comment", changed(extra=["COMMENT END", "ENDING  =                    1"]))


def shapes():
    for bitpix in (12, 0, -16, 128, -8, 33, "many"):
        case(
            "BITPIX %s" % bitpix,
            changed({"BITPIX": bitpix}),
            "two or more axes" if bitpix in (0, -16, -8) else "how much data",
        )
    case("BITPIX missing", changed({"BITPIX": None}), "how much data")
    case("BITPIX 64", changed({"BITPIX": 64}), "truncated")
    for n in (-1, 0, 1, 17, 999, 1000, 10**9):
        case(
            "NAXIS %d" % n,
            changed({"NAXIS": n}, [card("NAXIS%d" % i, 1) for i in range(3, 1001)]),
            "two or more axes" if n in (0, 1, 17, 999) else "how much data",
        )
    case("NAXIS text", changed({"NAXIS": "2"}), "how much data")
    for axis in (0, -5, 2**31, 2**32, 2**63 - 1, 2**63, 10**30, "many"):
        case(
            "NAXIS1 %s" % axis,
            changed({"NAXIS1": axis}),
            "two or more axes"
            if axis == 0
            else "truncated"
            if axis in (2**31, 2**32)
            else "how much data",
        )
    case("NAXIS2 missing", changed({"NAXIS2": None}), "how much data")
    case("NAXIS2 is a fraction", changed({"NAXIS2": 50.5}), "how much data")
    case(
        "NAXIS2 with a point",
        changed({"NAXIS2": "50.0"}, data=pixels()).replace(b"'50.0    '", b"      50.0"),
    )
    case(
        "axes whose product is 0 in 64 bits",
        changed(
            {"NAXIS1": 2**31, "NAXIS2": 2**31, "NAXIS": 4},
            [card("NAXIS3", 2**31), card("NAXIS4", 2**31)],
        ),
        "how much data",
    )
    case(
        "axes whose product is small in 32 bits",
        changed({"NAXIS1": 65536, "NAXIS2": 65536}),
        "truncated",
    )
    case(
        "axes in the wrong order",
        block(
            [
                card("SIMPLE", True),
                card("NAXIS2", HEIGHT),
                card("NAXIS1", WIDTH),
                card("NAXIS", 2),
                card("BITPIX", -32),
            ]
        )
        + pixels(),
    )
    case("NAXIS1 twice", changed(extra=[card("NAXIS1", 10**6)]))
    case("BITPIX twice", changed(extra=[card("BITPIX", 8)]))
    case("PCOUNT negative", changed(extra=[card("PCOUNT", -1)]), "how much data")
    case("PCOUNT beyond 64 bits", changed(extra=[card("PCOUNT", 2**63 - 1)]), "how much data")
    case("PCOUNT lies", changed(extra=[card("PCOUNT", 10**9)]), "truncated")
    case("GCOUNT lies", changed(extra=[card("GCOUNT", 10**6)]), "truncated")
    case("GCOUNT 0", changed(extra=[card("GCOUNT", 0)]), "more pixels than data")
    case(
        "random groups",
        changed({"NAXIS1": 0}, [card("GROUPS", True), card("PCOUNT", 5), card("GCOUNT", 1)]),
        "two or more axes",
    )
    case("SIMPLE is F", changed({"SIMPLE": False}))
    case(
        "extension unknown",
        block(cards({"NAXIS": 0, "NAXIS1": None, "NAXIS2": None}))
        + block([card("XTENSION", "MYSTERY")] + cards({"SIMPLE": None}))
        + pixels(),
        "two or more axes",
    )
    case(
        "extension that lies",
        block(cards({"NAXIS": 0, "NAXIS1": None, "NAXIS2": None}))
        + block([card("XTENSION", "IMAGE")] + cards({"SIMPLE": None, "NAXIS2": 10**7}))
        + pixels(),
        "truncated",
    )


def cards_of_all_kinds():
    many = ["HISTORY %d" % i for i in range(10000)]
    case("header of 10,000 cards", changed(extra=many))
    case("header without end", block(cards(extra=["COMMENT"] * 400), end=False), "no END")
    case(
        "CONTINUE of nothing",
        changed(extra=["CONTINUE  'and so on&'", "CONTINUE  no quotes", "CONTINUE"]),
    )
    case(
        "CONTINUE of a CTYPE",
        changed({"CTYPE1": None}, ["CTYPE1  = 'RA---S&'", "CONTINUE  'IN'"]),
        empty=["RA"],
    )
    case(
        "text without an end",
        changed({"CTYPE2": None}, ["CTYPE2  = 'DEC" + "-" * 80]),
        empty=["RA"],
    )
    case("values without a keyword", changed(extra=["        =  5", "= 5", "=" * 80]))
    case("lower case", changed(extra=["ctype1  = 'RA---XYZ'", "bitpix  =                    8"]))
    case(
        "bytes of all kinds",
        changed(
            extra=[
                "OBJECT  = '" + "".join(map(chr, range(128, 190))) + "'",
                "\0" * 80,
                "\t" * 80,
                "\x1b[31m",
                "\x7f" * 80,
            ]
        ),
    )
    case(
        "D exponents",
        changed({"CDELT1": "-5D-4", "CDELT2": "5d-4"})
        .replace(b"'-5D-4   '", b"-5D-4     ")
        .replace(b"'5d-4    '", b"5d-4      "),
    )
    case(
        "number beyond doubles",
        changed({"CRVAL1": "1E999"}).replace(b"'1E999   '", b"1E999     "),
        empty=["RA"],
    )


def scalings():
    def whole(changes, data=None):
        return changed(
            {"BITPIX": 16, **changes}, data=pixels(WHOLE, ">i2") if data is None else data
        )

    case("BSCALE 0", whole({"BSCALE": 0.0}), "BSCALE")
    case("BSCALE is no number", whole({"BSCALE": "NaN"}), "BSCALE")
    case("BSCALE NaN", whole({"BSCALE": "NaN"}).replace(b"'NaN     '", b"NaN       "), "BSCALE")
    case("BZERO is no number", whole({"BZERO": "none"}), "BZERO")
    case(
        "BSCALE beyond floats",
        whole({"BSCALE": "1E300"}).replace(b"'1E300   '", b"1E300     "),
        sources=0,
    )
    case(
        "BZERO hides all", whole({"BZERO": "1E30"}).replace(b"'1E30    '", b"1E30      "), sources=0
    )
    case("BSCALE negative", whole({"BSCALE": -1.0}), sources=0)
    case("BLANK beyond 16 bits", whole({"BLANK": 10**6}))
    case("BLANK is no number", whole({"BLANK": "none"}))
    case("BLANK of floats", changed({"BLANK": -32768}))
    case("all blank", changed(data=pixels(np.full((HEIGHT, WIDTH), np.nan))), "finite")
    case("all infinite", changed(data=pixels(np.full((HEIGHT, WIDTH), np.inf))), "finite")
    case("constant", changed(data=pixels(np.full((HEIGHT, WIDTH), 7.0))), sources=0)
    case("one pixel", changed({"NAXIS1": 1, "NAXIS2": 1}, data=pixels(IMAGE[:1, :1])), sources=0)
    case("random bits", changed(data=np.random.default_rng(1).bytes(len(pixels()))), sources=None)


def coordinates():
    def sky(name, changes, empty=("RA", "DEC", "Source_Name"), **outcome):
        case(name, changed(changes), empty=empty, **outcome)

    sky("CDELT 0", {"CDELT1": 0.0})
    sky(
        "matrix without an inverse",
        {
            "CDELT1": None,
            "CDELT2": None,
            "CD1_1": 1e-4,
            "CD1_2": 1e-4,
            "CD2_1": 1e-4,
            "CD2_2": 1e-4,
        },
    )
    sky("projection unknown", {"CTYPE1": "RA---XYZ", "CTYPE2": "DEC--XYZ"})
    sky("projections that differ", {"CTYPE2": "DEC--TAN"})
    sky("RA twice", {"CTYPE2": "RA---SIN"})
    sky("DEC alone", {"CTYPE1": None})
    sky("no coordinates", dict.fromkeys(k for k in SKY if k[0] == "C"))
    sky("beyond the pole", {"CRVAL2": 100.0}, empty=(), sources=SOURCES)
    sky("unit unknown", {"CUNIT1": "furlong", "CUNIT2": "furlong"})
    sky("unit misspelt", {"CUNIT1": "degree", "CUNIT2": "DEG"}, empty=())
    sky("pixels of a galaxy", {"CDELT1": -1e300, "CDELT2": 1e300}, empty=())
    sky("off the sphere", {"CRPIX1": 1e9, "CRPIX2": 1e9})
    sky("NaN as a reference", {"CRVAL1": "NaN"})
    sky("text as a reference", {"CRPIX2": "x"}, flag=4)
    sky("text as a scale", {"CDELT1": "-5E-4 deg"}, flag=4)
    sky("no scale", {"CDELT1": None, "CDELT2": None}, flag=4)
    sky("text for an axis that does not matter", {"CRVAL3": "x"}, empty=())
    sky(
        "SIP of text",
        {"CTYPE1": "RA---SIN-SIP", "CTYPE2": "DEC--SIN-SIP", "A_ORDER": 2, "A_1_1": "x"},
    )
    sky("parameters beyond all bounds", {"PV2_1": 1e308, "PV2_2": -1e308}, empty=())
    sky("a million axes", {"WCSAXES": 10**6}, empty=())


def beams_and_units():
    for name, changes in (
        ("BMAJ 0", {"BMAJ": 0.0}),
        ("BMAJ negative", {"BMAJ": -1.0}),
        ("BMIN 0", {"BMIN": 0.0}),
        ("BMAJ is no number", {"BMAJ": "NaN"}),
        ("BPA is no number but BMAJ is 0", {"BMAJ": 0.0, "BPA": "x"}),
        ("BEAMS that are not there", {"BMAJ": None, "CASAMBM": True}),
    ):
        case(name, changed(changes), flag=4)
    case(
        "HISTORY with a broken beam",
        changed({"BMAJ": None}, ["HISTORY AIPS   CLEAN BMAJ=  x BMIN=  1 BPA=   2"]),
        flag=4,
    )
    sparse_beams = block(
        [
            card("XTENSION", "BINTABLE"),
            card("BITPIX", 8),
            card("NAXIS", 2),
            card("NAXIS1", 12),
            card("NAXIS2", 10**9),
            card("PCOUNT", 0),
            card("GCOUNT", 1),
            card("TFIELDS", 3),
            card("TTYPE1", "BMAJ"),
            card("TFORM1", "1E"),
            card("TTYPE2", "BMIN"),
            card("TFORM2", "1E"),
            card("TTYPE3", "CHAN"),
            card("TFORM3", "1J"),
            card("EXTNAME", "BEAMS"),
        ]
    )
    case(
        "BEAMS of a billion rows",
        changed({"BMAJ": None, "CASAMBM": True}) + sparse_beams,
        flag=4,
        size=1 << 34,
    )
    case(
        "columns behind 100,000 cards",
        changed({"BMAJ": None, "CASAMBM": True})
        + block(
            [
                card("XTENSION", "BINTABLE"),
                card("BITPIX", 8),
                card("NAXIS", 2),
                card("NAXIS1", 999),
                card("NAXIS2", 1),
                card("TFIELDS", 999),
            ]
            + ["HISTORY"] * 100000
            + [card("TFORM%d" % i, "1B") for i in range(1, 1000)]
            + [card("EXTNAME", "BEAMS")]
        )
        + bytes(2880),
        flag=4,
    )
    for unit in (
        "JY/BEAM",
        "Jy/baem",
        "jansky per beam",
        "Jy/beam/beam/beam",
        "\xb5Jy",
        "(((",
        "10**999Jy",
        "",
    ):
        case("BUNIT %r" % unit, changed({"BUNIT": unit}))


# --- compressed in tiles ---


def tiles(image=WHOLE, kind="RICE_1", tile=(WIDTH, 1), **options):
    stream = io.BytesIO()
    fits.HDUList([fits.PrimaryHDU(), tiled(image, kind, tile, **options)]).writeto(stream)
    return stream.getvalue()


def with_card(data, keyword, value):
    """The table's header with a card changed."""
    new = card(keyword, value).ljust(80).encode()
    at = find_card(data, keyword)
    return data[:at] + new + data[at + 80 :]


def find_card(data, keyword):
    for at in range(2880, len(data), 80):
        if data[at : at + 8] == keyword.ljust(8).encode():
            return at
        if data[at : at + 8] == b"END     ":
            break
    raise KeyError(keyword)


def with_new_card(data, keyword, value):
    """The table's header with one card more, for which there is room."""
    end = find_card(data, "END")
    assert end % 2880 < 2800
    return with_bytes(data, end, card(keyword, value).ljust(80).encode() + b"END".ljust(80))


def table_of(data):
    """Where the table's rows begin, and its heap."""
    with fits.open(io.BytesIO(data), disable_image_compression=True) as hdus:
        header = hdus[1].header
        start = hdus[1].fileinfo()["datLoc"]
        return start, start + header["NAXIS1"] * header["NAXIS2"]


def with_bytes(data, at, new):
    return data[:at] + new + data[at + len(new) :]


def with_descriptor(data, row, count, offset, row_bytes=8):
    start, _ = table_of(data)
    return with_bytes(data, start + row_bytes * row, np.array([count, offset], ">i4").tobytes())


def with_first_tile(data, new):
    """The first tile's bytes, in place of the heap's first."""
    _, heap = table_of(data)
    return with_descriptor(with_bytes(data, heap, new), 0, len(new), 0)


def tables():
    rice = tiles()
    broken = "cannot be"
    case("tiles", rice)
    for keyword, value in (
        ("ZBITPIX", 12),
        ("ZNAXIS", 999),
        ("ZNAXIS", 0),
        ("ZNAXIS1", 0),
        ("ZNAXIS1", 10**12),
        ("ZNAXIS2", 51),
        ("ZTILE1", 0),
        ("ZTILE1", -1),
        ("ZTILE2", 7),
        ("NAXIS2", 49),
    ):
        case(
            "tiles, %s %s" % (keyword, value),
            with_card(rice, keyword, value),
            ["HDU 1", "contradict"],
        )
    for keyword, value in (("TFIELDS", 0), ("TFIELDS", -1), ("NAXIS1", 7)):
        case("tiles, %s %s" % (keyword, value), with_card(rice, keyword, value), "COMPRESSED_DATA")
    case("tiles, NAXIS1 0", with_card(rice, "NAXIS1", 0), "no table")
    case("TFIELDS 10^9", with_card(rice, "TFIELDS", 10**9))
    case("ZTILE1 beyond the image", with_card(rice, "ZTILE1", 10**12))
    case("ZVAL1 0: blocks of no pixel", with_card(rice, "ZVAL1", 0), "parameters")
    case("ZVAL1 2^31", with_card(rice, "ZVAL1", 2**31), "parameters")
    case("ZVAL2 3: bytes a pixel", with_card(rice, "ZVAL2", 3), "parameters")
    case("ZVAL2 1: other bytes a pixel", with_card(rice, "ZVAL2", 1), broken)
    case("ZCMPTYPE unknown", with_card(rice, "ZCMPTYPE", "MAGIC_1"), "MAGIC_1")
    case("TTYPE1 unknown", with_card(rice, "TTYPE1", "DATA"), "COMPRESSED_DATA")
    case("TFORM1 'PB'", with_card(rice, "TFORM1", "PB"))
    for form in ("1PX(10)", "1E", "1PZ"):
        case("TFORM1 %r" % form, with_card(rice, "TFORM1", form), broken)
    for form in ("9999999999999999999PB", "-1PB", ""):
        case("TFORM1 %r" % form, with_card(rice, "TFORM1", form), "COMPRESSED_DATA")
    case("heap beyond the table", with_card(rice, "PCOUNT", 10**9), "truncated")
    for offset in (-1, 0, 10**9):
        case("heap at %d" % offset, with_new_card(rice, "THEAP", offset), "no table")
    case("heap of nothing", with_card(rice, "PCOUNT", 0), broken)
    case("tile beyond the heap", with_descriptor(rice, 7, 100, 10**9), [broken, "rows 8 to 8"])
    case("tile before the heap", with_descriptor(rice, 7, 100, -50), [broken, "rows 8 to 8"])
    case("tile of negative length", with_descriptor(rice, 7, -100, 0), [broken, "rows 8 to 8"])
    case("tile of 2 GiB", with_descriptor(rice, 7, 2**31 - 1, 0), [broken, "rows 8 to 8"])
    case("tile of nothing", with_descriptor(rice, 7, 0, 0), [broken, "rows 8 to 8"])
    case("tile too short", with_descriptor(rice, 7, 3, 0), [broken, "rows 8 to 8"])
    for value in (0, 1):  # that is a stream: of one value, and of some noise
        case("RICE of %#x" % value, with_first_tile(rice, bytes([value] * 40)), sources=None)
    for value in (0x55, 0xFF):
        case("RICE of %#x" % value, with_first_tile(rice, bytes([value] * 40)), broken)
    case(
        "RICE without a scale",
        tiles(IMAGE, quantize_level=16).replace(b"ZSCALE", b"XSCALE"),
        "RICE_1",
    )
    case("scale is NaN: a blank tile", with_scale(tiles(IMAGE, quantize_level=16), np.nan))
    case(
        "tile of more bytes than it can have",
        with_descriptor(with_card(rice, "PCOUNT", 10**7), 7, 10**7, 0),
        [broken, "rows 8 to 8"],
        size=len(rice) + 10**7,
    )
    for seed in (2**63 - 1, -(2**63), 0):
        case(
            "ZDITHER0 %d" % seed,
            with_card(tiles(IMAGE, quantize_level=16, quantize_method=1), "ZDITHER0", seed),
        )
    case("truncated heap", rice[:-3000], "truncated")


def with_scale(data, value):
    start, _ = table_of(data)
    with fits.open(io.BytesIO(data), disable_image_compression=True) as hdus:
        offset = hdus[1].columns.dtype.fields["ZSCALE"][1]
    return with_bytes(data, start + offset, np.array([value], ">f8").tobytes())


def gzipped_tiles(kind):
    data = tiles(kind=kind, tile=(WIDTH, HEIGHT))
    return lambda content: with_first_tile(data, content)


def streams():
    one = gzipped_tiles("GZIP_1")
    room = WIDTH * HEIGHT * 2
    sound = WHOLE.astype(">i2").tobytes()
    broken = "cannot be"
    case("GZIP of garbage", one(b"\x55" * 500), broken)
    case("GZIP of too little", one(gzip.compress(sound[:-2])), broken)
    case("GZIP of too much", one(gzip.compress(sound + b"\0" * 100)), broken)
    case("GZIP of a bomb", one(gzip.compress(b"\0" * (1 << 27))), broken)
    case("GZIP with a wrong checksum", one(gzip.compress(sound)[:-8] + b"\0" * 8), broken)
    case("GZIP of other bytes a pixel", one(gzip.compress(b"\0" * room * 2)), sources=0)
    hcompress = tiles(kind="HCOMPRESS_1", tile=(WIDTH, HEIGHT))
    plio = tiles(np.abs(WHOLE), kind="PLIO_1")
    head = b"\xdd\x99" + np.array([HEIGHT, WIDTH, 0], ">i4").tobytes() + b"\0" * 8

    case("HCOMPRESS of garbage", with_first_tile(hcompress, b"\x55" * 300), broken)
    case(
        "HCOMPRESS of a larger picture",
        with_first_tile(
            hcompress, head[:2] + np.array([5000, 5000, 0], ">i4").tobytes() + b"\0" * 20
        ),
        broken,
    )
    case(
        "HCOMPRESS of a negative picture",
        with_first_tile(
            hcompress, head[:2] + np.array([-HEIGHT, -WIDTH, 0], ">i4").tobytes() + b"\0" * 20
        ),
        broken,
    )
    case(
        "HCOMPRESS with 255 bit planes",
        with_first_tile(hcompress, head + b"\xff" * 3 + b"\0" * 20),
        broken,
    )
    case("HCOMPRESS that ends at once", with_first_tile(hcompress, head + b"\x20" * 3), broken)
    case(
        "HCOMPRESS with another magic",
        hcompress.replace(head[:10], b"\xdd\x98" + head[2:10]),
        broken,
    )
    case(
        "HCOMPRESS with rows for columns",
        hcompress.replace(head[2:10], head[6:10] + head[2:6]),
        broken,
    )
    case(
        "HCOMPRESS with a bad code",
        with_bytes(hcompress, table_of(hcompress)[1] + 25, b"\x77" * 20),
        broken,
    )
    for share in (25, 50, 75):
        start = table_of(hcompress)[0]
        count, offset = np.frombuffer(hcompress[start : start + 8], ">i4")
        case(
            "HCOMPRESS cut to %d%%" % share,
            with_descriptor(hcompress, 0, count * share // 100, offset),
            broken,
        )
    for name, words in (
        ("length 0", [0, 7, -100, 0, 0, 0, 0]),
        ("length beyond", [0, 7, -100, 32767, 1, 0, 0]),
        ("begins before it", [0, -9, -100, 8, 0, 0, 0, 0]),
        ("too short", [0, 7, -100]),
    ):
        data = with_bytes(plio, table_of(plio)[1], np.array(words, ">i2").tobytes())
        case("PLIO: " + name, with_descriptor(data, 0, len(words), 0), broken)
    case(
        "PLIO: ends in the middle",
        with_descriptor(
            with_bytes(
                plio, table_of(plio)[1], np.array([0, 7, -100, 8, 0, 0, 0, 0x1001], ">i2").tobytes()
            ),
            0,
            8,
            0,
        ),
        broken,
    )
    case(
        "PLIO: stands for too few pixels",
        with_descriptor(
            with_bytes(
                plio,
                table_of(plio)[1],
                np.array([0, 7, -100, 8, 0, 0, 0, WIDTH - 1], ">i2").tobytes(),
            ),
            0,
            8,
            0,
        ),
        broken,
    )


def gzipped():
    case("gz.gz", gzip.compress(GOOD))
    case("members.gz", gzip.compress(GOOD[:5000]) + gzip.compress(GOOD[5000:]))
    case("junk behind.gz", gzip.compress(GOOD) + b"junk")
    case("truncated.gz", gzip.compress(GOOD)[:-2000], "truncated")
    case("damaged.gz", with_bytes(gzip.compress(GOOD), 3000, b"\0" * 100), "damaged")
    case("wrong checksum.gz", gzip.compress(GOOD)[:-8] + b"\0" * 8, "damaged")
    case(
        "wrong checksum far behind.gz",
        gzip.compress(GOOD + b"\0" * (1 << 22))[:-8] + b"\0" * 8,
        "damaged",
    )
    case("short.gz", gzip.compress(GOOD[:-8000]), "truncated")
    case("header alone.gz", gzip.compress(GOOD[:HEADER]), "truncated")
    case("nothing.gz", gzip.compress(b""), "no FITS file")
    case("text.gz", gzip.compress(b"text" * 5000), "no FITS file")
    case("beginning.gz", b"\x1f\x8b", "truncated")
    case("bomb.gz", gzip.compress(GOOD + b"\0" * (1 << 28)))
    case(
        "bomb that lies.gz",
        gzip.compress(block(cards({"NAXIS1": 10**6, "NAXIS2": 10**6})) + b"\0" * (1 << 20)),
        "truncated",
    )
    case("tiles.fz.gz", gzip.compress(tiles()))
    case("gzip twice.gz", gzip.compress(gzip.compress(GOOD)), "no FITS file")
    case("bzip2.bz2", b"BZh91AY" + b"\0" * 5000, "bzip2")


def sparse():
    case("a header and a terabyte of nothing", GOOD, size=1 << 40)
    case("a terabyte without END", block(cards(), end=False), "no END", size=1 << 40)


for make in (
    truncated,
    shapes,
    cards_of_all_kinds,
    scalings,
    coordinates,
    beams_and_units,
    tables,
    streams,
    gzipped,
    sparse,
):
    make()


def write(name, directory):
    """Writes a case's file; returns its path."""
    suffix = "" if name.endswith((".gz", ".bz2")) else ".fits"
    path = os.path.join(directory, name.replace("/", "|") + suffix)
    with open(path, "wb") as stream:
        stream.write(CASES[name].data)
        if CASES[name].size:
            stream.truncate(CASES[name].size)
    return path


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    for each in CASES:
        print(write(each, sys.argv[1]))
