"""How good pairs of pointmaps are, per pair: the same figures as `pointmap eval`, up to its pose by PnP (here: Procrustes).

Scale is free, so predictions are scaled by the median of |truth| / |prediction| over both views first.
"""

import torch
from torch import Tensor

from .data import Batch
from .model import Dust3r, activate, length


def fit_scale(predicted: tuple[Tensor, Tensor], truth: tuple[Tensor, Tensor], valid: tuple[Tensor, Tensor]) -> Tensor:
    """[B, 1, 1, 1]"""
    ratios = [
        (length(t) / length(p).clamp(min=1e-9)).masked_fill(~v, torch.nan).flatten(1)
        for p, t, v in zip(predicted, truth, valid, strict=True)
    ]
    return torch.cat(ratios, 1).nanmedian(1).values[:, None, None, None]


def mean_over(values: Tensor, valid: Tensor) -> Tensor:
    """[B, H, W] -> [B]"""
    return (values * valid).sum((1, 2)) / valid.sum((1, 2)).clamp(min=1)


def depth_error(points: Tensor, truth: Tensor, valid: Tensor) -> Tensor:
    """AbsRel of z, [B]"""
    return mean_over((points[:, 2] - truth[:, 2]).abs() / truth[:, 2].clamp(min=1e-6), valid)


def point_error(points: Tensor, truth: Tensor, valid: Tensor) -> Tensor:
    """Mean of |error| / |truth|, [B]"""
    return mean_over(length(points - truth) / length(truth), valid)


def rigid_rotation(source: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """R [B, 3, 3] of the similarity that takes source to target ([B, 3, H, W]), reweighted ten times against outliers."""
    x, y, w0 = source.flatten(2).double(), target.flatten(2).double(), weight.flatten(1).double()
    w = w0
    for _ in range(10):
        w = w / w.sum(1, keepdim=True)
        x_mean, y_mean = (x * w[:, None]).sum(2, keepdim=True), (y * w[:, None]).sum(2, keepdim=True)
        dx, dy = x - x_mean, y - y_mean
        u, s, vt = torch.linalg.svd((dy * w[:, None]) @ dx.transpose(1, 2))
        sign = torch.ones_like(s)
        sign[:, 2] = torch.linalg.det(u @ vt).sign()
        rotation = u @ torch.diag_embed(sign) @ vt
        scale = (s * sign).sum(1) / (dx.square().sum(1) * w).sum(1)
        residual = (dy - scale[:, None, None] * rotation @ dx).square().sum(1).sqrt()
        w = w0 / (residual + 0.05 * residual.median(1, keepdim=True).values).clamp(min=1e-9)
    return rotation.float()


def angle_degrees(rotation: Tensor) -> Tensor:
    """Of [B, 3, 3]"""
    cosine = (rotation.diagonal(dim1=1, dim2=2).sum(1) - 1) / 2
    return torch.rad2deg(cosine.clamp(-1, 1).arccos())


@torch.no_grad()
def predict(model: Dust3r, image1: Tensor, image2: Tensor):
    """Both orders: (points1, points2), (confidences) of (1, 2), and the same of (2, 1)."""
    features = model.encode(image1), model.encode(image2)
    grids = model.grid(image1), model.grid(image2)
    result = []
    for a, b in ((0, 1), (1, 0)):
        maps = [activate(raw.float()) for raw in model.decode(features[a], features[b], grids[a], grids[b])]
        result.append((tuple(m[0] for m in maps), tuple(m[1] for m in maps)))
    return result


@torch.no_grad()
def evaluate(model: Dust3r, batches: list[Batch]) -> dict[str, float]:
    """Medians over all pairs, with the baselines that show whether the second view is used."""
    rows: dict[str, list[Tensor]] = {}

    def note(name: str, values: Tensor):
        rows.setdefault(name, []).append(values)

    model.eval()
    for batch in batches:
        truth, valid = batch.targets[0].points, batch.targets[0].valid
        (points, confidence), (swapped, _) = predict(model, *batch.images)
        scaled = tuple(fit_scale(points, truth, valid) * p for p in points)
        note("absrel_1", depth_error(scaled[0], truth[0], valid[0]))
        note("error_2", point_error(scaled[1], truth[1], valid[1]))
        rotation = rigid_rotation(swapped[0], points[1], confidence[1])
        true_rotation = batch.cam1_from_cam2[:, :3, :3]
        note("rotation", angle_degrees(rotation.transpose(1, 2) @ true_rotation))
        note("rotation_identity", angle_degrees(true_rotation))

        (alone, _), _ = predict(model, batch.images[0], batch.images[0])
        alone = tuple(fit_scale(alone, truth, valid) * p for p in alone)
        note("absrel_1_alone", depth_error(alone[0], truth[0], valid[0]))
        note("error_2_alone", point_error(alone[1], truth[1], valid[1]))
    model.train()
    return {name: torch.cat(values).median().item() for name, values in rows.items()}
