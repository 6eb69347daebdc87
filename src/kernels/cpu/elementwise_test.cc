#include "kernels/cpu/elementwise.h"

#include <array>
#include <limits>
#include <vector>

#include "kernels/cpu/against_reference_test.h"

namespace pointmap::cpu {
namespace {

TEST(CpuAdd, IsExactOnAnyLength) {
  for_each_target([] {
    for (const int64_t length : {1, 15, 16, 17, 1000, 40000}) {
      TestBench b;
      const Tensor left = b.random({length}, 1), right = b.random({length}, 2);
      expect_equal(b.cpu.add(left, right), b.ref.add(left, right));
    }
  });
}

TEST(CpuCopies, CropAndPixelShuffleMoveEveryElementRight) {
  for_each_target([] {
    TestBench b;
    const Tensor x = b.random({2, 5, 7, 36}, 1);
    expect_equal(b.cpu.crop(x, 3, 4), b.ref.crop(x, 3, 4));
    expect_equal(b.cpu.crop(x, 5, 7), x);
    for (const int64_t factor : {1, 2, 3, 6}) expect_equal(b.cpu.pixel_shuffle(x, factor), b.ref.pixel_shuffle(x, factor));
  });
}

TEST(CpuCopies, ConcatLastPutsRowsSideBySide) {
  for_each_target([] {
    TestBench b;
    const Tensor x = b.random({2, 5, 40}, 1), y = b.random({2, 5, 7}, 2);
    expect_equal(b.cpu.concat_last(x, y), b.ref.concat_last(x, y));
    expect_equal(b.cpu.concat_last(x.view().slice_last(3, 20), y), b.ref.concat_last(x.view().slice_last(3, 20), y));
    const Tensor many = b.random({7000, 5}, 3);
    expect_equal(b.cpu.concat_last(many, many), b.ref.concat_last(many, many));
  });
}

TEST(CpuMultiplyAdd, AgreesWithReferenceForWholeTensorsRowsAndSlices) {
  for_each_target([] {
    for (const int64_t channels : {1, 3, 16, 33, 700}) {
      SCOPED_TRACE(testing::Message() << channels << " channels");
      TestBench b;
      const Tensor wide = b.random({70, 2, 3 * channels}, 1), whole = b.random({70, 2, channels}, 2), row = b.random({channels}, 3);
      const TensorView slice = wide.view().slice_last(channels, 2 * channels);
      const std::vector<std::array<TensorView, 3>> cases = {
          {whole, whole, whole}, {slice, row, row}, {whole, slice, row}, {slice, row, slice}};
      for (const auto& [x, y, z] : cases) {
        const Tensor want = b.ref.multiply_add(x, y, z);
        // Product and sum are rounded when there is no FMA, the product to a multiple of its own size; the reference rounds once.
        expect_close(b.cpu.multiply_add(x, y, z), want, [&, y = y, x = x](int64_t i) {
          const int64_t r = i / channels, c = i % channels;
          const float* factor = y.data<float>() + (y.shape().rank() == 1 ? 0 : r * y.row_stride());
          const double product = static_cast<double>(x.data<float>()[r * x.row_stride() + c]) * factor[c];
          return kRounding * (std::abs(product) + 2 * std::abs(static_cast<double>(want.data<float>()[i])));
        });
      }
    }
  });
}

TEST(CpuAtLeast, IsExactAndKeepsNan) {
  for_each_target([] {
    TestBench b;
    Tensor x = b.random({3, 9}, 1);
    x.data<float>()[4] = std::numeric_limits<float>::quiet_NaN();
    Tensor floor = b.random({9}, 2);
    floor.data<float>()[2] = -std::numeric_limits<float>::infinity();
    expect_close(b.cpu.at_least(x, floor), b.ref.at_least(x, floor), [](int64_t) { return 0.0; });
  });
}

TEST(CpuAddColumnsAndRows, IsExactOnAnySize) {
  for_each_target([] {
    for (const Shape& shape : {Shape{1, 1, 1, 2}, Shape{2, 3, 5, 34}, Shape{1, 7, 2, 256}, Shape{3, 2, 4, 60}}) {
      TestBench b;
      Tensor got = b.random(shape, 1), want = b.random(shape, 1);
      const Tensor by_column = b.random({shape[2], shape[3] / 2}, 2), by_row = b.random({shape[1], shape[3] / 2}, 3);
      b.cpu.add_columns_and_rows(got, by_column, by_row);
      b.ref.add_columns_and_rows(want, by_column, by_row);
      expect_equal(got, want);
    }
  });
}

TEST(CpuElementwise, SameBitsForAnyNumberOfThreads) {
  expect_same_bits_for_any_number_of_threads([](TestBench& b) { return b.cpu.add(b.random({50001}, 1), b.random({50001}, 2)); });
  expect_same_bits_for_any_number_of_threads([](TestBench& b) {
    return b.cpu.multiply_add(b.random({501, 77}, 1), b.random({77}, 2), b.random({501, 77}, 3));
  });
  expect_same_bits_for_any_number_of_threads([](TestBench& b) {
    Tensor x = b.random({2, 13, 9, 34}, 1);
    b.cpu.add_columns_and_rows(x, b.random({9, 17}, 2), b.random({13, 17}, 3));
    return x;
  });
}

}  // namespace
}  // namespace pointmap::cpu
