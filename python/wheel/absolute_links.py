"""Makes the links and pictures of a wheel's description absolute: absolute_links.py METADATA.

They lead to the repository, which the metadata name, at the tag of the version.
"""
import pathlib
import re
import sys


def main(path):
    metadata = pathlib.Path(path)
    head, _, text = metadata.read_text(encoding="utf-8").partition("\n\n")
    repository = re.search(r"^Project-URL: Repository, (\S+)$", head, re.MULTILINE)[1]
    version = re.search(r"^Version: (\S+)$", head, re.MULTILINE)[1]

    def absolute(match):
        folder = "raw" if match[1] else "blob"
        return f"{match[1]}[{match[2]}]({repository}/{folder}/v{version}/{match[3]})"

    text = re.sub(r"(!?)\[([^]\n]*)\]\((?!\w+:|#)([^)\s]+)\)", absolute, text)
    metadata.write_text(head + "\n\n" + text, encoding="utf-8")


main(sys.argv[1])
