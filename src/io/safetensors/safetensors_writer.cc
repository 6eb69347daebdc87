#include "io/safetensors/safetensors_writer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/atomic_file.h"
#include "base/check.h"
#include "io/safetensors/name_in_message.h"

namespace pointmap {
namespace {

std::string json_string(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw Error{kInvalidArgument, "safetensors names and metadata must be UTF-8: " + name_in_message(text)};
  }
}

void check_names(std::span<const NamedTensorView> tensors) {
  std::set<std::string_view> names;
  for (const NamedTensorView& tensor : tensors) {
    POINTMAP_CHECK(!tensor.name.empty() && tensor.name != "__metadata__", "a tensor cannot be named " + name_in_message(tensor.name));
    POINTMAP_CHECK(names.insert(tensor.name).second, "two tensors are named " + name_in_message(tensor.name));
  }
}

std::string header_json(std::span<const NamedTensorView* const> tensors, const std::map<std::string, std::string>& metadata) {
  std::string json = "{";
  if (!metadata.empty()) {
    json += "\"__metadata__\":{";
    for (const auto& [key, value] : metadata) {
      if (json.back() != '{') json += ',';
      json.append(json_string(key)).append(":").append(json_string(value));
    }
    json += "}";
  }
  size_t offset = 0;
  for (const NamedTensorView* tensor : tensors) {
    const size_t end = checked_add(offset, tensor->view.num_bytes());
    if (json.size() > 1) json += ',';
    json.append(json_string(tensor->name)).append(":{\"dtype\":\"").append(dtype_name(tensor->view.dtype()));
    json.append("\",\"shape\":").append(tensor->view.shape().to_string()).append(",\"data_offsets\":[");
    json.append(std::to_string(offset)).append(",").append(std::to_string(end)).append("]}");
    offset = end;
  }
  json += '}';
  json.append((8 - json.size() % 8) % 8, ' ');
  return json;
}

void write_elements(AtomicFile& file, const TensorView& view) {
  const char* data = static_cast<const char*>(view.raw());
  if (view.is_contiguous()) {
    file.write(std::string_view(data, view.num_bytes()));
    return;
  }
  const size_t element_bytes = dtype_bytes(view.dtype());
  const size_t row_bytes = static_cast<size_t>(view.shape()[-1]) * element_bytes;
  const size_t stride_bytes = static_cast<size_t>(view.row_stride()) * element_bytes;
  const size_t num_rows = view.num_bytes() == 0 ? 0 : static_cast<size_t>(view.num_rows());
  for (size_t row = 0; row < num_rows; ++row) file.write(std::string_view(data + row * stride_bytes, row_bytes));
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensorView> tensors,
                       const std::map<std::string, std::string>& metadata) {
  check_names(tensors);
  std::vector<const NamedTensorView*> order;
  for (const NamedTensorView& tensor : tensors) order.push_back(&tensor);
  std::ranges::sort(order, [](const NamedTensorView* a, const NamedTensorView* b) {
    const size_t a_bytes = dtype_bytes(a->view.dtype()), b_bytes = dtype_bytes(b->view.dtype());
    return a_bytes != b_bytes ? a_bytes > b_bytes : a->name < b->name;
  });
  const std::string header = header_json(order, metadata);
  std::string length(8, '\0');
  for (size_t i = 0; i < length.size(); ++i) length[i] = static_cast<char>(header.size() >> (8 * i) & 0xff);

  AtomicFile file(path);
  file.write(length);
  file.write(header);
  for (const NamedTensorView* tensor : order) write_elements(file, tensor->view);
  file.commit();
}

}  // namespace pointmap
