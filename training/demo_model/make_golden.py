"""Golden data of the demo model: a float64 run on a held-out pair, and how far PyTorch's own float32 run is from it.

    python -m demo_model.make_golden ../models/demo ../build/scene_gen ../tests/golden/demo_192x144.npz

The engine's test then asks of its maps what it asks of those of the upstream program (tests/golden/README.md).
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from .check_golden import sampled
from .data import PairStream, to_batch
from .export import load_exported
from .model import Dust3r, activate

HELD_OUT_SEED, INDEX, WIDTH, HEIGHT = 2, 7, 192, 144
MAX_STORED = 8192  # elements; of larger arrays 4096 samples are kept


@torch.no_grad()
def stages(model: Dust3r, image1: Tensor, image2: Tensor) -> dict[str, Tensor]:
    """Under the names of tests/golden, maps as the engine has them: points [1, H, W, 3], confidence [1, H, W]."""
    features = model.encode(torch.cat([image1, image2]))
    result = {"enc_norm": features}
    raws = model.decode(features[:1], features[1:], model.grid(image1), model.grid(image2))
    for view, raw in enumerate(raws, 1):
        points, confidence = activate(raw)
        result |= {f"pts3d_{view}": points.permute(0, 2, 3, 1), f"conf_{view}": confidence}
    return result


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="folder of model.safetensors and config.json")
    parser.add_argument("scene_gen", type=Path)
    parser.add_argument("output", type=Path)
    args = parser.parse_args(argv)
    stream = PairStream(args.scene_gen, HELD_OUT_SEED, INDEX, 1, WIDTH, HEIGHT, threads=1)
    images = to_batch(stream.read(1)).images
    stream.close()

    model = load_exported(args.model)
    single = stages(model, *images)
    truth = stages(model.double(), *(image.double() for image in images))
    arrays, meta = {"img1": images[0].numpy(), "img2": images[1].numpy()}, {}
    for name, exact in truth.items():
        error = (single[name].double() - exact).abs()
        meta[name] = {
            "shape": list(exact.shape),
            "mean": exact.mean().item(),
            "std": exact.std().item(),
            "absmax": exact.abs().max().item(),
            "torch_fp32_max_err": error.max().item(),
            "torch_fp32_rms_err": error.square().mean().sqrt().item(),
        }
        if exact.numel() > MAX_STORED:
            arrays[f"sample:{name}"] = sampled(name, exact).float().numpy()
        else:
            arrays[name] = exact.float().numpy()
    arrays["meta_json"] = np.frombuffer(json.dumps(meta).encode(), np.uint8)
    np.savez_compressed(args.output, **arrays)
    print(f"{args.output}: {args.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
