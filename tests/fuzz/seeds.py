"""Writes inputs for the fuzz targets to start from: usage: seeds.py DIRECTORY"""
import gzip
import json
import os
import sys

import numpy as np
from astropy.io import fits

import records


def write(directory, target, name, data):
    os.makedirs(os.path.join(directory, target), exist_ok=True)
    with open(os.path.join(directory, target, name), "wb") as stream:
        stream.write(data)


def picture(height, width, seed=1):
    random = np.random.default_rng(seed)
    image = random.normal(0, 1, (height, width)).astype(np.float32)
    image[height // 2 : height // 2 + 3, width // 2 : width // 2 + 3] += 30
    return image


def sky(**cards):
    header = fits.Header()
    values = {
        "BUNIT": "Jy/beam",
        "CTYPE1": "RA---SIN",
        "CTYPE2": "DEC--SIN",
        "CRPIX1": 5.0,
        "CRPIX2": 6.0,
        "CRVAL1": 150.0,
        "CRVAL2": 2.0,
        "CDELT1": -5e-4,
        "CDELT2": 5e-4,
        "CUNIT1": "deg",
        "CUNIT2": "deg",
        "BMAJ": 2.5e-3,
        "BMIN": 2e-3,
        "BPA": 30.0,
        "RADESYS": "FK5",
        "EQUINOX": 2000.0,
    }
    values.update(cards)
    for name, value in values.items():
        header[name] = value
    return header


def bytes_of(hdus, path):
    fits.HDUList(hdus).writeto(path, overwrite=True)
    with open(path, "rb") as stream:
        return stream.read()


def seeds_of_headers(directory):
    skies = {
        "sin": {},
        "tan": {"CTYPE1": "RA---TAN", "CTYPE2": "DEC--TAN", "CROTA2": 10.0},
        "car": {"CTYPE1": "GLON-CAR", "CTYPE2": "GLAT-CAR"},
        "zpn": {"CTYPE1": "RA---ZPN", "CTYPE2": "DEC--ZPN", "PV2_1": 1.0, "PV2_3": -50.0},
        "sip": {
            "CTYPE1": "RA---TAN-SIP",
            "CTYPE2": "DEC--TAN-SIP",
            "A_ORDER": 2,
            "A_1_1": 1e-6,
            "B_ORDER": 2,
        },
        "freq": {
            "NAXIS": 3,
            "CTYPE3": "FREQ",
            "CRVAL3": 1.4e9,
            "CDELT3": 1e6,
            "CRPIX3": 1.0,
            "RESTFRQ": 1.42e9,
        },
        "pc": {"PC1_1": 1.0, "PC1_2": 0.1, "PC2_1": -0.1, "PC2_2": 1.0},
        "cd": {"CD1_1": -5e-4, "CD1_2": 0.0, "CD2_1": 0.0, "CD2_2": 5e-4},
    }
    for name, cards in skies.items():
        write(
            directory, "header", name, sky(**cards).tostring(endcard=False, padding=False).encode()
        )


def seeds_of_images(directory):
    path = os.path.join(directory, "image.fits")
    image = picture(20, 24)
    whole = (image * 10).astype(np.int16)
    files = {
        "float": [fits.PrimaryHDU(image, sky())],
        "double": [fits.PrimaryHDU(image.astype(float), sky())],
        "cube": [fits.PrimaryHDU(np.array([[image, image]]), sky())],
        "int": [fits.PrimaryHDU(whole)],
        "byte": [fits.PrimaryHDU(np.abs(whole).astype(np.uint8))],
        "extension": [fits.PrimaryHDU(), fits.ImageHDU(image, sky(), name="SCI")],
    }
    for kind in ("RICE_1", "GZIP_1", "GZIP_2", "HCOMPRESS_1", "PLIO_1"):
        data = np.abs(whole) if kind == "PLIO_1" else whole
        files[kind] = [fits.PrimaryHDU(), fits.CompImageHDU(data, compression_type=kind)]
    for kind in ("RICE_1", "GZIP_1"):
        files[kind + "_float"] = [
            fits.PrimaryHDU(),
            fits.CompImageHDU(image, sky(), compression_type=kind),
        ]
    files["lossless"] = [
        fits.PrimaryHDU(),
        fits.CompImageHDU(image, compression_type="GZIP_2", quantize_level=0),
    ]
    table = fits.BinTableHDU.from_columns(
        [
            fits.Column(n, "E", "arcsec" if n[0] == "B" else None, array=[a, b])
            for n, a, b in (
                ("BMAJ", 9, 8),
                ("BMIN", 7, 6),
                ("BPA", 5, 4),
                ("CHAN", 0, 1),
                ("POL", 0, 0),
            )
        ]
    )
    table.name = "BEAMS"
    files["beams"] = [fits.PrimaryHDU(image, sky(CASAMBM=True)), table]
    for name, hdus in files.items():
        write(directory, "image", name, bytes_of(hdus, path))
    os.remove(path)


def seeds_of_tiles(directory):
    """The first tile of images in every packing, behind the settings of fuzz_tiles.c."""
    path = os.path.join(directory, "tile.fits")
    whole = np.abs(picture(20, 24) * 10)
    for packing, kind in enumerate(("RICE_1", "GZIP_1", "GZIP_2", "HCOMPRESS_1", "PLIO_1")):
        for size, dtype in enumerate((np.uint8, np.int16, np.int32)):
            hdu = fits.CompImageHDU(whole.astype(dtype), compression_type=kind)
            fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(path, overwrite=True)
            with fits.open(path, disable_image_compression=True) as hdus:
                header, tile = hdus[1].header, hdus[1].data["COMPRESSED_DATA"][0]
            settings = bytes(
                [
                    packing,
                    size,
                    header.get("ZVAL1", 32) - 1 if packing == 0 else 31,
                    size,
                    header["ZTILE1"] - 1,
                    header["ZTILE2"] - 1,
                ]
            )
            write(
                directory,
                "tiles",
                kind + str(size),
                settings + tile.astype(">i2" if kind == "PLIO_1" else "u1").tobytes(),
            )
    os.remove(path)


def seeds_of_tables(directory):
    """Catalogues in all formats, behind the byte that chooses it in fuzz_tables.c."""
    csv = b'Source_id,RA,DEC,Name\n1,150.25,-2.5e-05,"a, ""b"""\n,,nan,\n'
    header = b"# %ECSV 1.0\n# ---\n" + b"".join(
        b"# - {name: %s, unit: deg, datatype: %s}\n" % column
        for column in (
            (b"Source_id", b"int64"),
            (b"RA", b"float64"),
            (b"DEC", b"float64"),
            (b"Name", b"string"),
        )
    )
    header = (
        header.replace(b"---\n", b"---\n# delimiter: ','\n# datatype:\n")
        + b"# meta: {RADESYS: ICRS, BMAJ: 1.0e-3, image: 'a.fits'}\n"
    )
    block = b"# %ECSV 1.0\n# ---\n# datatype:\n# - name: RA\n#   datatype: float32\n# meta: !!omap\n# - BMAJ: 0.5\nRA\n1.5\n"
    json = (
        b'{"srcfind":"0","image":{"path":"a.fits","frame":"ICRS","beam":{"major_deg":0.1,"minor_deg":0.1,"angle_deg":0}},"columns":'
        b'[{"name":"Source_id"},{"name":"RA"},{"name":"DEC"}],\n"sources":[\n{"Source_id":1,"RA":1.5,"DEC":null},\n'
        b'{"Source_id":2,"RA":-1e-05,"DEC":"\\u00e4"}]}\n'
    )
    columns = [
        fits.Column("Source_id", "K", array=[1, 2]),
        fits.Column("RA", "D", array=[1, 2]),
        fits.Column("DEC", "E", array=[1, 2]),
        fits.Column("j", "J", null=-1, bzero=2**31, array=np.array([1, 2], np.uint32)),
        fits.Column("l", "L", array=[True, False]),
        fits.Column("a", "5A", array=["x", "yy"]),
        fits.Column("v", "3I", array=np.ones((2, 3))),
    ]
    table = bytes_of(
        [fits.PrimaryHDU(), fits.BinTableHDU.from_columns(columns)],
        os.path.join(directory, "table.fits"),
    )
    os.remove(os.path.join(directory, "table.fits"))
    columns = [
        fits.Column(name, form, array=[1, 2])
        for name, form in (("Source_id", "I4"), ("RA", "F8.3"), ("DEC", "D12.4"), ("e", "E9.2"))
    ]
    ascii_table = fits.TableHDU.from_columns(columns + [fits.Column("a", "A5", array=["x", "yy"])])
    ascii_table.header.update({"TNULL1": "1", "TSCAL4": 0.5, "TZERO4": 1.0})
    others = fits.BinTableHDU.from_columns([fits.Column("X", "J", array=[1])])
    ascii_tables = bytes_of(
        [fits.PrimaryHDU(), others, ascii_table], os.path.join(directory, "table.fits")
    )
    os.remove(os.path.join(directory, "table.fits"))
    merged = json.replace(b'"image":', b'"images":[{"image":').replace(
        b'},"columns"', b'}}],"columns"'
    )
    fields = (
        b'<?xml version="1.0"?><VOTABLE version="1.4"><RESOURCE><COOSYS ID="f" system="ICRS"/><TABLE name="t">'
        b'<PARAM name="image" value="a.fits"/><FIELD name="RA" datatype="double" unit="deg"/>'
        b'<FIELD name="n" datatype="int"><VALUES null="-1"/></FIELD><FIELD name="DEC" datatype="char" arraysize="*"/><DATA>%s'
        b"</DATA></TABLE></RESOURCE></VOTABLE>"
    )
    votables = [
        fields % b"<TABLEDATA><TR><TD>1.5</TD><TD>2</TD><TD>-1e-05</TD></TR></TABLEDATA>",
        fields
        % b'<BINARY2><STREAM encoding="base64">AD/4AAAAAAAAAAAAAgAAAAQtMC41</STREAM></BINARY2>',
    ]
    comments = b"# made by hand\n#\n# Source_id, RA\n 0, 1\n"
    contents = (csv, comments, header + csv, block, json, merged, table, ascii_tables, *votables)
    for i, content in enumerate(contents):
        kind = bytes([i // 2])
        write(directory, "tables", str(i), kind + content)
        write(directory, "tables", str(i) + "-packed", kind + gzip.compress(content, mtime=0))


def seeds_of_catalogues(directory):
    """Catalogues that have all columns, and nearly all that is beside the rows, so that their rows
    are taken for those of srcfind."""
    with open(
        os.path.join(os.path.dirname(__file__), "../../schema/srcfind.schema.json")
    ) as stream:
        source = json.load(stream)["$defs"]["source"]
    names = [*source["required"], "RA", "DEC", "E_RA", "E_DEC"]
    kinds = {name: source["properties"][name]["type"] for name in names}
    cells = {
        name: 3 if "integer" in kinds[name] else "J1" if "string" in kinds[name] else 1.5
        for name in names
    }
    types = {int: "int64", str: "string", float: "float64"}
    rows = ",".join(names) + "\n" + ",".join(map(str, cells.values())) + "\n"
    head = (
        "# %ECSV 1.0\n# ---\n# delimiter: ','\n# datatype:\n"
        + "".join(
            "# - {name: %s, datatype: %s}\n" % (name, types[type(cells[name])]) for name in names
        )
        + """# meta:
#   image: a.fits
#   image_width: 100
#   image_height: 90
#   bunit: Jy/beam
#   flux_unit: Jy
#   BMAJ: 0.1
#   RADESYS: FK5
#   EQUINOX: 2000
#   options: {"kappa": 3, "fit": null}
"""
    )
    document = {
        "srcfind": "0",
        "image": {
            "path": "a.fits",
            "shape": [90, 100],
            "unit": "Jy/beam",
            "flux_unit": "Jy",
            "frame": "FK5",
        },
        "options": {"kappa": 3},
        "background": {"rms": 1},
        "detection": {"threshold": 5},
        "columns": [{"name": name} for name in names],
        "sources": [cells],
    }
    formats = {int: "K", str: "5A", float: "D"}
    table = fits.BinTableHDU.from_columns(
        [fits.Column(name, formats[type(cells[name])], array=[cells[name]]) for name in names]
    )
    table.header.update(
        {
            "IMAGE": "a.fits",
            "IMWIDTH": 100,
            "IMHEIGHT": 90,
            "MAPUNIT": "Jy/beam",
            "FLUXUNIT": "Jy",
            "BMAJ": 0.1,
        }
    )
    table.header.add_history("srcfind option kappa: 3")
    path = os.path.join(directory, "table.fits")
    contents = [
        rows.encode(),
        (head + rows).encode(),
        json.dumps(document).encode(),
        bytes_of([fits.PrimaryHDU(), table], path),
    ]
    os.remove(path)
    for i, content in enumerate(contents):
        write(directory, "tables", "whole%d" % i, bytes([i]) + content)


def seeds_of_regions(directory):
    """A map of coverage in FITS; the texts are among what was found."""
    cells = fits.Column("UNIQ", "1K", array=[70, 300, 5000])
    ends = fits.Column("RANGE", "1K", array=[0, 1 << 50, 1 << 51, 1 << 52])
    for name, column, ordering in (("uniq", cells, "NUNIQ"), ("range", ends, "RANGE")):
        table = fits.BinTableHDU.from_columns([column])
        table.header.update({"ORDERING": ordering, "MOCORDER": 9, "MOCDIM": "SPACE"})
        data = bytes_of([fits.PrimaryHDU(), table], os.path.join(directory, "moc.fits"))
        write(directory, "regions", name, b"\x03" + data)
    os.remove(os.path.join(directory, "moc.fits"))


def main(directory):
    os.makedirs(directory, exist_ok=True)
    seeds_of_headers(directory)
    seeds_of_images(directory)
    seeds_of_tables(directory)
    seeds_of_catalogues(directory)
    seeds_of_tiles(directory)
    seeds_of_regions(directory)
    records.write(os.path.join(directory, "records"))
    for i, shape in enumerate(((9, 13), (40, 60), (1, 50))):
        for mode in (0, 1, 2):
            write(
                directory,
                "pixels",
                "%d%d" % (i, mode),
                bytes([shape[1] - 1, mode, i, i]) + picture(*shape).tobytes(),
            )
    for i, line in enumerate(
        (
            "-o a.csv a.fits",
            "--kappa=3 -n 5 -i 3 --beam 5,4,3 --plane 1,2 a b",
            "--bench=3 -f json a",
            "--columns=RA=ra,Total_flux:mJy=s,'x'=y a.fits",
        )
    ):
        write(directory, "options", str(i), line.replace(" ", "\n").encode())


if __name__ == "__main__":
    main(sys.argv[1])
