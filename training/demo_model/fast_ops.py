"""The training step of the demo model (forward, loss, backward) as one call into C++, several times faster than eager PyTorch on a CPU with AMX.

model.py and loss.py stay the definition; test_fast_ops.py compares the gradients. The library is compiled on first use.
"""

import ctypes
import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor

from . import optimizer
from .model import Dust3r

SOURCE = Path(__file__).with_name("fast_ops.cpp")
COMPILE = ["g++", "-std=c++17", "-O3", "-march=sapphirerapids", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC"]
TOKENS_PER_CHUNK = 1536  # of both views: few enough for the caches, enough to pay for another pass over weights and gradients
THREADS = min(2, os.cpu_count() or 1)  # of the optimiser
CPU_FLAGS = {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_bf16", "amx_bf16", "amx_tile"}


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL:
    """Compiles fast_ops.cpp, unless that was done before, and loads it."""
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "pointmap_fast_ops"
    folder.mkdir(parents=True, exist_ok=True)
    sources = sorted([SOURCE, *SOURCE.parent.glob("fast_ops_*.h")])
    key = hashlib.sha256(b"".join(s.read_bytes() for s in sources) + " ".join(COMPILE).encode()).hexdigest()[:16]
    path = folder / f"fast_ops_{key}.so"
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            temporary = path.with_suffix(f".{os.getpid()}")
            subprocess.run([*COMPILE, SOURCE, "-o", temporary], check=True)
            temporary.rename(path)
    lib = ctypes.CDLL(str(path))
    lib.fast_ops_create.restype = ctypes.c_void_p
    lib.fast_ops_create.argtypes = [ctypes.c_void_p, ctypes.c_float]
    lib.fast_ops_destroy.argtypes = [ctypes.c_void_p]
    lib.fast_ops_bind.argtypes = [ctypes.c_void_p] * 3
    lib.fast_ops_step.argtypes = (
        [ctypes.c_void_p] * 2 + [ctypes.c_int] + [ctypes.c_void_p] * 3 + [ctypes.c_int] * 3 + [ctypes.c_float] + [ctypes.c_int] * 2 + [ctypes.c_void_p]
    )
    lib.fast_ops_mean.restype = ctypes.c_double
    lib.fast_ops_mean.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_long]
    lib.fast_ops_muon.argtypes = [ctypes.c_int] + [ctypes.c_void_p] * 6 + [ctypes.c_int]
    if lib.fast_ops_prepare() != 0:
        raise RuntimeError("the kernel refuses the AMX tile registers")
    return lib


def available() -> bool:
    """Whether this machine has a compiler, AVX-512 and AMX."""
    if platform.machine() != "x86_64" or shutil.which("g++") is None:
        return False
    flags = next((line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")), "")
    return CPU_FLAGS <= set(flags.split())


def pointers(tensors: list[Tensor]) -> ctypes.Array:
    return (ctypes.c_void_p * len(tensors))(*(t.data_ptr() for t in tensors))


def ready(t: Tensor, shape: tuple, dtype: torch.dtype) -> Tensor:
    if tuple(t.shape) != shape:
        raise ValueError(f"want {shape}, got {tuple(t.shape)}")
    return t.detach().to(dtype).contiguous()


class Engine:
    """Steps of one model. Gradients of all parameters are views of flat_gradient, which is what data parallel processes have to sum."""

    def __init__(self, model: Dust3r):
        s = model.sizes
        if s.patch != 16 or s.enc_dim != 64 * s.enc_heads or s.dec_dim != 64 * s.dec_heads:
            raise ValueError(f"want patches of 16 and heads of 64, got {s}")
        self.library = library()
        self.parameters = [p for _, p in model.named_parameters()]
        self.flat_gradient = torch.zeros(sum(p.numel() for p in self.parameters))
        self.views, at = [], 0
        for p in self.parameters:
            self.views.append(self.flat_gradient[at : at + p.numel()].view_as(p))
            at += p.numel()
        sizes = [s.enc_dim, s.enc_depth, s.enc_heads, s.dec_dim, s.dec_depth, s.dec_heads, s.mlp_ratio]
        self.handle = self.library.fast_ops_create((ctypes.c_int * 7)(*sizes), s.rope_base)
        self.bound = None

    def __del__(self):
        if getattr(self, "handle", None):
            self.library.fast_ops_destroy(self.handle)

    def bind(self):
        """Makes every gradient a view of flat_gradient (keeping its values) and tells C++ where parameters and gradients lie."""
        for p, view in zip(self.parameters, self.views, strict=True):
            if p.grad is None:
                view.zero_()
            elif p.grad.data_ptr() != view.data_ptr():
                view.copy_(p.grad)
            p.grad = view
        addresses = [p.data_ptr() for p in self.parameters]
        if addresses != self.bound:
            if not all(p.is_contiguous() and p.dtype == torch.float32 for p in self.parameters):
                raise ValueError("want contiguous float32 parameters")
            self.library.fast_ops_bind(self.handle, pointers(self.parameters), pointers(self.views))
            self.bound = addresses

    def zero_grad(self):
        self.flat_gradient.zero_()

    def step(self, images: tuple[Tensor, Tensor], targets: list, gradient_weight: float, lattice: int = 0) -> dict[str, float]:
        """Adds the gradient of the mean loss over the targets to every p.grad.

        images: [B, 3, H, W] each. A target is (order, points, valid): order (1, 2) or (2, 1) names the view that comes first; points (two of
        [B, 3, H, W], in the frame of that first view) and valid (two of [B, H, W]) follow that order. The views are encoded once. lattice: as in
        loss.surface_error.
        """
        batch, _, height, width = images[0].shape
        if height % 16 or width % 16:
            raise ValueError(f"want sides that are multiples of 16, got {height} x {width}")
        images = [ready(image, (batch, 3, height, width), torch.float32) for image in images]
        points = [ready(t, (batch, 3, height, width), torch.float32) for _, both, _ in targets for t in both]
        valid = [ready(t, (batch, height, width), torch.bool) for _, _, both in targets for t in both]
        first = (ctypes.c_int * len(targets))(*({(1, 2): 0, (2, 1): 1}[tuple(order)] for order, _, _ in targets))
        self.bind()
        result = (ctypes.c_double * 3)()
        pairs = max(1, TOKENS_PER_CHUNK // (2 * height * width // 256))
        self.library.fast_ops_step(
            self.handle, pointers(images), len(targets), first, pointers(points), pointers(valid), batch, height, width, gradient_weight, lattice, pairs, result
        )
        return dict(zip(("total", "regression", "gradient"), result, strict=True))


def mean_gradient(engines: list[Engine], max_norm: float) -> float:
    """Makes the gradient of the first engine the mean of all, at most max_norm long, and the others zero. Returns the norm before the cut."""
    flat = [engine.flat_gradient for engine in engines]
    norm = library().fast_ops_mean(len(flat), pointers(flat), flat[0].numel()) ** 0.5
    if norm > max_norm:
        flat[0].mul_(max_norm / norm)
    return norm


class Muon(optimizer.Muon):
    """The same steps in one call per thread. Sides of the matrices are multiples of 32; state and learning rates as in the plain one."""

    pool = None  # one for all, made when first used

    @torch.no_grad()
    def step(self):
        entries = []  # part, gradient, momentum, learning rate
        for group in self.param_groups:
            for p in group["params"]:
                if "momentum" not in self.state[p]:
                    self.state[p]["momentum"] = torch.zeros_like(p)
                count = self.parts[id(p)]
                parts = (p.chunk(count), p.grad.chunk(count), self.state[p]["momentum"].chunk(count))
                entries += [(*part, group["lr"]) for part in zip(*parts, strict=True)]
        for tensors in entries:
            if not all(t.is_contiguous() and t.dtype == torch.float32 for t in tensors[:3]):
                raise ValueError("want contiguous float32 parameters, gradients and momenta")
            if any(side % 32 for side in tensors[0].shape):
                raise ValueError(f"want sides that are multiples of 32, got {tuple(tensors[0].shape)}")
        if Muon.pool is None:
            Muon.pool = ThreadPoolExecutor(THREADS)
        entries.sort(key=lambda entry: entry[0].numel())
        list(Muon.pool.map(muon_step, [entries[i::THREADS] for i in range(THREADS)]))


def muon_step(entries: list[tuple]):
    parts, gradients, momenta, rates = zip(*entries, strict=True)
    shapes = (ctypes.c_int * (2 * len(parts)))(*(side for t in parts for side in t.shape))
    numbers = (ctypes.c_float * 5)(optimizer.MOMENTUM, optimizer.WEIGHT_DECAY, *optimizer.NEWTON_SCHULZ)
    library().fast_ops_muon(
        len(parts), pointers(parts), pointers(gradients), pointers(momenta), shapes, (ctypes.c_float * len(parts))(*rates), numbers,
        optimizer.NEWTON_SCHULZ_STEPS,
    )  # fmt: skip


def make_optimizers(model: Dust3r, muon_lr: float, adam_lr: float) -> list[torch.optim.Optimizer]:
    """As optimizer.make_optimizers, with the fast Muon."""
    plain, adam = optimizer.make_optimizers(model, muon_lr, adam_lr)
    fast = Muon.__new__(Muon)
    fast.__dict__.update(plain.__dict__)
    return [fast, adam]
