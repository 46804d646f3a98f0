"""Checks a site that build-tools/site.py wrote: site_check.py FOLDER [CHROMIUM].

Links and names of each page, and that nothing is loaded from elsewhere; with Chromium, that no page is wider than 360 and 1280 pixels,
that nothing is cut that does not scroll, that pictures are large enough to read, that text stands off its ground (WCAG 2.1, 4.5 to 1), light and dark, and that the search finds. Prints failures and a sum."""
import json
import os
import re
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

site = Path(sys.argv[1])
browser = sys.argv[2] if len(sys.argv) > 2 else ""
passed, failures = 0, []


def case(fine, name, *more):
    global passed
    if fine:
        passed += 1
    else:
        failures.append(name)
        print(f"failed: {name}", *more)


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.names, self.links, self.loads = [], [], []

    def handle_starttag(self, tag, pairs):
        has = dict(pairs)
        if "id" in has:
            self.names.append(has["id"])
        if tag == "a" and "href" in has:
            self.links.append(has["href"])
        elif "src" in has or "href" in has:
            self.loads.append(has.get("src") or has.get("href"))
        if tag == "img":
            case(bool(has.get("alt")), "each picture has a text", has)


pages = {}
for path in sorted(site.glob("*.html")):
    pages[path.name] = Page()
    pages[path.name].feed(path.read_text())
case(len(pages) > 50, "there are pages", len(pages))
for name, page in pages.items():
    case(len(page.names) == len(set(page.names)), f"{name}: each name once", sorted(n for n in page.names if page.names.count(n) > 1))
    broken = []
    for link in page.links:
        if re.match(r"https?:", link):
            continue
        file, _, anchor = unquote(link).partition("#")
        file = file or name
        if not (site / file).is_file() or (anchor and anchor not in pages.get(file, Page()).names):
            broken.append(link)
    case(not broken, f"{name}: links", broken)
    case(all((site / load).is_file() for load in page.loads if load != "data:,"), f"{name}: loads files of the site alone", page.loads)
code = (site / "site.js").read_text() + (site / "site.css").read_text()
case(not re.search(r"https?:|fetch\(|XMLHttp|sendBeacon|cookie|localStorage", code), "no network and no traces")

# One page holds all others in frames and measures them there.
MEASURE = """<!doctype html><meta charset="utf-8"><pre id="result"></pre><script>
const pages = PAGES, found = [];
function rgb(text) { return (text.match(/[\\d.]+/g) || []).map(Number); }
function light(color) {
    const [r, g, b] = color.map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(a, b) { const x = light(a), y = light(b); return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); }
function ground(element) {
    for (let at = element; at; at = at.parentElement) {
        const color = rgb(at.ownerDocument.defaultView.getComputedStyle(at).backgroundColor);
        if (color.length === 3 || color[3] > 0) return color.slice(0, 3);
    }
    return [255, 255, 255];
}
function measure(frame, name, width) {
    const inside = frame.contentDocument, root = inside.documentElement;
    if (root.scrollWidth > width) found.push(`${name}: ${root.scrollWidth} pixels wide in ${width}`);
    for (const box of inside.querySelectorAll("main *")) {
        const scrolls = box.closest("pre, .wide");
        if (box === scrolls && box.scrollWidth > box.clientWidth && box.tabIndex !== 0) found.push(`${name}: no key scrolls ${box.tagName}`);
        if (!scrolls && box.scrollWidth > box.clientWidth && frame.contentWindow.getComputedStyle(box).display === "block")
            found.push(`${name}: ${box.tagName} is cut in ${width}: ${box.textContent.slice(0, 60)}`);
    }
    for (const box of inside.querySelectorAll("pre"))
        if (frame.contentWindow.getComputedStyle(box).whiteSpace !== "pre") found.push(`${name}: the columns of a text break in ${width}`);
    for (const image of inside.images)
        if (image.clientWidth < 0.7 * image.naturalWidth) found.push(`${name}: ${image.clientWidth} pixels for a picture of ${image.naturalWidth}`);
    const seen = new Set();
    const walk = inside.createTreeWalker(inside.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const element = walk.currentNode.parentElement;
        if (!walk.currentNode.data.trim() || element.tagName === "SCRIPT") continue;
        const text = frame.contentWindow.getComputedStyle(element).color, under = ground(element);
        if (seen.has(text + under)) continue;
        seen.add(text + under);
        const ratio = contrast(rgb(text).slice(0, 3), under);
        if (ratio < 4.5) found.push(`${name}: ${element.tagName} ${text} on ${under}: ${ratio.toFixed(1)}`);
    }
    return seen;
}
async function open(name, width) {
    const frame = document.createElement("iframe");
    frame.style = `width:${width}px;height:800px;border:0`;
    const loaded = new Promise((resolve) => { frame.onload = resolve; });
    frame.src = name;
    document.body.append(frame);
    await loaded;
    return frame;
}
(async () => {
    let count = 0, grounds = new Set();
    for (const width of [360, 1280])
        for (const name of pages) {
            const frame = await open(name, width);
            for (const pair of measure(frame, name, width)) grounds.add(pair);
            count++;
            frame.remove();
        }
    const frame = await open("index.html", 1280), inside = frame.contentDocument;
    const field = inside.getElementById("search"), hits = {};
    for (const words of ["griddep_chain_explain", "mbarrier.arrive", "GD130", "rms_norm", "zzqq"]) {
        field.value = words;
        field.dispatchEvent(new Event("input"));
        hits[words] = [...inside.querySelectorAll("#found a")].map((link) => link.getAttribute("href"));
    }
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    document.getElementById("result").textContent = JSON.stringify({ count, found, hits, dark, pairs: grounds.size });
})();
</script>"""


def look(scheme):
    page = site / "measure.html"
    page.write_text(MEASURE.replace("PAGES", json.dumps(sorted(pages))))
    with tempfile.TemporaryDirectory() as profile:
        said = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--allow-file-access-from-files",
             f"--user-data-dir={profile}", f"--blink-settings=preferredColorScheme={scheme}", "--window-size=1400,900",
             "--virtual-time-budget=120000", "--dump-dom", page.resolve().as_uri()],
            capture_output=True, text=True, env={**os.environ, "HOME": profile})
    page.unlink()
    result = re.search(r'<pre id="result">(.*?)</pre>', said.stdout, re.S)
    return json.loads(result[1].replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")) if result and result[1] else None


for scheme, name in ((1, "light"), (0, "dark")) if browser else ():
    seen = look(scheme)
    case(seen is not None, f"{name}: Chromium measures the pages")
    if seen is None:
        continue
    case(seen["count"] == 2 * len(pages) and seen["pairs"] >= 3, f"{name}: each page at both widths", seen["count"], seen["pairs"])
    case(seen["dark"] == (name == "dark"), f"{name}: the colours that were asked for")
    case(not seen["found"], f"{name}: width and contrast", *seen["found"][:20])
    for words, page in (("griddep_chain_explain", "api-explanation.html#"), ("GD130", "diagnostics.html#gd130"), ("rms_norm", "kernels.html#")):
        case(any(hit.startswith(page) for hit in seen["hits"][words][:5]), f"{name}: the search finds {words}", seen["hits"][words][:5])
    case(seen["hits"]["mbarrier.arrive"] and not seen["hits"]["zzqq"], f"{name}: the search finds what there is alone", seen["hits"])
print(f"{passed} passed, {len(failures)} failed, {0 if browser else 1} skipped")
sys.exit(1 if failures else 0)
