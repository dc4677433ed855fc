"""What scripts/lists writes into the Python package: the parameters of `find` and `Finder`, what their
docstrings say of each, the texts of `srcfind.options()`, and the names of maps."""
import itertools
import json
import os
import re
import runpy
import textwrap

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)

# By the types of options.inc: the type of an argument, with the names of _signatures.py, and the
# words for it in a docstring. Those of a CHOICE come from its values.
TYPES = {
    "FLAG": ("Flag", "bool"),
    "SURVEY": ("Flag", "bool"),
    "NUMBER": ("Number", "float"),
    "ADDED_ERROR": ("Number", "float"),
    "REAL": ("Number", "float"),
    "TOLERANCE": ('Literal["island"] | Number', "float or 'island'"),
    "COUNT": ("Whole", "int"),
    "SEED": ("Whole", "int"),
    "INJECTED": ("Flag | Whole", "bool or int"),
    "PIXELS": ("Whole", "int"),
    "THREADS": ("Whole", "int"),
    "MEBIBYTES": ("Whole", "int"),
    "BACKGROUND": ('Literal["median", "zero"] | Number', "{'median', 'zero'} or float"),
    "BOX": ("Whole | Sequence[Whole] | str", "int or (SIZE, STEP)"),
    "BEAM": ("Number | Sequence[Number] | str", "float or (MAJ, MIN, PA)"),
    "SCALES": ("Flag | Number | Sequence[Number] | str", "bool, float or list of float"),
    "PLANE": ("Whole | Sequence[Whole] | str", "int, tuple of int, or str"),
    "TRIM": ("Sequence[Whole] | str", "(X0, X1, Y0, Y1)"),
    "TEXT": ("str | Whole", "int or str"),
    "PATH": ("Path", "path"),
    "PATHS": ("Path | Sequence[Path]", "path or list of paths"),
    "DEVICE": ("str | Whole", "int or str"),
}

# The types of options whose value may be in memory.
MAP = ("Map", "path or array")
TYPES_OF = {
    "mask": MAP,
    "rms-map": MAP,
    "background-map": MAP,
    "detect-on": MAP,
    "detect-rms-map": MAP,
    "detect-background-map": MAP,
    "at": ("Positions", "path, table, SkyCoord, Catalogue, or pairs of degrees"),
    "inject": ("Positions", "path, table or Catalogue"),
}

UNITS = {
    "threshold": "rms",
    "island": "rms",
    "kappa": "standard deviations",
    "background": "unit of the map",
    "rms": "unit of the map",
    "blank": "unit of the map",
    "rms-box": "pixels",
    "min-pixels": "pixels",
    "completeness": "sources",
    "contrast": "rms",
    "flux-error": "percent",
    "position-error": "FWHM of the beam",
    "scales": "FWHM of the beam",
    "beam": "arcsec, arcsec, degrees",
    "trim": "pixels",
    "mask-dilate": "pixels",
    "device-memory": "MiB",
}

# The order of the parameters: these, then the others of every day, then by groups.
FIRST = ("survey", "local", "island", "fit")
GROUPS = ("DETECTION", "NOISE", "SOURCES", "IMAGES", "INPUT", "OUTPUT", "DEVICE")

# What has the options as parameters, and how far they are indented; in its docstring, the lines
# before and behind the options of every day, and those before and behind the others.
PARAMETERS = "    Parameters\n    ----------"
OTHERS = ("    Other Parameters\n    ----------------", "    Raises")
CALLS = {
    "python/srcfind/_find.py": (
        "    ",
        ("        Of an array: its coordinates, also beside a header.", "    Returns"),
        OTHERS,
    ),
    "python/srcfind/_finder.py": ("        ", (PARAMETERS, "    Other Parameters"), OTHERS),
}

# Sentences about the command line, for which Python has other means.
OF_COMMAND = re.compile(
    r"commas between them|command line|given several times|@LIST|exit status|--bench|summary line"
    r"|Catalogues and reports|With several images|If several images|Messages always"
)
SHORT = 260  # characters of the text in a docstring, but for its first sentence
WIDTH = 100


class Wrong(Exception):
    """An error that a person has to correct, in one line."""


def load(name):
    """The names of a script or a module, which is run, and not imported with its package."""
    return runpy.run_path(os.path.join(ROOT, *name.split("/")))


def ordered(options):
    """The options of the library, in the order of the parameters."""

    def place(option):
        words = option.group.split(" | ")
        first = FIRST.index(option.name) if option.name in FIRST else len(FIRST)
        return (
            "DAILY" not in words,
            first,
            GROUPS.index(words[0]) if words[0] in GROUPS else len(GROUPS),
        )

    return sorted((option for option in options if option.is_of_library), key=place)


def is_daily(option):
    return "DAILY" in option.group


def name_of(option):
    return option.name.replace("-", "_")


# --- types ---


def choices(option):
    """The values of a choice, as in Python: a number among them may be a number or its text."""
    values = option.values.split("|")
    return [value for value in values if value.isdecimal()] + [
        json.dumps(value) for value in values
    ]


def type_of(option):
    """The type of an argument, and the words for it."""
    if option.type == "CHOICE":
        words = [
            value if value.isdecimal() else "'%s'" % value for value in option.values.split("|")
        ]
        return "Literal[%s]" % ", ".join(choices(option)), "{%s}" % ", ".join(words)
    if option.name in TYPES_OF:
        return TYPES_OF[option.name]
    if option.type not in TYPES:
        raise Wrong(
            "scripts/lists_of_python.py: TYPES has no %s, the type of %s in options.inc: say there what it is in Python"
            % (option.type, option.name)
        )
    return TYPES[option.type]


# --- texts ---


class Texts:
    """What the manual and the help say of options, with the options as Python has them."""

    def __init__(self, options, sections):
        spelling = load("python/srcfind/_spelling.py")
        self.spell = spelling["Spelling"](
            spelling["Spelled"](option.name, option.argument, option.values)
            for option in options
            if option.is_of_library or option.name in ("save", "format")
        )
        self.plain_text = load("scripts/plain-manual")["plain_text"]
        self.letters = {option.letter: option.name for option in options if option.letter}
        self.lines = {option.name: lines for option, (_, lines) in zip(options, sections)}

    def in_python(self, text):
        """A text in one line; options of the command alone keep their names."""
        return re.sub(r"(?<![\w`])(--[a-z][-a-z]*)", r"the command's \1", self.spell(text))

    def _line(self, option, line):
        """A line of mdoc, in which the option's argument has the option's name, and its values are
        texts of Python."""
        if not line.startswith("."):
            return line
        line = re.sub(r"\bFl ([A-Za-z])(?= |$)", lambda l: "Fl -" + self.letters[l[1]], line)
        own = re.match(r"(?:\[=)?([A-Z]+)(?=[]|]|$)", option.argument or "")
        if own:
            line = re.sub(r"(?<!= )\bAr %s(?= |$)" % own[1], "Li `%s`" % name_of(option), line)
        values = [v for v in (option.values or "").split("|") if not v.isdecimal()]
        if values and "Fl" not in line:
            line = re.sub(r"\bCm (%s)(?! : Ns)(?= |$)" % "|".join(values), r'Li "\1"', line)
        return line

    def paragraphs(self, option):
        """The text of the manual, without sentences about the command line. Items of lists begin
        with a hyphen."""
        lines = [self._line(option, line) for line in self.lines[option.name]]
        text = self.plain_text(lines).replace("{default}", option.default or "")
        text = re.sub(r" \(exit status \d\)|, before or after --survey,", "", text)
        text = re.sub(r'(?<=[Ss]ee )("[^"]+")', r"\1 in `man srcfind`", text)
        for paragraph in text.split("\n"):
            kept = [s for s in sentences(paragraph) if not OF_COMMAND.search(s)]
            if kept:
                yield self.in_python(" ".join(kept))

    def short(self, option):
        """The first sentences, without the default."""
        first, *others = self.paragraphs(option)
        text = re.sub(r" \(default[: ][^()]{,12}\)", "", first)
        found = ""
        for sentence in sentences(text):
            if found and len(found) + len(sentence) > SHORT:
                break
            found = (found + " " + sentence).strip()
        items = itertools.takewhile(lambda other: other.startswith("- "), others)
        return "\n".join([found, "", *items]) if found.endswith(":") else found

    def help(self, option):
        """The line of help, and the default that it may name."""
        line = self.in_python(option.help)
        about = re.fullmatch(r"(.*) \[(.*)\]", line)
        return (about[1], about[2]) if about else (line, "")

    def default(self, option):
        """The words for the default."""
        value = option.default or self.help(option)[1].replace("`", "")
        if option.values and value in option.values.split("|") and not value.isdecimal():
            value = "'%s'" % value
        if type_of(option)[0].startswith("Flag"):
            return "default: False" + (" (True: %s)" % value if value else "")
        return "default: " + value if value else "optional"


def sentences(paragraph):
    return re.split(r"(?<=[.)]) (?=[A-Z@`\"]|-[A-Z])", paragraph) if paragraph else []


# --- what is written ---


def wrapped(text, indent):
    """Lines of a text, whose paragraphs end with newlines; an empty one stays a line."""
    for paragraph in text.split("\n"):
        hanging = "  " if paragraph.startswith("- ") else ""
        lines = textwrap.wrap(
            paragraph.replace("man srcfind", "man\0srcfind"),  # stays in one line
            WIDTH - 2,
            initial_indent=indent,
            subsequent_indent=indent + hanging,
            break_long_words=False,
            break_on_hyphens=False,
        )
        yield from (line.replace("\0", " ") for line in lines or [""])


def head(option, texts):
    """The name, the type, the unit and the default of an option."""
    unit = " [%s]" % UNITS[option.name] if option.name in UNITS else ""
    return "%s : %s%s, %s" % (name_of(option), type_of(option)[1], unit, texts.default(option))


def members(options, texts):
    """The members of the TypedDict, each with its line of help."""
    for option in options:
        if option.is_of_library:
            about, default = texts.help(option)
            default = option.default or default
            line = about + (" [%s]" % default if default else "")
            yield "    #: " + line.replace("`", "")
            yield "    %s: %s | None" % (name_of(option), type_of(option)[0])


def parameters(options, indent):
    """The parameters of a function, but for those of its own."""
    for option in ordered(options):
        yield "%s%s: %s | None = None," % (indent, name_of(option), type_of(option)[0])


def documented(options, texts, daily):
    """What a docstring says of the options of every day, or of all others."""
    for option in ordered(options):
        if is_daily(option) == daily:
            yield "    " + head(option, texts)
            yield from wrapped(texts.short(option), "        ")


def whole_texts(options, texts):
    """The lines of _texts.py: of each option its head, its line of help, and its text."""
    for option in ordered(options):
        yield head(option, texts)
        yield "    " + texts.help(option)[0].replace("`", "")
        for paragraph in texts.paragraphs(option):
            yield from wrapped(paragraph, "        ")


def names_of_maps(names):
    """The type of the argument of Catalogue.map, as black would have it."""
    listed = ", ".join(json.dumps(name) for name in names)
    line = "MapName = Literal[%s]" % listed
    return [line] if len(line) <= WIDTH else ["MapName = Literal[", "    " + listed, "]"]
