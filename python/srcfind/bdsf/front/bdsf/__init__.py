"""The module bdsf, for code that imports PyBDSF by its name: it is srcfind.bdsf."""
import sys

import srcfind.bdsf

sys.modules[__name__] = srcfind.bdsf
sys.modules["bdsf.image"] = srcfind.bdsf.image
