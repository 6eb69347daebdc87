"""One training step's loss and gradients: the plain way, and the choice between it and the fused one."""

import copy
from concurrent.futures import ThreadPoolExecutor

import torch

from . import fast_ops, optimizer
from .data import Batch
from .loss import pointmap_loss
from .model import Dust3r, activate

class PlainEngine:
    """Autograd over model.py and loss.py with bfloat16 products. Adds the gradients to the parameters' .grad."""

    def __init__(self, model: Dust3r):
        self.model = model

    def step(self, batch: Batch, gradient_weight: float, lattice: int = 0) -> dict[str, float]:
        """Encodes each picture once and decodes both orders; the loss is the mean over the two."""
        totals = torch.zeros(3)
        with torch.autocast("cpu", torch.bfloat16):
            features = self.model.encode(torch.cat(batch.images)).chunk(2)
        grids = [self.model.grid(image) for image in batch.images]
        loss = 0.0
        for target in batch.targets:
            first, second = target.order
            with torch.autocast("cpu", torch.bfloat16):
                raw = self.model.decode(features[first], features[second], grids[first], grids[second])
            points, confidence = zip(*(activate(r.float()) for r in raw), strict=True)
            terms = pointmap_loss(points, confidence, target.points, target.valid, gradient_weight, lattice)
            loss = loss + terms.total / len(batch.targets)
            totals += torch.stack([terms.total.detach(), terms.regression.detach(), terms.gradient]) / len(batch.targets)
        loss.backward()
        return dict(zip(("total", "regression", "gradient"), totals.tolist(), strict=True))

    def clip_gradient(self, max_norm: float):
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), max_norm)

    def zero_gradient(self):
        self.model.zero_grad(set_to_none=True)


class FusedEngine:
    """The same from fast_ops, a share of the batch on every thread."""

    def __init__(self, model: Dust3r, threads: int):
        # Replicas share the weights and have gradients of their own.
        self.replicas = [model] + [copy.deepcopy(model) for _ in range(threads - 1)]
        for replica in self.replicas[1:]:
            for ours, theirs in zip(replica.parameters(), model.parameters(), strict=True):
                ours.data = theirs.data
        self.engines = [fast_ops.Engine(replica) for replica in self.replicas]
        self.pool = ThreadPoolExecutor(threads)

    def step(self, batch: Batch, gradient_weight: float, lattice: int = 0) -> dict[str, float]:
        count, parts = len(batch.images[0]), len(self.engines)
        shares = [slice(count * i // parts, count * (i + 1) // parts) for i in range(parts)]

        def run(engine: fast_ops.Engine, share: slice) -> dict[str, float]:
            images = tuple(image[share] for image in batch.images)
            targets = [
                (tuple(view + 1 for view in t.order), tuple(p[share] for p in t.points), tuple(v[share] for v in t.valid))
                for t in batch.targets
            ]
            return engine.step(images, targets, gradient_weight, lattice)

        results = list(self.pool.map(run, self.engines, shares))
        return {name: sum(r[name] for r in results) / parts for name in results[0]}

    def clip_gradient(self, max_norm: float):
        """Also takes the mean over the threads."""
        fast_ops.mean_gradient(self.engines, max_norm)

    def zero_gradient(self):
        self.engines[0].zero_grad()  # mean_gradient has zeroed the others


def make_engine(model: Dust3r, plain: bool, threads: int, muon_lr: float, adam_lr: float):
    """The engine and the optimisers that go with it."""
    if plain or not fast_ops.available():
        return PlainEngine(model), optimizer.make_optimizers(model, muon_lr, adam_lr)
    return FusedEngine(model, threads), fast_ops.make_optimizers(model, muon_lr, adam_lr)
