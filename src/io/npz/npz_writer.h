// Writes NumPy .npz archives: what numpy.load opens, the same bytes for the same arrays.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "io/npz/zip_writer.h"
#include "tensor/tensor_view.h"

namespace pointmap {

using NpzWriteOptions = ZipWriteOptions;

class NpzWriter {
 public:
  // Nothing appears at `path` before finish(). Throws Error{kIoError, kNotFound} naming the path, Error{kInvalidArgument} for
  // a level out of range.
  explicit NpzWriter(const std::filesystem::path& path, const NpzWriteOptions& options = {}) : zip_(path, options) {}
  // Appends the archive to `memory`, which must outlive the writer, and begins at its end. `name` is for messages.
  NpzWriter(std::string& memory, const std::string& name, const NpzWriteOptions& options = {}) : zip_(memory, name, options) {}
  // Appends the archive to `pieces`, which must outlive the writer and be empty; of arrays given as bytes it keeps references only.
  NpzWriter(ZipPieces& pieces, const std::string& name, const NpzWriteOptions& options = {}) : zip_(pieces, name, options) {}

  // Adds an array called `name` (without ".npy"). Throws Error{kInvalidArgument} for an empty, repeated or overlong name and
  // for a view without elements behind it, Error{kUnsupported} for BF16.
  void add(std::string_view name, const TensorView& array);
  // The same from `elements`, C order, as many bytes as shape and type say.
  void add(std::string_view name, DType dtype, const Shape& shape, std::span<const std::byte> elements);
  // UTF-8 bytes as a U8 array [n]: the way this project keeps JSON in archives.
  void add_text(std::string_view name, std::string_view text);

  // Writes the directory and puts the file in place; call once, last. Throws Error{kIoError} naming the path.
  void finish() { zip_.finish(); }

 private:
  ZipWriter zip_;
};

}  // namespace pointmap
