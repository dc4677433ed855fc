"""Python that explains itself: signatures, docstrings and lists have all options, editors complete
them."""
import inspect
import re
import subprocess
import sys

import pytest
import srcfind
from conftest import SAMPLE
from srcfind._calls import lib, listed, text
from srcfind._options import _KNOWN


def jedi_script(code):
    jedi = pytest.importorskip("jedi", reason="jedi is not installed")
    return jedi.Script(code, environment=jedi.InterpreterEnvironment())


def completed(code):
    return [completion.name_with_symbols for completion in jedi_script(code).complete()]


# --- editors ---


@pytest.mark.parametrize("call", ["srcfind.find('x', ", "srcfind.Finder("])
def test_names_of_options(call):
    """By the sources alone, as jedi reads them for IPython and editors."""
    assert completed(f"import srcfind\n{call}lo") == ["local="]
    assert completed(f"import srcfind\n{call}survey=True, thr") == ["threads=", "threshold="]
    names = [name[:-1] for name in completed(f"import srcfind\n{call}") if name.endswith("=")]
    assert set(_KNOWN) <= set(names)


def test_names_of_the_package_and_of_a_catalogue():
    names = {name for name in completed("import srcfind\nsrcfind.") if not name.startswith("_")}
    assert set(srcfind.__all__) <= names and not names & {"Any", "annotations", "lib", "text"}
    assert [name for name in dir(srcfind) if not name.startswith("_")] == sorted(srcfind.__all__)
    assert completed("import srcfind\nsrcfind.find('x').resi") == []
    assert completed("import srcfind\nsrcfind.find('x').gau") == ["gaussians"]


def test_what_editors_show():
    (signature,) = jedi_script("import srcfind\nsrcfind.find(").get_signatures()
    shown = signature.docstring()
    assert "local: Flag | None=None" in shown.replace(" = ", "=")
    assert "local : bool, default: False\n    Measure background and rms" in shown


IN_IPYTHON = """
import sys
from IPython.testing.globalipapp import start_ipython
from IPython.core.completer import provisionalcompleter
shell = start_ipython()
shell.run_cell("import srcfind; c = srcfind.find(%r); other = {}" % sys.argv[1])
for code in ('c.map("re', 'c.map(name="', 'other.map("', 'c["E_R', 'srcfind.find("x", loc'):
    with provisionalcompleter():
        found = [c.text for c in shell.Completer.completions(code, len(code))]
    print(*[name for name in found if name[0] != "%"][:3])
"""


def test_ipython():
    """It completes names of maps, of columns, and of options."""
    pytest.importorskip("IPython", reason="IPython is not installed")
    result = subprocess.run(
        [sys.executable, "-c", IN_IPYTHON, SAMPLE], capture_output=True, text=True
    )
    maps, first_maps, others, columns, options = result.stdout.splitlines()[-5:]
    assert [maps, first_maps] == ["residual", "background injected islands"], result.stderr
    assert "rms" not in others.split() and columns == "E_RA" and options.split()[0] == "local="


# --- signatures and docstrings ---


@pytest.mark.parametrize("call, own", [(srcfind.find, 3), (srcfind.Finder, 0)])
def test_signatures(call, own):
    """All options are keywords with None as the default, those of every day first; the docstring
    has a head of each and a text."""
    names = inspect.signature(call).parameters
    options = list(names)[own:]
    assert options[:4] == ["survey", "local", "island", "fit"] and set(options) == set(_KNOWN)
    assert all(
        names[o].kind is inspect.Parameter.KEYWORD_ONLY and names[o].default is None
        for o in options
    )
    heads = re.findall(r"\n(\w+) : .+\n    \S", inspect.getdoc(call))
    assert heads[-len(options) :] == options
    assert not re.search(r"(^|\s)--[a-z]|\{default\}|\\\(|\b(Fl|Ar|Cm) ", call.__doc__)


def test_docstrings_are_of_numpydoc():
    scrape = pytest.importorskip("numpydoc.docscrape", reason="numpydoc is not installed")
    for kind, function in ((scrape.FunctionDoc, srcfind.find), (scrape.ClassDoc, srcfind.Finder)):
        document = kind(function)
        names = [
            each.name for part in ("Parameters", "Other Parameters") for each in document[part]
        ]
        assert set(_KNOWN) <= set(names)


def test_wrong_names():
    """The error names what is meant, and what Python has instead of options of the command."""
    for wrong, message in (
        ({"lokal": True}, "no option lokal: did you mean local"),
        ({"gpu": True}, "no option gpu in Python: see device=0"),
        ({"save": "rms"}, "see Catalogue.map"),
    ):
        for call in (lambda **options: srcfind.find(SAMPLE, **options), srcfind.Finder):
            with pytest.raises(TypeError, match=message):
                call(**wrong)


def test_texts_end():
    """No text of a docstring ends where a list begins, and none leads to a manual without a name."""
    for documented in (srcfind.find, srcfind.Finder):
        text = inspect.getdoc(documented)
        assert "either of these holds:\n\n    - There is a dip" in text
        assert not re.search(r":\n\w+ : ", text) and "in the manual" not in text
        assert 'see "Local noise" in `man srcfind`' in text


# --- the list ---


def test_list():
    """Names and defaults are the library's; each has a help and a text, without mdoc."""
    found = srcfind.options()
    assert set(found) == set(_KNOWN) and list(found)[:2] == ["survey", "local"]
    for option in listed(lib.srcfind_option):
        name, initial = text(option.name).replace("-", "_"), text(option.initial)
        assert found[name].name == name and found[name].help and found[name].text
        assert not initial or str(found[name].default) == initial
    assert found["rms_box"].unit == "pixels" and found["shapes"].type == "{'auto', 'free', 'beam'}"
    assert found["fit"].default is False and found["min_pixels"].default == 1
    assert found["rms_box"].default is None and found["rms_box"].default_text.startswith("15 beams")
    assert found["psf"].default is None and found["psf"].default_text == ""
    shown = repr(found).splitlines()
    assert len(shown) == len(found) and re.fullmatch(r"local  +False  +measure .*", shown[1])
    assert repr(found["local"]).startswith("local : bool, default: False\n    Measure ")
    assert found._repr_html_().count("<tr>") == len(found) + 1
    with pytest.raises(KeyError):
        found["lokal"]
