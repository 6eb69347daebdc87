"""A headless Chromium, driven through chromedriver's WebDriver protocol (JSON over HTTP), a reader for its screenshots, and how the tests
that use it run.

The standard library suffices for the few commands that are needed here, so the tests need no package beside chromium and chromium-driver.
"""

import base64
import contextlib
import json
import shutil
import socket
import struct
import subprocess
import sys
import time
import traceback
import urllib.error
import urllib.request
import zlib


def missing_programs():
    return [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]


class Browser:
    """Use as a context manager."""

    def __init__(self, width=900, height=640, arguments=("--enable-unsafe-swiftshader",)):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.root = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = None
        chromium = {
            "binary": shutil.which("chromium"),
            # Containers have a small /dev/shm and run as root; a browser that shows only our own pages needs no sandbox.
            "args": ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--force-device-scale-factor=1", *arguments],
        }
        wanted = {"browserName": "chrome", "goog:chromeOptions": chromium, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        try:
            self._wait_for_driver()
            self.session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
            self._command("POST", "/window/rect", {"width": width, "height": height})
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            if self.session:
                self._command("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait(10)

    def _wait_for_driver(self, timeout_s=30):
        end = time.monotonic() + timeout_s
        while True:
            try:
                if self._call("GET", "/status")["ready"]:
                    return
            except (urllib.error.URLError, ConnectionError):
                pass
            if time.monotonic() > end:
                raise RuntimeError(f"chromedriver was not ready after {timeout_s} s")
            time.sleep(0.05)

    def _call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.root + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {json.load(error)['value']['message']}") from None

    def _command(self, method, path, body=None):
        return self._call(method, f"/session/{self.session}{path}", body)

    def open(self, url):
        self._command("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """The value that the body of a function returns, or what its promise becomes."""
        return self._command("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def pointer(self, *actions):
        """actions: ("move", x, y), ("down",), ("up",): the left button at points of the page."""
        kinds = {"move": "pointerMove", "down": "pointerDown", "up": "pointerUp"}
        steps = []
        for name, *place in actions:
            step = {"type": kinds[name]}
            if name == "move":
                step |= {"duration": 20, "x": round(place[0]), "y": round(place[1])}
            else:
                step["button"] = 0
            steps.append(step)
        source = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}
        self._command("POST", "/actions", {"actions": [source]})

    def wait_until(self, script, timeout_s=60):
        """Until it returns something true, which is returned. Waiting is for conditions only: a slow machine makes no test fail."""
        end = time.monotonic() + timeout_s
        while not (value := self.run(script)):
            assert time.monotonic() < end, f"never came true: {script}; console: {self.console()}"
            time.sleep(0.05)
        return value

    def choose_files(self, selector, paths):
        """As a person does in the dialog of a file input."""
        (element,) = self._command("POST", "/element", {"using": "css selector", "value": selector}).values()
        self._command("POST", f"/element/{element}/value", {"text": "\n".join(str(path) for path in paths)})

    def devtools(self, command, **parameters):
        return self._command("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def console(self):
        """What the console was told since the last call: [{"level", "message", ...}]."""
        return self._command("POST", "/se/log", {"type": "browser"})

    def network(self):
        """What happened on the network since the last call: [(method of DevTools' Network domain, parameters)]."""
        events = [json.loads(entry["message"])["message"] for entry in self._command("POST", "/se/log", {"type": "performance"})]
        return [(event["method"], event["params"]) for event in events if event["method"].startswith("Network.")]

    def screenshot_png(self):
        return base64.b64decode(self._command("GET", "/screenshot"))


def decode_png(data):
    """(width, height, rows of bytes, bytes per pixel) of an 8-bit RGB or RGBA picture, as Chromium writes them."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind = data[at + 4:at + 8]
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, color, _, _, interlace = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    assert depth == 8 and color in (2, 6) and interlace == 0
    size = 3 if color == 2 else 4
    raw, stride = zlib.decompress(packed), width * size
    rows, above = [], bytearray(stride)
    for y in range(height):
        kind = raw[y * (stride + 1)]
        row = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride) if kind else ():
            left = row[i - size] if i >= size else 0
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = above[i]
            elif kind == 3:
                guess = (left + above[i]) // 2
            else:
                corner = above[i - size] if i >= size else 0
                guess = min((left, above[i], corner), key=lambda value: abs(left + above[i] - corner - value))
            row[i] = (row[i] + guess) & 255
        rows.append(bytes(row))
        above = row
    return width, height, rows, size


def run_tests(suite, functions, make_fixture, only=""):
    """Runs the functions called test_* whose name has `only` in it, each with the fixture, a context manager. Speaks as GoogleTest does, so
    that the summary of ./run test counts every test and shows why one was skipped. Returns the exit code."""
    tests = [(name[5:], function) for name, function in functions.items() if name.startswith("test_") and only in name]
    missing = missing_programs()
    num_failed = 0
    with contextlib.nullcontext() if missing else make_fixture() as fixture:
        for name, function in tests:
            full_name, start = f"{suite}.{name}", time.monotonic()
            print(f"[ RUN      ] {full_name}", flush=True)
            status = "OK"
            if missing:
                print(f"{sys.argv[0]}:1: Skipped\nnot installed: {', '.join(missing)} (./run setup test)")
                status = "SKIPPED"
            else:
                try:
                    function(fixture)
                except Exception:
                    traceback.print_exc(file=sys.stdout)
                    status, num_failed = "FAILED", num_failed + 1
            print(f"[{status:>8} ] {full_name} ({1000 * (time.monotonic() - start):.0f} ms)", flush=True)
    return 1 if num_failed else 0
