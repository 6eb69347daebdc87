#include "io/npz/npy_header.h"

#include <cctype>
#include <cstring>
#include <string_view>

#include "base/check.h"

namespace pointmap {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxHeaderBytes = 1 << 16;
constexpr size_t kMaxDims = 64;                // NumPy's own limit
constexpr int64_t kMaxDim = int64_t{1} << 56;  // leaves room for one more digit

struct TypeName {
  DType dtype;
  std::string_view descr;
};
constexpr TypeName kTypes[] = {{DType::kF64, "<f8"}, {DType::kF32, "<f4"}, {DType::kF16, "<f2"}, {DType::kI64, "<i8"},
                               {DType::kI32, "<i4"}, {DType::kI16, "<i2"}, {DType::kI8, "|i1"},  {DType::kU64, "<u8"},
                               {DType::kU32, "<u4"}, {DType::kU16, "<u2"}, {DType::kU8, "|u1"},  {DType::kBool, "|b1"}};

std::optional<DType> dtype_of_descr(std::string_view descr) {
  if (descr == "<i1") descr = "|i1";  // one byte has no order, and some writers say one anyway
  if (descr == "<u1") descr = "|u1";
  for (const TypeName& type : kTypes) {
    if (type.descr == descr) return type.dtype;
  }
  return std::nullopt;
}

// Just enough of Python's literals: {'key': 'text' | True | False | (1, 2,) | [...], ...}.
class LiteralParser {
 public:
  LiteralParser(std::string_view text, const std::string& what) : text_(text), what_(what) {}

  bool accept(char wanted) {
    skip_spaces();
    if (position_ >= text_.size() || text_[position_] != wanted) return false;
    ++position_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) fail(std::string("'") + wanted + "'");
  }
  std::string take_text() {
    skip_spaces();
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("a quoted text");
    const size_t end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos) fail("the end of a quoted text");
    const std::string text(text_.substr(position_ + 1, end - position_ - 1));
    position_ = end + 1;
    return text;
  }
  bool take_bool() {
    skip_spaces();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(position_, word.size()) != word) continue;
      position_ += word.size();
      return word == "True";
    }
    fail("True or False");
  }
  std::vector<int64_t> take_tuple() {
    std::vector<int64_t> values;
    expect('(');
    while (!accept(')')) {
      if (values.size() == kMaxDims) fail("at most 64 dimensions");
      values.push_back(take_count());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }
  // A record type is a list of tuples; its source text is all that is kept.
  std::string take_list_source() {
    skip_spaces();
    const size_t begin = position_;
    int depth = 0;
    do {
      const char c = peek();
      if (c == '\'' || c == '"') {
        take_text();
        continue;
      }
      if (c == '[') ++depth;
      if (c == ']') --depth;
      ++position_;
    } while (depth > 0);
    return std::string(text_.substr(begin, position_ - begin));
  }
  bool at_list() {
    skip_spaces();
    return peek() == '[';
  }
  void expect_end() {
    skip_spaces();
    if (position_ != text_.size()) fail("the end");
  }

 private:
  void skip_spaces() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_]))) ++position_;
  }
  char peek() {
    if (position_ >= text_.size()) fail("more text");
    return text_[position_];
  }
  int64_t take_count() {
    skip_spaces();
    const size_t begin = position_;
    int64_t value = 0;
    while (position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9') {
      if (value > kMaxDim) fail("number of elements below 2^56");
      value = value * 10 + (text_[position_] - '0');
      ++position_;
    }
    if (position_ == begin) fail("a number of elements");
    return value;
  }
  [[noreturn]] void fail(const std::string& wanted) const {
    throw Error{kCorruptData, what_ + ": npy header has no " + wanted + " at character " + std::to_string(position_)};
  }

  std::string_view text_;
  const std::string& what_;
  size_t position_ = 0;
};

void parse_dictionary(std::string_view text, const std::string& what, NpyHeader& header) {
  bool has_descr = false, has_order = false, has_shape = false;
  LiteralParser parser(text, what);
  parser.expect('{');
  while (!parser.accept('}')) {
    const std::string key = parser.take_text();
    parser.expect(':');
    if (key == "descr" && !has_descr) {
      has_descr = true;
      header.descr = parser.at_list() ? parser.take_list_source() : parser.take_text();
    } else if (key == "fortran_order" && !has_order) {
      has_order = true;
      header.fortran_order = parser.take_bool();
    } else if (key == "shape" && !has_shape) {
      has_shape = true;
      header.dims = parser.take_tuple();
    } else {
      throw Error{kCorruptData, what + ": npy header has an unknown or repeated key '" + key + "'"};
    }
    if (!parser.accept(',')) {
      parser.expect('}');
      break;
    }
  }
  parser.expect_end();
  if (!has_descr || !has_order || !has_shape) throw Error{kCorruptData, what + ": npy header lacks descr, fortran_order or shape"};
}

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> bytes, const std::string& what) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.size() < kMagic.size() + 4 || !text.starts_with(kMagic)) throw Error{kCorruptData, what + ": does not begin with an npy header"};
  const int version = static_cast<unsigned char>(text[6]);
  if (version < 1 || version > 3) throw Error{kUnsupported, what + ": npy format version " + std::to_string(version) + ", can read 1 to 3"};
  size_t length_bytes = version == 1 ? 2 : 4;
  const size_t text_offset = kMagic.size() + 2 + length_bytes;
  uint32_t length = 0;
  if (text.size() < text_offset) throw Error{kCorruptData, what + ": npy header is cut short"};
  std::memcpy(&length, text.data() + kMagic.size() + 2, length_bytes);
  if (length > kMaxHeaderBytes || length > text.size() - text_offset) {
    throw Error{kCorruptData, what + ": npy header claims " + std::to_string(length) + " bytes, got " +
                                  std::to_string(text.size() - text_offset) + ", limit " + std::to_string(kMaxHeaderBytes)};
  }
  NpyHeader header;
  header.data_offset = text_offset + length;
  parse_dictionary(text.substr(text_offset, length), what, header);
  header.dtype = dtype_of_descr(header.descr);
  return header;
}

std::string make_npy_header(DType dtype, const Shape& shape) {
  std::string dictionary;
  for (const TypeName& type : kTypes) {
    if (type.dtype == dtype) dictionary = "{'descr': '" + std::string(type.descr) + "', 'fortran_order': False, 'shape': (";
  }
  if (dictionary.empty()) throw Error{kUnsupported, "NumPy has no element type " + std::string(dtype_name(dtype))};
  for (const int64_t dim : shape.dims()) dictionary += std::to_string(dim) + ", ";
  if (shape.rank() > 1) dictionary.erase(dictionary.size() - 2);  // "(3, 4)"
  if (shape.rank() == 1) dictionary.pop_back();                   // "(3,)": a tuple of one keeps its comma
  dictionary += "), }";

  const size_t prefix_bytes = kMagic.size() + 2 + 2;
  while ((prefix_bytes + dictionary.size() + 1) % 64 != 0) dictionary += ' ';
  dictionary += '\n';
  const auto length = static_cast<uint16_t>(dictionary.size());  // at most 6 dimensions: far below 64 KiB
  std::string header(kMagic);
  header += '\x01';
  header += '\x00';
  header += static_cast<char>(length & 0xFF);
  header += static_cast<char>(length >> 8);
  return header + dictionary;
}

}  // namespace pointmap
