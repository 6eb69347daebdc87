// Good headers come through; each hostile one gives an error of the right kind that names the tensor.
#include "io/safetensors/safetensors_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace pointmap {
namespace {

using testing::HasSubstr;

std::string length_prefix(uint64_t length) {
  std::string bytes(8, '\0');
  for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(length >> (8 * i) & 0xff);
  return bytes;
}

// A file with this header and data_bytes bytes after it.
std::string file_with(const std::string& json, size_t data_bytes) {
  return length_prefix(json.size()) + json + std::string(data_bytes, '\1');
}

std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

SafetensorsHeader parse(const std::string& bytes) {
  return parse_safetensors_header(std::as_bytes(std::span(bytes.data(), bytes.size())), "f.safetensors");
}

TEST(SafetensorsHeader, ReadsEntriesInTheOrderOfTheirBytes) {
  const std::string json = "{" + tensor("b", "BF16", "[3]", "[8,14]") + ",\"__metadata__\":{\"format\":\"pt\"}," +
                           tensor("a", "F32", "[2, 1]", "[0,8]") + "}   ";
  const SafetensorsHeader header = parse(file_with(json, 14));
  ASSERT_EQ(header.entries.size(), 2u);
  EXPECT_EQ(header.data_begin, 8 + json.size());
  EXPECT_EQ(header.entries[0].name, "a");
  EXPECT_EQ(header.entries[0].dtype, DType::kF32);
  EXPECT_EQ(header.entries[0].shape, (Shape{2, 1}));
  EXPECT_EQ(header.entries[0].begin, 8 + json.size());
  EXPECT_EQ(header.entries[0].end, 8 + json.size() + 8);
  EXPECT_EQ(header.entries[1].name, "b");
  EXPECT_EQ(header.entries[1].dtype, DType::kBF16);
  EXPECT_EQ(header.entries[1].end, 8 + json.size() + 14);
  EXPECT_EQ(header.metadata, (std::map<std::string, std::string>{{"format", "pt"}}));
}

TEST(SafetensorsHeader, ReadsEveryTypeScalarsEmptyTensorsAndEscapedNames) {
  struct Case {
    const char* dtype;
    size_t bytes;
  };
  for (const Case& c : std::initializer_list<Case>{{"F64", 8},
                                                   {"F32", 4},
                                                   {"F16", 2},
                                                   {"BF16", 2},
                                                   {"I64", 8},
                                                   {"I32", 4},
                                                   {"I16", 2},
                                                   {"I8", 1},
                                                   {"U64", 8},
                                                   {"U32", 4},
                                                   {"U16", 2},
                                                   {"U8", 1},
                                                   {"BOOL", 1}}) {
    const std::string end = std::to_string(c.bytes);
    const SafetensorsHeader header = parse(file_with("{" + tensor("scalar", c.dtype, "[]", "[0," + end + "]") + "," +
                                                         tensor("\\u00e9mpty", c.dtype, "[3,0,2]", "[" + end + "," + end + "]") + "}",
                                                     c.bytes));
    ASSERT_EQ(header.entries.size(), 2u) << c.dtype;
    EXPECT_EQ(dtype_name(header.entries[0].dtype), c.dtype);
    EXPECT_EQ(header.entries[0].shape.rank(), 0u);
    EXPECT_EQ(header.entries[1].name, "\xc3\xa9mpty");
    EXPECT_EQ(header.entries[1].shape, (Shape{3, 0, 2}));
  }
  EXPECT_TRUE(parse(file_with("{}", 0)).entries.empty());
}

struct HostileFile {
  const char* what;
  std::string bytes;
  ErrorCode code;
  const char* in_message;
};

std::vector<HostileFile> hostile_files() {
  const std::string good = tensor("good", "F32", "[2]", "[0,8]");
  const auto one = [](const char* dtype, const char* shape, const char* offsets, size_t data_bytes) {
    return file_with("{" + tensor("bad", dtype, shape, offsets) + "}", data_bytes);
  };
  return {
      {"no byte at all", "", kCorruptData, "0 bytes"},
      {"shorter than the length", "\x02\0\0", kCorruptData, "too few"},
      {"header of 2^64-1", length_prefix(~uint64_t{0}) + "{}", kLimitExceeded, "18446744073709551615"},
      {"header of 2^63", length_prefix(uint64_t{1} << 63) + "{}", kLimitExceeded, "header"},
      {"header one over the cap", length_prefix(kMaxSafetensorsHeaderBytes + 1) + "{}", kLimitExceeded, "100000001"},
      {"header one byte longer than the file", length_prefix(3) + "{}", kCorruptData, "header ends at byte 11, file has 10"},
      {"empty header", length_prefix(0), kCorruptData, "'{'"},
      {"header is a list", file_with("[]", 0), kCorruptData, "'{'"},
      {"space before the brace", file_with(" {}", 0), kCorruptData, "'{'"},
      {"a zip file", "PK\x03\x04" + std::string(60, '\0'), kCorruptData, "header ends at"},
      {"JSON cut off", file_with("{" + good.substr(0, good.size() - 3), 8), kCorruptData, "tensor 'good'"},
      {"rubbish after the JSON", file_with("{" + good + "} x", 8), kCorruptData, "tensor 'good': header is not valid"},
      {"two documents", file_with("{" + good + "}{}", 8), kCorruptData, "not valid"},
      {"NUL padding", file_with("{" + good + "}" + std::string(1, '\0'), 8), kCorruptData, "not valid"},
      {"name is not UTF-8", file_with("{" + good + "," + tensor("b\xff\xfe", "F32", "[1]", "[8,12]") + "}", 12), kCorruptData,
       "after tensor 'good'"},
      {"overlong UTF-8", file_with("{" + tensor("\xc0\xaf", "F32", "[1]", "[0,4]") + "}", 4), kCorruptData, "UTF-8"},
      {"lone surrogate", file_with("{" + tensor("\\ud800", "F32", "[1]", "[0,4]") + "}", 4), kCorruptData, "not valid"},
      {"same name twice", file_with("{" + good + "," + tensor("good", "F32", "[1]", "[8,12]") + "}", 12), kCorruptData,
       "tensor 'good': name comes twice"},
      {"same name twice, once escaped", file_with("{" + good + "," + tensor("\\u0067ood", "F32", "[1]", "[8,12]") + "}", 12), kCorruptData,
       "twice"},
      {"dtype twice", file_with(R"({"bad":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4), kCorruptData,
       "tensor 'bad': key 'dtype' comes twice"},
      {"offsets twice", file_with(R"({"bad":{"data_offsets":[0,4],"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4), kCorruptData,
       "'bad': key 'data_offsets'"},
      {"metadata twice", file_with(R"({"__metadata__":{},"__metadata__":{}})", 0), kCorruptData, "twice"},
      {"metadata key twice", file_with(R"({"__metadata__":{"a":"1","a":"2"}})", 0), kCorruptData, "key 'a' comes twice"},
      {"metadata value is a number", file_with(R"({"__metadata__":{"a":1}})", 0), kCorruptData, "a number"},
      {"metadata is a list", file_with(R"({"__metadata__":["a"]})", 0), kCorruptData, "a list"},
      {"unknown key", file_with(R"({"bad":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":[[[]]]}})", 4), kCorruptData,
       "unknown key 'x'"},
      {"no dtype", file_with(R"({"bad":{"shape":[1],"data_offsets":[0,4]}})", 4), kCorruptData, "'bad': lacks"},
      {"no shape", file_with(R"({"bad":{"dtype":"F32","data_offsets":[0,4]}})", 4), kCorruptData, "'bad': lacks"},
      {"no offsets", file_with(R"({"bad":{"dtype":"F32","shape":[1]}})", 4), kCorruptData, "'bad': lacks"},
      {"tensor is null", file_with(R"({"bad":null})", 0), kCorruptData, "'bad': header has null"},
      {"tensor is a string", file_with(R"({"bad":"F32"})", 0), kCorruptData, "'bad': header has a string"},
      {"nested shape", one("F32", "[[1]]", "[0,4]", 4), kCorruptData, "'bad': header has a list"},
      {"a million open brackets", file_with("{\"bad\":" + std::string(1'000'000, '['), 0), kCorruptData, "'bad': header has a list"},
      {"unknown type", one("F8_E4M3", "[4]", "[0,4]", 4), kUnsupported, "'bad': has type 'F8_E4M3'"},
      {"type in lower case", one("f32", "[1]", "[0,4]", 4), kUnsupported, "'bad': has type 'f32'"},
      {"empty type", one("", "[1]", "[0,4]", 4), kUnsupported, "'bad': has type ''"},
      {"seven dimensions", one("F32", "[1,1,1,1,1,1,1]", "[0,4]", 4), kUnsupported, "'bad': has more than 6 dimensions"},
      {"negative dimension", one("F32", "[-1]", "[0,4]", 4), kCorruptData, "'bad': header has a negative number"},
      {"fractional dimension", one("F32", "[1.0]", "[0,4]", 4), kCorruptData, "'bad': header has a number"},
      {"dimension of 2^63", one("F32", "[9223372036854775808]", "[0,4]", 4), kCorruptData, "'bad': has a dimension"},
      {"dimension beyond 2^64", one("F32", "[99999999999999999999]", "[0,4]", 4), kCorruptData, "'bad'"},
      {"elements overflow", one("F32", "[4294967296,4294967296]", "[0,4]", 4), kCorruptData, "'bad': size overflow"},
      {"overflow hidden by a zero", one("F32", "[4294967296,4294967296,0]", "[0,0]", 0), kCorruptData, "'bad': size overflow"},
      {"elements wrap to four bytes", one("F32", "[4611686018427387905]", "[0,4]", 4), kCorruptData, "'bad'"},
      {"bytes overflow", one("F64", "[4611686018427387904]", "[0,0]", 0), kCorruptData, "'bad': size overflow"},
      {"fewer bytes than the shape", one("F32", "[2]", "[0,4]", 4), kCorruptData, "'bad': data_offsets [0, 4] do not span the 8 bytes"},
      {"more bytes than the shape", one("F32", "[2]", "[0,12]", 12), kCorruptData, "'bad': data_offsets [0, 12]"},
      {"offsets backwards", one("F32", "[1]", "[4,0]", 4), kCorruptData, "'bad': data_offsets [4, 0]"},
      {"offsets backwards, wrapping to the size", one("F32", "[1]", "[18446744073709551612,0]", 4), kCorruptData, "'bad'"},
      {"negative offset", one("F32", "[1]", "[-4,0]", 4), kCorruptData, "'bad': header has a negative number"},
      {"one offset", one("F32", "[1]", "[4]", 4), kCorruptData, "'bad': has 1 data_offsets"},
      {"three offsets", one("F32", "[1]", "[0,4,4]", 4), kCorruptData, "'bad': has more than two"},
      {"offsets are strings", one("F32", "[1]", "[\"0\",\"4\"]", 4), kCorruptData, "'bad': header has a string"},
      {"data cut by one byte", one("F32", "[2]", "[0,8]", 7), kCorruptData, "'bad': data ends at byte 8, file has 7"},
      {"tensor far behind the end", one("F32", "[1]", "[1099511627776,1099511627780]", 4), kCorruptData, "'bad': data ends at"},
      {"bytes after the last tensor", one("F32", "[2]", "[0,8]", 9), kCorruptData, "1 bytes after the last tensor 'bad'"},
      {"bytes without any tensor", file_with("{}", 4), kCorruptData, "4 bytes belong to no tensor"},
      {"overlap by a byte", file_with("{" + good + "," + tensor("bad", "F32", "[1]", "[7,11]") + "}", 11), kCorruptData,
       "'bad': data begins at byte 7 inside"},
      {"two tensors on the same bytes", file_with("{" + good + "," + tensor("zbad", "F32", "[2]", "[0,8]") + "}", 8), kCorruptData,
       "'zbad': data begins at byte 0 inside"},
      {"empty tensor inside another", file_with("{" + good + "," + tensor("bad", "F32", "[0]", "[4,4]") + "}", 8), kCorruptData,
       "'bad': data begins at byte 4 inside"},
      {"hole", file_with("{" + good + "," + tensor("bad", "F32", "[1]", "[9,13]") + "}", 13), kCorruptData,
       "'bad': data begins at byte 9, but bytes from 8"},
      {"hole at the start", one("F32", "[1]", "[4,8]", 8), kCorruptData, "'bad': data begins at byte 4, but bytes from 0"},
      {"escape codes in a name", file_with("{" + tensor("\\u001b[2J", "F32", "[1]", "[0,5]") + "}", 5), kCorruptData, "'?[2J'"},
  };
}

TEST(SafetensorsHeader, RefusesHostileFiles) {
  const std::vector<HostileFile> files = hostile_files();
  EXPECT_GE(files.size(), 25u);
  for (const HostileFile& file : files) {
    SCOPED_TRACE(file.what);
    try {
      parse(file.bytes);
      ADD_FAILURE() << "was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error_code_name(error.code()), error_code_name(file.code)) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(file.in_message));
      EXPECT_THAT(error.what(), HasSubstr("'f.safetensors'"));
    }
  }
}

TEST(SafetensorsHeader, CapsTheNumberOfTensors) {
  std::string json = "{";
  for (size_t i = 0; i <= kMaxTensorsPerFile; ++i) {
    if (i > 0) json += ',';
    json += tensor(std::string("t").append(std::to_string(i)), "F32", "[0]", "[0,0]");
  }
  try {
    parse(file_with(json + "}", 0));
    FAIL() << "was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kLimitExceeded);
    EXPECT_THAT(error.what(), HasSubstr("'t100000'"));
  }
}

TEST(SafetensorsHeader, EveryTruncationOfAGoodFileIsRefused) {
  const std::string good = file_with("{" + tensor("a", "F32", "[2]", "[0,8]") + "," + tensor("b", "U8", "[3]", "[8,11]") + "}", 11);
  EXPECT_NO_THROW(parse(good));
  for (size_t bytes = 0; bytes < good.size(); ++bytes) EXPECT_THROW(parse(good.substr(0, bytes)), Error) << bytes;
}

}  // namespace
}  // namespace pointmap
