"""A real browser for pages and 3D files."""

import shutil

import pytest


@pytest.fixture(scope="session")
def browser():
    """Headless Chromium, 1440 x 900, driven by selenium; WebGL is drawn by the processor. Skips where something is missing."""
    selenium = pytest.importorskip("selenium.webdriver")
    places = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if None in places:
        pytest.skip("needs chromium and chromedriver (Debian: chromium, chromium-driver)")
    options = selenium.ChromeOptions()
    options.binary_location = places[0]
    for word in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "window-size=1440,900", "force-device-scale-factor=1",
                 "use-angle=swiftshader", "enable-unsafe-swiftshader", "disable-background-networking"):  # fmt: skip
        options.add_argument(f"--{word}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = selenium.Chrome(options=options, service=selenium.ChromeService(executable_path=places[1]))
    yield driver
    driver.quit()
