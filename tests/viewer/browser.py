"""A headless Chromium, driven through chromedriver's WebDriver protocol (JSON over HTTP), and a reader for its screenshots.

The standard library suffices for the few commands that are needed here, so the tests need no package beside chromium and chromium-driver.
"""

import base64
import json
import shutil
import socket
import struct
import subprocess
import time
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
        wanted = {"browserName": "chrome", "goog:chromeOptions": chromium, "goog:loggingPrefs": {"browser": "ALL"}}
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

    def console(self):
        """What the console was told since the last call: [{"level", "message", ...}]."""
        return self._command("POST", "/se/log", {"type": "browser"})

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
