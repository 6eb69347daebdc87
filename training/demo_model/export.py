"""From a training checkpoint to the files that every DUSt3R program reads: model.safetensors (bfloat16) and config.json.

    python -m demo_model.export ../out/training/checkpoint.pt ../models/demo
"""

import argparse
import json
import math
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from .model import Dust3r, Sizes


def config_of(sizes: Sizes) -> dict:
    """The keys that published checkpoints have, and the sizes that they leave at their defaults."""
    return {
        "output_mode": "pts3d",
        "head_type": "linear",
        "depth_mode": ["exp", -math.inf, math.inf],
        "conf_mode": ["exp", 1, math.inf],
        "freeze": "none",
        "landscape_only": False,
        "patch_embed_cls": "PatchEmbedDust3R",
        "patch_size": sizes.patch,
        "enc_depth": sizes.enc_depth,
        "dec_depth": sizes.dec_depth,
        "enc_embed_dim": sizes.enc_dim,
        "dec_embed_dim": sizes.dec_dim,
        "enc_num_heads": sizes.enc_heads,
        "dec_num_heads": sizes.dec_heads,
        "mlp_ratio": sizes.mlp_ratio,
        "pos_embed": f"RoPE{sizes.rope_base:g}",
        "img_size": [sizes.image_size, sizes.image_size],
    }


def load_checkpoint(checkpoint: Path, averaged: bool) -> tuple[Dust3r, dict]:
    state = torch.load(checkpoint, weights_only=False)
    model = Dust3r(Sizes(**state["sizes"]))
    model.load_state_dict(state["average"] if averaged else state["model"])
    return model, state


def load_exported(folder: Path) -> Dust3r:
    """The model of model.safetensors and config.json, widened to float32."""
    config = json.loads((folder / "config.json").read_text())
    sizes = Sizes(
        enc_dim=config["enc_embed_dim"],
        enc_depth=config["enc_depth"],
        enc_heads=config["enc_num_heads"],
        dec_dim=config["dec_embed_dim"],
        dec_depth=config["dec_depth"],
        dec_heads=config["dec_num_heads"],
        patch=config["patch_size"],
        mlp_ratio=config["mlp_ratio"],
        rope_base=float(config["pos_embed"].removeprefix("RoPE")),
        image_size=max(config["img_size"]),
    )
    model = Dust3r(sizes)
    model.load_state_dict({name: tensor.float() for name, tensor in load_file(folder / "model.safetensors").items()})
    return model


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--averaged", action="store_true", help="the running mean, better in mid-run than the last weights, not at the end")
    args = parser.parse_args(argv)
    model, state = load_checkpoint(args.checkpoint, args.averaged)
    args.folder.mkdir(parents=True, exist_ok=True)
    weights = {name: p.to(torch.bfloat16).contiguous() for name, p in model.state_dict().items()}
    metadata = {"format": "pt", "license": "Apache-2.0", "trained_pairs": str(state["pairs"])}
    temporary = args.folder / "model.safetensors.tmp"
    save_file(weights, temporary, metadata)
    temporary.rename(args.folder / "model.safetensors")
    # Infinity as the published files have it, though it is not JSON.
    (args.folder / "config.json").write_text(json.dumps(config_of(model.sizes), indent=2) + "\n")
    print(f"{args.folder}: {sum(p.numel() for p in model.parameters())} parameters after {state['pairs']} pairs")


if __name__ == "__main__":
    main()
