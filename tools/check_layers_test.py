#!/usr/bin/env python3
"""Tests of check_layers.py: a small tree that obeys the table passes, and each kind of bad edge added to it is found."""

import pathlib
import tempfile
import unittest

import check_layers

# One header in each folder that the edges below need, and some edges that are allowed.
GOOD_TREE = {
    "include/pointmap/pointmap.h": "#include <string>\n",
    "src/base/error.h": "#include <stdexcept>\n",
    "src/base/mapped_file.cc": "#include <sys/mman.h>\n",
    "src/tensor/tensor.h": '#include "base/error.h"\n',
    "src/io/image/png_decode.cc": '#include <spng.h>\n#include "tensor/tensor.h"\n',
    "src/io/image/image.h": "#include <vector>\n",
    "src/io/ply/ply.h": "#include <string>\n",
    "src/io/safetensors/safetensors.h": "",
    "src/io/image/image_test.cc": '#include <gtest/gtest.h>\n#include "io/image/image.h"\n',
    "src/geometry/camera.h": "",
    "src/kernels/ops.h": '#include "tensor/tensor.h"\n',
    "src/kernels/make_ops.h": '#include "kernels/ops.h"\n',
    "src/kernels/make_ops.cc": '#include "kernels/cpu/cpu_ops.h"\n#include "kernels/make_ops.h"\n#include "kernels/ref/ref_ops.h"\n',
    "src/kernels/ref/ref_ops.h": '#include "kernels/ops.h"\n',
    "src/kernels/cpu/cpu_ops.h": '#include <hwy/highway.h>\n#include "kernels/ops.h"\n',
    "src/nn/linear.h": '#include "kernels/ops.h"\n',
    "src/nn/linear_test.cc": '#include <gtest/gtest.h>\n#include "kernels/ref/ref_ops.h"\n',
    "src/nn/nn_test_util.h": "",
    "src/scene/export_ply.cc": '#include "geometry/camera.h"\n#include "io/ply/ply.h"\n',
    "src/models/dust3r/dust3r.h": '#include "nn/linear.h"\n#include "kernels/ops.h"\n',
    "src/models/vggt/vggt.h": "",
    "src/recon/recon.cc": '#include "io/safetensors/safetensors.h"\n#include "kernels/make_ops.h"\n#include "models/dust3r/dust3r.h"\n',
    "src/api/api.cc": '#include <pointmap/pointmap.h>\n#include "pointmap/pointmap.h"\n',
    "apps/cli/main.cc": '#include <CLI/CLI.hpp>\n#include "pointmap/pointmap.h"\n',
    "bench/bench.cc": '#include <benchmark/benchmark.h>\n#include "kernels/cpu/cpu_ops.h"\n',
}

# What is wrong, the file, the line added to it.
BAD_EDGES = [
    ("up", "src/base/error.h", '#include "tensor/tensor.h"'),
    ("base uses a package", "src/base/error.h", "#include <hwy/highway.h>"),
    ("tensor uses the system", "src/tensor/tensor.h", "#include <unistd.h>"),
    ("io to another io", "src/io/image/image.h", '#include "io/ply/ply.h"'),
    ("io to a model", "src/io/image/image.h", '#include "models/dust3r/dust3r.h"'),
    ("codec in a header", "src/io/image/image.h", "#include <png.h>"),
    ("two codecs in one file", "src/io/image/png_decode.cc", "#include <webp/decode.h>"),
    ("codec outside io", "src/scene/export_ply.cc", "#include <spng.h>"),
    ("neighbours", "src/geometry/camera.h", '#include "kernels/ops.h"'),
    ("ref to cpu", "src/kernels/ref/ref_ops.h", '#include "kernels/cpu/cpu_ops.h"'),
    ("cpu to ref by a relative path", "src/kernels/cpu/cpu_ops.h", '#include "../ref/ref_ops.h"'),
    ("kernel to make_ops", "src/kernels/cpu/cpu_ops.h", '#include "kernels/make_ops.h"'),
    ("ops.h to a device", "src/kernels/ops.h", '#include "kernels/cpu/cpu_ops.h"'),
    ("SIMD outside kernels/cpu", "src/nn/linear.h", "#include <hwy/highway.h>"),
    ("intrinsics in ref", "src/kernels/ref/ref_ops.h", "#include <immintrin.h>"),
    ("nn to a device", "src/nn/linear.h", '#include "kernels/cpu/cpu_ops.h"'),
    ("nn chooses a device", "src/nn/linear.h", '#include "kernels/make_ops.h"'),
    ("model to a device", "src/models/dust3r/dust3r.h", '#include "kernels/cpu/cpu_ops.h"'),
    ("model to io", "src/models/dust3r/dust3r.h", '#include "io/safetensors/safetensors.h"'),
    ("model to model", "src/models/dust3r/dust3r.h", '#include "models/vggt/vggt.h"'),
    ("scene to safetensors", "src/scene/export_ply.cc", '#include "io/safetensors/safetensors.h"'),
    ("recon inside kernels/cpu", "src/recon/recon.cc", '#include "kernels/cpu/cpu_ops.h"'),
    ("public header to src", "include/pointmap/pointmap.h", '#include "base/error.h"'),
    ("app to src", "apps/cli/main.cc", '#include "recon/recon.h"'),
    ("app to base", "apps/cli/main.cc", '#include "base/error.h"'),
    ("HTTP outside the server", "apps/cli/main.cc", "#include <httplib.h>"),
    ("test helper in the product", "src/nn/linear.h", '#include "nn/nn_test_util.h"'),
    ("test sees a higher floor", "src/io/image/image_test.cc", '#include "nn/linear.h"'),
    ("product uses GoogleTest", "src/nn/linear.h", "#include <gtest/gtest.h>"),
    ("unknown header", "src/nn/linear.h", '#include "linear.hpp"'),
    ("unknown package", "src/nn/linear.h", "#include <boost/any.hpp>"),
    ("indented include", "src/base/error.h", '  #  include   "tensor/tensor.h"'),
]


class CheckLayers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for path, text in GOOD_TREE.items():
            self.write(path, text)
        self.write("src/recon/recon.h", "")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def faults(self):
        return list(check_layers.faults_of_tree(self.root))

    def test_a_tree_that_obeys_has_no_faults(self):
        self.assertEqual(self.faults(), [])

    def test_each_bad_edge_is_found_where_it_is(self):
        for what, path, line in BAD_EDGES:
            with self.subTest(what):
                before = (self.root / path).read_text()
                self.write(path, before + line + "\n")
                faults = self.faults()
                self.write(path, before)
                self.assertTrue(faults and all(fault.startswith(path + ":") for fault in faults), faults)

    def test_a_folder_outside_the_table_is_found(self):
        self.write("src/misc/misc.h", "")
        self.assertIn("src/misc/misc.h:1", self.faults()[0])

    def test_a_long_file_is_found_and_the_longest_allowed_is_not(self):
        self.write("src/base/error.h", "\n" * check_layers.MAX_LINES)
        self.assertEqual(self.faults(), [])
        self.write("src/base/error.h", "\n" * (check_layers.MAX_LINES + 1))
        self.assertEqual(len(self.faults()), 1)

    def test_exit_status_says_whether_there_are_faults(self):
        self.assertEqual(check_layers.main([str(self.root)]), 0)
        self.write("src/base/error.h", '#include "tensor/tensor.h"\n')
        self.assertEqual(check_layers.main([str(self.root)]), 1)


if __name__ == "__main__":
    unittest.main()
