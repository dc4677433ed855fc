"""The C API, from src/srcfind.h: its comments are all that is said of it."""
from __future__ import annotations

import re
import textwrap

TAKES = re.compile(
    r"/\* (?P<comment>.*?)\*/\n?|"
    r"(?P<declaration>(?:SRCFIND_API|struct|enum)\b[^;{]*(?:\{[^\n]*\}|\{.*?\n\})?;)|"
    r"#define (?P<macro>SRCFIND_EMPTY) [^\n]*\n|"
    r"(?P<gap>\n)|[^\n]*\n",
    re.DOTALL,
)


class Wrong(Exception):
    """The header has a form that this module does not know."""


def word_of(word: str) -> str:
    """A part of a comment: a literal, or text."""
    if re.match(r"`|srcfind_\w|SRCFIND_\w", word):
        return "``%s``" % word.strip("`")
    return re.sub(r"([*_|\\`])", r"\\\1", word)


def text_of(comment: str) -> str:
    """A comment without its stars, in reStructuredText: its indented lines are code, its words in
    backquotes and the names of the library are literals."""
    lines = [re.sub(r"^ \* ?", "", line).rstrip() for line in comment.split("\n")]
    blocks, out = "\n".join(lines).strip("\n").split("\n\n"), []
    for block in blocks:
        if block.startswith("    "):
            out.append(".. code-block:: c\n\n" + textwrap.indent(textwrap.dedent(block), "    "))
        elif "\n  " in block:  # a list, which keeps its lines
            out.append(".. code-block:: text\n\n" + textwrap.indent(block, "    "))
        else:
            words = re.split(r"(`[^`]+`|\b(?:srcfind_|SRCFIND_)\w+)", block.strip())
            ends = [
                r"\ " if i % 2 and re.match(r"[^\s.,:;!?)\]'\"/-]", following) else ""
                for i, following in enumerate(words[1:])
            ] + [""]
            out.append("".join(word_of(word) + end for word, end in zip(words, ends)))
    return "\n\n".join(out)


def names_of(declaration: str) -> tuple[str, str]:
    """The directive of a declaration and its argument."""
    flat = " ".join(declaration.replace("SRCFIND_API", "").rstrip(";").split())
    if match := re.match(r"(struct|enum) (\w+)( \{|$)", flat):
        return "c:" + match[1], match[2]
    if flat.startswith("enum {"):
        return "", flat
    if re.search(r"\w\(", flat):
        return "c:function", flat
    raise Wrong("src/srcfind.h: %s: neither a function nor a struct nor an enum" % flat)


def entry(comment: str, declaration: str, calls: set[str]) -> str:
    """A declaration with its comment. Structs with the name of a call are plain text, since the index
    has one entry for a name."""
    directive, name = names_of(declaration)
    code = ""
    if "{" in declaration:
        code = ".. code-block:: c\n\n" + textwrap.indent(declaration, "    ")
    if not directive or (name in calls and directive != "c:function"):
        return "\n\n".join(filter(None, (text_of(comment), code)))
    body = "\n\n".join(filter(None, (text_of(comment), code)))
    return ".. %s:: %s\n\n%s" % (directive, name, textwrap.indent(body, "    "))


def macro(name: str, comment: str) -> str:
    return ".. c:macro:: %s\n\n%s" % (name, textwrap.indent(text_of(comment), "    "))


def api(header: str) -> str:
    """The header as a part of a page in MyST: a heading for each of its sections."""
    header = header[: header.rindex("#ifdef __cplusplus")]
    sections: list[tuple[str, list[str]]] = [("Overview", [])]
    comment = ""
    calls = re.findall(r"^SRCFIND_API [^(]*?(\w+)\(", header, re.MULTILINE)
    for match in TAKES.finditer(header):
        if match["comment"] is not None:
            title = re.fullmatch(r"--- (.*) --- ", match["comment"])
            if title:
                sections.append((title[1].capitalize(), []))
                comment = ""
            elif match.start() == 0:
                sections[0][1].append(text_of(match["comment"]))
            else:
                comment = match["comment"]
        elif match["declaration"]:
            sections[-1][1].append(entry(comment, match["declaration"], set(calls)))
            comment = ""
        elif match["macro"]:
            sections[-1][1].append(macro(match["macro"], comment))
            comment = ""
    named = sum(entry.count(".. c:function::") for _, entries in sections for entry in entries)
    if named != len(calls):
        raise Wrong("src/srcfind.h: %d of its %d calls were understood" % (named, len(calls)))
    return "\n".join(
        "## %s\n\n```{eval-rst}\n%s\n```\n" % (title, "\n\n".join(entries))
        for title, entries in sections
    )
