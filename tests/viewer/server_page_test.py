#!/usr/bin/env python3
"""The server's page in headless Chromium, as a person uses it: photos in, progress, points, files out; and all that can go wrong on the way.

Usage: server_page_test.py POINTMAP SCENE_GEN [PART_OF_A_NAME]. Each server is a real process. POINTMAP_SCREENSHOTS=FOLDER keeps pictures.
"""

import base64
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from browser import Browser, run_tests

HOSTILE_NAME = "<img src=x onerror=window.hacked=1>&quot; \u2028.png"
KEY = "correct-horse-battery"
OVER = "return document.getElementById('progress').hidden"


class Server:
    """A process that serves on a port of its own. Use as a context manager."""

    def __init__(self, program, folder, *options):
        self.log_path = folder / f"server_{time.monotonic_ns()}.log"
        with open(self.log_path, "w") as log:
            self.process = subprocess.Popen([program, "serve", "--port", "0", "--no-warm-up", *options], stderr=log)
        self.url = f"http://127.0.0.1:{self._event('listening')['port']}/"
        self._event("ready")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def _event(self, name, timeout_s=120):
        end = time.monotonic() + timeout_s
        while time.monotonic() < end and self.process.poll() is None:
            for line in self.log_path.read_text().splitlines():
                with contextlib.suppress(json.JSONDecodeError):
                    if json.loads(line)["event"] == name:
                        return json.loads(line)
            time.sleep(0.05)
        raise AssertionError(f"no event '{name}': {self.log_path.read_text()}")

    def ask(self, path, method="GET", body=None, headers=None):
        request = urllib.request.Request(self.url + path, body, headers or {}, method=method)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.read()

    @contextlib.contextmanager
    def occupied(self, photo, num_jobs):
        """Jobs of somebody else, a second or so each, while the block runs."""
        part = b"--xxx\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n"
        body = 2 * (part % (b"images", photo)) + part % (b"options", b'{"wait": false, "preset": "pad512"}') + b"--xxx--\r\n"
        headers = {"Content-Type": "multipart/form-data; boundary=xxx"}
        ids = [json.loads(self.ask("v1/reconstruct", "POST", body, headers))["id"] for _ in range(num_jobs)]
        yield
        for job in ids:
            self.ask(f"v1/jobs/{job}", "DELETE")


class Fixture:
    """Photos, a server and a browser that most tests share."""

    def __init__(self, pointmap, scene_gen):
        self.pointmap = pointmap
        self.stack = contextlib.ExitStack()
        self.folder = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="pointmap_page_")))
        subprocess.run([scene_gen, "scenes", "--seed", "2", "--first", "0", "--count", "1", "--width", "256", "--height", "192", "--out",
                        self.folder], check=True, stdout=subprocess.DEVNULL)
        self.photos = [next(self.folder.glob("scene_*")) / f"view_{i}.png" for i in (1, 2)]
        self.not_a_photo = self.folder / "shopping list.png"
        self.not_a_photo.write_text("milk, bread")
        self.server = self.stack.enter_context(Server(pointmap, self.folder, "-m", "demo", "-m", "synthetic:vggt-tiny=vggt"))
        self.browser = self.stack.enter_context(Browser(1280, 900))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()

    def started(self, *options):
        return Server(self.pointmap, self.folder, *options)

    def open(self, server=None, before="", ready=True):
        """The page of a server. before: script that runs before its own."""
        browser = self.browser
        browser.open("about:blank")
        browser.console(), browser.network()  # what came before is not this page's
        with self.injected(before):
            browser.open((server or self.server).url)
        if ready:
            browser.wait_until("return document.getElementById('model').length > 0 && isReady")
        return browser

    @contextlib.contextmanager
    def injected(self, script):
        name = self.browser.devtools("Page.addScriptToEvaluateOnNewDocument", source=script)["identifier"]
        yield
        self.browser.devtools("Page.removeScriptToEvaluateOnNewDocument", identifier=name)

    def choose(self, *paths):
        self.browser.choose_files("#files", paths)

    def click(self, name):
        self.browser.run("document.getElementById(arguments[0]).click()", name)

    def reconstruct(self):
        """Presses the button and waits for the points."""
        frames = self.browser.run("return window.viewer?.numFrames ?? 0")
        self.click("start")
        self.browser.wait_until(f"{OVER} && (problem.textContent || (window.viewer?.numFrames ?? 0) > {frames} && !viewer.pending)")
        assert self.text("problem") == "", self.text("problem")

    def text(self, name):
        return self.browser.run("return document.getElementById(arguments[0]).textContent", name)

    def covered(self):
        """The share of the canvas that does not have the background's colour."""
        self.browser.wait_until("return !viewer.pending && !viewer.moving")
        return self.browser.run("""
            viewer.drawNow();
            const {gl, canvas: {width, height}} = viewer, pixels = new Uint8Array(4 * width * height);
            gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
            const background = BACKGROUND.map((c) => Math.round(255 * c));
            let covered = 0;
            for (let i = 0; i < pixels.length; i += 4) covered += background.some((c, k) => Math.abs(c - pixels[i + k]) > 1);
            return covered / width / height;""")

    def keep_screenshot(self, name):
        if folder := os.environ.get("POINTMAP_SCREENSHOTS"):
            (pathlib.Path(folder) / f"{name}.png").write_bytes(self.browser.screenshot_png())

    def expect_no_faults(self):
        """Nothing on the console since the page was opened, no request that failed, none that went elsewhere."""
        events = self.browser.network()
        addresses = [params["request"]["url"] for method, params in events if method == "Network.requestWillBeSent"]
        # Without a graphics card Chromium reads its pictures back from its software renderer, and that says that it is slow.
        faults = [entry["message"] for entry in self.browser.console() if "GPU stall due to ReadPixels" not in entry["message"]]
        faults += [params["response"] for method, params in events
                   if method == "Network.responseReceived" and params["response"]["status"] >= 400]
        urls = {params["requestId"]: params["request"]["url"] for method, params in events if method == "Network.requestWillBeSent"}
        # DevTools calls a body that is read to its end with getReader() "canceled" when it came in many pieces (so does a bare fetch without
        # signal; text() on the same stream does not). The page hears of no failure: the test of a crowded server shows what it would do.
        faults += [(urls.get(params["requestId"]), params) for method, params in events if method == "Network.loadingFailed" and
                   not (params.get("canceled") and urls.get(params["requestId"], "").endswith("/events"))]
        faults += [address for address in addresses if not address.startswith((self.server.url, "blob:", "data:", "about:"))]
        assert faults == [], faults
        assert self.server.url + "app.js" in addresses, "the record has what it should be looked through for"


def drop(browser, files):
    """Lets go of files above the drop area: [(name, bytes)]."""
    browser.run("""
        const transfer = new DataTransfer();
        for (const [name, text] of arguments[0]) {
          transfer.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name, {type: 'image/png'}));
        }
        const area = document.getElementById('drop');
        for (const type of ['dragover', 'drop']) {
          area.dispatchEvent(new DragEvent(type, {dataTransfer: transfer, bubbles: true, cancelable: true}));
          window.wasOver = [...(window.wasOver ?? []), area.classList.contains('over')];
        }""", [(name, base64.b64encode(data).decode()) for name, data in files])


def test_two_photos_become_points_and_files(fixture):
    browser = fixture.open()
    assert "two photos" in fixture.text("hint"), fixture.text("hint")
    assert "Apache-2.0" in fixture.text("model-facts"), fixture.text("model-facts")
    fixture.choose(*fixture.photos)
    assert fixture.text("hint") == ""
    names = browser.run("return [...document.querySelectorAll('#photos li')].map((item) => item.textContent)")
    assert [name.startswith(photo.name) for name, photo in zip(names, fixture.photos, strict=True)] == [True, True], names
    browser.wait_until("return [...document.querySelectorAll('#photos img')].filter((img) => img.naturalWidth === 256).length === 2")
    browser.run("""
        window.told = [];
        new MutationObserver(() => told.push([state.textContent, bar.value, detail.textContent])).observe(
          document.getElementById('progress'), {attributes: true, childList: true, subtree: true});""")
    with fixture.server.occupied(fixture.photos[0].read_bytes(), 1):
        fixture.reconstruct()
    told = browser.run("return told")
    states = [state for state, _, _ in told]
    assert any(state.startswith("Sending") for state in states) and any(state.startswith("Waiting") for state in states), states
    assert any(state == "Running: encoder" and " of " in detail for state, _, detail in told), told
    assert all(0 <= share <= 1 for _, share, _ in told)
    assert browser.run("return [viewer.numShown, viewer.views.map((view) => view.source)]")[0] > 10000
    assert f"{browser.run('return viewer.numShown'):,} of " in fixture.text("count"), fixture.text("count")
    assert fixture.photos[1].name in fixture.text("views") and "images[" not in fixture.text("views"), fixture.text("views")
    fixture.expect_no_faults()
    assert fixture.covered() > 0.05, fixture.covered()
    assert "demo" in fixture.text("notes"), fixture.text("notes")
    links = browser.run("return [...document.querySelectorAll('#downloads a')].map((link) => [link.download, link.href])")
    starts = {"scene.html": b"<!DOCTYPE html>", "scene.glb": b"glTF", "scene.ply": b"ply\n", "scene.npz": b"PK", "report.json": b"{"}
    assert dict(links).keys() == starts.keys(), links
    for name, address in links:
        assert fixture.server.ask(address.removeprefix(fixture.server.url)).startswith(starts[name]), name
    fixture.keep_screenshot("scene")


def test_dropped_photos_and_one_reconstruction_after_the_other(fixture):
    browser = fixture.open()
    data = [photo.read_bytes() for photo in fixture.photos]
    drop(browser, [("left.png", data[0]), ("right.png", data[1])])
    assert browser.run("return wasOver") == [True, False]
    fixture.reconstruct()
    assert "left.png" in fixture.text("views")
    first = browser.run("window.old = viewer.views.map((view) => view.buffer); return viewer.numShown")
    browser.run("viewer.set({showFrusta: false}); document.getElementById('frusta').checked = false")
    # Another scene: one photo, another model.
    browser.run("const e = document.getElementById('model'); e.value = 'vggt'; e.dispatchEvent(new Event('change'))")
    assert "vggt" not in fixture.text("problem") and "synthetic" in fixture.text("model-facts"), fixture.text("model-facts")
    browser.run("document.querySelectorAll('#photos button')[1].click()")
    fixture.reconstruct()
    assert browser.run("return viewer.views.length") == 1 and browser.run("return viewer.numShown") not in (0, first)
    assert browser.run("return document.querySelectorAll('#views li').length") == 1
    assert browser.run("return old.map((buffer) => viewer.gl.isBuffer(buffer))") == [False, False], "the first scene's memory is given back"
    assert browser.run("return viewer.settings.showFrusta") is False, "what was chosen for the viewer stays"
    assert "left.png" in fixture.text("notes") and "images[" not in fixture.text("notes"), fixture.text("notes")
    # And back.
    browser.run("const e = document.getElementById('model'); e.value = 'demo'; e.dispatchEvent(new Event('change'))")
    drop(browser, [("right.png", data[1])])
    fixture.reconstruct()
    assert browser.run("return viewer.numShown") == first
    fixture.expect_no_faults()


def test_a_file_that_is_no_photo_is_named(fixture):
    browser = fixture.open()
    fixture.choose(fixture.photos[0], fixture.not_a_photo)
    browser.wait_until("return document.querySelector('#photos span.thumbnail')?.textContent === 'no preview'")
    fixture.click("start")
    browser.wait_until(f"{OVER} && problem.textContent")
    assert fixture.text("problem").startswith("shopping list.png: not an image"), fixture.text("problem")
    at_photos = browser.run("return [...document.querySelectorAll('#photos .problem')].map((text) => text.textContent)")
    assert at_photos[0] == "" and at_photos[1].startswith("Not an image"), at_photos
    fixture.expect_no_faults()
    fixture.keep_screenshot("no_photo")
    # Without it all is well again.
    browser.run("document.querySelectorAll('#photos button')[1].click()")
    fixture.choose(fixture.photos[1])
    fixture.reconstruct()


def test_says_what_is_missing_before_anything_is_sent(fixture):
    with fixture.started("-m", "demo", "-m", "synthetic:vggt-tiny=vggt", "--max-views", "3", "--max-body", "300K") as server:
        browser = fixture.open(server)
        disabled = "return document.getElementById('start').disabled"
        assert browser.run(disabled)
        fixture.choose(fixture.photos[0])
        assert "add one more" in fixture.text("hint") and browser.run(disabled), fixture.text("hint")
        fixture.choose(*fixture.photos)
        assert "remove 1" in fixture.text("hint") and browser.run(disabled), fixture.text("hint")
        browser.run("const e = document.getElementById('model'); e.value = 'vggt'; e.dispatchEvent(new Event('change'))")
        assert fixture.text("hint") == "" and not browser.run(disabled), fixture.text("hint")
        fixture.choose(fixture.photos[0])
        assert "at most 3" in fixture.text("hint") and browser.run(disabled), fixture.text("hint")
        fixture.click("clear")
        assert browser.run("return document.activeElement.id") == "files"
        drop(browser, [("large.png", bytes(400_000))])
        assert "400 kB" in fixture.text("hint") and "307 kB" in fixture.text("hint") and browser.run(disabled), fixture.text("hint")


def job_asked_for(browser, method):
    """(id, whole path) of the last request of this kind to a job."""
    paths = [params["request"]["url"].split("/v1/jobs/")[1] for name, params in browser.network()
             if name == "Network.requestWillBeSent" and params["request"]["method"] == method and "/v1/jobs/" in params["request"]["url"]]
    return paths[-1].split("/")[0]


def state_of(server, job):
    return json.loads(server.ask(f"v1/jobs/{job}"))["state"]


def wait_for_state(server, job, wanted, timeout_s=60):
    end = time.monotonic() + timeout_s
    while state_of(server, job) != wanted:
        assert time.monotonic() < end, f"{state_of(server, job)}, wanted {wanted}"
        time.sleep(0.05)


def test_a_job_that_waits_is_cancelled(fixture):
    browser = fixture.open()
    fixture.choose(*fixture.photos)
    with fixture.server.occupied(fixture.photos[0].read_bytes(), 8):
        fixture.click("start")
        browser.wait_until("return state.textContent.startsWith('Waiting: ')")
        assert "before this one" in fixture.text("state"), fixture.text("state")
        assert browser.run("return document.getElementById('bar').position") == -1, "nobody knows how far it is"
        fixture.keep_screenshot("waiting")
        fixture.click("cancel")
        browser.wait_until(OVER)
        assert fixture.text("problem") == "Cancelled.", fixture.text("problem")
        wait_for_state(fixture.server, job_asked_for(browser, "DELETE"), "cancelled")
    fixture.reconstruct()


def test_a_job_that_runs_is_cancelled(fixture):
    browser = fixture.open()
    browser.run("const e = document.getElementById('model'); e.value = 'vggt'; e.dispatchEvent(new Event('change'))")
    fixture.choose(*(16 * fixture.photos))
    fixture.click("start")
    browser.wait_until("return state.textContent.startsWith('Running: ') && detail.textContent.includes(' of ')")
    fixture.click("cancel")
    browser.wait_until(OVER)
    assert fixture.text("problem") == "Cancelled.", fixture.text("problem")
    wait_for_state(fixture.server, job_asked_for(browser, "DELETE"), "cancelled")


def test_photos_on_their_way_are_counted_and_can_be_stopped(fixture):
    browser = fixture.open()
    fixture.choose(*fixture.photos)
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 20_000}
    browser.devtools("Network.emulateNetworkConditions", **slow)
    try:
        fixture.click("start")
        browser.wait_until("return /^[1-9]\\d? %$/.test(detail.textContent) && state.textContent === 'Sending the photos'")
        fixture.click("cancel")
        browser.wait_until(OVER)
    finally:
        browser.devtools("Network.emulateNetworkConditions", **(slow | {"uploadThroughput": -1}))
    assert fixture.text("problem") == "Cancelled.", fixture.text("problem")
    fixture.reconstruct()


def test_asks_for_the_key_that_the_server_wants(fixture):
    keys = fixture.folder / "keys"
    keys.write_text(KEY + "\n")
    with fixture.started("-m", "demo", "--api-key-file", keys) as server:
        browser = fixture.open(server, ready=False)
        browser.wait_until("return !document.getElementById('key-form').hidden && document.activeElement.id === 'key'")
        fixture.keep_screenshot("key")
        give = "document.getElementById('key').value = arguments[0]; document.querySelector('#key-form button').click()"
        browser.run(give, "wrong key, but long enough")
        browser.wait_until("return document.getElementById('key-problem').textContent === 'This key is not known.'")
        browser.run(give, KEY)
        browser.wait_until("return document.getElementById('key-form').hidden && isReady")
        assert KEY not in browser.run("return location.href + document.documentElement.outerHTML + document.getElementById('key').value")
        fixture.choose(*fixture.photos)
        fixture.reconstruct()
        assert fixture.covered() > 0.05
        # A link cannot send the key: the page fetches the file and hands it over.
        browser.run("""
            window.saved = [];
            HTMLAnchorElement.prototype.click = function() { saved.push([this.download, this.href]); };
            for (const link of document.querySelectorAll('#downloads a'))
              link.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));""")
        browser.wait_until("return saved.length === document.querySelectorAll('#downloads a').length")
        assert all(address.startswith("blob:") for _, address in browser.run("return saved")), browser.run("return saved")
        browser.open(server.url)  # the tab still has it
        browser.wait_until("return document.getElementById('model').length > 0 && isReady")
        with contextlib.suppress(urllib.error.HTTPError):
            server.ask("info")
            raise AssertionError("the server did not want a key")


def test_waits_while_models_are_loaded(fixture):
    loading = """
        const realFetch = window.fetch;
        const body = JSON.stringify({error: {code: 'loading', message: 'models are loading', field: null, request_id: 'x'}});
        window.fetch = (path, options) => path === 'health' && !window.loadingIsOver
          ? Promise.resolve(new Response(body, {status: 503})) : realFetch(path, options);"""
    browser = fixture.open(before=loading, ready=False)
    browser.wait_until("return document.getElementById('server-state').textContent.includes('loading its models')")
    browser.wait_until("return document.getElementById('model').length === 2")
    fixture.choose(*fixture.photos)
    assert browser.run("return document.getElementById('start').disabled")
    browser.run("window.loadingIsOver = true")
    browser.wait_until("return !document.getElementById('start').disabled")
    assert fixture.text("server-state") == ""
    fixture.expect_no_faults()


def test_asks_now_and_then_when_it_cannot_watch(fixture):
    crowded = """
        const realFetch = window.fetch;
        const body = JSON.stringify({error: {code: 'too_many_watchers', message: 'all places are taken', field: null, request_id: 'x'}});
        window.fetch = (path, options) => path.endsWith('/events')
          ? Promise.resolve(new Response(body, {status: 503})) : realFetch(path, options);"""
    fixture.open(before=crowded)
    fixture.choose(*fixture.photos)
    fixture.reconstruct()
    fixture.expect_no_faults()


def test_says_that_the_server_is_gone(fixture):
    with fixture.started("-m", "demo") as server:
        browser = fixture.open(server)
        fixture.choose(*fixture.photos)
        server.process.kill()
        server.process.wait()
        fixture.click("start")
        browser.wait_until(f"{OVER} && problem.textContent")
        assert "the server does not answer" in fixture.text("problem"), fixture.text("problem")


def test_names_are_text_only_and_the_policy_holds(fixture):
    browser = fixture.open()
    drop(browser, [("left.png", fixture.photos[0].read_bytes()), (HOSTILE_NAME, fixture.photos[1].read_bytes())])
    fixture.reconstruct()
    for place in ("photos", "views", "result-title"):
        assert HOSTILE_NAME in fixture.text(place), (place, fixture.text(place))
    assert browser.run("return window.hacked") is None
    fixture.expect_no_faults()
    # Were there a hole, what comes through would be without effect.
    browser.run("""
        window.blocked = [];
        document.addEventListener('securitypolicyviolation', (event) => blocked.push(event.effectiveDirective));
        document.getElementById('notes').innerHTML = '<img src="data:," onerror="window.hacked = 1"><img src="http://127.0.0.1:1/">';
        fetch('http://127.0.0.1:1/').catch(() => {});""")
    browser.wait_until("return ['script-src-attr', 'img-src', 'connect-src'].every((name) => blocked.includes(name))")
    assert browser.run("return window.hacked") is None


def test_has_names_for_everything_and_works_by_keyboard(fixture):
    browser = fixture.open()
    fixture.choose(*fixture.photos)
    fixture.reconstruct()
    nodes = browser.devtools("Accessibility.getFullAXTree")["nodes"]
    focusable = [node for node in nodes if any(item["name"] == "focusable" and item["value"]["value"] for item in node.get("properties", []))
                 and node["role"]["value"] != "RootWebArea"]
    nameless = [node for node in focusable if not node.get("name", {}).get("value")]
    assert len(focusable) > 12 and not nameless, (len(focusable), nameless)
    browser.run("document.querySelector('#photos button').focus(); document.activeElement.click()")
    assert browser.run("return document.activeElement.ariaLabel") == f"Remove {fixture.photos[1].name}"


def test_without_webgl_there_are_still_files(fixture):
    with Browser(arguments=("--disable-gpu", "--disable-software-rasterizer", "--disable-3d-apis")) as browser:
        browser.open(fixture.server.url)
        browser.wait_until("return document.getElementById('model').length > 0 && isReady")
        browser.choose_files("#files", fixture.photos)
        browser.run("document.getElementById('start').click()")
        browser.wait_until("return document.getElementById('no-picture').textContent.includes('WebGL')")
        assert browser.run("return document.getElementById('viewer').offsetHeight") == 0
        assert browser.run("return document.querySelectorAll('#downloads a').length") == 5


def test_fits_a_phone(fixture):
    browser = fixture.browser
    browser.devtools("Emulation.setDeviceMetricsOverride", width=375, height=720, deviceScaleFactor=2, mobile=True)
    try:
        fixture.open()
        drop(browser, [("a photograph with quite a long name that has to be broken somewhere.png", fixture.photos[0].read_bytes()),
                       ("right.png", fixture.photos[1].read_bytes())])
        fits = "return document.scrollingElement.scrollWidth <= 375"
        assert browser.run(fits)
        fixture.keep_screenshot("phone_form")
        fixture.reconstruct()
        assert browser.run(fits)
        top, bottom = browser.run("const box = document.getElementById('canvas').getBoundingClientRect(); return [box.top, box.bottom]")
        assert top < 720 and bottom > 0, "the points are in sight when they come"
        assert bottom - top <= 0.8 * 720, "there is room beside the canvas for a finger that scrolls"
        assert browser.run("return document.getElementById('panel').open") is False
        fixture.expect_no_faults()
        assert fixture.covered() > 0.05
        fixture.keep_screenshot("phone_scene")
    finally:
        browser.devtools("Emulation.clearDeviceMetricsOverride")


def main(pointmap, scene_gen, only=""):
    return run_tests("ServerPage", globals(), lambda: Fixture(pointmap, scene_gen), only)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
