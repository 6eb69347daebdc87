// Finding, looking into and downloading models.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "pointmap/pointmap.h"

namespace pointmap {

struct DefaultModel {
  std::string name;
  std::string notice;  // one line for the user: what it is, and how to get another
};

// What to run when nobody names a model: "dust3r" when it is in the Hugging Face cache, else "demo", which is part of this library and was
// trained on synthetic scenes only.
DefaultModel default_model();

struct TensorInfo {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
};

struct ModelReport {
  ModelInfo info;
  std::vector<TensorInfo> tensors;      // of the file; empty for synthetic models
  std::vector<std::string> missing;     // wanted by the network, not in the file
  std::vector<std::string> mismatched;  // of another shape
  std::vector<std::string> unexpected;  // in the file, unknown to the network
  std::vector<std::string> ignored;     // in the file, known and not needed
  bool usable() const { return missing.empty() && mismatched.empty() && unexpected.empty(); }
};

// Reads headers only. Throws Error when the model is not found or is none of ours.
ModelReport inspect_model(const std::string& model);

// For machines: everything in the report.
std::string to_json(const ModelReport& report);

struct DownloadProgress {
  std::string file;
  uint64_t done_bytes = 0;
  uint64_t total_bytes = 0;  // 0 while unknown
};

struct DownloadOptions {
  std::function<void(const DownloadProgress&)> on_progress = {};
  const CancelFlag* cancel = nullptr;  // may be null
};

struct DownloadedModel {
  std::filesystem::path folder;  // of the snapshot, as the Hugging Face cache has it
  std::string commit;
  std::string license;
};

// Downloads a model ("dust3r", "hf:ORG/NAME[@REV]") into the Hugging Face cache, going on where an earlier download broke off, and
// checks sizes and hashes. Honours HF_HOME, HF_HUB_CACHE, HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE. Throws Error{kIoError, kNotFound,
// kCorruptData, kCancelled, ...} saying what failed and leaving nothing that looks whole.
DownloadedModel download_model(const std::string& model, const DownloadOptions& options = {});

}  // namespace pointmap
