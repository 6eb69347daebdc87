#!/usr/bin/env python3
"""Asks a real server everything and holds each answer against openapi.json: path, status, content type and every field.

Usage: openapi_test.py PROGRAM. A field that the document does not have, or has and the answer lacks, fails.
"""

import argparse
import base64
import io
import json
import pathlib
import re
import signal
import sys
import urllib.error
import urllib.request
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import smoke_test  # noqa: E402

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def has_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def faults(document, schema, value, where):
    """Yields what of `value` does not fit the schema: the part of JSON Schema that openapi.json uses."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(has_type(value, name) for name in types):
        yield f"{where} is {value!r}, wanted {types}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where} is {value!r}, wanted one of {schema['enum']}"
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from faults(document, schema.get("items", {}), item, f"{where}[{i}]")
    if isinstance(value, dict):
        properties, extra = schema.get("properties", {}), schema.get("additionalProperties", True)
        for name in schema.get("required", []):
            if name not in value:
                yield f"{where} has no '{name}'"
        for name, item in value.items():
            if name in properties:
                yield from faults(document, properties[name], item, f"{where}.{name}")
            elif extra is False:
                yield f"{where} has '{name}', which is not documented"
            elif isinstance(extra, dict):
                yield from faults(document, extra, item, f"{where}.{name}")


class Checker:
    def __init__(self, url):
        self.url, self.faults, self.seen = url, [], set()
        self.document = json.loads(self.fetch("GET", "/openapi.json")[2])

    def fetch(self, method, path, body=None, headers=None):
        request = urllib.request.Request(self.url + path, data=body, method=method, headers=headers or {})
        try:
            with urllib.request.urlopen(request, timeout=300) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as answer:
            return answer.code, answer.headers, answer.read()

    def route_of(self, path):
        for pattern in self.document["paths"]:
            if re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", pattern), path):
                return pattern
        raise AssertionError(f"{path} is not documented")

    def ask(self, method, path, body=None, headers=None, wanted=200):
        """Checks the answer and returns (headers, body)."""
        status, answer_headers, answer = self.fetch(method, path, body, headers)
        pattern = self.route_of(path)
        what = f"{method} {path} -> {status}"
        if status != wanted:
            self.faults.append(f"{what}, wanted {wanted}: {answer[:300]!r}")
        documented = self.document["paths"][pattern].get(method.lower(), {}).get("responses", {}).get(str(status))
        if documented is None:
            self.faults.append(f"{what} is not documented")
            return answer_headers, answer
        self.seen.add((method, pattern, status))
        content = documented.get("content", {})
        kind = (answer_headers["Content-Type"] or "").split(";")[0]
        if content and kind not in content and "*/*" not in content:
            self.faults.append(f"{what} is {kind}, documented is {list(content)}")
        if kind == "application/json" and kind in content:
            self.faults += faults(self.document, content[kind]["schema"], json.loads(answer), what)
        for name, header in documented.get("headers", {}).items():
            self.faults += faults(self.document, header["schema"], json.loads(answer_headers[name]), f"{what}: {name}")
        return answer_headers, answer


def form(options, photos, masks=()):
    boundary = "0123456789"
    parts = [f'Content-Disposition: form-data; name="images"; filename="{i}.png"\r\n\r\n'.encode() + photo for i, photo in enumerate(photos)]
    parts += [b'Content-Disposition: form-data; name="masks"\r\n\r\n' + mask for mask in masks]
    parts.append(b'Content-Disposition: form-data; name="options"\r\n\r\n' + json.dumps(options).encode())
    body = b"".join(f"--{boundary}\r\n".encode() + part + b"\r\n" for part in parts) + f"--{boundary}--\r\n".encode()
    return body, {"Content-Type": f"multipart/form-data; boundary={boundary}"}


# A value of each option, as the document says it.
EXAMPLES = {
    "model": "demo",
    "preset": "keep",
    "pose": True,
    "pose_mode": "raw",
    "skip_bad": True,
    "formats": ["colmap", "npz", "ply", "depth"],
    "depth_formats": "pfm,exr",
    "normals": True,
    "glb_mesh": True,
    "conf_percentile": 10,
    "points": "head",
    "compress_npz": True,
    "wait": True,
    "intrinsics": [[100, 100, 47.5, 31.5], [100, 100, 47.5, 31.5]],
    "shared_intrinsics": False,
    "distance": {"from": {"photo": 0, "x": 50, "y": 10}, "to": {"photo": 1, "x": 60.5, "y": 20}, "metres": 2},
}
# Of these only one at a time is taken beside distance.
OTHERS = {"baseline_metres": 0.5, "poses": [[[1, 0, 0, x], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]] for x in (0, 0.5)]}


def check_options(checker, photos):
    """The server takes every option that the document has, and the document says each example."""
    documented = checker.document["components"]["schemas"]["Options"]
    if set(documented["properties"]) != set(EXAMPLES) | set(OTHERS):
        checker.faults.append(f"documented options {sorted(documented['properties'])}, tried {sorted(EXAMPLES | OTHERS)}")
    for options in (EXAMPLES, *({name: value} for name, value in OTHERS.items())):
        checker.faults += faults(checker.document, documented, options, "options")
        location = checker.ask("POST", "/v1/reconstruct", *form(options, photos, [b"", b""]))[0]["Location"]
    headers, archive = checker.ask("GET", checker.ask("POST", "/v1/reconstruct", *form(EXAMPLES, photos))[0]["Location"] + "/artifacts/colmap.zip")
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        wanted = {f"colmap/sparse{kind}/0/{name}.{end}" for kind, end in (("", "bin"), ("_text", "txt")) for name in ("cameras", "images", "points3D")}
        if opened.testzip() or set(opened.namelist()) != wanted | {"colmap/README.txt"}:
            checker.faults.append(f"colmap.zip has {opened.namelist()}")
    if headers["Content-Type"] != "application/zip":
        checker.faults.append(f"colmap.zip is {headers['Content-Type']}")
    checker.ask("DELETE", location, wanted=204)


def check_all(checker):
    as_json = {"Content-Type": "application/json"}
    photos = [smoke_test.drawn_png(96, 64, shift) for shift in (0, 5)]
    encoded = [base64.b64encode(photo).decode() for photo in photos]
    pair = {"image1": encoded[0], "image2": encoded[1], "preprocess": "keep"}

    def predict(path, fields, wanted=200, headers=as_json):
        return checker.ask("POST", path, json.dumps(pair | fields).encode(), headers, wanted)

    for path in ("/", "/app.css", "/app.js", "/health", "/ready", "/info", "/metrics", "/openapi.json", "/v1/models"):
        checker.ask("GET", path)
    for path in ("/predict", "/predict_npz"):
        predict(path, {})
        predict(path, {"return_pose": True})
        predict(path, {"image1": "*"}, 422)
        predict(path, {"image2": base64.b64encode(b"no picture").decode()}, 415)
        predict(path, {}, 415, {"Content-Type": "text/plain"})
        checker.ask("POST", path, b"{", as_json, 400)
        checker.ask("POST", path, b" " * (3 << 20), as_json, 413)
    predict("/predict", {"output_format": "png"})
    location = checker.ask("POST", "/v1/reconstruct", *form({"formats": "npz"}, photos))[0]["Location"]
    for wanted, options, pictures in ((422, {"formats": "?"}, photos), (422, {}, photos[:1]), (413, {}, 20 * photos)):
        checker.ask("POST", "/v1/reconstruct", *form(options, pictures), wanted)
    checker.ask("POST", "/v1/reconstruct", b"{}", as_json, 415)
    check_options(checker, photos)
    checker.ask("GET", location)
    checker.ask("GET", location + "/events")
    checker.ask("GET", location + "/artifacts/scene.npz")
    checker.ask("GET", location + "/artifacts/scene.npz", headers={"Range": "bytes=1-2"}, wanted=206)
    checker.ask("GET", location + "/artifacts/scene.npz", headers={"Range": "bytes=999999999-"}, wanted=416)
    checker.ask("GET", location + "/artifacts/nothing", wanted=404)
    checker.ask("DELETE", location, wanted=204)
    checker.ask("DELETE", location, wanted=404)
    checker.ask("GET", location, wanted=404)
    checker.ask("GET", location + "/events", wanted=404)
    locations = [checker.ask("POST", "/v1/reconstruct", *form({"wait": False, "preset": "pad512"}, photos), 202)[0]["Location"] for _ in "ab"]
    for location in locations:
        checker.ask("GET", location)
    checker.ask("DELETE", locations[1], wanted=202)
    checker.ask("GET", locations[1])
    checker.ask("DELETE", locations[0], wanted=202)


def check_coverage(checker):
    """Every path and method, and every status that is not an error, was seen."""
    for pattern, path in checker.document["paths"].items():
        for method, operation in path.items():
            if method == "parameters":
                continue
            for status in operation["responses"]:
                if int(status) < 300 and (method.upper(), pattern, int(status)) not in checker.seen:
                    checker.faults.append(f"{method.upper()} {pattern} {status} is documented and was not asked")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    options = argparse.Namespace(start=parser.parse_args().program, model="demo", name="", serve_option=["--no-warm-up", "--max-body", "2M"])
    process, url = smoke_test.started_server(options)
    try:
        checker = Checker(url)
        check_all(checker)
        check_coverage(checker)
        process.send_signal(signal.SIGTERM)
        if process.wait(timeout=60) != 0:
            checker.faults.append(f"SIGTERM: exit code {process.returncode}")
    finally:
        if process.poll() is None:
            process.kill()
    for fault in checker.faults:
        print(fault)
    print(f"openapi_test: {len(checker.seen)} kinds of answers, {len(checker.faults)} faults")
    return 1 if checker.faults else 0


if __name__ == "__main__":
    sys.exit(main())
