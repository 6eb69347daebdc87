#!/usr/bin/env python3
"""Asks a running `pointmap serve` for a reconstruction and checks the answer; needs nothing but Python's standard library.

  smoke_test.py --url http://127.0.0.1:8000 --require-pose --npz-route [PHOTO PHOTO...]
  smoke_test.py --start build/pointmap --model demo --require-pose --npz-route

Without photos it draws two. With --start it starts the program on a free port, waits until it is ready, and stops it with SIGTERM at
the end, which must exit 0. Exit code 0: all checks hold; the first that does not is printed, and the code is 1.
"""

import argparse
import ast
import base64
import io
import json
import os
import signal
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
import zlib


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def drawn_png(width, height, shift):
    """A PNG of slanted stripes, moved by `shift` pixels."""
    rows = b"".join(
        b"\0" + bytes(value & 255 for x in range(width) for value in ((x + shift) * 3 + y, (x + shift) ^ y, 5 * y)) for y in range(height)
    )

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def arrays_of(npz):
    """{name: (dtype, shape, bytes)} of an archive."""
    arrays = {}
    with zipfile.ZipFile(io.BytesIO(npz)) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            check(data[:6] == b"\x93NUMPY", f"{name} is no .npy")
            length = struct.unpack("<H", data[8:10])[0]
            header = ast.literal_eval(data[10 : 10 + length].decode())
            arrays[name.removesuffix(".npy")] = (header["descr"], header["shape"], data[10 + length :])
    return arrays


class Client:
    def __init__(self, url, key, timeout_s):
        self.url, self.key, self.timeout_s = url.rstrip("/"), key, timeout_s

    def ask(self, path, body=None):
        """(status, headers, body)"""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout_s) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as answer:
            return answer.code, answer.headers, answer.read()

    def ask_ok(self, path, body=None):
        status, headers, data = self.ask(path, body)
        check(status == 200, f"{path}: status {status}: {data[:500]!r}")
        return headers, data


def check_meta(meta, num_views, require_pose):
    for field in ("summary", "preprocess", "timing_ms"):
        check(field in meta, f"no {field} in {sorted(meta)}")
    check(len(meta["preprocess"]) == num_views, "preprocess has not one record for each view")
    for record in meta["preprocess"]:
        wanted = {"orig_w", "orig_h", "resized_w", "resized_h", "scale_x", "scale_y", "pad_left", "pad_top"}
        check(set(record) == wanted, f"preprocess has {sorted(record)}, wanted {sorted(wanted)}")
    check({"decode", "preprocess", "forward", "encode", "total"} <= set(meta["timing_ms"]), "timing_ms is not whole")
    if require_pose:
        pose = meta.get("pose", {})
        check({"rotation_angle_deg", "extrinsic", "intrinsic", "f1", "f2"} <= set(pose), "no whole pose")
        for name, columns in (("extrinsic", 4), ("intrinsic", 3)):
            shapes = [[len(row) for row in matrix] for matrix in pose[name]]
            check(shapes == num_views * [3 * [columns]], f"pose: {name} has rows {shapes}, wanted a 3x{columns} matrix of each view")


def check_arrays(arrays, family, num_views):
    if family == "vggt":
        halves, names = {"depth", "depth_conf", "world_points", "world_points_conf"}, {"pose_enc", "extrinsic", "intrinsic"}
        check(set(arrays) == halves | names, f"arrays {sorted(arrays)}")
        for name, (dtype, shape, _) in arrays.items():
            check(shape[0] == num_views, f"{name} has shape {shape}, wanted {num_views} views")
            check(dtype == ("<f2" if name in halves else "<f4"), f"{name} is {dtype}")
        return
    check(set(arrays) == {"pts3d_1", "pts3d_2", "conf_1", "conf_2"}, f"arrays {sorted(arrays)}")
    for view in "12":
        (points_type, points_shape, points), (conf_type, conf_shape, _) = arrays["pts3d_" + view], arrays["conf_" + view]
        check(points_type == "<f4" and conf_type == "<f2", f"view {view}: types {points_type} and {conf_type}")
        check(points_shape == (*conf_shape, 3), f"view {view}: shapes {points_shape} and {conf_shape}")
        check(len(points) == 4 * points_shape[0] * points_shape[1] * 3, f"view {view}: {len(points)} bytes of points")


def check_errors(client):
    status, _, body = client.ask("/predict", {"image1": "*", "image2": "*"})
    error = json.loads(body).get("error", {})
    check(status == 422 and error.get("field") == "image1" and error.get("request_id"), f"bad base64 was answered {status} {body!r}")
    status, _, _ = client.ask("/nowhere")
    check(status == 404, f"a path that is not there was answered {status}")


def smoke(client, options, photos):
    check(json.loads(client.ask_ok("/health")[1])["status"] == "ok", "health is not ok")
    info = json.loads(client.ask_ok("/info")[1])
    names = [m["name"] for m in info["models"]]
    check(not options.name or options.name in names, f"no model is called {options.name}, there are {names}")
    model = info["models"][names.index(options.name) if options.name else 0]
    check(model["family"] == "vggt" or len(photos) == 2, f"{model['name']} takes two photos, got {len(photos)}")
    request = {"return_pose": options.require_pose, "preprocess": options.preprocess, "model": model["name"]}
    encoded = [base64.b64encode(photo).decode() for photo in photos]
    request |= {"images": encoded} if model["family"] == "vggt" else {"image1": encoded[0], "image2": encoded[1]}

    answer = json.loads(client.ask_ok("/predict", request)[1])
    check_meta(answer, len(photos), options.require_pose)
    arrays = arrays_of(base64.b64decode(answer["npz_b64"], validate=True))
    check_arrays(arrays, model["family"], len(photos))
    if options.npz_route:
        headers, npz = client.ask_ok("/predict_npz", request)
        check(headers["Content-Type"] == "application/x-npz", f"content type {headers['Content-Type']}")
        check_meta(json.loads(headers["X-Pointmap-Meta"]), len(photos), options.require_pose)
        check(arrays_of(npz) == arrays, "the arrays of /predict_npz differ from those of /predict")
        deflated = arrays_of(client.ask_ok("/predict_npz", request | {"compress_npz": True})[1])
        check(deflated == arrays, "deflated arrays differ from stored ones")
    pictures = json.loads(client.ask_ok("/predict", request | {"output_format": "png"})[1])
    for name in [f"{kind}{view + 1}_png_b64" for kind in ("depth", "conf") for view in range(len(photos))]:
        check(base64.b64decode(pictures[name])[:8] == b"\x89PNG\r\n\x1a\n", f"{name} is no PNG")
    check_errors(client)
    return model, answer


def started_server(options):
    """The process and its URL."""
    model = f"{options.model}={options.name}" if options.name else options.model
    command = [options.start, "serve", "-m", model, "--port", "0", *options.serve_option]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        event = json.loads(line) if line.startswith("{") else {}
        if event.get("event") == "listening":
            url = f"http://127.0.0.1:{event['port']}"
        if event.get("event") == "ready":
            return process, url  # the few lines that follow fit into the pipe
    raise AssertionError(f"{' '.join(command)} ended with {process.wait()} before it was ready")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", nargs="*", help="two for DUSt3R, one or more for VGGT")
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--key", default=os.environ.get("POINTMAP_API_KEY", ""))
    parser.add_argument("--name", default="", help="the model to ask; default: the server's first")
    parser.add_argument("--preprocess", default="pad")
    parser.add_argument("--require-pose", action="store_true", help="ask for the pose and check it")
    parser.add_argument("--npz-route", action="store_true", help="check /predict_npz too")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for each request")
    parser.add_argument("--start", default="", help="start this program instead of using --url")
    parser.add_argument("--model", default="demo", help="what to serve with --start")
    parser.add_argument("--serve-option", action="append", default=[], help="one more option of the started server")
    options = parser.parse_args()
    photos = [open(path, "rb").read() for path in options.photos] or [drawn_png(240, 180, shift) for shift in (0, 7)]
    process = None
    started = time.monotonic()
    try:
        if options.start:
            process, options.url = started_server(options)
        model, answer = smoke(Client(options.url, options.key, options.timeout), options, photos)
        if process:
            process.send_signal(signal.SIGTERM)
            check(process.wait(timeout=60) == 0, f"SIGTERM: exit code {process.returncode}")
    except (AssertionError, OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
        print(f"smoke_test: FAILED: {error!r}", file=sys.stderr)
        return 1
    finally:
        if process and process.poll() is None:
            process.kill()
    print(f"smoke_test: ok: {model['name']} ({model['family']}), {len(photos)} photos, {time.monotonic() - started:.1f} s, {answer['timing_ms']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
