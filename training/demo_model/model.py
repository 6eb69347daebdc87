"""DUSt3R in PyTorch, written from our description of it (spec/dust3r.md), with free sizes.

Parameter names are those of published checkpoints, so a state dict saved as safetensors is a file that any DUSt3R program reads. It is
the project's second implementation of the network: check_golden.py holds it against the outputs of the upstream program.
"""

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

LAYER_NORM_EPS = 1e-6


@dataclass(frozen=True)
class Sizes:
    """Widths, depths and heads; the head size must be a multiple of 4 (two axes, two halves of a rotation)."""

    enc_dim: int = 192
    enc_depth: int = 6
    enc_heads: int = 3
    dec_dim: int = 128
    dec_depth: int = 5
    dec_heads: int = 2
    patch: int = 16
    mlp_ratio: int = 4
    rope_base: float = 100.0
    image_size: int = 192  # long side that the model is meant to be run at


@lru_cache(maxsize=64)
def rope_tables(height: int, width: int, head_dim: int, base: float) -> tuple[Tensor, Tensor]:
    """cos and sin of the rotary angles of patches in row-major order, each [height * width, head_dim].

    In double, for whatever precision they are used in. The first half of a head turns by the row, the second by the column; within a half
    channel k pairs with channel k + head_dim / 4.
    """
    quarter = head_dim // 4
    frequencies = base ** (-torch.arange(quarter, dtype=torch.float64) / quarter)
    rows = torch.arange(height, dtype=torch.float64)[:, None, None] * frequencies  # [h, 1, D/4]
    columns = torch.arange(width, dtype=torch.float64)[None, :, None] * frequencies  # [1, w, D/4]
    rows, columns = rows.expand(height, width, quarter), columns.expand(height, width, quarter)
    angles = torch.cat([rows, rows, columns, columns], dim=-1).reshape(height * width, head_dim)
    return angles.cos(), angles.sin()


def rotate(x: Tensor, table: tuple[Tensor, Tensor]) -> Tensor:
    """x [..., N, D] turned by the angles of its tokens."""
    cos, sin = (t.to(x.dtype) for t in table)
    a, b, c, d = x.chunk(4, dim=-1)
    return x * cos + torch.cat([-b, a, -d, c], dim=-1) * sin


def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """q [B, H, N, D], k and v [B, H, M, D] -> [B, N, H * D]. Plain products: on CPUs with AMX twice as fast as the fused kernel here."""
    scores = (q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2)
    context = scores.softmax(-1) @ v
    return context.transpose(1, 2).flatten(2)


class SelfAttention(nn.Module):
    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x: Tensor, rope) -> Tensor:
        batch, tokens, dim = x.shape
        q, k, v = self.qkv(x).view(batch, tokens, 3, self.heads, dim // self.heads).permute(2, 0, 3, 1, 4)
        return self.proj(attend(rotate(q, rope), rotate(k, rope), v))


class CrossAttention(nn.Module):
    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads = heads
        self.projq = nn.Linear(dim, dim)
        self.projk = nn.Linear(dim, dim)
        self.projv = nn.Linear(dim, dim)
        self.proj = nn.Linear(dim, dim)

    def split(self, x: Tensor) -> Tensor:
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x: Tensor, y: Tensor, x_rope, y_rope) -> Tensor:
        q, k, v = self.split(self.projq(x)), self.split(self.projk(y)), self.split(self.projv(y))
        return self.proj(attend(rotate(q, x_rope), rotate(k, y_rope), v))


class Mlp(nn.Module):
    def __init__(self, dim: int, ratio: int):
        super().__init__()
        self.fc1 = nn.Linear(dim, ratio * dim)
        self.fc2 = nn.Linear(ratio * dim, dim)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(F.gelu(self.fc1(x)))


class EncoderBlock(nn.Module):
    def __init__(self, dim: int, heads: int, ratio: int):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim, LAYER_NORM_EPS)
        self.attn = SelfAttention(dim, heads)
        self.norm2 = nn.LayerNorm(dim, LAYER_NORM_EPS)
        self.mlp = Mlp(dim, ratio)

    def forward(self, x: Tensor, rope) -> Tensor:
        x = x + self.attn(self.norm1(x), rope)
        return x + self.mlp(self.norm2(x))


class DecoderBlock(nn.Module):
    def __init__(self, dim: int, heads: int, ratio: int):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim, LAYER_NORM_EPS)
        self.attn = SelfAttention(dim, heads)
        self.norm2 = nn.LayerNorm(dim, LAYER_NORM_EPS)
        self.norm_y = nn.LayerNorm(dim, LAYER_NORM_EPS)
        self.cross_attn = CrossAttention(dim, heads)
        self.norm3 = nn.LayerNorm(dim, LAYER_NORM_EPS)
        self.mlp = Mlp(dim, ratio)

    def forward(self, x: Tensor, y: Tensor, x_rope, y_rope) -> Tensor:
        x = x + self.attn(self.norm1(x), x_rope)
        x = x + self.cross_attn(self.norm2(x), self.norm_y(y), x_rope, y_rope)
        return x + self.mlp(self.norm3(x))


class LinearHead(nn.Module):
    """Every token becomes the raw values of its patch."""

    def __init__(self, dim: int, patch: int):
        super().__init__()
        self.patch = patch
        self.proj = nn.Linear(dim, 4 * patch * patch)

    def forward(self, tokens: Tensor, grid: tuple[int, int]) -> Tensor:
        """tokens [B, N, C] -> raw x, y, z, confidence [B, 4, H, W]"""
        return F.pixel_shuffle(self.proj(tokens).transpose(1, 2).unflatten(2, grid), self.patch)


class PatchEmbed(nn.Module):
    def __init__(self, dim: int, patch: int):
        super().__init__()
        self.patch = patch
        self.proj = nn.Conv2d(3, dim, patch, patch)

    def forward(self, image: Tensor) -> Tensor:
        """image [B, 3, H, W] -> [B, N, C], as a product: PyTorch's CPU convolution is slow at stride = kernel."""
        patches = F.pixel_unshuffle(image, self.patch).flatten(2).transpose(1, 2)  # [B, N, 3 p^2], channel order (c, dy, dx)
        return F.linear(patches, self.proj.weight.flatten(1), self.proj.bias)


def length(vectors: Tensor, keepdim: bool = False) -> Tensor:
    """Norms over axis 1. Spelt out: Tensor.norm over an axis that is not the last is thirty times slower on the CPU."""
    return (vectors.square().sum(1, keepdim=keepdim) + 1e-16).sqrt()


def activate(raw: Tensor) -> tuple[Tensor, Tensor]:
    """raw [B, 4, H, W] -> points [B, 3, H, W] (direction times expm1 of the norm), confidence [B, H, W] above 1"""
    xyz = raw[:, :3]
    norm = length(xyz, keepdim=True)
    return xyz / norm * torch.expm1(norm), 1 + raw[:, 3].exp()


class Dust3r(nn.Module):
    """Two images to two pointmaps, both in the camera frame of the first (x right, y down, z forward), scale free."""

    def __init__(self, sizes: Sizes):
        super().__init__()
        self.sizes = s = sizes
        self.patch_embed = PatchEmbed(s.enc_dim, s.patch)
        self.enc_blocks = nn.ModuleList(EncoderBlock(s.enc_dim, s.enc_heads, s.mlp_ratio) for _ in range(s.enc_depth))
        self.enc_norm = nn.LayerNorm(s.enc_dim, LAYER_NORM_EPS)
        self.decoder_embed = nn.Linear(s.enc_dim, s.dec_dim)
        self.dec_blocks = nn.ModuleList(DecoderBlock(s.dec_dim, s.dec_heads, s.mlp_ratio) for _ in range(s.dec_depth))
        self.dec_blocks2 = nn.ModuleList(DecoderBlock(s.dec_dim, s.dec_heads, s.mlp_ratio) for _ in range(s.dec_depth))
        self.dec_norm = nn.LayerNorm(s.dec_dim, LAYER_NORM_EPS)
        self.downstream_head1 = LinearHead(s.dec_dim, s.patch)
        self.downstream_head2 = LinearHead(s.dec_dim, s.patch)

    def rope(self, grid: tuple[int, int], dim: int, heads: int):
        return rope_tables(*grid, dim // heads, self.sizes.rope_base)

    def encode(self, image: Tensor) -> Tensor:
        """image [B, 3, H, W] in [-1, 1] -> [B, N, enc_dim]"""
        s = self.sizes
        rope = self.rope(self.grid(image), s.enc_dim, s.enc_heads)
        x = self.patch_embed(image)
        for block in self.enc_blocks:
            x = block(x, rope)
        return self.enc_norm(x)

    def grid(self, image: Tensor) -> tuple[int, int]:
        return image.shape[-2] // self.sizes.patch, image.shape[-1] // self.sizes.patch

    def decode(self, features1: Tensor, features2: Tensor, grid1, grid2) -> tuple[Tensor, Tensor]:
        """Features of views 1 and 2 -> raw maps [B, 4, H, W]. Both branches read the other's tokens from before the layer."""
        s = self.sizes
        rope1, rope2 = (self.rope(grid, s.dec_dim, s.dec_heads) for grid in (grid1, grid2))
        a, b = self.decoder_embed(features1), self.decoder_embed(features2)
        for block1, block2 in zip(self.dec_blocks, self.dec_blocks2, strict=True):
            a, b = block1(a, b, rope1, rope2), block2(b, a, rope2, rope1)
        a, b = self.dec_norm(a), self.dec_norm(b)
        return self.downstream_head1(a, grid1), self.downstream_head2(b, grid2)

    def forward(self, image1: Tensor, image2: Tensor) -> tuple[Tensor, Tensor]:
        return self.decode(self.encode(image1), self.encode(image2), self.grid(image1), self.grid(image2))
