#include "kernels/cpu/rope2d.h"

#include "kernels/cpu/against_reference_test.h"

namespace pointmap::cpu {
namespace {

RopeTable random_table(TestBench& b, int64_t num_tokens, int64_t head_dim) {
  RopeTable table{b.random({num_tokens, head_dim / 2}, 5), b.random({num_tokens, head_dim / 2}, 5)};
  for (int64_t i = 0; i < table.cos.shape().num_elements(); ++i) {
    const float angle = table.cos.data<float>()[i] * 3;
    table.cos.data<float>()[i] = std::cos(angle);
    table.sin.data<float>()[i] = std::sin(angle);
  }
  return table;
}

TEST(CpuRope2d, AgreesWithReferenceAndTouchesNothingElse) {
  for_each_target([] {
    for (const int64_t head_dim : {4, 20, 32, 64, 128}) {
      SCOPED_TRACE(testing::Message() << "heads of " << head_dim);
      TestBench b;
      const int64_t channels = 4 * head_dim + 3;
      const Tensor x = b.random({2, 5, channels}, 1);
      const RopeTable table = random_table(b, 5, head_dim);
      Tensor got = b.random({2, 5, channels}, 1), want = b.random({2, 5, channels}, 1);
      b.cpu.rope2d(got, table, head_dim + 1, 3);
      b.ref.rope2d(want, table, head_dim + 1, 3);
      // Two products and their sum, each rounded when there is no FMA, and the reference's rounding: 4 of at most |u| + |v|. The
      // partner of a channel lies head_dim / 4 away on one side or the other.
      expect_close(got, want, [&](int64_t i) {
        const int64_t c = i % channels;
        if (c <= head_dim || c > 4 * head_dim) return 0.0;
        const int64_t quarter = head_dim / 4, partner = (c - 1) / quarter % 2 == 0 ? i + quarter : i - quarter;
        return 4 * kRounding * (std::abs(x.data<float>()[i]) + std::abs(x.data<float>()[partner]));
      });
    }
  });
}

TEST(CpuRope2d, RepeatsTheTableAlongASequenceOfImages) {
  for_each_target([] {
    TestBench b;
    const RopeTable table = random_table(b, 5, 32);
    Tensor apart = b.random({3, 5, 64}, 1), joined = std::move(b.random({3, 5, 64}, 1)).reshaped({1, 15, 64});
    b.cpu.rope2d(apart, table, 0, 2);
    b.cpu.rope2d(joined, table, 0, 2);
    expect_equal(std::move(joined).reshaped({3, 5, 64}), apart);
    Tensor broken = b.random({1, 14, 64}, 1);
    EXPECT_THROW(b.cpu.rope2d(broken, table, 0, 2), Error);
  });
}

TEST(CpuRope2d, SameBitsForAnyNumberOfThreads) {
  expect_same_bits_for_any_number_of_threads([](TestBench& b) {
    Tensor x = b.random({2, 31, 128}, 1);
    b.cpu.rope2d(x, random_table(b, 31, 32), 0, 4);
    return x;
  });
}

}  // namespace
}  // namespace pointmap::cpu
