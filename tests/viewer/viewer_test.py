#!/usr/bin/env python3
"""The viewer's page in headless Chromium: loads, counts, turns, filters, looks through cameras, says what is missing.

Usage: viewer_test.py POINTMAP SCENE_GEN [PART_OF_A_NAME]. The scene is a pair of rendered photos that the model in the box reconstructs.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from browser import Browser, decode_png, run_tests

HOSTILE_NAME = "<img src=x onerror=window.hacked=1>&quot; \u2028.png"
PANEL_PX = 256  # the canvas begins to the right of the panel


class Fixture:
    """Files made once, and a browser that all tests but one share."""

    def __init__(self, pointmap, scene_gen):
        self.temporary = tempfile.TemporaryDirectory(prefix="pointmap_viewer_")
        self.folder = folder = pathlib.Path(self.temporary.name)
        subprocess.run([scene_gen, "scenes", "--seed", "2", "--first", "0", "--count", "1", "--width", "256", "--height", "192", "--out",
                        folder], check=True, stdout=subprocess.DEVNULL)
        self.photos = [next(folder.glob("scene_*")) / f"view_{i}.png" for i in (1, 2)]
        hostile = folder / HOSTILE_NAME
        hostile.write_bytes(self.photos[1].read_bytes())
        subprocess.run([pointmap, "reconstruct", self.photos[0], hostile, "-m", "demo", "-o", folder, "--html", "--formats", "npz,ply",
                        "--conf-percentile", "40", "--quiet"], check=True)
        subprocess.run([pointmap, "view", folder / "scene.npz", "-o", folder / "view.html", "--no-open"], check=True,
                       stdout=subprocess.DEVNULL)
        header = (folder / "scene.ply").read_bytes().split(b"end_header")[0].decode()
        self.num_at_40 = int(re.search(r"element vertex (\d+)", header)[1])
        self.url = (folder / "view.html").as_uri()
        self.browser = Browser()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.__exit__()
        self.temporary.cleanup()

    def open(self, name="view.html"):
        """The page, when it has drawn."""
        self.browser.open((self.folder / name).as_uri())
        self.browser.wait_until("return window.viewer?.numFrames > 0 && !viewer.pending")
        return self.browser

    def count(self):
        """What the page says it shows, and of how many."""
        words = self.browser.run("return document.getElementById('count').textContent")
        shown, total = re.fullmatch(r"([\d,]+) of ([\d,]+) points", words).groups()
        return int(shown.replace(",", "")), int(total.replace(",", ""))

    def picture(self):
        """The canvas on the screen: rows of (r, g, b)."""
        self.browser.wait_until("return !viewer.pending && !viewer.moving")
        _, _, rows, size = decode_png(self.browser.screenshot_png())
        return [[row[i:i + 3] for i in range(PANEL_PX * size, len(row), size)] for row in rows]

    def set_slider(self, name, value):
        self.browser.run("const e = document.getElementById(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event('input'))",
                         name, value)


def share_different(a, b):
    """Of two pictures: the share of pixels where some colour differs by more than 16 of 255."""
    pairs = [(p, q) for row_a, row_b in zip(a, b) for p, q in zip(row_a, row_b)]
    return sum(max(abs(x - y) for x, y in zip(p, q)) > 16 for p, q in pairs) / len(pairs)


def test_loads_without_an_error_and_asks_for_nothing(fixture):
    browser = fixture.browser
    browser.console()
    fixture.open()
    errors = [entry for entry in browser.console() if entry["level"] == "SEVERE"]
    assert not errors, errors
    requests = browser.run("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert requests == [], requests
    assert browser.run("return document.getElementById('message').offsetHeight") == 0


def test_shows_every_point_and_says_what_they_are(fixture):
    browser = fixture.open()
    files = json.loads((fixture.folder / "report.json").read_text())["files"]
    num_points = next(entry["points"] for entry in files if entry["path"].endswith("scene.html"))
    assert fixture.count() == (num_points, num_points), (fixture.count(), num_points)
    facts = browser.run("return document.getElementById('facts').textContent")
    assert "demo" in facts and "x right, y down, z forward" in facts and "scale unknown" in facts, facts


def test_is_not_blank_and_turns_with_the_pointer(fixture):
    browser = fixture.open()
    before = fixture.picture()
    background = before[2][2]
    covered = sum(pixel != background for row in before for pixel in row) / (len(before) * len(before[0]))
    assert covered > 0.1, f"{covered:.3f} of the canvas is covered"
    browser.pointer(("move", 500, 150), ("down",), ("move", 560, 180), ("move", 620, 190), ("up",))
    changed = share_different(before, fixture.picture())
    assert changed > 0.05, f"{changed:.3f} of the pixels changed"
    browser.run("document.getElementById('reset').click()")
    changed = share_different(before, fixture.picture())
    assert changed < 0.001, f"{changed:.3f} of the pixels are not as they were before"


def test_draws_only_when_something_changes(fixture):
    browser = fixture.open()
    frames = browser.run("return viewer.numFrames")
    time.sleep(0.5)
    assert browser.run("return viewer.numFrames") == frames
    browser.run("viewer.requestDraw()")
    fixture.browser.wait_until(f"return viewer.numFrames === {frames + 1}")


def test_threshold_counts_as_the_exports_do(fixture):
    fixture.open()
    _, total = fixture.count()
    before = fixture.picture()
    fixture.set_slider("percentile", 40)
    assert fixture.count() == (fixture.num_at_40, total), (fixture.count(), fixture.num_at_40)
    assert share_different(before, fixture.picture()) > 0.01
    fixture.set_slider("percentile", 99)
    assert fixture.count()[0] < 0.03 * total, fixture.count()
    fixture.open("scene.html")  # written with --conf-percentile 40
    assert fixture.count() == (fixture.num_at_40, total), (fixture.count(), fixture.num_at_40)


def test_views_can_be_hidden_and_coloured(fixture):
    browser = fixture.open()
    _, total = fixture.count()
    photo_colors = fixture.picture()
    for coloring in ("view", "confidence"):
        browser.run("const e = document.getElementById('coloring'); e.value = arguments[0]; e.dispatchEvent(new Event('change'))", coloring)
        assert share_different(photo_colors, fixture.picture()) > 0.05, coloring
    browser.run("document.querySelector('#views input').click()")
    assert fixture.count() == (total // 2, total), fixture.count()


def test_click_on_a_frustum_looks_through_it(fixture):
    browser = fixture.open()
    camera = browser.run("return JSON.parse(document.getElementById('scene').textContent).views[1].camera")
    # Where the middle of the second camera's pyramid is on the page.
    x, y = browser.run("""
        const {base, apex} = viewer.views[1].frustum, box = viewer.canvas.getBoundingClientRect();
        const middle = [0, 1, 2].map(i => apex[i] / 3 + (base[0][i] + base[1][i] + base[2][i] + base[3][i]) / 6);
        const m = viewer.camera.clipFromWorld(box.width, box.height);
        const [cx, cy, , w] = [0, 1, 2, 3].map(r => m[r] * middle[0] + m[4 + r] * middle[1] + m[8 + r] * middle[2] + m[12 + r]);
        return [box.left + (cx / w + 1) / 2 * box.width, box.top + (1 - cy / w) / 2 * box.height];""")
    browser.pointer(("move", x, y), ("down",), ("up",))
    assert browser.run("return viewer.lookingThrough") == 1
    position = browser.run("return viewer.camera.position")
    assert max(abs(p - q) for p, q in zip(position, camera["position"])) < 1e-9, (position, camera["position"])
    browser.pointer(("move", 500, 150), ("down",), ("move", 520, 150), ("up",))
    assert browser.run("return viewer.lookingThrough") is None, "dragging leaves the photo's place"


def test_through_a_camera_its_points_look_like_its_photo(fixture):
    browser = fixture.open()
    browser.run("viewer.set({showFrusta: false}); viewer.setVisible(1, false); viewer.lookThrough(0)")
    picture = fixture.picture()
    width, height, rows, size = decode_png(fixture.photos[0].read_bytes())
    scale = min(len(picture[0]) / width, len(picture) / height)
    left, top = (len(picture[0]) - scale * width) / 2, (len(picture) - scale * height) / 2

    def difference(flip_x, flip_y):
        """Mean over the inner part of the photo, per colour, each step of 4 pixels."""
        total = count = 0
        for v in range(16, height - 16, 4):
            for u in range(16, width - 16, 4):
                seen = picture[int(top + scale * (v + 0.5))][int(left + scale * (u + 0.5))]
                at_u, at_v = width - 1 - u if flip_x else u, height - 1 - v if flip_y else v
                total += sum(abs(a - b) for a, b in zip(seen, rows[at_v][at_u * size:at_u * size + 3]))
                count += 3
        return total / count

    # The demo model takes photos at half this size, so fine texture is lost; what is mirrored or moved is far worse.
    straight, others = difference(False, False), [difference(True, False), difference(False, True), difference(True, True)]
    assert straight < 0.5 * min(others), (straight, others)


def test_the_panel_folds_and_comes_back(fixture):
    browser = fixture.open()
    left = "return document.getElementById('canvas').getBoundingClientRect().left"
    assert browser.run(left) == PANEL_PX
    for canvas_left in (0, PANEL_PX):
        x, y = browser.run("const box = document.getElementById('title').getBoundingClientRect(); return [box.left + 5, box.top + 5]")
        browser.pointer(("move", x, y), ("down",), ("up",))
        fixture.browser.wait_until(f"{left} === {canvas_left}")


def test_names_are_text_only(fixture):
    browser = fixture.open()
    assert browser.run("return window.hacked") is None
    assert browser.run("return document.images.length") == 0
    labels = browser.run("return [...document.querySelectorAll('#views label')].map(label => label.textContent)")
    assert HOSTILE_NAME in labels[1], labels


def test_says_so_without_webgl(fixture):
    with Browser(arguments=("--disable-gpu", "--disable-software-rasterizer", "--disable-3d-apis")) as browser:
        browser.open(fixture.url)
        message = browser.run("return document.getElementById('message').innerText")
        assert "WebGL" in message, message
        assert browser.run("return document.getElementById('panel').offsetHeight") == 0
        severe = [entry for entry in browser.console() if entry["level"] == "SEVERE" and "WebGL" not in entry["message"]]
        assert not severe, severe


def main(pointmap, scene_gen, only=""):
    return run_tests("Viewer", globals(), lambda: Fixture(pointmap, scene_gen), only)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
