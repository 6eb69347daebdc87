// All tensors of a model, whether they lie in one .safetensors file or in several behind an index.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "io/safetensors/safetensors_file.h"

namespace pointmap {

class Checkpoint {
 public:
  // path: a .safetensors file, a *.index.json, or a folder that holds model.safetensors or model.safetensors.index.json (the
  // first is preferred). Maps the files and checks their headers; no tensor is read. Throws Error naming the file and the tensor:
  // kNotFound, kIoError, kCorruptData, kUnsupported, kLimitExceeded.
  static Checkpoint open(const std::filesystem::path& path);
  // The same for the bytes of one .safetensors file, which stay the caller's and must outlive the checkpoint; `name` is for messages.
  static Checkpoint from_bytes(std::span<const std::byte> bytes, const std::string& name);

  const std::vector<SafetensorsFile>& files() const { return files_; }
  // In the order of files(), then of their bytes.
  const std::vector<SafetensorsEntry>& entries() const { return entries_; }
  // Null when there is no such tensor. Valid as long as this object.
  const SafetensorsEntry* find(std::string_view name) const;
  // `__metadata__` of the files; where two files disagree the first wins.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  // Bytes of all tensors together, without headers.
  uint64_t total_bytes() const;

  // The elements of an entry of this checkpoint, where they lie; valid as long as this object. Throws Error{kUnsupported} naming
  // the tensor when its bytes are not aligned to its type.
  TensorView view(const SafetensorsEntry& entry) const { return file_of(entry).view(entry); }
  // Gives back the memory of the entry's pages once the caller has packed it.
  void drop_pages(const SafetensorsEntry& entry) const { file_of(entry).drop_pages(entry); }

  // 64 hex digits that tell checkpoints apart in reports, in 1 ms to 0.2 s (cold disk): SHA-256 over, for each file, its size, its whole
  // header, and the first 64 bytes of 32 tensors spread over the file (of all, when there are fewer). It is NOT a hash of the payload and
  // proves nothing about a damaged or forged file.
  std::string fingerprint() const;
  // The full SHA-256 of every file, as sha256sum prints it, in the order of files(). Reads everything: 2 s per GB.
  std::vector<std::string> file_sha256s(const CancelFlag* cancel = nullptr) const;

 private:
  Checkpoint() = default;
  void add_file(SafetensorsFile file);
  void open_index(const std::filesystem::path& index_path);
  void sort_names();
  const SafetensorsFile& file_of(const SafetensorsEntry& entry) const;

  std::vector<SafetensorsFile> files_;
  std::vector<SafetensorsEntry> entries_;
  std::vector<size_t> entries_by_name_;  // positions in entries_, sorted by name
  std::map<std::string, std::string> metadata_;
};

}  // namespace pointmap
