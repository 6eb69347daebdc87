"""Trains the demo model on pairs from scene_gen, on the CPU, and goes on where an earlier run was cut.

    python -m demo_model.train --scene-gen ../build/scene_gen --out ../out/training
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
NOTE_EVERY_S = 20
STORE_EVERY_S = 240
# Indices of pairs, of which scene_gen has 2^64: each run, phase and size has a range of its own, far longer than it can use.
PAIRS_PER_RANGE = 1_000_000_000
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
            begin = first + number * (PAIRS_PER_RANGE // len(sizes))
            stream = PairStream(args.scene_gen, TRAINING_SEED, begin, 0, width, height, threads=1)
            batch = max(8, round(args.batch * min(1, 128 * 96 * 1.5 / (width * height))))
            pool = max(4 * batch, int(args.pool * sizes[width, height]))
            self.sources[width, height] = ReplayBatches(stream, batch, args.reuse, pool, seed=begin)

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
    parser.add_argument("--pairs", type=int, default=332_000, help="length of the whole schedule; that of models/demo")
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


class Training:
    """A model on its way: everything that a checkpoint holds, and one step after another."""

    def __init__(self, args):
        self.args = args
        self.checkpoint = args.out / "checkpoint.pt"
        self.model = Dust3r(Sizes())
        initialise(self.model)
        self.engine, self.optimizers = make_engine(self.model, args.plain, args.threads, args.muon_lr, args.adam_lr)
        self.peaks = [o.param_groups[0]["lr"] for o in self.optimizers]
        self.average = Average(self.model, decay=0.999**AVERAGE_EVERY)
        self.pairs, self.steps, self.seconds, self.run = 0, 0, 0.0, 0
        if self.checkpoint.exists():
            self.restore()

    def restore(self):
        state = torch.load(self.checkpoint, weights_only=False)
        self.model.load_state_dict(state["model"])
        self.average.weights = state["average"]
        for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        self.pairs, self.steps, self.seconds, self.run = (state[key] for key in ("pairs", "steps", "seconds", "run"))
        self.run += 1
        print(f"going on after {self.pairs} pairs", flush=True)

    def store(self):
        state = {"model": self.model.state_dict(), "average": self.average.weights, "sizes": asdict(self.model.sizes)}
        state["optimizers"] = [o.state_dict() for o in self.optimizers]
        state |= {"pairs": self.pairs, "steps": self.steps, "seconds": self.seconds, "run": self.run}
        temporary = self.checkpoint.with_suffix(".tmp")
        torch.save(state, temporary)
        os.replace(temporary, self.checkpoint)

    def fraction(self) -> float:
        """How much of the schedule is done."""
        return max(self.pairs / self.args.pairs, self.seconds / 3600 / self.args.hours)

    def step(self, batch: Batch) -> dict[str, float]:
        fraction = self.fraction()
        for optimizer, peak in zip(self.optimizers, self.peaks, strict=True):
            optimizer.param_groups[0]["lr"] = peak * learning_rate(fraction)
        lattice = self.steps * 5 % 16 if fraction > ALL_LATTICES_FROM else 0
        terms = self.engine.step(batch, self.args.gradient_weight, lattice)
        self.engine.clip_gradient(1.0)
        if math.isfinite(terms["total"]):
            for optimizer in self.optimizers:
                optimizer.step()
            if self.steps % AVERAGE_EVERY == 0:
                self.average.update(self.model)
        self.engine.zero_gradient()
        self.pairs += len(batch.images[0])
        self.steps += 1
        return terms

    def evaluate(self, validation: list[Batch], recent: list[float]):
        """One more line in the log: the averaged weights on pairs that are only watched, and the loss of the last steps."""
        averaged = Dust3r(self.model.sizes)
        averaged.load_state_dict(self.average.weights)
        line = {"pairs": self.pairs, "hours": round(self.seconds / 3600, 3), "final": self.fraction() >= 1}
        line["loss"] = round(sum(recent) / len(recent), 4) if recent else None
        line |= {name: round(value, 4) for name, value in evaluate(averaged, validation).items()}
        print(json.dumps(line), flush=True)
        with open(self.args.out / "log.jsonl", "a") as log:
            log.write(json.dumps(line) + "\n")


class Notes:
    """A line on the terminal now and then."""

    def __init__(self, pairs: int):
        self.begin(pairs)

    def begin(self, pairs: int):
        self.began, self.pairs, self.sums, self.count = time.time(), pairs, {}, 0

    def add(self, training: Training, terms: dict[str, float]):
        self.count += 1
        for name, value in terms.items():
            self.sums[name] = self.sums.get(name, 0.0) + value
        passed = time.time() - self.began
        if passed < NOTE_EVERY_S:
            return
        means = "  ".join(f"{name} {value / self.count:.4f}" for name, value in self.sums.items())
        rate = (training.pairs - self.pairs) / passed
        print(f"{training.pairs:8d} pairs  {rate:6.1f}/s  {means}  {training.seconds / 3600:.2f} h", flush=True)
        self.begin(training.pairs)


class Sources:
    """The sampler of the phase that the schedule has come to."""

    def __init__(self, args, run: int):
        self.args, self.run, self.phase, self.sampler = args, run, None, None

    def next(self, fraction: float) -> Batch:
        phase = next(i for i, (end, _) in enumerate(PHASES) if fraction < end)
        if phase != self.phase:
            self.close()
            first = (self.run * len(PHASES) + phase) * PAIRS_PER_RANGE
            self.phase, self.sampler = phase, Sampler(self.args, PHASES[phase][1], first)
        return self.sampler.next()

    def close(self):
        if self.sampler is not None:
            self.sampler.close()


def main(argv=None):
    args = parse_arguments(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads if args.plain else 1)
    training = Training(args)
    validation = validation_batches(args, 128, 96, 100)
    sources, notes, recent = Sources(args, training.run), Notes(training.pairs), deque(maxlen=20)
    cut = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: cut.append(True))
    earlier, begin, last_store = training.seconds, time.time(), time.time()
    while training.fraction() < 1 and time.time() - begin < args.minutes * 60 and not cut:
        terms = training.step(sources.next(training.fraction()))
        training.seconds = earlier + time.time() - begin
        recent.append(terms["regression"])
        notes.add(training, terms)
        if time.time() - last_store > STORE_EVERY_S:
            training.store()
            training.evaluate(validation, recent)
            last_store = time.time()
    sources.close()
    training.store()
    training.evaluate(validation, recent)


if __name__ == "__main__":
    main()
