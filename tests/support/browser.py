"""A headless browser, where Debian's chromium and chromium-driver are installed."""

import contextlib
import shutil
from collections.abc import Iterator
from typing import Any, Final

BROWSER: Final = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER: Final = shutil.which("chromedriver")


@contextlib.contextmanager
def chromium(size: str = "1280,800") -> Iterator[Any]:
    """Start the browser; yield Selenium's driver, which keeps the log of the console."""
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = str(BROWSER)
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", f"--window-size={size}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=Service(str(DRIVER)))
    try:
        yield driver
    finally:
        driver.quit()
