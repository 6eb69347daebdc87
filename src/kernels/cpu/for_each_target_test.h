// Runs a test once for every instruction set that this machine has, through the same dispatch as in production.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "hwy/highway.h"

namespace pointmap::cpu {

// Makes HWY_DYNAMIC_DISPATCH choose one target until destroyed.
class ForcedTarget {
 public:
  explicit ForcedTarget(int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
  }
  ~ForcedTarget() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ForcedTarget(const ForcedTarget&) = delete;
  ForcedTarget& operator=(const ForcedTarget&) = delete;
};

// fn() under each target; failures name it, and the log says which ran.
template <typename Fn>
void for_each_target(const Fn& fn) {
  std::string ran;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    const std::string name = hwy::TargetName(target);
    SCOPED_TRACE("target " + name);
    const ForcedTarget forced(target);
    fn();
    ran += " " + name;
  }
  std::printf("targets run:%s\n", ran.c_str());
}

}  // namespace pointmap::cpu
