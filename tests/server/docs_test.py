#!/usr/bin/env python3
"""Holds docs/serving.md against the program, a real server and the sources: options, variables, defaults, codes, metrics, events, fields.

Usage: docs_test.py PROGRAM. What the document does not have, or has and nothing else does, fails; so does a variable without effect.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
sys.path.insert(0, str(ROOT / "tests" / "server"))
import openapi_test  # noqa: E402
import smoke_test  # noqa: E402

SOURCES = [path for path in sorted((ROOT / "apps" / "server").glob("*.cc")) if not path.stem.endswith(("_test", "_fuzz"))]


class Faults(list):
    def same(self, what, documented, real):
        for name in sorted(set(real) - set(documented)):
            self.append(f"{what}: {name} is not in docs/serving.md")
        for name in sorted(set(documented) - set(real)):
            self.append(f"{what}: docs/serving.md has {name}, nothing else does")


def section(document, title):
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", document, re.M | re.S).group(1)


def rows(text):
    """The cells of each row of the tables in `text`, without their headers."""
    lines = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in re.findall(r"^\| *(.*?) *\|$", text, re.M)]
    return [cells for cells in lines if cells[0] and not set(cells[0]) <= set("-| ") and cells[0] not in ("option", "status", "field")]


def words(cell):
    return re.findall(r"`([^`]+)`", cell)


def options_of_help(program):
    """{"--queue": (variable, default, text)} of the program's own help; without -h. Either may be None."""
    text = subprocess.run([program, "serve", "--help"], check=True, capture_output=True, text=True).stdout
    entries = re.findall(r"^  (-\S.*?)\n((?:   .*\n)*)", text.split("Options:\n")[1], re.M)
    options = {}
    for head, body in entries:
        entry = re.sub(r"\s+", " ", head + " " + body)
        name = max(re.match(r"[^ ]+", entry).group(0).split(","), key=len)
        name = re.sub(r"\{.*", "", name)
        if name == "--help":
            continue
        variable = re.search(r"\(Env:(\w+)\)", entry)
        default = re.match(r"[^ ]+ (?:[A-Z]+\S*?)?=(\S+)", entry)
        options[name] = (variable and variable.group(1), default and default.group(1), entry)
    return options


def check_options(document, program, faults):
    real = options_of_help(program)
    names = {"-m": "--model"}
    documented = {}
    for cells in rows(section(document, "Options")):
        options, variables = words(cells[0]), words(cells[1])
        defaults = cells[2].split(", ") if len(options) > 1 else [cells[2]]
        for i, option in enumerate(options):
            option = option.split()[0]
            documented[names.get(option, option)] = (variables[i] if i < len(variables) else None, defaults[i] if i < len(defaults) else "")
    faults.same("options", documented, real)
    for name in set(documented) & set(real):
        variable, default, entry = real[name]
        if documented[name][0] != variable:
            faults.append(f"{name}: docs/serving.md has the variable {documented[name][0]}, the program {variable}")
        said = re.match(r"[^ :]+", documented[name][1]).group(0).strip("`")
        if default is not None and said != default:
            faults.append(f"{name}: docs/serving.md says {said} by default, the program {default}")
        if re.fullmatch(r"\d+M", said) and f"({said})" not in entry:
            faults.append(f"{name}: docs/serving.md says {said} by default, the program does not")
    return {variable for variable, _, _ in real.values()}


def codes_of_sources():
    """{(status, code)}: what is thrown by the server itself, and what the library's errors become."""
    text = "\n".join(path.read_text() for path in SOURCES)
    pairs = {(int(status), code) for status, code in re.findall(r'\b([45]\d\d), "([a-z_0-9]+)"', text)}
    pairs |= {(503, code) for code in re.findall(r'\\"code\\":\\"([a-z_]+)\\"', text)}
    cases = re.findall(r"((?:\s+case k\w+:)+)\s+return (\d+);", (ROOT / "apps" / "server" / "api_error.cc").read_text())
    names = dict(re.findall(r'case (k\w+):\s+return "(\w+)";', (ROOT / "src" / "base" / "error.cc").read_text()))
    pairs |= {(int(status), names[code]) for labels, status in cases for code in re.findall(r"k\w+", labels)}
    assert len(pairs) > 25 and (422, "corrupt_data") in pairs and (503, "queue_full") in pairs, pairs
    return pairs


def check_codes(document, faults):
    table = [([int(status) for status in cells[0].split(", ")], words(cells[1])) for cells in rows(section(document, "Errors"))]
    real = codes_of_sources()
    for status, code in sorted(real):
        if not any(status in statuses and code in codes for statuses, codes in table):
            faults.append(f"errors: {status} {code} is not in the table of docs/serving.md")
    for statuses, codes in table:
        for code in codes:
            if not any((status, code) in real for status in statuses):
                faults.append(f"errors: docs/serving.md has {statuses} {code}, nothing throws it")


def environment():
    """(variables, what /info then says of its limits)"""
    variables = {
        "POINTMAP_MODEL": "demo=by-variable",
        "POINTMAP_HOST": "127.0.0.1",
        "POINTMAP_PORT": "0",
        "POINTMAP_HTTP_THREADS": "9",
        "POINTMAP_CORS_ORIGIN": "https://example.org",
        "POINTMAP_CLIENT_TIMEOUT": "7",
        "POINTMAP_THREADS": "1",
        "POINTMAP_MEMORY_LIMIT": "8G",
        "POINTMAP_QUEUE": "3",
        "POINTMAP_JOBS_PER_CLIENT": "2",
        "POINTMAP_REQUEST_TIMEOUT": "60.5",
        "POINTMAP_DRAIN_TIMEOUT": "5",
        "POINTMAP_WARM_UP": "on",
        "POINTMAP_SYNC_BELOW": "1M",
        "POINTMAP_RESULTS_TTL": "77",
        "POINTMAP_MAX_RESULTS": "5",
        "POINTMAP_MAX_BODY": "2M",
        "POINTMAP_MAX_PIXELS": "100000",
        "POINTMAP_MAX_VIEWS": "6",
        "POINTMAP_NPZ_COMPRESS": "1",
    }
    limits = {
        "max_body_bytes": 2 << 20,
        "max_pixels": 100000,
        "max_views": 4,  # the command line wins
        "queue": 3,
        "jobs_per_client": 2,
        "request_timeout_ms": 60500,
        "sync_below_bytes": 1 << 20,
        "results_ttl_s": 77,
    }
    return variables, limits


class Server:
    """A server with these variables and arguments; its log is what the process said when it has ended."""

    def __init__(self, program, variables, arguments):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("POINTMAP_")}
        self.process = subprocess.Popen([program, "serve", *arguments], stderr=subprocess.PIPE, text=True, env=clean | variables)
        self.log = []
        for line in self.process.stderr:
            self.log.append(json.loads(line))
            if self.log[-1]["event"] == "ready":
                break
        else:
            raise AssertionError(f"the server ended with {self.process.wait()} before it was ready")
        self.url = f"http://127.0.0.1:{self.log[0]['port']}"

    def ask(self, path, body=None, headers=None):
        """(headers, body)"""
        with urllib.request.urlopen(urllib.request.Request(self.url + path, data=body, headers=headers or {}), timeout=120) as answer:
            return answer.headers, answer.read()

    def reconstruct(self, options):
        return json.loads(self.ask("/v1/reconstruct", *openapi_test.form(options, [smoke_test.drawn_png(96, 64, x) for x in (0, 5)]))[1])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.log += [json.loads(line) for line in self.process.stderr]
        assert self.process.wait(timeout=60) == 0


def check_variables(program, known_variables, faults, folder):
    variables, limits = environment()
    keys, results = folder / "keys", folder / "results"
    keys.write_text("# for the test\nlong-enough\n")
    variables |= {"POINTMAP_API_KEY_FILE": str(keys), "POINTMAP_RESULTS_DIR": str(results)}
    faults.same("variables that are tried", set(variables), known_variables)
    server = Server(program, variables, ["--max-views", "4"])
    key = {"Authorization": "Bearer long-enough"}
    headers, info = server.ask("/info", headers=key)
    info = json.loads(info)
    if info["limits"] != limits:
        faults.append(f"variables: /info has the limits {info['limits']}, wanted {limits}")
    if (info["model"], info["threads"]) != ("by-variable", 1):
        faults.append(f"variables: /info says {info['model']}, {info['threads']} threads")
    if headers["Access-Control-Allow-Origin"] != "https://example.org":
        faults.append("POINTMAP_CORS_ORIGIN has no effect")
    if not results.is_dir():
        faults.append("POINTMAP_RESULTS_DIR has no effect")
    server.stop()


def check_behaviour(document, program, faults):
    """Names that a running server says: metrics, events, fields of jobs and of the log."""
    server = Server(program, {}, ["-m", "demo", "--port", "0", "--no-warm-up"])
    job = server.reconstruct({"formats": "npz"})
    others = section(document, "Others")
    metrics = re.findall(r"^# TYPE (\w+)", server.ask("/metrics")[1].decode(), re.M)
    faults.same("metrics", re.findall(r"`((?:pointmap|process)_\w+)`", others), metrics)
    server.stop()

    native = section(document, "POST /v1/reconstruct and jobs")
    fields = re.search(r"^\* `GET /v1/jobs/\{id\}`: (.*?)(?=^\* )", native, re.M | re.S).group(1)
    fields = re.sub(r"\([^)]*\)", "", fields)
    faults.same("fields of a job", words(fields), job)

    life = section(document, "Life and death")
    shape = re.sub(r"\s", "", re.search(r"`\{(\"time\".*?)\}`", life, re.S).group(1))
    request = next(line for line in server.log if line["event"] == "request")
    faults.same("fields of a request in the log", re.findall(r'"(\w+)"(?!:?"request")', shape.replace(':"request"', "")), request)
    events = {event for path in SOURCES for event in re.findall(r'(?:log\.event|\bevent)\("(\w+)"', path.read_text())} - {"request"}
    documented = re.search(r"and the events (.*)\.$", re.sub(r"\s+", " ", life.strip()))
    faults.same("events of the log", words(documented.group(1)), events)
    for line in server.log:
        if line["event"] not in events | {"request"}:
            faults.append(f"the log has the event {line['event']}, which no source names")


def check_routes(document, faults):
    routes = {pattern for path in SOURCES for pattern in re.findall(r'router\.add\(\{"[A-Z]+", "([^"]+)"', path.read_text())}
    prose = re.sub(r"^```.*?^```", "", document, flags=re.M | re.S)
    documented = {word.split()[-1] for word in words(prose) if re.fullmatch(r"((GET|POST|DELETE) )?/[\w./{}]*", word)}
    documented |= {path for title in re.findall(r"^## POST (.*)$", document, re.M) for path in re.findall(r"/[\w/]+", title)}
    for route in sorted(routes - documented):
        faults.append(f"routes: {route} is not in docs/serving.md")


def main():
    import tempfile

    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    program = parser.parse_args().program
    document = (ROOT / "docs" / "serving.md").read_text()
    faults = Faults()
    variables = check_options(document, program, faults)
    check_codes(document, faults)
    check_routes(document, faults)
    with tempfile.TemporaryDirectory() as folder:
        check_variables(program, variables, faults, pathlib.Path(folder))
    check_behaviour(document, program, faults)
    for fault in faults:
        print(fault)
    print(f"docs_test: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
