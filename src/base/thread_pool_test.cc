#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <vector>

#include "base/error.h"

namespace pointmap {
namespace {

class ThreadPoolTest : public testing::TestWithParam<size_t> {};

TEST_P(ThreadPoolTest, RunsEveryTaskOnceForAnyCount) {
  ThreadPool pool(GetParam());
  for (size_t num_tasks : {size_t{0}, size_t{1}, size_t{2}, size_t{7}, size_t{1000}}) {
    std::vector<std::atomic<int>> runs(num_tasks);
    pool.parallel_for(num_tasks, [&](size_t task, size_t worker) {
      EXPECT_LT(worker, pool.num_threads());
      runs[task].fetch_add(1);
    });
    for (size_t task = 0; task < num_tasks; ++task) EXPECT_EQ(runs[task].load(), 1) << "task " << task;
  }
}

TEST_P(ThreadPoolTest, WritesOfTasksAreSeenAfterTheJoin) {
  ThreadPool pool(GetParam());
  std::vector<size_t> values(1000);
  for (int round = 0; round < 200; ++round) {
    pool.parallel_for(values.size(), [&](size_t task, size_t) { values[task] = task + static_cast<size_t>(round); });
    EXPECT_EQ(std::accumulate(values.begin(), values.end(), size_t{0}), 999u * 500u + 1000u * static_cast<size_t>(round));
  }
}

TEST_P(ThreadPoolTest, RethrowsTheFirstExceptionAndStaysUsable) {
  ThreadPool pool(GetParam());
  EXPECT_THROW(pool.parallel_for(100,
                                 [](size_t task, size_t) {
                                   if (task == 50) throw Error(kCorruptData, "task 50");
                                 }),
               Error);
  int sum = 0;
  pool.parallel_for(1, [&](size_t, size_t) { sum = 1; });
  EXPECT_EQ(sum, 1);
}

TEST_P(ThreadPoolTest, RefusesNesting) {
  ThreadPool pool(GetParam());
  EXPECT_THROW(pool.parallel_for(4, [&](size_t, size_t) { pool.parallel_for(1, [](size_t, size_t) {}); }), Error);
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, testing::Values(1, 2, 3, 7));

TEST(ThreadPool, RefusesZeroThreads) {
  EXPECT_THROW(ThreadPool(0), Error);
}

}  // namespace
}  // namespace pointmap
