#include "io/safetensors/checkpoint.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "io/safetensors/name_in_message.h"
#include "io/safetensors/sha256.h"
#include "io/safetensors/shard_index.h"

namespace pointmap {
namespace {

constexpr size_t kFingerprintTensors = 32;  // each may cost a disk access with the read-ahead that comes with it
constexpr size_t kFingerprintBytesPerTensor = 64;
constexpr size_t kHashPieceBytes = size_t{64} << 20;  // between two looks at the cancel flag

std::filesystem::path file_in_folder(const std::filesystem::path& folder) {
  for (const char* name : {"model.safetensors", "model.safetensors.index.json"}) {
    if (std::filesystem::exists(folder / name)) return folder / name;
  }
  throw Error{kNotFound, "folder '" + folder.string() + "' holds neither model.safetensors nor model.safetensors.index.json"};
}

std::span<const std::byte> text_bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

Checkpoint Checkpoint::open(const std::filesystem::path& path) {
  std::error_code ignored;  // what is no folder is opened as a file, and that says what is wrong
  const std::filesystem::path file = std::filesystem::is_directory(path, ignored) ? file_in_folder(path) : path;
  Checkpoint checkpoint;
  if (file.filename().string().ends_with(".index.json")) {
    checkpoint.open_index(file);
  } else {
    checkpoint.add_file(SafetensorsFile(file));
    checkpoint.sort_names();
  }
  return checkpoint;
}

Checkpoint Checkpoint::from_bytes(std::span<const std::byte> bytes, const std::string& name) {
  Checkpoint checkpoint;
  checkpoint.add_file(SafetensorsFile(bytes, name));
  checkpoint.sort_names();
  return checkpoint;
}

void Checkpoint::add_file(SafetensorsFile file) {
  const size_t file_index = files_.size();
  files_.push_back(std::move(file));
  for (SafetensorsEntry entry : files_.back().entries()) {
    entry.file_index = file_index;
    entries_.push_back(std::move(entry));
  }
  metadata_.insert(files_.back().metadata().begin(), files_.back().metadata().end());
}

// The index and the files must tell the same story: every tensor where the index says, and no tensor the index does not know.
void Checkpoint::open_index(const std::filesystem::path& index_path) {
  const MappedFile index(index_path);
  const std::map<std::string, std::string> file_of_tensor = parse_shard_index(index.bytes(), index_path.string());
  std::set<std::string> file_names;
  for (const auto& [tensor, file] : file_of_tensor) file_names.insert(file);
  for (const std::string& file : file_names) add_file(SafetensorsFile(index_path.parent_path() / file));
  for (const SafetensorsEntry& entry : entries_) {
    const auto wanted = file_of_tensor.find(entry.name);
    const std::filesystem::path& path = files_[entry.file_index].path();
    if (wanted == file_of_tensor.end() || path.filename() != wanted->second) {
      throw Error{kCorruptData, "'" + path.string() + "': tensor " + name_in_message(entry.name) + " is not listed for this file in '" +
                                    index_path.string() + "'"};
    }
  }
  sort_names();
  for (const auto& [tensor, file] : file_of_tensor) {
    if (find(tensor) == nullptr) {
      throw Error{kCorruptData, "'" + index_path.string() + "': tensor " + name_in_message(tensor) + " is not in '" + file + "'"};
    }
  }
}

void Checkpoint::sort_names() {
  entries_by_name_.resize(entries_.size());
  for (size_t i = 0; i < entries_.size(); ++i) entries_by_name_[i] = i;
  std::ranges::sort(entries_by_name_, {}, [this](size_t i) { return std::string_view(entries_[i].name); });
}

const SafetensorsEntry* Checkpoint::find(std::string_view name) const {
  const auto name_at = [this](size_t i) { return std::string_view(entries_[i].name); };
  const auto found = std::ranges::lower_bound(entries_by_name_, name, {}, name_at);
  return found == entries_by_name_.end() || name_at(*found) != name ? nullptr : &entries_[*found];
}

uint64_t Checkpoint::total_bytes() const {
  uint64_t total = 0;  // cannot overflow: the ranges lie inside mapped files
  for (const SafetensorsEntry& entry : entries_) total += entry.end - entry.begin;
  return total;
}

const SafetensorsFile& Checkpoint::file_of(const SafetensorsEntry& entry) const {
  POINTMAP_CHECK(entry.file_index < files_.size(), "tensor " + name_in_message(entry.name) + " is not of this checkpoint");
  return files_[entry.file_index];
}

std::string Checkpoint::fingerprint() const {
  Sha256 hash;
  for (const SafetensorsFile& file : files_) {
    hash.update(text_bytes(std::to_string(file.bytes().size()) + "\n"));
    hash.update(file.header_bytes());
    const std::vector<SafetensorsEntry>& entries = file.entries();
    const size_t num_samples = std::min(entries.size(), kFingerprintTensors);
    for (size_t i = 0; i < num_samples; ++i) {  // evenly spread, the first and the last among them
      const size_t sample = num_samples == 1 ? 0 : i * (entries.size() - 1) / (num_samples - 1);
      const std::span<const std::byte> data = file.bytes(entries[sample]);
      hash.update(data.first(std::min(data.size(), kFingerprintBytesPerTensor)));
    }
  }
  return hash.hex();
}

std::vector<std::string> Checkpoint::file_sha256s(const CancelFlag* cancel) const {
  std::vector<std::string> hashes;
  for (const SafetensorsFile& file : files_) {
    Sha256 hash;
    for (std::span<const std::byte> rest = file.bytes(); !rest.empty();) {
      if (cancel != nullptr) cancel->throw_if_requested();
      const std::span<const std::byte> piece = rest.first(std::min(rest.size(), kHashPieceBytes));
      hash.update(piece);
      file.drop_pages(piece);
      rest = rest.subspan(piece.size());
    }
    hashes.push_back(hash.hex());
  }
  return hashes;
}

}  // namespace pointmap
