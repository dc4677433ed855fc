"""What the tests of pages in Chromium share."""
import re


def open_page(browser, path):
    """Opens a page, and waits until its scripts ran."""
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get("file://%s" % path)
    WebDriverWait(browser, 60).until(
        lambda driver: driver.execute_script("return document.documentElement.dataset.ready")
        == "yes"
    )


def texts(browser, selector):
    """Texts of elements; of a number that is rounded for reading, all digits."""
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])]"
        ".map(e => (e.querySelector('data')?.value ?? e.textContent).trim())",
        selector,
    )


def column(browser, sheet, name):
    """The cells of a column that is shown in a table; numbers as floats, None where one is
    empty."""
    index = [text.split(" ")[0] for text in texts(browser, "#%s th button" % sheet)].index(name)
    cells = texts(browser, "#%s tbody td:nth-child(%d)" % (sheet, index + 1))
    return [float(cell) if re.fullmatch(r"[-+.\de]+", cell) else cell or None for cell in cells]


def has_no_errors(browser):
    return [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
