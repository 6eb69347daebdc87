// Queue, executor and jobs with a model that is a function: what happens when many ask, wait, cancel and leave. Clean under TSan.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "apps/server/executor.h"

namespace pointmap::server {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<Job> make_job(const std::string& id, const std::string& client = "someone") {
  JobRequest request;
  request.client = client;
  return std::make_shared<Job>(id, std::move(request));
}

Reconstruction some_result() {
  Reconstruction result;
  result.report.stages.push_back({"encoder", 5});
  return result;
}

auto in(std::chrono::milliseconds time) {
  return Job::Clock::now() + time;
}

// A model that waits at a gate before each job, and looks at the cancel flag like a block of a network does.
struct GatedModel {
  Executor::Work work() {
    return {
        .load = [](const Progress&) {},
        .run =
            [this](const JobRequest&, const Progress& progress) {
              ++num_begun;
              for (int step = 0; !is_open; ++step) {
                progress.step("waiting", step, 0);
                std::this_thread::sleep_for(1ms);
              }
              progress.step("encoder", 1, 2);
              return some_result();
            },
        .on_over = [this](const JobRequest&, const JobStatus&, const RunReport* report) { report != nullptr ? ++num_done : ++num_failed; }};
  }
  void wait_until_begun(int count) const {
    while (num_begun < count) std::this_thread::sleep_for(1ms);
  }
  std::atomic<bool> is_open{false};
  std::atomic<int> num_begun{0}, num_done{0}, num_failed{0};
};

void wait_until_ready(const Executor& executor) {
  while (executor.state() == Executor::State::kLoading) std::this_thread::sleep_for(1ms);
}

int status_of_push(JobQueue& queue, std::shared_ptr<Job> job) {
  try {
    queue.push(std::move(job));
  } catch (const ApiError& error) {
    EXPECT_GT(error.retry_after_s, 0);
    return error.status;
  }
  return 200;
}

TEST(JobQueue, RefusesWhatDoesNotFit) {
  JobQueue queue(2, 0);
  GatedModel model;
  Executor executor(queue, model.work());
  const auto running = make_job("running");
  queue.push(running);
  model.wait_until_begun(1);
  const auto first = make_job("first"), second = make_job("second");
  queue.push(first);
  queue.push(second);
  EXPECT_EQ(queue.position(*first), 0u);
  EXPECT_EQ(queue.position(*second), 1u);
  EXPECT_EQ(queue.position(*running), std::nullopt);
  EXPECT_EQ(status_of_push(queue, make_job("third")), 503);
  // One that gives up makes room.
  first->cancel();
  queue.remove(*first);
  EXPECT_EQ(first->status().state, JobState::kCancelled);
  EXPECT_EQ(queue.position(*second), 0u);
  EXPECT_EQ(status_of_push(queue, make_job("fourth")), 200);
  model.is_open = true;
  EXPECT_TRUE(second->wait(in(10s)));
}

TEST(JobQueue, CountsTheJobsOfEachClient) {
  JobQueue queue(10, 2);
  GatedModel model;
  Executor executor(queue, model.work());
  const auto running = make_job("1", "a");
  queue.push(running);
  model.wait_until_begun(1);
  EXPECT_EQ(status_of_push(queue, make_job("2", "a")), 200);
  EXPECT_EQ(status_of_push(queue, make_job("3", "a")), 429);
  EXPECT_EQ(status_of_push(queue, make_job("4", "b")), 200);
  model.is_open = true;
  EXPECT_TRUE(running->wait(in(10s)));
}

TEST(Executor, DoesJobsInTheirOrderAndHandsResultsOver) {
  JobQueue queue(10, 0);
  GatedModel model;
  model.is_open = true;
  Executor executor(queue, model.work());
  std::vector<std::shared_ptr<Job>> jobs;
  for (int i = 0; i < 5; ++i) {
    jobs.push_back(make_job(std::to_string(i)));
    queue.push(jobs.back());
  }
  for (const auto& job : jobs) {
    ASSERT_TRUE(job->wait(in(10s)));
    const JobStatus status = job->status();
    EXPECT_EQ(status.state, JobState::kDone);
    EXPECT_EQ(status.stage, "encoder");
    EXPECT_EQ(status.stage_total, 2);
    EXPECT_EQ(job->take_result().report.stages.size(), 1u);
    EXPECT_THROW(job->take_result(), Error);
  }
}

TEST(Executor, StopsARunningJobAtItsNextStep) {
  JobQueue queue(10, 0);
  GatedModel model;
  Executor executor(queue, model.work());
  const auto job = make_job("endless");
  queue.push(job);
  model.wait_until_begun(1);
  const JobStatus before = job->status();
  const JobStatus after = job->wait_for_change(before.version, 10s);
  EXPECT_NE(after.version, before.version);
  EXPECT_EQ(after.state, JobState::kRunning);
  job->cancel();
  ASSERT_TRUE(job->wait(in(10s)));
  EXPECT_EQ(job->status().state, JobState::kCancelled);
  while (!queue.is_idle()) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(model.num_failed, 1);
}

TEST(Executor, NotesTheEndOfAJobBeforeItIsSeen) {
  JobQueue queue(10, 0);
  std::atomic<int> num_noted{0};
  const auto note_slowly = [&](const JobRequest&, const JobStatus& status, const RunReport* report) {
    std::this_thread::sleep_for(50ms);  // long enough for the waiting thread to look
    EXPECT_EQ(status.state, report != nullptr ? JobState::kDone : JobState::kFailed);
    ++num_noted;
  };
  const auto run = [](const JobRequest& request, const Progress&) {
    if (request.client == "unlucky") throw Error{kInternal, "on purpose"};
    return some_result();
  };
  Executor executor(queue, {.load = [](const Progress&) {}, .run = run, .on_over = note_slowly});
  for (const char* client : {"lucky", "unlucky"}) {
    const int before = num_noted;
    JobRequest request;
    request.client = client;
    const auto job = std::make_shared<Job>(client, std::move(request));
    queue.push(job);
    ASSERT_TRUE(job->wait(in(10s)));
    EXPECT_EQ(num_noted, before + 1) << client;
  }
}

TEST(Executor, GoesOnAfterAFailure) {
  JobQueue queue(10, 0);
  std::atomic<int> count{0};
  Executor executor(queue, {.load = [](const Progress&) {},
                            .run = [&count](const JobRequest&, const Progress&) -> Reconstruction {
                              switch (count++) {
                                case 0:
                                  throw Error{kCorruptData, "image1: broken"};
                                case 1:
                                  throw std::bad_alloc();
                                case 2:
                                  throw std::runtime_error("a bug");
                                default:
                                  return some_result();
                              }
                            }});
  const int statuses[] = {422, 503, 500};
  for (const int status : statuses) {
    const auto job = make_job("failing");
    queue.push(job);
    ASSERT_TRUE(job->wait(in(10s)));
    EXPECT_EQ(job->status().state, JobState::kFailed);
    EXPECT_EQ(job->status().error->status, status);
  }
  const auto job = make_job("good");
  queue.push(job);
  ASSERT_TRUE(job->wait(in(10s)));
  EXPECT_EQ(job->status().state, JobState::kDone);
}

TEST(Executor, DeliversBeforeTheJobIsDone) {
  JobQueue queue(10, 0);
  GatedModel model;
  model.is_open = true;
  Executor executor(queue, model.work());
  JobRequest request;
  std::atomic<bool> is_delivered{false};
  request.deliver = [&](Reconstruction& result, const Job&) { is_delivered = result.report.stages.size() == 1; };
  const auto job = std::make_shared<Job>("delivered", std::move(request));
  queue.push(job);
  ASSERT_TRUE(job->wait(in(10s)));
  EXPECT_TRUE(is_delivered);
  EXPECT_THROW(job->take_result(), Error);

  JobRequest unlucky;
  unlucky.deliver = [](Reconstruction&, const Job&) { throw Error{kIoError, "disk full"}; };
  const auto failing = std::make_shared<Job>("undelivered", std::move(unlucky));
  queue.push(failing);
  ASSERT_TRUE(failing->wait(in(10s)));
  EXPECT_EQ(failing->status().state, JobState::kFailed);
}

TEST(Executor, SaysWhyLoadingFailed) {
  JobQueue queue(1, 0);
  Executor executor(queue, {.load = [](const Progress&) { throw Error{kCorruptData, "no weights"}; }, .run = {}});
  wait_until_ready(executor);
  EXPECT_EQ(executor.state(), Executor::State::kFailed);
  EXPECT_EQ(executor.failure(), "no weights");
}

TEST(Executor, LeavesLoadingWhenItIsToldTo) {
  JobQueue queue(1, 0);
  const auto load_for_ever = [](const Progress& progress) {
    while (true) {
      progress.step("load", 0, 0);
      std::this_thread::sleep_for(1ms);
    }
  };
  const Executor executor(queue, {.load = load_for_ever, .run = {}});  // the test is that this ends
}

// No accepted job is lost and none is done twice, whoever cancels.
TEST(Executor, KeepsCountUnderACrowd) {
  JobQueue queue(8, 0);
  GatedModel model;
  model.is_open = true;
  std::atomic<int> num_accepted{0}, num_refused{0}, num_cancelled{0}, num_done{0};
  {
    Executor executor(queue, model.work());
    std::vector<std::thread> clients;
    for (int client = 0; client < 8; ++client) {
      clients.emplace_back([&, client] {
        for (int i = 0; i < 50; ++i) {
          const auto job = make_job("crowd", std::to_string(client));
          try {
            queue.push(job);
          } catch (const ApiError&) {
            ++num_refused;
            continue;
          }
          ++num_accepted;
          if (i % 7 == client % 7) {
            job->cancel();
            queue.remove(*job);
          }
          ASSERT_TRUE(job->wait(in(20s)));
          job->status().state == JobState::kDone ? ++num_done : ++num_cancelled;
        }
      });
    }
    for (std::thread& client : clients) client.join();
  }
  EXPECT_EQ(num_accepted + num_refused, 400);
  EXPECT_EQ(num_done + num_cancelled, num_accepted);
  EXPECT_EQ(num_done, model.num_done);
  EXPECT_TRUE(queue.is_idle());
}

TEST(JobQueue, EndsWhatIsInItOrCancelsIt) {
  JobQueue queue(10, 0);
  GatedModel model;
  const auto running = make_job("running"), waiting = make_job("waiting");
  {
    Executor executor(queue, model.work());
    queue.push(running);
    model.wait_until_begun(1);
    queue.push(waiting);
    queue.close();
    EXPECT_EQ(status_of_push(queue, make_job("late")), 503);
    EXPECT_FALSE(queue.is_idle());
    queue.cancel_all();
  }
  EXPECT_EQ(running->status().state, JobState::kCancelled);
  EXPECT_EQ(waiting->status().state, JobState::kCancelled);
}

}  // namespace
}  // namespace pointmap::server
