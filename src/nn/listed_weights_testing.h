// Names and shapes without elements, for tests of what a model asks for.
#pragma once

#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "nn/weight_map.h"

namespace pointmap {

// The names and shapes of an upstream state dict, as the golden data lists them.
class ListedWeights : public WeightSource {
 public:
  explicit ListedWeights(const std::string& file) {
    std::ifstream lines(std::string(POINTMAP_SOURCE_DIR) + "/tests/golden/" + file);
    for (std::string line; std::getline(lines, line);) {
      const size_t tab = line.find('\t');
      std::vector<int64_t> dims;
      std::istringstream numbers(line.substr(tab + 1));
      for (std::string number; std::getline(numbers, number, ',');) dims.push_back(std::stoll(number));
      shapes_.emplace(line.substr(0, tab), Shape(dims));
    }
  }
  std::optional<Shape> shape_of(const std::string& name, const Shape&) override {
    const auto found = shapes_.find(name);
    return found == shapes_.end() ? std::nullopt : std::optional(found->second);
  }
  TensorView load(const std::string&, const Shape&) override { return {}; }
  void release(const std::string&) override {}
  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const auto& [name, shape] : shapes_) names.push_back(name);
    return names;
  }
  void insert(const std::string& name, const Shape& shape) { shapes_.emplace(name, shape); }
  void erase(const std::string& name) { shapes_.erase(name); }

 private:
  std::map<std::string, Shape> shapes_;
};

}  // namespace pointmap
