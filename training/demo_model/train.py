"""Trains the demo model on pairs from scene_gen, on the CPU, and goes on where an earlier run was cut.

    python -m demo_model.train --scene-gen ../build/scene_gen --out ../out/training --pairs 1200000
"""

import argparse
import json
import math
import os
import signal
import time
from collections import deque
from dataclasses import asdict
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads are ours (engine.py); PyTorch's wait for each other on a busy machine

import torch  # noqa: E402

from .data import Batch, PairStream, ReplayBatches, to_batch
from .engine import make_engine
from .metrics import evaluate
from .model import Dust3r, Sizes

TRAINING_SEED = 1
VALIDATION_SEED = 3  # watched during training; seed 2 is held out and only ever evaluated

# What share of the training pairs has been seen when a phase ends, and its picture sizes with their shares. Small pictures teach most
# per second; the last phase is at the size that the model is run at. Portrait and square pictures are in so that the model knows them.
PHASES = [
    (0.72, {(128, 96): 0.8, (96, 128): 0.1, (112, 112): 0.1}),
    (1.00, {(192, 144): 0.7, (144, 192): 0.1, (160, 160): 0.1, (192, 128): 0.1}),
]
AVERAGE_EVERY = 4  # steps
# Of the schedule. Earlier, at a high learning rate, changing lattices keep pixels from settling: the loss then hardly falls at the start.
ALL_LATTICES_FROM = 0.94
WARM_UP = 0.02  # of the pairs; then constant, then linear decay over the last half


def learning_rate(fraction: float) -> float:
    return min(fraction / WARM_UP, 1.0, 2 * (1 - fraction) + 0.01)


def initialise(model: Dust3r):
    """Quiet residual branches, decoder 2 a copy of decoder 1, and a first guess of points a little in front of the camera."""
    depth = len(model.enc_blocks) + len(model.dec_blocks)
    for name, p in model.named_parameters():
        if p.dim() == 2:
            torch.nn.init.trunc_normal_(p, std=0.02 if p.shape[1] > 512 else p.shape[1] ** -0.5 * 0.5)
        if name.endswith(("proj.weight", "fc2.weight")) and "_blocks" in name:
            p.data.div_(math.sqrt(2 * depth))
        if p.dim() == 1 and name.endswith("bias"):
            torch.nn.init.zeros_(p)
    model.dec_blocks2.load_state_dict(model.dec_blocks.state_dict())
    for head in (model.downstream_head1, model.downstream_head2):
        head.proj.weight.data.mul_(0.1)
        head.proj.bias.data.view(4, -1)[2] = 0.7


class Sampler:
    """Batches of the phase's sizes in their shares. Larger pictures come in smaller batches."""

    def __init__(self, args, sizes: dict, first: int):
        self.shares = sizes
        self.random = torch.Generator().manual_seed(first)
        self.sources = {}
        for number, (width, height) in enumerate(sizes):
            # Ranges of indices that no two sizes or runs share.
            stream = PairStream(args.scene_gen, TRAINING_SEED, first + number * 1_000_000_000, 0, width, height, threads=1)
            batch = max(8, round(args.batch * min(1, 128 * 96 * 1.5 / (width * height))))
            pool = max(4 * batch, int(args.pool * sizes[width, height]))
            self.sources[width, height] = ReplayBatches(stream, batch, args.reuse, pool, seed=first + number)

    def next(self) -> Batch:
        draw, names = torch.rand((), generator=self.random).item(), list(self.shares)
        for name in names:
            draw -= self.shares[name]
            if draw < 0:
                break
        return self.sources[name].next()

    def close(self):
        for source in self.sources.values():
            source.close()


def validation_batches(args, width: int, height: int, count: int) -> list[Batch]:
    stream = PairStream(args.scene_gen, VALIDATION_SEED, 0, count, width, height, threads=1)
    batches = [to_batch(stream.read(min(25, count - i))) for i in range(0, count, 25)]
    stream.close()
    return batches


def save(path: Path, state: dict):
    temporary = path.with_suffix(".tmp")
    torch.save(state, temporary)
    os.replace(temporary, path)


class Average:
    """The mean of recent weights, which is better than the last ones while the learning rate is high."""

    def __init__(self, model: Dust3r, decay: float):
        self.decay = decay
        self.weights = {name: p.detach().clone() for name, p in model.named_parameters()}

    @torch.no_grad()
    def update(self, model: Dust3r):
        names = list(self.weights)
        torch._foreach_lerp_([self.weights[n] for n in names], [p.data for _, p in model.named_parameters()], 1 - self.decay)


def parse_arguments(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scene-gen", type=Path, required=True, help="the program tools/scene_gen builds")
    parser.add_argument("--out", type=Path, required=True, help="folder of checkpoint.pt, log.jsonl; a checkpoint in it is gone on with")
    parser.add_argument("--pairs", type=int, default=1_200_000, help="length of the whole schedule")
    parser.add_argument("--hours", type=float, default=math.inf, help="length of the whole schedule, if it comes before --pairs")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop this run after so long, with a checkpoint (as Ctrl-C does)")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--reuse", type=float, default=2.0, help="how often a rendered pair is used on average")
    parser.add_argument("--pool", type=int, default=8000, help="pairs in memory to draw from")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--gradient-weight", type=float, default=0.5, help="of the surface term of the loss")
    parser.add_argument("--muon-lr", type=float, default=4e-3)
    parser.add_argument("--adam-lr", type=float, default=1.5e-3)
    parser.add_argument("--plain", action="store_true", help="PyTorch only, even where the fused operations could be built")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(argv)


def main(argv=None):
    args = parse_arguments(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads if args.plain else 1)
    checkpoint = args.out / "checkpoint.pt"
    model = Dust3r(Sizes())
    initialise(model)
    engine, optimizers = make_engine(model, args.plain, args.threads, args.muon_lr, args.adam_lr)
    peaks = [o.param_groups[0]["lr"] for o in optimizers]
    average = Average(model, decay=0.999**AVERAGE_EVERY)
    done, rendered, seconds = 0, 0, 0.0
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=False)
        model.load_state_dict(state["model"])
        average.weights = state["average"]
        for optimizer, saved in zip(optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        done, rendered, seconds = state["done"], state["rendered"], state["seconds"]
        print(f"going on after {done} pairs", flush=True)
    validation = validation_batches(args, 128, 96, 100)

    begin = last_save = last_note = time.time()
    earlier, sampler, phase = seconds, None, None
    sums, steps, noted = {}, 0, done
    recent = deque(maxlen=20)  # regression terms

    def store(final: bool):
        save(
            checkpoint,
            {
                "model": model.state_dict(),
                "average": average.weights,
                "optimizers": [o.state_dict() for o in optimizers],
                "done": done,
                "rendered": rendered + 10_000_000,
                "seconds": seconds,
                "sizes": asdict(model.sizes),
            },
        )
        averaged = Dust3r(model.sizes)
        averaged.load_state_dict(average.weights)
        result = evaluate(averaged, validation)
        line = {"pairs": done, "hours": round(seconds / 3600, 3), "final": final}
        line["loss"] = round(sum(recent) / len(recent), 4) if recent else None
        line |= {name: round(value, 4) for name, value in result.items()}
        print(json.dumps(line), flush=True)
        with open(args.out / "log.jsonl", "a") as log:
            log.write(json.dumps(line) + "\n")

    cut = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: cut.append(True))
    while done < args.pairs and seconds < args.hours * 3600 and time.time() - begin < args.minutes * 60 and not cut:
        fraction = max(done / args.pairs, seconds / 3600 / args.hours)
        current = next(i for i, (end, _) in enumerate(PHASES) if fraction < end)
        if current != phase:
            if sampler is not None:
                sampler.close()
            sampler, phase = Sampler(args, PHASES[current][1], rendered + current * 100_000_000), current
        batch = sampler.next()
        for optimizer, peak in zip(optimizers, peaks, strict=True):
            optimizer.param_groups[0]["lr"] = peak * learning_rate(fraction)
        terms = engine.step(batch, args.gradient_weight, lattice=done // args.batch * 5 % 16 if fraction > ALL_LATTICES_FROM else 0)
        engine.clip_gradient(1.0)
        if math.isfinite(terms["total"]):
            for optimizer in optimizers:
                optimizer.step()
            if steps % AVERAGE_EVERY == 0:
                average.update(model)
        engine.zero_gradient()
        done += len(batch.images[0])
        steps += 1
        seconds = earlier + time.time() - begin
        recent.append(terms["regression"])
        for name, value in terms.items():
            sums[name] = sums.get(name, 0.0) + value
        now = time.time()
        if now - last_note > 20:
            means = "  ".join(f"{name} {value / steps:.4f}" for name, value in sums.items())
            print(f"{done:8d} pairs  {(done - noted) / (now - last_note):6.1f}/s  {means}  {seconds / 3600:.2f} h", flush=True)
            sums, steps, noted, last_note = {}, 0, done, now
        if now - last_save > 240:
            store(final=False)
            last_save = time.time()
    if sampler is not None:
        sampler.close()
    store(final=done >= args.pairs or seconds >= args.hours * 3600)


if __name__ == "__main__":
    main()
