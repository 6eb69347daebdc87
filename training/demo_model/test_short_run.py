"""Two minutes of training from nothing must lower the loss on pictures never trained on, and a cut run must go on where it was."""

import argparse
import json
import shutil
import sys
from pathlib import Path

from . import train

MINUTES = 1.0  # twice
WANTED = 0.85  # of the AbsRel at the start


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scene-gen", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args(argv)
    shutil.rmtree(args.out, ignore_errors=True)
    common = ["--scene-gen", str(args.scene_gen), "--out", str(args.out), "--pairs", "100000"]
    for minutes in (0.0, MINUTES, MINUTES):
        train.main([*common, "--minutes", str(minutes)])
    start, middle, end = (json.loads(line) for line in (args.out / "log.jsonl").read_text().splitlines())
    print(f"z AbsRel of view 1: {start['absrel_1']} at the start, {middle['absrel_1']}, {end['absrel_1']} after {end['pairs']} pairs")
    good = end["absrel_1"] < WANTED * start["absrel_1"] and 0 < middle["pairs"] < end["pairs"]
    print("1 passed, 0 failed" if good else f"0 passed, 1 failed: want less than {WANTED} of the start, and more pairs each time")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
