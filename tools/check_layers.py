#!/usr/bin/env python3
"""Fails when a file includes what its floor may not see: the table of the design, as data.

The walls that matter most: models see Ops, never a device; io sees bytes, never a model; apps see the public headers only. If
this script stops you, move the code, not the rule. Also fails on files longer than MAX_LINES. Prints every offence as
'file:line: what: the rule'. Usage: check_layers.py [ROOT]
"""

import pathlib
import re
import sys
from dataclasses import dataclass, field

MAX_LINES = 500
LONGER_BY_DECISION = {}  # file -> why it is one piece

ROOTS = ("include", "src", "apps", "bindings", "examples", "bench", "tools", "tests")
SUFFIXES = (".h", ".cc", ".cu", ".cuh")

# Outside headers by who provides them; anything with neither a dot nor a slash is the C++ standard library.
PACKAGES = {
    "os": r"(sys|linux|netinet|arpa)/.*|unistd\.h|fcntl\.h|sched\.h|signal\.h|pthread\.h|poll\.h|dirent\.h|netdb\.h|glob\.h|pwd\.h|malloc\.h|spawn\.h",
    "std": r"std(int|def|io|lib|bool)\.h|math\.h|string\.h|errno\.h|setjmp\.h|time\.h",
    "intrinsics": r"immintrin\.h|x86intrin\.h|cpuid\.h|arm_neon\.h",
    "highway": r"hwy/.*",
    "cuda": r"cuda.*|cublas.*|cudnn.*",
    "jpeg": r"jpeglib\.h|jerror\.h|turbojpeg\.h",
    "png": r"png\.h",
    "spng": r"spng\.h",
    "webp": r"webp/.*",
    "heif": r"libheif/.*",
    "deflate": r"libdeflate\.h|zlib\.h",
    "json": r"nlohmann/.*|simdjson\.h",
    "curl": r"curl/.*",
    "openssl": r"openssl/.*",
    "eigen": r"Eigen/.*",
    "opencv": r"opencv2/.*",
    "ceres": r"ceres/.*",
    "cli11": r"CLI/.*",
    "httplib": r"httplib\.h",
    "prometheus": r"prometheus/.*",
    "pybind11": r"pybind11/.*",
    "gtest": r"gtest/.*|gmock/.*",
    "rapidcheck": r"rapidcheck.*",
    "benchmark": r"benchmark/.*",
    "openexr": r"OpenEXR/.*|Imath/.*",
    "tinygltf": r"tiny_gltf\.h",
    "blas": r"cblas.*\.h|openblas.*",
    "dnnl": r"dnnl.*|oneapi/dnnl/.*",
    "openmp": r"omp\.h",
}


@dataclass
class Rule:
    floor: int
    may: tuple = ()  # folders, or single files, of ours; a folder may always include itself
    packages: tuple = ()  # outside packages, in any file
    cc_packages: tuple = ()  # outside packages that no header may name
    one_package_per_file: bool = False
    never: dict = field(default_factory=dict)  # file or folder -> why, although `may` would allow it


# Public structs that are the same inside as outside, so that nothing is copied field by field at the top floor. Each belongs to the folder
# that names it below; others reach it through that folder's header.
ERROR, PROGRESS, IMAGE, VIEW_TRANSFORM, CAMERA, SCENE, EXPORT, ENCODE, COMPARE = VOCABULARY = tuple(
    f"include/pointmap/{name}.h" for name in ("error", "progress", "image", "view_transform", "camera", "scene", "export", "encode", "compare")
)
PAGE, REPORT, MODELS, EVAL, PHOTOS, KNOWN = (f"include/pointmap/{name}.h" for name in ("pointmap", "report", "models", "eval", "photos", "known_inputs"))

BASE, TENSOR, GEOMETRY, OPS = "src/base", "src/tensor", "src/geometry", "src/kernels/ops.h"
IO_FORMATS = tuple(f"src/io/{name}" for name in ("image", "npz", "ply", "glb", "pfm", "exr", "colmap"))
IO = ("src/io/safetensors", "src/io/config", "src/io/hub", "src/io/cameras", *IO_FORMATS)
ONLY_MAKE_OPS = {"src/kernels/make_ops.h": "choosing a device is for make_ops.cc and above the models"}


PUBLIC = ("include/pointmap", *VOCABULARY, PAGE, REPORT, MODELS, EVAL, PHOTOS, KNOWN)


def io_rule(*more, **outside):
    return Rule(2, (BASE, TENSOR, *more), **outside)


# The longest key that is a prefix of a file's path is its folder. A key may be a single file.
RULES = {
    ERROR: Rule(0),
    PROGRESS: Rule(0, (ERROR,)),
    IMAGE: Rule(0),
    VIEW_TRANSFORM: Rule(0),
    CAMERA: Rule(0),
    SCENE: Rule(0, (CAMERA, IMAGE, VIEW_TRANSFORM)),
    EXPORT: Rule(0, (SCENE,)),
    ENCODE: Rule(0, (IMAGE,)),
    COMPARE: Rule(0),
    # What a run takes and gives: recon speaks in these, api keeps their promises.
    PAGE: Rule(5, (ERROR, PROGRESS, SCENE, PHOTOS, KNOWN)),
    REPORT: Rule(5, (EXPORT, PAGE)),
    MODELS: Rule(5, (PAGE,)),
    EVAL: Rule(5, (PAGE,)),
    PHOTOS: Rule(5),
    KNOWN: Rule(5, (CAMERA, PHOTOS, VIEW_TRANSFORM)),
    "src/base": Rule(0, (ERROR, PROGRESS), packages=("os",), cc_packages=("intrinsics",)),
    "src/tensor": Rule(1, (BASE,)),
    "src/io/safetensors": io_rule(cc_packages=("json", "openssl"), one_package_per_file=True),  # openssl: the identity of weights is their SHA-256
    "src/io/config": io_rule(cc_packages=("json",)),
    "src/io/cameras": io_rule(cc_packages=("json",)),
    "src/io/hub": io_rule(cc_packages=("curl", "openssl", "json", "os")),
    "src/io/image": io_rule(IMAGE, cc_packages=("jpeg", "png", "spng", "webp", "heif", "deflate", "highway"), one_package_per_file=True),
    "src/io/npz": io_rule(cc_packages=("deflate",)),
    "src/io/ply": io_rule(),
    "src/io/glb": io_rule(cc_packages=("json",)),
    "src/io/pfm": io_rule(),
    "src/io/exr": io_rule(cc_packages=("openexr",)),
    "src/io/colmap": io_rule(),
    "src/geometry": Rule(2, (BASE, TENSOR, CAMERA, VIEW_TRANSFORM), cc_packages=("eigen", "opencv")),
    "src/kernels": Rule(2, (BASE, TENSOR)),
    "src/kernels/make_ops.cc": Rule(2, ("src/kernels", "src/kernels/ref", "src/kernels/cpu", "src/kernels/cuda", "src/kernels/no_cuda", BASE, TENSOR)),
    "src/kernels/ref": Rule(2, ("src/kernels", BASE, TENSOR), never=ONLY_MAKE_OPS),
    "src/kernels/cpu": Rule(2, ("src/kernels", BASE, TENSOR), packages=("highway", "intrinsics"), never=ONLY_MAKE_OPS),
    "src/kernels/cuda": Rule(2, ("src/kernels", BASE, TENSOR), packages=("cuda",), never=ONLY_MAKE_OPS),
    "src/kernels/no_cuda": Rule(2, ("src/kernels", BASE, TENSOR), never=ONLY_MAKE_OPS),
    "src/demo_model": Rule(2),
    "src/viewer_page": Rule(2),
    "src/nn": Rule(3, (OPS, TENSOR, BASE)),
    "src/scene": Rule(3, (SCENE, EXPORT, ENCODE, COMPARE, GEOMETRY, TENSOR, BASE, "src/viewer_page", *IO_FORMATS), packages=("eigen",), cc_packages=("json",)),
    "src/models/dust3r": Rule(4, ("src/nn", OPS, GEOMETRY, TENSOR, BASE)),
    "src/models/vggt": Rule(4, ("src/nn", OPS, GEOMETRY, TENSOR, BASE)),
    "src/align": Rule(4, (GEOMETRY, "src/scene", TENSOR, BASE), packages=("eigen", "ceres")),
    "src/recon": Rule(5, (PAGE, REPORT, PHOTOS, MODELS, KNOWN, BASE, TENSOR, "src/demo_model", *IO, GEOMETRY, "src/kernels", "src/nn", "src/scene", "src/models/dust3r", "src/models/vggt", "src/align"), cc_packages=("json", "os")),
    "src/eval": Rule(5, (PAGE, EVAL, BASE, TENSOR, "src/io/npz", GEOMETRY, "src/scene"), cc_packages=("json",)),
    "src/api": Rule(6, ("src/recon", "src/eval", "src/scene", "src/io/hub", *PUBLIC), cc_packages=("json",)),
    "include/pointmap": Rule(6, PUBLIC),
    "apps/cli": Rule(7, (*PUBLIC, "apps/server/serve.h"), packages=("cli11", "os")),
    "apps/server": Rule(7, PUBLIC, packages=("httplib", "json", "prometheus", "os")),
    "bindings": Rule(7, PUBLIC, packages=("pybind11",)),
    "examples": Rule(7, PUBLIC),
    # Measured, drawn and tested from outside: free to look anywhere.
    "bench": Rule(8, ("src", *PUBLIC), packages=tuple(PACKAGES)),
    "tools": Rule(8, ("src", *PUBLIC), packages=tuple(PACKAGES)),
    "tests": Rule(8, ("src", "apps", *PUBLIC), packages=tuple(PACKAGES)),
}

# A unit test beside the sources may also see lower floors, its own floor and tests/, and these packages.
TEST_FILE = re.compile(r"(_test|_fuzz|_test_util|_testing)\.(h|cc|cu)$|/testing\.(h|cc)$")
TEST_PACKAGES = ("gtest", "rapidcheck", "tinygltf", "httplib", "json", "openssl", "deflate", "opencv", "openexr", "os")

# Highway's way of compiling a file once per instruction set names the file in a macro; such lines have no " or <.
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def folder_of(path):
    """The key of RULES that covers `path`, or None."""
    keys = [key for key in RULES if path == key or path.startswith(key + "/")]
    return max(keys, key=len) if keys else None


def within(path, places):
    """Whether `path` is one of `places` or lies in one of them, sub-folders that have their own rule excepted ("src" covers all)."""
    return any(path == place or folder_of(path) == place or (place in ("src", "apps") and path.startswith(place + "/")) for place in places)


def resolve(root, includer, name):
    """Path of the quoted header `name` relative to root, or None."""
    for candidate in (root / "src" / name, root / "include" / name, (root / includer).parent / name, root / name):
        if candidate.is_file():
            return candidate.resolve().relative_to(root.resolve()).as_posix()
    return None


def package_of(header):
    if "." not in header and "/" not in header:
        return "std"
    return next((name for name, pattern in PACKAGES.items() if re.fullmatch(pattern, header)), None)


def fault_of_ours(includer, included):
    """Why `includer` may not include our header `included`, or None."""
    folder, rule, target = folder_of(includer), RULES[folder_of(includer)], folder_of(included)
    is_test = TEST_FILE.search(includer) is not None
    if TEST_FILE.search(included) and not is_test and rule.floor < 8:
        return "only tests include test helpers"
    if target == folder or included in rule.may:
        return None
    if is_test and (included.startswith("tests/") or (target and RULES[target].floor <= rule.floor)):
        return None
    for place, why in rule.never.items():
        if included == place or included.startswith(place + "/"):
            return why
    if within(included, rule.may):
        return None
    return f"{folder} may include {'only ' + ', '.join(rule.may) if rule.may else 'nothing of ours'}"


def fault_of_outside(includer, package):
    """Why `includer` may not include a header of `package`, or None."""
    folder, rule = folder_of(includer), RULES[folder_of(includer)]
    if package == "std" or package in rule.packages:
        return None
    if TEST_FILE.search(includer) and package in (*TEST_PACKAGES, *rule.cc_packages):
        return None
    if package in rule.cc_packages:
        return None if includer.endswith(".cc") else f"{package} may be named in .cc files of {folder} only"
    return f"{folder} may use {', '.join(('only the standard library', *rule.packages, *rule.cc_packages))} from outside"


def faults_of_file(root, path):
    """Yields (line number, message) for one file, `path` relative to root."""
    text = (root / path).read_text(encoding="utf-8", errors="replace")
    num_lines = text.count("\n")
    if num_lines > MAX_LINES and path not in LONGER_BY_DECISION:
        yield MAX_LINES, f"{num_lines} lines: files stay at or under {MAX_LINES}"
    if folder_of(path) is None:
        yield 1, "this folder is not in the table of tools/check_layers.py"
        return

    packages = set()
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quoted, outside = match.groups()
        name = quoted or outside
        ours = resolve(root, path, name) if quoted or name.startswith("pointmap/") else None
        if ours is not None:
            fault = fault_of_ours(path, ours)
        else:
            package = package_of(name)
            packages.add(package)
            if package is None:
                fault = "not a header of ours (name it from src/ or include/), nor of a package in the table"
            else:
                fault = fault_of_outside(path, package)
        if fault:
            yield number, f"{name}: {fault}"
    packages -= {"std", "os", None}
    if RULES[folder_of(path)].one_package_per_file and len(packages) > 1 and not TEST_FILE.search(path):
        yield 1, f"{', '.join(sorted(packages))}: one library per file here"


def faults_of_tree(root):
    """Yields 'file:line: message' for every offence under root."""
    for top in ROOTS:
        for file in sorted((root / top).rglob("*")):
            if file.suffix in SUFFIXES and file.is_file():
                path = file.relative_to(root).as_posix()
                for number, message in faults_of_file(root, path):
                    yield f"{path}:{number}: {message}"


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    faults = list(faults_of_tree(root))
    for fault in faults:
        print(fault)
    print(f"check_layers: {len(faults)} offences" if faults else "check_layers: every include goes down")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
