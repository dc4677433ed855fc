"""Where the commands in C are."""
from __future__ import annotations

import os
import shutil
import sysconfig


def find_command(name: str) -> str | None:
    """The path of a command: of the one inside of the package, as wheels have it, else of the one that
    was installed with it, else of any in PATH."""
    inside = os.path.join(os.path.dirname(__file__), "bin", name)
    folders = [sysconfig.get_path("scripts"), os.environ.get("PATH", "")]
    return shutil.which(inside) or shutil.which(name, path=os.pathsep.join(folders))
