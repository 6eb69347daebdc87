"""One training step's loss and gradients: the plain way, and the choice between it and the fused one."""

import torch

from .data import Batch
from .loss import pointmap_loss
from .model import Dust3r, activate

class PlainEngine:
    """Autograd over model.py and loss.py with bfloat16 products. Adds the gradients to the parameters' .grad."""

    def __init__(self, model: Dust3r):
        self.model = model

    def step(self, batch: Batch, gradient_weight: float) -> dict[str, float]:
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
            terms = pointmap_loss(points, confidence, target.points, target.valid, gradient_weight)
            loss = loss + terms.total / len(batch.targets)
            totals += torch.stack([terms.total.detach(), terms.regression.detach(), terms.gradient]) / len(batch.targets)
        loss.backward()
        return dict(zip(("total", "regression", "gradient"), totals.tolist(), strict=True))



def make_engine(model: Dust3r, plain: bool, threads: int):
    return PlainEngine(model)
