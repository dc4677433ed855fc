"""The manuals in HTML, by mandoc: a page for each section and for each group of options, with a heading
for each option, so that the menu of the page and the search name it."""
from __future__ import annotations

import html
import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field

FIRST, LAST = '.\\" The options: written by scripts/lists.\n', '.\\" End of the options.\n'
OF_GROUP = "#define %s_OPTION(name, letter, argument, type, member, initial, values, help, group) (name, letter, argument, help, #group),"
# beside the name of a group: an option of -h
DAILY = "DAILY"
ACRONYMS = ("JSON",)
# the manuals that have one page each
OTHERS = ("srcfind-merge", "srcfind-page")


class Wrong(Exception):
    """A manual has a form that this module does not know."""


@dataclass
class Part:
    """A page, or a heading of a page: what stands below it, in mdoc, and its parts."""

    title: str
    body: str = ""
    parts: list[Part] = field(default_factory=list)


@dataclass
class Option:
    """An option; `line` is its line of --help."""

    name: str
    letter: str
    argument: str
    line: str

    def title(self) -> str:
        names = ", ".join(filter(None, (self.letter and "-" + self.letter, "--" + self.name)))
        joint = "" if self.argument.startswith("[=") else " "
        return (names + joint + self.argument).strip()


def words(name: str) -> str:
    """A heading of the manual as one of the site: those in capitals get small letters."""
    return name.capitalize() if name.isupper() and name not in ACRONYMS else name


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def sections(source: str) -> list[Part]:
    """The sections of a manual with their subsections."""
    found: list[Part] = []
    for line in source.splitlines(keepends=True):
        if match := re.match(r'\.Sh "?(.*?)"?\n', line):
            found.append(Part(match[1]))
        elif match := re.match(r'\.Ss "?(.*?)"?\n', line):
            found[-1].parts.append(Part(match[1]))
        elif found:
            target = found[-1].parts[-1] if found[-1].parts else found[-1]
            target.body += line
    return found


def without_options(source: str) -> tuple[str, str]:
    """The manual without its lists of options, and the items of these lists, as if they were one."""
    head, _, rest = source.partition(FIRST)
    items, _, tail = rest.partition(LAST)
    if not tail:
        raise Wrong("man/srcfind.1: no list of options by scripts/lists")
    group = r"(?ms)^\.Ss [^\n]*\n\.Bl [^\n]*\n(.*?)^\.El\n(?=\.Ss |\Z)"
    return head + tail, "".join(re.findall(group, items))


def texts_of_options(items: str) -> dict[str, str]:
    """What the manual says of each option, by its name."""
    texts: dict[str, str] = {}
    depth, name = 0, ""
    for line in items.splitlines(keepends=True):
        if depth == 0 and line.startswith(".It "):
            match = re.search(r"Fl -([a-z-]+)", line)
            if not match:
                raise Wrong("man/srcfind.1: %s: no long option" % line.strip())
            name = match[1]
            texts[name] = ""
            continue
        depth += line.startswith(".Bl ") - line.startswith(".El")
        if name:
            texts[name] += line
    return texts


def lists(root: str) -> object:
    """scripts/lists as a module; it imports others that stand beside it."""
    sys.path.append(os.path.join(root, "scripts"))
    loader = importlib.machinery.SourceFileLoader("lists", os.path.join(root, "scripts", "lists"))
    spec = importlib.util.spec_from_loader("lists", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def groups(root: str) -> dict[str, list[Option]]:
    """The options of each group, in the order of --help."""
    table_of = lists(root).read_table  # type: ignore[attr-defined]
    with open(os.path.join(root, "src", "options", "options.inc")) as stream:
        kinds = sorted(set(re.findall(r"^(\w+)_OPTION\(", stream.read(), re.MULTILINE)))
    table = table_of("options/options.inc", *[OF_GROUP % kind for kind in kinds])
    titles = dict(table_of("options/groups.inc", "#define GROUP(name, title) (#name, title),"))
    found: dict[str, list[Option]] = {title: [] for title in titles.values()}
    for name, letter, argument, line, group in table:
        key = group.replace(" | " + DAILY, "")
        found[titles[key]].append(Option(name, letter or "", argument or "", line))
    return found


def in_html(body: str, name: str = "srcfind", section: str = "BODY") -> str:
    """Some lines of mdoc in HTML; `name` is what .Nm stands for. In a section SYNOPSIS mandoc begins a
    line at each .Nm."""
    page = ".Dd January 1, 2000\n.Dt SRCFIND 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd x\n.Sh %s\n%s" % (
        name,
        section,
        body,
    )
    result = subprocess.run(
        ["mandoc", "-T", "html", "-O", "fragment"],
        input=page,
        capture_output=True,
        text=True,
        check=True,
    )
    start = result.stdout.index('id="%s"' % section)
    start = result.stdout.index("</h1>", start) + len("</h1>")
    text = result.stdout[start : result.stdout.rindex("</section>")]
    text = re.sub(r'<a class="permalink" href="#[^"]*">(.*?)</a>', r"\1", text)  # of no use here
    return re.sub(r' id="[^"]*"', "", text).strip()


class Links:
    """Where options and sections are: pages and anchors."""

    def __init__(self) -> None:
        self.options: dict[str, str] = {}  # by "--name" and "-n"
        self.sections: dict[str, str] = {}

    def put(self, text: str, here: str = "") -> str:
        """HTML in which options and sections are links; `here` is the option that is described."""

        def option(match: re.Match[str]) -> str:
            target = self.options.get(html.unescape(match[1]))
            if not target or target == here:
                return match[0]
            return '<a class="option" href="%s">%s</a>' % (target, match[0])

        def section(match: re.Match[str]) -> str:
            name = html.unescape(" ".join(re.sub("<.*?>", "", match[1]).split()))
            if name not in self.sections:
                raise Wrong("a manual refers to the section %s, which it does not have" % name)
            return '<a class="section" href="%s">%s</a>' % (self.sections[name], match[1])

        text = re.sub(r'<code class="Fl">([^<]+)</code>', option, text)
        text = re.sub(r'<a class="Sx"[^>]*>(.*?)</a>', section, text, flags=re.DOTALL)
        return re.sub(
            r'<a class="Xr"[^>]*>(.*?)</a>', r'<code class="Xr">\1</code>', text, flags=re.DOTALL
        )


def section_of_html(part: Part) -> str:
    """The name of the section in which mandoc formats a part: what it does with .Nm depends on it."""
    return "SYNOPSIS" if part.title == "SYNOPSIS" else "BODY"


def raw(text: str) -> str:
    return '```{raw} html\n<div class="manual">\n%s\n</div>\n```\n' % text


def heading(mark: str, anchor: str, title: str) -> str:
    return "(%s)=\n%s %s\n\n" % (anchor, mark, title)


class Manuals:
    """All pages of the manuals."""

    def __init__(self, root: str) -> None:
        self.root, self.links = root, Links()
        body, items = without_options(self._read("srcfind.1"))
        self.texts = texts_of_options(items)
        self.groups = groups(root)
        self.of_manual = {"srcfind": sections(body)}
        for name in OTHERS:
            self.of_manual[name] = sections(self._read(name + ".1"))
        self._find_links()

    def _read(self, name: str) -> str:
        with open(os.path.join(self.root, "man", name)) as stream:
            return stream.read()

    def _find_links(self) -> None:
        for group, options in self.groups.items():
            for option in options:
                target = "options-%s.html#option-%s" % (slug(group), option.name)
                self.links.options["--" + option.name] = target
                if option.letter:
                    self.links.options["-" + option.letter] = target
        for section in self.of_manual["srcfind"]:
            page = "manual-%s.html" % slug(section.title)
            self.links.sections[section.title] = page
            for part in section.parts:
                self.links.sections[part.title] = page + "#manual-" + slug(part.title)

    def option_pages(self) -> dict[str, str]:
        """A page for each group of options, by its name."""
        described = [option.name for options in self.groups.values() for option in options]
        if sorted(described) != sorted(self.texts):
            raise Wrong("man/srcfind.1 and options.inc have other options: run scripts/lists")
        pages = {}
        for group, options in self.groups.items():
            text = "# Options: %s\n\n" % group
            for option in options:
                text += heading("##", "option-" + option.name, "`%s`" % option.title())
                body = in_html(self.texts[option.name])
                text += raw(self.links.put(body, self.links.options["--" + option.name]))
            pages["options-" + slug(group)] = text
        return pages

    def table(self) -> str:
        """All options with their lines of --help."""
        text = ""
        for group, options in self.groups.items():
            text += "\n## %s\n\n| option | what it does |\n| --- | --- |\n" % group
            for option in options:
                cells = option.title(), re.sub(r"--[a-z][a-z-]*", r"`\g<0>`", option.line)
                text += "| `%s` | %s |\n" % tuple(cell.replace("|", r"\|") for cell in cells)
        return text

    def manual_pages(self) -> dict[str, str]:
        """A page for each section of srcfind(1) but its name, and one for each other manual."""
        pages = {}
        for section in self.of_manual["srcfind"]:
            if section.title != "NAME":
                text = "# %s\n\n%s\n" % (words(section.title), self._body(section))
                pages["manual-" + slug(section.title)] = text
        for name in OTHERS:
            pages["manual-" + name] = self._other_manual(name)
        return pages

    def _other_manual(self, name: str) -> str:
        text = "# %s\n\n" % name
        links = Links()  # its options are others
        for section in self.of_manual[name]:
            for part in [section] + section.parts:
                links.sections[part.title] = "#%s-%s" % (name, slug(part.title))
        for section in self.of_manual[name]:
            for mark, part in [("##", section)] + [("###", part) for part in section.parts]:
                text += heading(mark, links.sections[part.title][1:], words(part.title))
                if part.body.strip():
                    text += raw(links.put(in_html(part.body, name, section_of_html(part))))
        return text

    def _body(self, section: Part) -> str:
        text = ""
        if section.body.strip():
            text = raw(self.links.put(in_html(section.body, section=section_of_html(section))))
        for part in section.parts:
            if part.body.strip() or part.title != "Options":
                text += heading("##", "manual-" + slug(part.title), part.title)
                text += raw(self.links.put(in_html(part.body)))
        return text
