"""The loss: DUSt3R's confidence-weighted regression (paper, equations 2 to 4) and a term for the shape of surfaces.

Points are [B, 3, H, W] in the frame of camera 1, valid masks [B, H, W].
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from .model import length

CONFIDENCE_ALPHA = 0.2


@dataclass(frozen=True)
class LossTerms:
    total: Tensor
    regression: Tensor  # mean normalised distance
    gradient: Tensor  # mean normalised difference of neighbouring pixels' steps


def mean_distance(points: tuple[Tensor, Tensor], valid: tuple[Tensor, Tensor]) -> Tensor:
    """Mean distance of all valid points of both views from the origin, [B, 1, 1, 1]: the scale that a pair is free in."""
    total = sum((length(p) * v).sum((1, 2)) for p, v in zip(points, valid, strict=True))
    count = sum(v.sum((1, 2)) for v in valid)
    return (total / count.clamp(min=1)).clamp(min=1e-6)[:, None, None, None]


def step_error(predicted: Tensor, truth: Tensor, valid: Tensor, here: slice, ahead: slice) -> tuple[Tensor, Tensor]:
    """Sum and count of the errors of steps from pixels `here` to pixels `ahead` (columns), relative to distance.

    Steps over an edge (depth jumps by more than a tenth) do not count.
    """
    p0, p1, t0, t1 = predicted[..., here], predicted[..., ahead], truth[..., here], truth[..., ahead]
    smooth = valid[..., here] * valid[..., ahead] * ((t1[:, 2] - t0[:, 2]).abs() < 0.1 * t0[:, 2].abs())
    error = ((p1 - p0) - (t1 - t0)).abs().sum(1) / length(t0)
    return (error * smooth).sum(), smooth.sum()


def surface_error(predicted: Tensor, truth: Tensor, valid: Tensor, lattice: int) -> tuple[Tensor, Tensor]:
    """Sum and count of step errors across the borders of patches, and between every fourth pixel.

    lattice: 0 to 15, which of the 16 lattices of every fourth pixel; changed from step to step towards the end of training, since pixels
    of one that is always the same come to stand out. Patches are predicted one by one, so it is only here that neighbouring patches hear
    of each other: without this their borders show.
    """
    total, count = 0.0, 0.0
    for turn in (False, True):
        p, t, v = (x.transpose(-1, -2) if turn else x for x in (predicted, truth, valid))
        across, along = (lattice % 4, lattice // 4)[:: -1 if turn else 1]
        coarse = [x[..., along::4, across::4] for x in (p, t, v)]
        for maps, here, ahead in (((p, t, v), slice(15, -1, 16), slice(16, None, 16)), (coarse, slice(0, -1), slice(1, None))):
            errors, steps = step_error(*maps, here, ahead)
            total, count = total + errors, count + steps
    return total, count


def pointmap_loss(
    predicted: tuple[Tensor, Tensor],
    confidence: tuple[Tensor, Tensor],
    truth: tuple[Tensor, Tensor],
    valid: tuple[Tensor, Tensor],
    gradient_weight: float,
    lattice: int = 0,
) -> LossTerms:
    valid = tuple(v.float() for v in valid)
    predicted_scale, true_scale = mean_distance(predicted, valid), mean_distance(truth, valid)
    predicted = tuple(p / predicted_scale for p in predicted)
    truth = tuple(t / true_scale for t in truth)

    count = sum(v.sum() for v in valid).clamp(min=1)
    weighted, plain = 0.0, 0.0
    for p, t, c, v in zip(predicted, truth, confidence, valid, strict=True):
        distance = length(p - t)  # [B, H, W]
        weighted = weighted + ((c * distance - CONFIDENCE_ALPHA * c.log()) * v).sum()
        plain = plain + (distance.detach() * v).sum()

    gradient = torch.zeros(())
    if gradient_weight > 0:
        sums = [surface_error(p, t, v, lattice) for p, t, v in zip(predicted, truth, valid, strict=True)]
        gradient = sum(s[0] for s in sums) / sum(s[1] for s in sums).clamp(min=1)
    return LossTerms(weighted / count + gradient_weight * gradient, plain / count, gradient.detach())
