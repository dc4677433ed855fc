"""Headers with distortions, good and hostile, one card a line: usage: records.py DIRECTORY

Of each kind of coordinates with each set of cards: what fuzz_records starts from, and what valgrind
sees it read (test_distortions)."""
import os
import sys

PLACE = ["CRVAL1  = 50.0", "CRVAL2  = 60.0", "CRPIX1  = 10.0", "CRPIX2  = 20.0"]
CD = ["CD1_1   = -0.01", "CD1_2   = 0.0", "CD2_1   = 0.0", "CD2_2   = 0.01"]
SIP = [
    "A_ORDER = 3",
    "B_ORDER = 2",
    "A_2_0   = 1E-5",
    "A_1_2   = 1E-7",
    "B_0_2   = 1E-5",
    "AP_ORDER= 2",
    "AP_2_0  = -1E-5",
    "BP_ORDER= 1",
    "BP_1_0  = 1E-5",
]
POLYNOMIAL = "1. 2. 2. 2. -0.5 0.5 -0.5 0.5 1.5E-4 2.5E-4 -1.0E-4 "
PLATE = [
    "CNPIX1  = 100",
    "CNPIX2  = 200",
    "PPO1    = 0.0",
    "PPO2    = 0.0",
    "PPO3    = 177500.0",
    "PPO4    = 0.0",
    "PPO5    = 0.0",
    "PPO6    = 177500.0",
    "XPIXELSZ= 25.28",
    "YPIXELSZ= 25.28",
    "PLTRAH  = 3",
    "PLTRAM  = 20",
    "PLTRAS  = 1.5",
    "PLTDECSN= '+'",
    "PLTDECD = 60",
    "PLTDECM = 10",
    "PLTDECS = 3.0",
    "PLATEID = '01ABC'",
    "AMDX1   = 67.2",
    "AMDX2   = 0.01",
    "AMDX3   = -10.0",
    "AMDX4   = 1E-5",
    "AMDX13  = 1E-9",
    "AMDY1   = 67.1",
    "AMDY2   = -0.01",
    "AMDY3   = 20.0",
    "AMDY5   = 1E-5",
    "AMDY20  = 0.0",
]


def types(lon, lat, *others):
    return ["CTYPE%d  = '%s'" % (i + 1, kind) for i, kind in enumerate((lon, lat, *others))]


def line(kind, unit="m/s", value="1.0E6", step="2.0E4", axis=3):
    return [
        card % axis
        for card in (
            "CTYPE%%d  = '%s'" % kind,
            "CUNIT%%d  = '%s'" % unit,
            "CRVAL%%d  = %s" % value,
            "CDELT%%d  = %s" % step,
            "CRPIX%d  = 1.0",
        )
    ]


def long_text(axis, text):
    """In parts of 68 characters."""
    return [
        "WAT%d_%03d= '%s'" % (axis, i // 68 + 1, text[i : i + 68]) for i in range(0, len(text), 68)
    ]


def wats(kind, first=POLYNOMIAL, second=POLYNOMIAL, more=""):
    return [
        card
        for axis, numbers in ((1, first), (2, second))
        for card in long_text(axis, 'wtype=%s axtype=x %scor = "%s"' % (kind, more, numbers))
    ]


def lookup(axis, axes=True, kind="CPDIS", record="DP", alternate="", form="%s: %s"):
    keyword = "%-8s= '%%s'" % (record + str(axis) + alternate)
    fields = [("EXTVER", "1"), ("NAXES", "2")] + [("AXIS.1", "1"), ("AXIS.2", "2")] * axes
    return ["%-8s= 'LOOKUP'" % (kind + str(axis) + alternate)] + [
        keyword % (form % field) for field in fields
    ]


def function(axis, kind="CPDIS", record="DP", name="TPD", *more):
    keyword = "%-8s= '%%s'" % (record + str(axis))
    fields = ("NAXES: 2", "AXIS.1: 1", "AXIS.2: 2", "TPD.FWD.1: 1.0", *more)
    return ["%-8s= '%s'" % (kind + str(axis), name)] + [keyword % field for field in fields]


def coordinates():
    tan = types("RA---TAN", "DEC--TAN") + PLACE + CD
    return {
        "nothing": [],
        "axes": ["NAXIS   = 2"],
        "one-axis": ["NAXIS   = 1", "CTYPE1  = 'RA---TAN'"],
        "tan": tan,
        "sip": types("RA---TAN-SIP", "DEC--TAN-SIP") + PLACE + CD + SIP,
        "sip-without-code": tan + SIP,
        "turned": types("DEC--SIN", "RA---SIN")
        + PLACE
        + ["CDELT1  = 0.01", "CDELT2  = -0.01", "CROTA1  = 20.0"],
        "tpv": types("RA---TPV", "DEC--TPV")
        + PLACE
        + CD
        + ["PV1_1   = 1.01", "PV1_7   = 1E-3", "PV2_1   = 0.99", "PV2_39  = 1E-9"],
        "tpu": types("RA---TPU", "DEC--TPU") + PLACE + CD + ["PV1_1   = 1.01", "PV2_1   = 0.99"],
        "tnx": types("RA---TNX", "DEC--TNX") + PLACE + CD + wats("tnx"),
        "zpx": types("RA---ZPX", "DEC--ZPX")
        + PLACE
        + CD
        + wats("zpx", more="projp0=0. projp1=1. projp3=337.74 "),
        "plate": tan + PLATE,
        "cube": types("RA---TAN-SIP", "DEC--TAN-SIP")
        + PLACE
        + CD
        + SIP
        + ["CD3_3   = 2E4"]
        + line("VOPT-F2W")
        + ["RESTFRQ = 1.42E9", "NAXIS   = 3"],
        "mixed": types("RA---TAN", "DEC--TAN")
        + PLACE
        + line("FELO-HEL")
        + [
            "CDELT1  = -0.01",
            "CDELT2  = 0.01",
            "PC1_3   = 0.1",
            "PC3_1   = 1E-3",
            "RESTFRQ = 1.42E9",
        ],
    }


def records():
    return {
        "none": [],
        "lookup": lookup(1) + lookup(2),
        "lookup-of-one": lookup(2),
        "lookup-without-axes": lookup(1, False) + lookup(2, False),
        "records": lookup(1)[1:] + lookup(2)[1:],
        "records-of-one": lookup(1)[1:],
        "types": [lookup(1)[0], lookup(2)[0]],
        "tpd": function(1) + function(2),
        "naxes-repeated": function(1) + ["DP1     = 'NAXES: 2'"] * 60 + function(2),
        "naxes-of-all": ["DP%d     = 'NAXES: 2'" % i for i in range(1, 10)] * 9,
        "axis-2000000": lookup(1) + ["DP1     = 'AXIS.2000000: 2'"],
        "axis-is-100000000": lookup(1) + ["DP1     = 'AXIS.1: 100000000'"],
        "axis-below": lookup(1)
        + ["DP1     = 'AXIS.-9: 2'", "DP1     = 'AXIS.0: 2'", "DP1     = 'AXIS.x: 2'"],
        "offset-99": function(1, "CPDIS", "DP", "TPD", "OFFSET.99: 1.0"),
        "scale-99": function(1, "CPDIS", "DP", "TPD", "SCALE.99: 2.0", "SCALE.-1: 2.0"),
        "naxes-99": ["CPDIS1  = 'TPD'", "DP1     = 'NAXES: 99'"],
        "naxes-below": ["CPDIS1  = 'TPD'", "DP1     = 'NAXES: -1'"],
        "sequent": function(1, "CQDIS", "DQ") + function(2, "CQDIS", "DQ"),
        "both": function(1) + function(1, "CQDIS", "DQ"),
        "mixed-records": ["DP1     = 'NAXES: 2'", "DQ1     = 'NAXES: 2'", "DQ2     = 'AXIS.99: 1'"],
        "polynomial": function(
            1,
            "CPDIS",
            "DP",
            "Polynomial",
            "NPARM: 999999",
            "TERM.1.COEFF: 1.0",
            "TERM.999999.VAR.9999: 1.0",
            "NAUX: 99999",
            "AUX.1.COEFF.1: 2.0",
        ),
        "alternate": lookup(1, alternate="A") + ["CTYPE1A = 'RA---TAN'", "CTYPE2A = 'DEC--TAN'"],
        "alternates": [c for a in "ABCZ" for c in lookup(1, alternate=a) + lookup(2, alternate=a)],
        "axis-3": function(3),
        "axis-32": ["DP32    = 'NAXES: 2'", "CPDIS32 = 'TPD'"],
        "axis-99": ["DP99    = 'NAXES: 2'", "CPDIS99 = 'TPD'", "CTYPE99 = 'RA'"],
        "narrow": lookup(1, form="%s:%s"),
        "wide": lookup(1, form="  %s   :   %s  "),
        "real": lookup(1, form="%s: %s.0"),
        "keys": ["DP1.NAXES= 2", "DP1.AXIS.1= 1", "DP1.AXIS.99= 2"],
        "double-quotes": ["DP1     = 'NAXES: ''2'''"],
        "no-quote": ["DP1     = 'NAXES: 2", "CPDIS1  = 'LOOKUP"],
        "no-blank": ["DP1     ='NAXES: 2'", "DP1     =  'NAXES: 2' / x"],
        "small": ["dp1     = 'naxes: 2'", "DP1     = 'naxes: 2'"],
        "number": ["DP1     = 2", "CPDIS1  = 3.0", "DQ1     = T"],
        "long": ["DP1     = '%s: 2'" % ("A" * 60), "DP1     = 'AXIS.%s: 1'" % ("1" * 40)],
        "errors": [
            "CPERR1  = 0.1",
            "CPERR2  = 0.1",
            "CQERR1  = 0.1",
            "DVERR   = 0.2",
            "CPERR1A = 0.1",
            "DVERRA  = 1.0",
        ],
        "d2im": [
            "D2IMDIS1= 'Lookup'",
            "D2IM1   = 'EXTVER: 1'",
            "D2IM1   = 'NAXES: 2'",
            "D2IM1   = 'AXIS.99: 1'",
            "D2IMERR1= 0.002",
        ],
        "plate-14": ["AMDX14  = 1.0"],
        "plate-99": [
            "AMDX99  = 1.0",
            "AMDY21  = 2.0",
            "AMDX0   = 1.0",
            "PPO7    = 1.0",
            "PPO99   = 1.0",
        ],
        "plate-of-text": ["AMDX1   = 'text'", "CNPIX1  = 'text'", "PPO3    = 'x'"],
        "plate-in-part": ["CNPIX1  = 1", "AMDX1   = 67.0"],
        "corner-alone": ["CNPIX1  = 1", "CNPIX2  = 1"],
        "long-plate": PLATE + ["PLATEID = '%s'" % ("P" * 66), "PLTDECSN= '%s'" % ("-" * 66)],
        "flat-plate": PLATE
        + ["AMDX%d   = 0.0" % m for m in (1, 2, 3)]
        + ["AMDY%d   = 0.0" % m for m in (1, 2, 3)],
        "order-20000": wats("tnx", "1. 20000. 20000. 0. 0. 1. 0. 1. 2. "),
        "order-21": wats("tnx", "1. 21. 21. 1. 0. 1. 0. 1. " + "1. " * 441),
        "order-20": wats("tnx", *["3. 20. 20. 1. 0. 1. 0. 1. " + "1. " * 400] * 2),
        "order-9": wats("tnx", *["3. 9. 9. 2. 0. 1. 0. 1. " + "1.E-9 " * 45] * 2),
        "order-below": wats("tnx", "1. -50. 3. 1. 0. 1. 0. 1. " + "1. " * 9),
        "cross-3": wats("tnx", "1. 9. 9. 3. 0. 1. 0. 1. " + "1. " * 81),
        "without-cross": wats("tnx", *["2. 3. 3. 0. -1. 1. -1. 1. " + "1.E-6 " * 5] * 2),
        "wat-too-short": wats("tnx", "1. 4. 4. 1. 0. 1. 0. 1. 2. "),
        "flat-domain": wats("tnx", *["1. 2. 2. 2. 0.5 0.5 0.5 0.5 1. 2. 3. "] * 2),
        "wat-of-one": wats("tnx")[:2],
        "wat-000": ["WAT1_000= 'x'"] + wats("tnx"),
        "wat-999": wats("tnx") + ["WAT1_999= 'x'"],
        "wat-turned": wats("tnx")[::-1],
        "wat-of-numbers": ["WAT1_001= 5", "WAT2_001= 6"],
        "wat-tan": ["WAT1_001= 'wtype=tan axtype=ra'", "WAT2_001= 'wtype=tan axtype=dec'"],
        "wat-long-type": wats("t" * 50),
        "wat-without-type": ["WAT1_001= 'x'", "WAT2_001= ''"],
        "wat-unlike": [
            *long_text(1, 'wtype=tnx x = "%s"' % POLYNOMIAL),
            *long_text(2, 'wtype=zpx x = "%s"' % POLYNOMIAL),
        ],
        "projp": wats("zpx", more="projp-99=1. projp99999=2. projpx "),
        "projps": wats("zpx", more="projp1=1. " * 40),
        "projp-cards": ["PROJP%d  = 1.0" % m for m in range(10)],
        "sip-above": ["A_5_5   = 1E-9", "B_9_9   = 1.0", "AP_9_9  = 1.0"],
        "sip-of-10": ["A_ORDER = 10", "A_5_5   = 1E-9"],
        "sip-of-9": ["A_ORDER = 9", "A_9_0   = 1E-30", "A_0_9   = 1E-30"],
        "sip-of-text": ["A_1_1   = 'text'", "B_ORDER = 'two'"],
        "sip-order-below": ["A_ORDER = -1", "B_ORDER = -99999999999"],
        "sip-order-above": ["A_ORDER = 99999999999", "A_0_0   = 1.0"],
        "sip-alone": ["A_ORDER = 2", "A_1_1   = 1E-6"],
        "parameters": [
            "PV1_99  = 1.0",
            "PV2_99  = 1.0",
            "PV3_99  = 1.0",
            "PV32_0  = 1.0",
            "PS3_99  = 'x'",
            "PV2_29  = 1.0",
        ],
        "codes": [*line("FREQ-GXX", axis=3), *line("VELO-XYZ", axis=4), *line("WAVE-GRZ", axis=5)],
        "grism": line("WAVE-GRI", "m", "5E-7", "1E-10")
        + ["PV3_0   = 1E5", "PV3_1   = 2.0", "PV3_9   = 1.0"],
        "velocities": [*line("VELO-LSR", axis=3), *line("FELO-HEL", axis=4), "VELREF  = 99999"],
        "no-line": line("VOPT"),
        "logarithm": line("WAVE-LOG", "m", "0.21", "1E-3") + ["RESTFRQ = 1.4E9"],
        "table": line("FREQ-TAB", "Hz")
        + ["PS3_0   = 'TABLE'", "PS3_1   = 'COORDS'", "PV3_1   = 1.0"],
        "axes-32": ["WCSAXES = 32"],
        "axes-33": ["WCSAXES = 33", "CTYPE33 = 'RA'"],
    }


def headers():
    """Names, and lines of cards."""
    for kind, cards in coordinates().items():
        for name, more in records().items():
            yield kind + "-" + name, cards + more
            if more:
                yield kind + "-before-" + name, more + cards


def write(directory):
    os.makedirs(directory, exist_ok=True)
    for name, cards in headers():
        with open(os.path.join(directory, name), "w") as stream:
            stream.write("\n".join(cards))


if __name__ == "__main__":
    write(sys.argv[1])
