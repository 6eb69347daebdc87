#!/usr/bin/env python3
"""Measures `pointmap serve` from the client's side, on loopback.

  bench_serve.py PROGRAM host [PHOTO PHOTO]   what a request costs beside the network: time at the client less `forward`, for /predict_npz
                                              and /predict, beside the same work in Python (Pillow and NumPy), taking turns
  bench_serve.py PROGRAM clients              p50, p99 and queue time of /predict_npz with 1, 2, 4, 8 and 16 clients
  bench_serve.py PROGRAM first                the first request after a start against the ones behind it, several starts
  bench_serve.py PROGRAM overload [SECONDS]   many more requests than it can serve: is an accepted one lost, does memory grow, does
                                              /health stay quick?
  bench_serve.py PROGRAM                      all of these

The stand-in does what a Python server does for the same request: base64, decode, pad, bicubic, normalise, npz. It needs Pillow and NumPy;
without them its column is left out.
"""

import argparse
import base64
import contextlib
import http.client
import io
import json
import multiprocessing
import pathlib
import signal
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import smoke_test  # noqa: E402

try:
    import numpy
    import PIL.Image
except ImportError:
    numpy = None


def request_body(photos, **fields):
    encoded = [base64.b64encode(photo).decode() for photo in photos]
    return json.dumps({"image1": encoded[0], "image2": encoded[1]} | fields).encode()


class Connection:
    def __init__(self, port):
        self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        self.buffer = bytearray(16 << 20)

    def post(self, path, body):
        """(status, header X-Pointmap-Meta, body, ms from before sending to the last byte read)"""
        started = time.perf_counter()
        self.http.request("POST", path, body, {"Content-Type": "application/json"})
        answer = self.http.getresponse()
        size = 0
        while (count := answer.readinto(memoryview(self.buffer)[size:])) > 0:
            size += count
        elapsed_ms = 1e3 * (time.perf_counter() - started)
        return answer.status, answer.headers["X-Pointmap-Meta"], memoryview(self.buffer)[:size], elapsed_ms


def stand_in(body, arrays):
    """ms of the host work for one request."""
    started = time.perf_counter()
    request = json.loads(body)
    for name in ("image1", "image2"):
        photo = PIL.Image.open(io.BytesIO(base64.b64decode(request[name]))).convert("RGB")
        side = max(photo.size)
        square = PIL.Image.new("RGB", (side, side), (128, 128, 128))
        square.paste(photo, ((side - photo.width) // 2, (side - photo.height) // 2))
        picture = numpy.asarray(square.resize((512, 512), PIL.Image.BICUBIC), dtype=numpy.float32)
        numpy.ascontiguousarray(((picture / 255 - 0.5) / 0.5).transpose(2, 0, 1))
    out = io.BytesIO()
    numpy.savez(out, **{name: array.astype(numpy.float16) if name.startswith("conf") else array for name, array in arrays.items()})
    out.getvalue()
    return 1e3 * (time.perf_counter() - started)


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def bench_host(port, photos, rounds):
    connection, body = Connection(port), request_body(photos)
    arrays = numpy and {f"{kind}_{v}": numpy.random.rand(512, 512, *tail).astype("f4") for kind, tail in (("pts3d", (3,)), ("conf", ())) for v in "12"}
    rows = {"predict_npz, host": [], "predict, host": [], "forward": [], "Pillow and NumPy": []}
    parts = {}
    for i in range(rounds + 2):
        status, meta, _, npz_ms = connection.post("/predict_npz", body)
        assert status == 200, status
        timing = json.loads(meta)["timing_ms"]
        _, _, answer, json_ms = connection.post("/predict", body)
        json_forward_ms = json.loads(bytes(answer))["timing_ms"]["forward"]
        python_ms = stand_in(body, arrays) if numpy else 0
        if i < 2:
            continue  # caches
        rows["predict_npz, host"].append(npz_ms - timing["forward"])
        rows["predict, host"].append(json_ms - json_forward_ms)
        rows["forward"].append(timing["forward"])
        rows["Pillow and NumPy"].append(python_ms)
        for name, ms in timing.items():
            parts.setdefault(name, []).append(ms)
    print(f"{'ms, ' + str(rounds) + ' rounds':24} {'best':>8} {'median':>8}")
    for name, values in rows.items():
        print(f"{name:24} {min(values):8.2f} {statistics.median(values):8.2f}")
    print("of /predict_npz, best:", ", ".join(f"{name} {min(values):.2f}" for name, values in parts.items()))


def bench_clients(port, photos):
    body = request_body(photos, preprocess="keep")
    print(f"{'clients':>8} {'requests/s':>11} {'p50 ms':>8} {'p99 ms':>8} {'queue p50':>10} {'queue p99':>10} {'refused':>8}")
    for num_clients in (1, 2, 4, 8, 16):
        times, queues, refused, until = [], [], [0], time.perf_counter() + 5

        def work():
            connection = Connection(port)
            while time.perf_counter() < until:
                status, meta, _, ms = connection.post("/predict_npz", body)
                if status == 200:
                    times.append(ms)
                    queues.append(json.loads(meta)["timing_ms"]["queue"])
                else:
                    refused[0] += 1

        threads = [threading.Thread(target=work) for _ in range(num_clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        row = [percentile(values, share) for values in (times, queues) for share in (0.5, 0.99)]
        print(f"{num_clients:8} {len(times) / 5:11.1f} {row[0]:8.1f} {row[1]:8.1f} {row[2]:10.1f} {row[3]:10.1f} {refused[0]:8}")


def watch_health(port, stop, results):
    """In a process of its own: the load generator's threads share one interpreter."""
    times = []
    while not stop.is_set():
        started = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/health")
        assert connection.getresponse().status == 200
        connection.close()
        times.append(1e3 * (time.perf_counter() - started))
        time.sleep(0.02)
    results.put(times)


def resident_mib(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / (1 << 20)


def bench_overload(process, port, photos, seconds):
    body, counts, lock, until = request_body(photos, preprocess="keep"), {}, threading.Lock(), time.perf_counter() + seconds

    def work():
        connection = Connection(port)
        while time.perf_counter() < until:
            try:
                status, _, answer, _ = connection.post("/predict_npz", body)
                what = "ok" if status == 200 else json.loads(bytes(answer))["error"]["code"]
            except (OSError, http.client.HTTPException) as error:
                what, connection = repr(error), Connection(port)
            with lock:
                counts[what] = counts.get(what, 0) + 1
            if what != "ok":
                time.sleep(0.01)  # a client that did as it is told would wait a second

    stop, results = multiprocessing.Event(), multiprocessing.Queue()
    watcher = multiprocessing.Process(target=watch_health, args=(port, stop, results))
    watcher.start()
    threads = [threading.Thread(target=work) for _ in range(32)]
    for thread in threads:
        thread.start()
    memory = []
    while time.perf_counter() < until:
        memory.append(resident_mib(process.pid))
        time.sleep(0.5)
    for thread in threads:
        thread.join()
    stop.set()
    health = results.get()
    watcher.join()
    asked = sum(counts.values())
    print(f"{seconds} s, 32 clients: {counts}; asked for {asked / max(counts.get('ok', 0), 1):.1f} times what was served")
    tenth = max(len(memory) // 10, 1)
    print(f"resident MiB: {memory[0]:.0f} at the start, {statistics.mean(memory[tenth:2 * tenth]):.0f} in the second tenth, {statistics.mean(memory[-tenth:]):.0f} in the last, {max(memory):.0f} at most")
    print(f"/health ms: p50 {percentile(health, 0.5):.1f}, p99 {percentile(health, 0.99):.1f}, most {max(health):.1f}")


def bench_first(server, starts):
    """Of each start: the first request, and the median of five after it. All photos differ: features of photos seen before are kept."""
    bodies = [request_body([smoke_test.drawn_png(320, 240, shift + i) for i in (0, 1)]) for shift in range(0, 12, 2)]
    firsts, warms = [], []
    for _ in range(starts):
        with server() as (_, port):
            connection = Connection(port)
            times = [connection.post("/predict_npz", body)[3] for body in bodies]
        firsts.append(times[0])
        warms.append(statistics.median(times[1:]))
    print(f"{'ms, ' + str(starts) + ' starts':24} {'best':>8} {'median':>8}")
    for name, values in (("first request", firsts), ("warm ones, each median", warms)):
        print(f"{name:24} {min(values):8.2f} {statistics.median(values):8.2f}")
    excess = statistics.median(first / warm for first, warm in zip(firsts, warms))
    print(f"first / warm, median: {excess:.3f}")


@contextlib.contextmanager
def running_server(program, model):
    """Process and port of one that is ready; ends as SIGTERM ends it."""
    process, url = smoke_test.started_server(argparse.Namespace(start=program, model=model, name="", serve_option=[]))
    threading.Thread(target=process.stderr.read, daemon=True).start()  # a full pipe would stop the server
    try:
        yield process, int(url.rsplit(":", 1)[1])
        process.send_signal(signal.SIGTERM)
        if process.wait(timeout=60) != 0:
            sys.exit(f"the server ended with {process.returncode}")
    finally:
        if process.poll() is None:
            process.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("what", nargs="?", default="all", choices=["all", "host", "clients", "first", "overload"])
    parser.add_argument("more", nargs="*", default=[], help="two photos, or seconds")
    parser.add_argument("--model", default="demo")
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_intermixed_args()
    drawn = [smoke_test.drawn_png(240, 180, shift) for shift in (0, 7)]
    photos = [smoke_test.drawn_png(779, 520, shift) for shift in (0, 23)]
    if arguments.what == "host" and arguments.more:
        photos = [pathlib.Path(path).read_bytes() for path in arguments.more]
    seconds = float(arguments.more[0]) if arguments.what == "overload" and arguments.more else 30

    def server():
        return running_server(arguments.program, arguments.model)

    if arguments.what in ("all", "host"):
        with server() as (_, port):
            bench_host(port, photos, arguments.rounds)
    if arguments.what in ("all", "clients"):
        with server() as (_, port):
            bench_clients(port, drawn)
    if arguments.what in ("all", "first"):
        bench_first(server, 8)
    if arguments.what in ("all", "overload"):
        with server() as (process, port):
            bench_overload(process, port, drawn, seconds)


if __name__ == "__main__":
    sys.exit(main())
