"""Writes the archives beside this script with NumPy, so that the reader is tested against bytes that are not our own.

Run by hand with any NumPy; the archives are kept. Expected values are repeated in npz_file_test.cc.
"""
import pathlib
import numpy as np

here = pathlib.Path(__file__).parent
arrays = {
    "f8": np.array([1.5, -2.25], "<f8"),
    "f4": np.arange(6, dtype="<f4").reshape(2, 3),
    "f2": np.array([0.5, -2.0, np.inf], "<f2"),
    "bool": np.array([True, False, True]),
    "scalar": np.float32(7.0),
    "empty": np.zeros((0, 4), "<f4"),
    "fortran": np.asfortranarray(np.arange(24, dtype="<i4").reshape(2, 3, 4)),
    "text": np.array("grüße"),
    "bytes": np.array(b"abc"),
    "big_endian": np.array([1, 2], ">f4"),
    "complex": np.array([1j]),
    "record": np.array([(1, 2.0)], dtype=[("a", "<i4"), ("b", "<f4")]),
    "rank7": np.zeros((1,) * 7, "<f4"),
}
for bits in (8, 16, 32, 64):
    arrays[f"i{bits}"] = np.array([-(2 ** (bits - 1)), 2 ** (bits - 1) - 1], f"int{bits}")
    arrays[f"u{bits}"] = np.array([0, 2**bits - 1], f"uint{bits}")
np.savez_compressed(here / "numpy_deflated.npz", **arrays)
np.savez(here / "numpy_stored.npz", **{k: arrays[k] for k in ("f8", "f4", "fortran")})


def write_versions(path):
    """One member per npy header version."""
    import io, zipfile
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for version in ((1, 0), (2, 0), (3, 0)):
            member = io.BytesIO()
            np.lib.format.write_array(member, arrays["f4"], version=version)
            archive.writestr(f"version{version[0]}.npy", member.getvalue())
        archive.writestr("notes.txt", "not an array")


write_versions(here / "numpy_versions.npz")
