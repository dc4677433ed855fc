"""The command srcfind: python -m srcfind IMAGE..."""
import os
import sys

from srcfind._command import find_command


def main() -> None:
    command = find_command("srcfind")
    if command is None:
        sys.exit("python -m srcfind: the command srcfind is not installed: pip install srcfind")
    os.execv(command, ["srcfind", *sys.argv[1:]])


main()
