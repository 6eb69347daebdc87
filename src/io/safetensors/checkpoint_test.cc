// Checkpoints from one file, a folder and an index; lookup, views, pages, hashes; indexes that lie.
#include "io/safetensors/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "base/error.h"
#include "io/safetensors/safetensors_writer.h"

namespace pointmap {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest() : folder_(fs::temp_directory_path() / ("pointmap-checkpoint-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~CheckpointTest() override { fs::remove_all(folder_); }

  fs::path write_text(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  // One F32 tensor of these values per name.
  fs::path write_tensors(const std::string& file, const std::map<std::string, std::vector<float>>& values,
                         const std::map<std::string, std::string>& metadata = {}) const {
    std::vector<NamedTensorView> tensors;
    for (const auto& [name, data] : values) {
      tensors.push_back({name, TensorView(data.data(), DType::kF32, {static_cast<int64_t>(data.size())})});
    }
    write_safetensors(folder_ / file, tensors, metadata);
    return folder_ / file;
  }
  void expect_error(const fs::path& path, ErrorCode code, const std::string& in_message) const {
    try {
      Checkpoint::open(path);
      ADD_FAILURE() << path << " was accepted, wanted: " << in_message;
    } catch (const Error& error) {
      EXPECT_EQ(error_code_name(error.code()), error_code_name(code)) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(in_message));
    }
  }

  fs::path folder_;
};

TEST_F(CheckpointTest, BytesInMemoryAreTheSameCheckpoint) {
  const fs::path path = write_tensors("model.safetensors", {{"a", {1, 2, 3}}, {"b.weight", {4}}}, {{"format", "pt"}});
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  std::vector<double> aligned(content.size() / sizeof(double) + 2);  // room to move the bytes off their alignment
  auto* memory = reinterpret_cast<std::byte*>(aligned.data());
  std::memcpy(memory, content.data(), content.size());
  const Checkpoint checkpoint = Checkpoint::from_bytes({memory, content.size()}, "in memory");
  EXPECT_EQ(checkpoint.entries().size(), 2u);
  EXPECT_EQ(checkpoint.fingerprint(), Checkpoint::open(path).fingerprint());
  EXPECT_EQ(checkpoint.file_sha256s(), Checkpoint::open(path).file_sha256s());
  const SafetensorsEntry* b = checkpoint.find("b.weight");
  ASSERT_NE(b, nullptr);
  checkpoint.drop_pages(*b);  // must leave bytes that are not ours alone
  EXPECT_EQ(checkpoint.view(*b).data<float>()[0], 4);

  std::memmove(memory + 1, memory, content.size());
  const Checkpoint crooked = Checkpoint::from_bytes({memory + 1, content.size()}, "in memory");
  EXPECT_THROW((void)crooked.view(*crooked.find("a")), Error);
  try {
    (void)Checkpoint::from_bytes({memory + 1, content.size() - 1}, "in memory");
    FAIL() << "accepted bytes that end too early";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kCorruptData);
    EXPECT_THAT(error.what(), HasSubstr("'in memory'"));
  }
}

TEST_F(CheckpointTest, FileAndFolderGiveTheSameTensors) {
  write_tensors("model.safetensors", {{"a", {1, 2, 3}}, {"b.weight", {4}}}, {{"format", "pt"}});
  for (const fs::path& path : {folder_, folder_ / "model.safetensors"}) {
    const Checkpoint checkpoint = Checkpoint::open(path);
    EXPECT_EQ(checkpoint.entries().size(), 2u);
    EXPECT_EQ(checkpoint.files().size(), 1u);
    EXPECT_EQ(checkpoint.total_bytes(), 16u);
    EXPECT_EQ(checkpoint.metadata().at("format"), "pt");
    EXPECT_EQ(checkpoint.find("b"), nullptr);
    EXPECT_EQ(checkpoint.find(""), nullptr);
    EXPECT_EQ(checkpoint.find("zzz"), nullptr);
    const SafetensorsEntry* a = checkpoint.find("a");
    ASSERT_NE(a, nullptr);
    const TensorView view = checkpoint.view(*a);
    EXPECT_THAT(std::vector<float>(view.data<float>(), view.data<float>() + 3), testing::ElementsAre(1, 2, 3));
    checkpoint.drop_pages(*a);
    EXPECT_EQ(view.data<float>()[2], 3.f);  // comes back from the file
    EXPECT_THROW(view.data<uint16_t>(), Error);
  }
}

TEST_F(CheckpointTest, MissingFilesAreNamed) {
  expect_error(folder_, kNotFound, folder_.string() + "' holds neither model.safetensors nor");
  expect_error(folder_ / "none.safetensors", kNotFound, "none.safetensors");
  write_text("broken.safetensors", "{}");
  expect_error(folder_ / "broken.safetensors", kCorruptData, "broken.safetensors");
}

TEST_F(CheckpointTest, MisalignedTensorIsListedButNotViewed) {
  std::string json =
      R"({"byte":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"odd":{"dtype":"F32","shape":[1],"data_offsets":[1,5]},"none":{"dtype":"F32","shape":[0],"data_offsets":[5,5]}})";
  json.append((8 - json.size() % 8) % 8, ' ');
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(json.size());
  const Checkpoint checkpoint = Checkpoint::open(write_text("odd.safetensors", bytes + json + "\1\2\3\4\5"));
  EXPECT_EQ(checkpoint.view(*checkpoint.find("byte")).data<uint8_t>()[0], 1);
  EXPECT_EQ(checkpoint.view(*checkpoint.find("none")).shape(), (Shape{0}));
  try {
    checkpoint.view(*checkpoint.find("odd"));
    FAIL() << "was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kUnsupported);
    EXPECT_THAT(error.what(), HasSubstr("tensor 'odd': data begins at byte " + std::to_string(8 + json.size() + 1)));
  }
}

TEST_F(CheckpointTest, EntryOfAnotherCheckpointIsRefused) {
  const Checkpoint small = Checkpoint::open(write_tensors("small.safetensors", {{"a", {1}}}));
  SafetensorsEntry foreign = small.entries()[0];
  foreign.end += 4;
  EXPECT_THROW(small.view(foreign), Error);
  foreign = small.entries()[0];
  foreign.file_index = 1;
  EXPECT_THROW(small.view(foreign), Error);
}

TEST_F(CheckpointTest, ShardsBehindAnIndex) {
  write_tensors("model-00001-of-00002.safetensors", {{"a", {1}}, {"c", {3, 3}}}, {{"format", "pt"}});
  write_tensors("model-00002-of-00002.safetensors", {{"b", {2}}}, {{"format", "other"}, {"extra", "x"}});
  const fs::path index =
      write_text("model.safetensors.index.json",
                 R"({"metadata":{"total_size":16,"deep":[[{"weight_map":{"no":{}}}]]},"weight_map":{"a":"model-00001-of-00002.safetensors",
                                       "b":"model-00002-of-00002.safetensors","c":"model-00001-of-00002.safetensors"}})");
  for (const fs::path& path : {folder_, index}) {
    const Checkpoint checkpoint = Checkpoint::open(path);
    EXPECT_EQ(checkpoint.files().size(), 2u);
    EXPECT_EQ(checkpoint.total_bytes(), 16u);
    EXPECT_EQ(checkpoint.find("b")->file_index, 1u);
    EXPECT_EQ(checkpoint.view(*checkpoint.find("b")).data<float>()[0], 2.f);
    EXPECT_EQ(checkpoint.view(*checkpoint.find("c")).data<float>()[1], 3.f);
    EXPECT_EQ(checkpoint.metadata().at("format"), "pt");
    EXPECT_EQ(checkpoint.metadata().at("extra"), "x");
    EXPECT_EQ(checkpoint.file_sha256s().size(), 2u);
  }
}

TEST_F(CheckpointTest, IndexThatLiesIsRefused) {
  write_tensors("one.safetensors", {{"a", {1}}});
  write_tensors("two.safetensors", {{"b", {1}}});
  const auto expect_index_error = [&](const std::string& json, ErrorCode code, const std::string& in_message) {
    SCOPED_TRACE(json);
    expect_error(write_text("x.index.json", json), code, in_message);
  };
  const auto weight_map = [](const std::string& map) { return "{\"weight_map\":{" + map + "}}"; };
  expect_index_error("", kCorruptData, "not valid");
  expect_index_error("{", kCorruptData, "not valid");
  expect_index_error("[]", kCorruptData, "a list");
  expect_index_error("3", kCorruptData, "a number");
  expect_index_error("{}", kCorruptData, "has no weight_map");
  expect_index_error(std::string("{\"weight_map\":{}}\0x", 19), kCorruptData, "at byte 17");
  expect_index_error(R"({"weight_map":[]})", kCorruptData, "has no weight_map");
  expect_index_error(R"({"weight_map":{},"weight_map":{}})", kCorruptData, "weight_map comes twice");
  expect_index_error("{\"metadata\":" + std::string(100'000, '['), kCorruptData, "nests deeper than 16");
  expect_index_error(weight_map("\"a\":\"one.safetensors\",\"a\":\"two.safetensors\""), kCorruptData, "tensor 'a' comes twice");
  expect_index_error(weight_map("\"a\":{}"), kCorruptData, "at tensor 'a'");
  expect_index_error(weight_map("\"a\":[]"), kCorruptData, "at tensor 'a'");
  expect_index_error(weight_map("\"a\":null"), kCorruptData, "at tensor 'a'");
  expect_index_error(weight_map("\"\xff\":\"one.safetensors\""), kCorruptData, "not valid UTF-8");
  for (const char* escape : {"../one.safetensors", "/etc/passwd", "sub/one.safetensors", "..", ".", "", "a\\\\b", "a\\u0000b"}) {
    expect_index_error(weight_map("\"a\":\"" + std::string(escape) + "\""), kCorruptData, "tensor 'a'");
  }
  expect_index_error(weight_map("\"a\":\"none.safetensors\""), kNotFound, "none.safetensors");
  expect_index_error(weight_map("\"a\":\"one.safetensors\",\"c\":\"two.safetensors\""), kCorruptData, "tensor 'b' is not listed");
  expect_index_error(weight_map("\"a\":\"one.safetensors\",\"c\":\"one.safetensors\""), kCorruptData,
                     "tensor 'c' is not in 'one.safetensors'");
  expect_index_error(weight_map("\"a\":\"two.safetensors\",\"b\":\"one.safetensors\""), kCorruptData, "is not listed for this file");
  // The same tensor in two files, though the index knows only one of them.
  write_tensors("two.safetensors", {{"a", {1}}, {"b", {1}}});
  expect_index_error(weight_map("\"a\":\"one.safetensors\",\"b\":\"two.safetensors\""), kCorruptData,
                     "tensor 'a' is not listed for this file");
}

TEST_F(CheckpointTest, FingerprintSeesNamesShapesSizesAndFirstBytes) {
  const auto fingerprint = [&](const std::map<std::string, std::vector<float>>& values) {
    return Checkpoint::open(write_tensors("f.safetensors", values)).fingerprint();
  };
  const std::string base = fingerprint({{"a", {1, 2}}, {"b", {3}}});
  EXPECT_EQ(base.size(), 64u);
  EXPECT_EQ(base, fingerprint({{"a", {1, 2}}, {"b", {3}}}));
  EXPECT_NE(base, fingerprint({{"a", {1, 2}}, {"c", {3}}}));
  EXPECT_NE(base, fingerprint({{"a", {1}}, {"b", {3}}}));
  EXPECT_NE(base, fingerprint({{"a", {1, 2}}, {"b", {4}}}));
  // What it does not see, as its comment says: bytes beyond the first 64 of a tensor.
  std::vector<float> long_values(17, 1.f);
  const std::string long_base = fingerprint({{"a", long_values}});
  long_values[16] = 2.f;
  EXPECT_EQ(long_base, fingerprint({{"a", long_values}}));
  // Of many tensors the first and the last are among those it looks at, the second is not.
  std::map<std::string, std::vector<float>> many;
  for (int i = 100; i < 200; ++i) many[std::to_string(i)] = {1.f};
  const std::string many_base = fingerprint(many);
  for (const char* name : {"100", "101", "199"}) {
    many[name] = {2.f};
    EXPECT_EQ(many_base == fingerprint(many), std::string(name) == "101") << name;
    many[name] = {1.f};
  }
}

TEST_F(CheckpointTest, FullHashIsThatOfTheFile) {
  // printf '\x02\0\0\0\0\0\0\0{}' | sha256sum
  const Checkpoint empty = Checkpoint::open(write_text("empty.safetensors", std::string("\x02\0\0\0\0\0\0\0{}", 10)));
  EXPECT_THAT(empty.file_sha256s(), testing::ElementsAre("411a485216e432ece6b9af94fa32154cf79a2a56d4f81266baa50063f45092bd"));
  CancelFlag cancel;
  cancel.request();
  EXPECT_THROW(empty.file_sha256s(&cancel), Error);
}

}  // namespace
}  // namespace pointmap
