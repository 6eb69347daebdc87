"""Training pairs straight from the scene generator's pipe (tools/scene_gen, README there has the format)."""

import queue
import random
import struct
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

MAGIC = b"PMPAIRS1"
NUM_FLOATS = 26


@dataclass
class Target:
    """What the network should say when view order[0] is its first: points in that view's frame, in scene units."""

    order: tuple[int, int]
    points: tuple[Tensor, Tensor]  # [B, 3, H, W], of the first and of the second view
    valid: tuple[Tensor, Tensor]  # [B, H, W]; nothing is there where it is false


@dataclass
class Batch:
    images: tuple[Tensor, Tensor]  # [B, 3, H, W] in [-1, 1]
    targets: list[Target]  # of both orders
    cam1_from_cam2: Tensor  # [B, 4, 4]
    intrinsics: tuple[Tensor, Tensor]  # [B, 4]: fx, fy, cx, cy


class PairStream:
    """Pairs of one size, index by index, from a scene_gen process."""

    def __init__(self, scene_gen: Path, seed: int, first: int, count: int, width: int, height: int, threads: int):
        command = [scene_gen, "stream", "--seed", seed, "--first", first, "--count", count]
        command += ["--width", width, "--height", height, "--threads", threads]
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE)
        header = self.process.stdout.read(len(MAGIC) + 16)
        if header[: len(MAGIC)] != MAGIC or struct.unpack("<II", header[8:16]) != (width, height):
            raise RuntimeError(f"{scene_gen}: want a stream of {width}x{height} pairs that begins with {MAGIC!r}, got {header!r}")
        self.width, self.height = width, height
        pixels = width * height
        self.record = np.dtype(
            [("rgb", np.uint8, (2, height, width, 3)), ("depth", np.float16, (2, height, width)), ("floats", np.float32, NUM_FLOATS)]
        )
        assert self.record.itemsize == pixels * 10 + NUM_FLOATS * 4

    def read(self, count: int) -> np.ndarray:
        """The next `count` records, fewer at the end of the stream."""
        size = self.record.itemsize * count
        data = self.process.stdout.read(size)
        return np.frombuffer(data[: len(data) // self.record.itemsize * self.record.itemsize], self.record)

    def close(self):
        self.process.stdout.close()
        self.process.terminate()
        self.process.wait()


def unproject(depth: Tensor, intrinsics: Tensor) -> Tensor:
    """depth [B, H, W], intrinsics [B, 4] -> points in the camera's own frame [B, 3, H, W]"""
    fx, fy, cx, cy = intrinsics[:, :, None, None].unbind(1)
    v, u = torch.meshgrid(torch.arange(depth.shape[1]), torch.arange(depth.shape[2]), indexing="ij")
    return torch.stack([(u - cx) / fx * depth, (v - cy) / fy * depth, depth], dim=1)


def transform(matrix: Tensor, points: Tensor) -> Tensor:
    """[B, 4, 4] times [B, 3, H, W]"""
    return (matrix[:, :3, :3] @ points.flatten(2) + matrix[:, :3, 3:]).view_as(points)


def to_batch(records: np.ndarray, mirror: bool = False) -> Batch:
    """mirror: left and right change places, which makes a scene of its own."""
    rgb = torch.from_numpy(records["rgb"].copy()).permute(1, 0, 4, 2, 3).float().div_(127.5).sub_(1)  # [2, B, 3, H, W]
    depth = torch.from_numpy(records["depth"].astype(np.float32)).transpose(0, 1)  # [2, B, H, W]
    floats = torch.from_numpy(records["floats"].copy())
    intrinsics = (floats[:, 0:4], floats[:, 4:8])
    pose = floats[:, 8:24].view(-1, 4, 4)
    if mirror:
        rgb, depth = rgb.flip(-1), depth.flip(-1)
        for k in intrinsics:
            k[:, 2] = depth.shape[-1] - 1 - k[:, 2]
        flip = torch.diag(torch.tensor([-1.0, 1.0, 1.0, 1.0]))
        pose = flip @ pose @ flip
    own = [unproject(d, k) for d, k in zip(depth, intrinsics, strict=True)]
    valid = depth > 0
    targets = [
        Target((0, 1), (own[0], transform(pose, own[1])), (valid[0], valid[1])),
        Target((1, 0), (own[1], transform(torch.linalg.inv(pose), own[0])), (valid[1], valid[0])),
    ]
    return Batch((rgb[0].contiguous(), rgb[1].contiguous()), targets, pose, intrinsics)


class ReplayBatches:
    """Batches of random pairs out of a pool that new pairs keep replacing, each pair being used `reuse` times on average.

    Rendering costs as much time as a good part of the training step, and a mirrored pair is nearly as good as a new one.
    """

    def __init__(self, stream: PairStream, batch_size: int, reuse: float, pool_size: int, seed: int):
        self.stream, self.batch_size, self.reuse = stream, batch_size, reuse
        self.random = random.Random(seed)
        self.pool = stream.read(pool_size).copy()
        self.next_slot, self.debt, self.num_read = 0, 0.0, pool_size
        self.ready: queue.Queue[Batch] = queue.Queue(maxsize=4)
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.fill, daemon=True)
        self.thread.start()

    def fill(self):
        while not self.stop.is_set():
            self.debt += self.batch_size / self.reuse
            fresh = self.stream.read(int(self.debt))
            self.debt -= int(self.debt)
            slots = (self.next_slot + np.arange(len(fresh))) % len(self.pool)
            self.pool[slots] = fresh
            self.next_slot, self.num_read = int(self.next_slot + len(fresh)) % len(self.pool), self.num_read + len(fresh)
            chosen = self.pool[self.random.sample(range(len(self.pool)), self.batch_size)]
            batch = to_batch(chosen, mirror=self.random.random() < 0.5)
            while not self.stop.is_set():
                try:
                    self.ready.put(batch, timeout=0.5)
                    break
                except queue.Full:
                    continue

    def next(self) -> Batch:
        while True:
            try:
                return self.ready.get(timeout=5)
            except queue.Empty:
                if not self.thread.is_alive():
                    raise RuntimeError("the scene generator ended") from None

    def close(self):
        self.stop.set()
        self.stream.close()
        self.thread.join(timeout=5)
