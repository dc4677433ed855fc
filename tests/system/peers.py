"""Other programs that tests start.

PEERS_PYTHON is an interpreter with LSMTool, breizorro, AegeanTools, Tigger and PyBDSF, whose commands
lie beside it, and with the Python package of this tree."""
import json
import os
import subprocess
import unittest

PEERS = os.environ.get("PEERS_PYTHON", "")
needs_peers = unittest.skipUnless(os.path.exists(PEERS), "PEERS_PYTHON names no interpreter")


def peer(name, *arguments, directory):
    """Runs a command that lies beside the interpreter of the peers."""
    result = subprocess.run(
        [os.path.join(os.path.dirname(PEERS), name), *map(str, arguments)],
        cwd=directory,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def peer_script(script, *arguments, directory=None):
    """What a script of the peers prints last, as JSON."""
    result = subprocess.run(
        [PEERS, "-c", script, *map(str, arguments)], cwd=directory, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])
