"""Holds model.py against outputs of the upstream program (float64 truth, weights made from names; tests/golden/README.md).

    python -m demo_model.check_golden ../tests/golden/data/dust3r_tinylinear_64x48.npz
"""

import argparse
import json
import math
import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from .model import Dust3r, Sizes, activate

TINY_LINEAR = Sizes(enc_dim=128, enc_depth=3, enc_heads=4, dec_dim=64, dec_depth=12, dec_heads=2)
ALLOWED_RMS, ALLOWED_MAX = 3.0, 6.0  # times the error of upstream's own float32 run, as for the engine


def hashes(name: str, count: int) -> np.ndarray:
    """splitmix64 of FNV-1a-64(name) + i"""
    state = 0xCBF29CE484222325
    for byte in name.encode():
        state = ((state ^ byte) * 0x100000001B3) % 2**64
    z = np.uint64(state) + np.arange(count, dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def value_stream(name: str, count: int) -> np.ndarray:
    """float32 in (-1, 1)"""
    return ((hashes(name, count) >> np.uint64(40)).astype(np.float32) + np.float32(0.5)) * np.float32(2.0**-23) - np.float32(1)


def sampled(name: str, values: Tensor) -> Tensor:
    """The 4096 elements that golden files keep of a large array."""
    return values.flatten()[torch.from_numpy((hashes(name, 4096) % np.uint64(values.numel())).astype(np.int64))]


def synthetic_tensor(name: str, shape: torch.Size) -> Tensor:
    last = name.rsplit(".", 1)[-1]
    if len(shape) <= 1 and last == "weight":
        base, amp = 1.0, 0.2
    elif last == "bias":
        base, amp = 0.0, 0.1
    elif last == "weight":
        gain = 2.0 if any(part in name for part in (".qkv.", ".projq.", ".projk.")) else 1.0
        if name.startswith("downstream_head"):
            gain = 0.15
        base, amp = 0.0, gain * math.sqrt(3 / math.prod(shape[1:]))
    else:
        base, amp = 0.0, 0.5
    values = np.float32(base) + np.float32(amp) * value_stream(name, math.prod(shape))
    return torch.from_numpy(values.astype(np.float32)).view(shape)


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("golden", type=Path)
    golden = np.load(parser.parse_args(argv).golden)
    meta = json.loads(golden["meta_json"].tobytes())
    arrays = meta.get("arrays", meta)
    model = Dust3r(TINY_LINEAR)
    model.load_state_dict({name: synthetic_tensor(name, p.shape) for name, p in model.state_dict().items()})
    with torch.no_grad():
        images = [torch.from_numpy(golden[name]) for name in ("img1", "img2")]
        outputs = {}
        for view, raw in enumerate(model(*images), 1):
            points, confidence = activate(raw)
            outputs |= {f"sample:pts3d_{view}": sampled(f"pts3d_{view}", points.permute(0, 2, 3, 1)), f"conf_{view}": confidence}
    failed = 0
    for name, ours in outputs.items():
        truth, about = golden[name], arrays[name.removeprefix("sample:")]
        error = ours.numpy().reshape(truth.shape).astype(np.float64) - truth
        rms = math.sqrt((error**2).mean()) / about["torch_fp32_rms_err"]
        worst = np.abs(error).max() / about["torch_fp32_max_err"]
        bad = rms > ALLOWED_RMS or worst > ALLOWED_MAX
        failed += bad
        print(f"{name:15s} rms ratio {rms:5.2f}  max ratio {worst:5.2f}  {'FAILED' if bad else 'ok'}")
    print(f"{len(outputs) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
