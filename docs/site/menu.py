"""The menu of the site: captions, and below each the pages, as (title, path in the tree)."""
from __future__ import annotations

FRONT = "README.md"
MENU = (
    (
        "First steps",
        (
            ("Start", "docs/start.md"),
            ("Install", "docs/install.md"),
            ("Tutorial", "docs/tutorial.md"),
            ("Which command", "docs/commands.md"),
        ),
    ),
    (
        "Searches",
        (
            ("Noise", "docs/noise.md"),
            ("Components", "docs/components.md"),
            ("Extended", "docs/extended.md"),
            ("Planes", "docs/planes.md"),
            ("Light curves", "docs/lightcurves.md"),
            ("Priors", "docs/priors.md"),
            ("Regions", "docs/regions.md"),
            ("Survey", "docs/survey.md"),
            ("GPU", "docs/gpu.md"),
        ),
    ),
    (
        "Results",
        (("Columns", "docs/columns.md"), ("Errors", "docs/errors.md"), ("Trust", "docs/trust.md")),
    ),
    (
        "From other programs",
        (
            ("Coming from ...", "docs/coming-from.md"),
            ("Pipelines", "docs/pipelines.md"),
            ("PyBDSF's options", "docs/bdsf-options.md"),
        ),
    ),
    (
        "Reference",
        (
            ("Options", "docs/options.md"),
            ("Manual", "docs/manual.md"),
            ("Python", "docs/python.md"),
            ("C", "docs/c.md"),
        ),
    ),
    (
        "Inside",
        (
            ("How it works", "ARCHITECTURE.md"),
            ("Benchmarks", "BENCHMARKS.md"),
            ("Contributing", "CONTRIBUTING.md"),
            ("Tests", "tests/README.md"),
            ("GPU tests", "tests/gpu/RECORD.md"),
            ("Sample images", "data/README.md"),
            ("Security", "SECURITY.md"),
            ("Changes", "CHANGELOG.md"),
        ),
    ),
)
