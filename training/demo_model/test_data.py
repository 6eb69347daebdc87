"""Batches against the geometry that they claim: no scene generator needed, the records are made here."""

import sys
import unittest

import numpy as np
import torch

from .data import NUM_FLOATS, to_batch, transform, unproject
from .loss import pointmap_loss
from .metrics import angle_degrees, rigid_rotation

HEIGHT, WIDTH = 48, 64


def turned_about_y(degrees: float, translation) -> torch.Tensor:
    a = np.deg2rad(degrees)
    matrix = np.eye(4)
    matrix[:3, :3] = [[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]]
    matrix[:3, 3] = translation
    return torch.tensor(matrix, dtype=torch.float32)


def records_of_a_plane(count: int = 2) -> np.ndarray:
    """Views of the plane z = 4 of camera 1, exact."""
    dtype = [("rgb", np.uint8, (2, HEIGHT, WIDTH, 3)), ("depth", np.float16, (2, HEIGHT, WIDTH)), ("floats", np.float32, NUM_FLOATS)]
    records = np.zeros(count, dtype)
    rng = np.random.default_rng(0)
    records["rgb"] = rng.integers(0, 256, records["rgb"].shape)
    pose = turned_about_y(15, (0.5, 0.1, -0.2))
    k = torch.tensor([[60.0, 60.0, (WIDTH - 1) / 2, (HEIGHT - 1) / 2]])
    rays = unproject(torch.ones(1, HEIGHT, WIDTH), k)
    directions = (pose[:3, :3] @ rays[0].flatten(1)).view(3, HEIGHT, WIDTH)
    records["depth"][:, 0] = 4
    records["depth"][:, 1] = ((4 - pose[2, 3]) / directions[2]).numpy()
    records["floats"][:, :8] = np.tile(k.numpy(), 2)
    records["floats"][:, 8:24] = pose.flatten().numpy()
    return records


class TestBatch(unittest.TestCase):
    def check_plane(self, mirror: bool):
        batch = to_batch(records_of_a_plane(), mirror)
        forward, backward = batch.targets
        half_step = 4 * 2**-10  # of float16 depth
        for points in forward.points:
            self.assertLess((points[:, 2] - 4).abs().max(), 2 * half_step)
        # The other order says the same of the same pixels, in the frame of camera 2.
        again = transform(batch.cam1_from_cam2, backward.points[0])
        self.assertLess((again - forward.points[1]).abs().max(), 1e-4)
        again = transform(batch.cam1_from_cam2, backward.points[1])
        self.assertLess((again - forward.points[0]).abs().max(), 1e-4)
        # Points lie on the rays of their pixels.
        for view, points in ((0, forward.points[0]), (1, backward.points[0])):
            fx, _, cx, _ = batch.intrinsics[view][0]
            u = points[0, 0] / points[0, 2] * fx + cx
            self.assertLess((u - torch.arange(WIDTH)).abs().max(), 1e-3)

    def test_both_orders_agree(self):
        self.check_plane(mirror=False)

    def test_a_mirrored_pair_is_a_scene_of_its_own(self):
        self.check_plane(mirror=True)

    def test_pictures_are_in_range(self):
        images = torch.stack(to_batch(records_of_a_plane()).images)
        self.assertAlmostEqual(images.min().item(), -1, delta=1e-6)
        self.assertAlmostEqual(images.max().item(), 1, delta=1e-6)


class TestLoss(unittest.TestCase):
    def test_scale_does_not_matter_and_shape_does(self):
        target = to_batch(records_of_a_plane()).targets[0]
        ones = tuple(torch.ones_like(v, dtype=torch.float32) for v in target.valid)
        scaled = tuple(3 * p for p in target.points)
        perfect = pointmap_loss(scaled, ones, target.points, target.valid, 1.0)
        self.assertLess(perfect.regression, 1e-6)
        self.assertLess(perfect.gradient, 1e-6)
        # A step at a patch border, of a tenth of the distance.
        bent = (scaled[0].clone(), scaled[1])
        bent[0][..., 32:] *= 1.1
        self.assertGreater(pointmap_loss(bent, ones, target.points, target.valid, 1.0).gradient, 1e-3)


class TestRotation(unittest.TestCase):
    def test_found_among_outliers(self):
        rng = torch.Generator().manual_seed(0)
        points = torch.randn(1, 3, 20, 20, generator=rng)
        pose = turned_about_y(20, (1, 2, 3))
        moved = transform(pose[None], 1.7 * points)
        moved[..., :4] = torch.randn(1, 3, 20, 4, generator=rng)
        rotation = rigid_rotation(points, moved, torch.ones(1, 20, 20))
        self.assertLess(angle_degrees(rotation.transpose(1, 2) @ pose[None, :3, :3]).item(), 0.5)


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())
