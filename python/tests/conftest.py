"""What the tests of the Python package share. They test the package that is installed, beside the
command.

SRCFIND    the command, built from the same tree
FAKE_CUDA  a CUDA module without CUDA (tests/unit/fake_cuda.c), for a package with test hooks;
           without it some tests are skipped
"""
import os
import shutil
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path += [
    os.path.join(ROOT, "tests", "system"),
    os.path.join(ROOT, "tests"),
]  # srcfind_test, sky
SAMPLE = os.path.join(ROOT, "data", "sample.fits")
FAKE_CUDA = os.environ.get("FAKE_CUDA", "")
if FAKE_CUDA:
    os.environ["SRCFIND_CUDA_MODULE"] = FAKE_CUDA  # read when a device is first used


def pytest_configure(config):
    """Most images of the tests give warnings; those that are about these ask for them."""
    config.addinivalue_line("filterwarnings", "ignore::srcfind.SrcfindWarning")


def assert_same(found, expected):
    """Two catalogues have the same bytes in the same columns; NaN equals NaN."""
    assert found.array.dtype == expected.array.dtype and len(found) == len(expected)
    assert found.array.tobytes() == expected.array.tobytes()


@pytest.fixture
def fake_cuda():
    if not FAKE_CUDA:
        pytest.skip("FAKE_CUDA does not lead to the module for tests")


@pytest.fixture
def path(tmp_path):
    """Paths in a directory of the test's own: path("image.fits")."""
    return lambda name: str(tmp_path / name)


@pytest.fixture
def process(tmp_path):
    """srcfind.bdsf.process_image with a log of the test's own."""
    bdsf = pytest.importorskip("srcfind.bdsf", reason="astropy is not installed")

    def run(image=SAMPLE, **options):
        return bdsf.process_image(
            image, **{"rms_box": (60, 20), "quiet": True, "outdir": str(tmp_path), **options}
        )

    return run


@pytest.fixture(scope="session")
def browser():
    """Chromium without a window, for the pages of srcfind-page."""
    webdriver = pytest.importorskip(
        "selenium.webdriver", reason="python3-selenium is not installed"
    )
    from selenium.webdriver.chrome.service import Service

    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        pytest.skip("chromium and chromium-driver are not installed")
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--window-size=1280,1000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    yield driver
    driver.quit()
