"""The page in a real browser: on a desktop, on a phone, in the dark and on paper."""

import json
import re
import shutil
import subprocess
from html import escape, unescape

import pytest

from .pages import SANITIZERS, page

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
]
PHONE, DESKTOP = 390, 1200

# A frame is as narrow as it is told to be; the window of a browser is not.
MEASURE = """
<script>
function measure(frame) {
  const page = frame.contentDocument, width = frame.clientWidth;
  const inside = element => element.closest(".scroll") && !element.matches(".scroll");
  const all = [...page.body.querySelectorAll("*")];
  const beyond = all.filter(e => !inside(e) && e.getBoundingClientRect().right > width + 0.5);
  const cut = [...page.querySelectorAll(".card, .strip, li, dd, p, h1, h2")]
    .filter(e => e.scrollWidth > e.clientWidth + 1)
    .concat([...page.querySelectorAll(".heat thead span")]
      .filter(e => e.scrollHeight > e.clientHeight + 1));
  const texts = [...page.querySelectorAll("svg text")].filter(text => {
    const box = text.getBBox(), view = text.ownerSVGElement.viewBox.baseVal;
    return box.x < view.x - 1 || box.x + box.width > view.x + view.width + 1;
  });
  return {
    name: frame.title, width: width, page: page.documentElement.scrollWidth,
    beyond: beyond.map(e => e.outerHTML.slice(0, 90)),
    cut: cut.map(e => e.outerHTML.slice(0, 90)),
    texts: texts.map(e => e.textContent),
    drawn: [...page.querySelectorAll("svg")].every(e => e.getBoundingClientRect().height > 5),
    loaded: [...page.images].every(e => e.complete && e.naturalWidth > 0),
    requests: frame.contentWindow.performance.getEntriesByType("resource").length,
    height: page.documentElement.scrollHeight,
  };
}
addEventListener("load", () => {
  const found = [...document.querySelectorAll("iframe")].map(measure);
  document.getElementById("found").textContent = JSON.stringify(found);
});
</script>
"""


def browse(tmp_path, page, *options):
    path = tmp_path / "page.html"
    path.write_text(page, encoding="utf-8")
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    command = [BROWSER, *FLAGS, profile, *options, path.as_uri()]
    return subprocess.run(command, capture_output=True, timeout=120, check=True, cwd=tmp_path)


def framed(text, name, width, height=900):
    style = "border:0;display:block"
    return (
        f'<iframe title="{name}" width="{width}" height="{height}" style="{style}" '
        f'srcdoc="{escape(text)}"></iframe>'
    )


def measured(tmp_path, frames):
    host = f'<!doctype html><body style="margin:0">{MEASURE}{"".join(frames)}<pre id="found"></pre>'
    dom = browse(tmp_path, host, "--dump-dom", "--window-size=1400,1000").stdout.decode()
    found = re.search(r'<pre id="found">(.*?)</pre>', dom, flags=re.DOTALL)
    return json.loads(unescape(found[1]))


@pytest.mark.parametrize(
    ("names", "widths"),
    [
        pytest.param(["orr", "oue"], [PHONE, DESKTOP], id="some"),
        pytest.param(list(SANITIZERS), [PHONE, 800, DESKTOP], id="all", marks=pytest.mark.slow),
    ],
)
def test_nothing_is_cut_off_and_nothing_overflows(tmp_path, names, widths):
    frames = [framed(page(name), name, width) for name in names for width in widths]
    found = measured(tmp_path, frames)
    assert len(found) == len(frames)
    for result in found:
        assert result["page"] <= result["width"], result
        assert result["beyond"] == [], result
        assert result["cut"] == [], result
        assert result["texts"] == [], result
        assert result["drawn"], result
        assert result["loaded"], result
        assert result["requests"] == 0, result
        assert result["height"] > 1000, result


def test_the_measurement_finds_what_overflows(tmp_path):
    wide = page("orr").replace("<h2>", '<div style="width:700px">wide</div><h2>', 1)
    long = page("orr").replace("<svg viewBox", '<svg data-x="1" viewBox', 1)
    long = re.sub(r"(<text [^>]*>)", r"\1" + "very " * 40, long, count=1)
    first, second = measured(tmp_path, [framed(wide, "wide", PHONE), framed(long, "long", DESKTOP)])
    assert first["page"] > PHONE
    assert first["beyond"]
    assert second["texts"]


def brightness(path):
    image = pytest.importorskip("matplotlib.image").imread(path)
    return image.shape[:2], float(image[..., :3].mean()), float(image[..., :3].std())


def test_light_dark_and_phone(tmp_path):
    shots = {
        "light": (page("orr"), []),
        "dark": (page("orr"), ["--blink-settings=preferredColorScheme=0"]),
        "phone": (framed(page("orr"), "phone", PHONE, 1600), []),
    }
    seen = {}
    for name, (text, options) in shots.items():
        size = "--window-size=1200,1600"
        browse(tmp_path, text, f"--screenshot={name}.png", size, *options)
        seen[name] = brightness(tmp_path / f"{name}.png")
    assert all(shape == (1600, 1200) for shape, *_ in seen.values())
    assert seen["light"][1] > 0.8
    assert seen["dark"][1] < 0.3
    assert all(spread > 0.05 for *_, spread in seen.values())


def test_on_paper(tmp_path):
    browse(tmp_path, page("orr"), "--print-to-pdf=page.pdf", "--no-pdf-header-footer")
    data = (tmp_path / "page.pdf").read_bytes()
    assert data.startswith(b"%PDF")
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", data)
    assert 2 <= len(boxes) <= 6
    for width, height in boxes:  # A4 in points
        assert float(width) == pytest.approx(595, abs=1)
        assert float(height) == pytest.approx(842, abs=1)


@pytest.mark.slow
def test_on_paper_nothing_is_wider_than_the_paper(tmp_path):
    # The rules for paper, at the width that is left between the margins of A4.
    printed = [
        framed(page(name).replace("@media print", "@media all"), name, 680) for name in SANITIZERS
    ]
    for result in measured(tmp_path, printed):
        assert result["page"] <= result["width"], result
