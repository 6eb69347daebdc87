"""Two minutes of training from nothing must lower the loss, and a cut run must go on where it was."""

import argparse
import json
import shutil
import sys
from pathlib import Path

from . import train

MINUTES = (0.1, 1.0, 1.0)  # three runs, each going on from the one before
WANTED = 0.85  # of the mean regression term of the first steps; with fast_ops two minutes reach about 0.65, in plain PyTorch about 0.8


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scene-gen", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args(argv)
    shutil.rmtree(args.out, ignore_errors=True)
    for minutes in MINUTES:
        train.main(["--scene-gen", str(args.scene_gen), "--out", str(args.out), "--pairs", "400000", "--minutes", str(minutes)])
    start, middle, end = (json.loads(line) for line in (args.out / "log.jsonl").read_text().splitlines())
    print(f"loss {start['loss']} after {start['pairs']} pairs, {middle['loss']} after {middle['pairs']}, {end['loss']} after {end['pairs']}")
    good = end["loss"] < WANTED * start["loss"] and 0 < start["pairs"] < middle["pairs"] < end["pairs"]
    print("1 passed, 0 failed" if good else f"0 passed, 1 failed: want less than {WANTED} of the start, and more pairs each time")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
