// The published configuration reads as specified; getters are strict; hostile texts give errors that name file and key.
#include "io/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "base/error.h"
#include "io/config/config_parser.h"

namespace pointmap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Keys, order and values of naver/DUSt3R_ViTLarge_BaseDecoder_512_dpt (spec/dust3r.md, 3.5).
constexpr std::string_view kPublished = R"({
  "output_mode": "pts3d",
  "head_type": "dpt",
  "depth_mode": ["exp", -Infinity, Infinity],
  "conf_mode": ["exp", 1, Infinity],
  "freeze": "none",
  "landscape_only": false,
  "patch_embed_cls": "PatchEmbedDust3R",
  "enc_depth": 24,
  "dec_depth": 12,
  "enc_embed_dim": 1024,
  "dec_embed_dim": 768,
  "enc_num_heads": 16,
  "dec_num_heads": 12,
  "pos_embed": "RoPE100",
  "img_size": [512, 512]
})";

// Runs `action` and expects an Error of this code whose message holds all the words.
template <typename Action>
void expect_error(Action action, ErrorCode code, std::initializer_list<const char*> words) {
  try {
    action();
    ADD_FAILURE() << "no error, wanted one with: " << *words.begin();
  } catch (const Error& error) {
    EXPECT_EQ(error_code_name(error.code()), error_code_name(code)) << error.what();
    for (const char* word : words) EXPECT_THAT(error.what(), HasSubstr(word));
  }
}

TEST(Config, ReadsThePublishedFile) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / ("pointmap-config-" + std::to_string(::getpid()) + ".json");
  std::ofstream(path) << kPublished;
  const ConfigMap config = read_config(path);
  std::filesystem::remove(path);
  EXPECT_EQ(config.members().size(), 15u);
  EXPECT_EQ(config.members()[1].key, "head_type");
  EXPECT_EQ(config.get_string("output_mode"), "pts3d");
  EXPECT_EQ(config.get_string("head_type"), "dpt");
  EXPECT_EQ(config.get_string("pos_embed", "none"), "RoPE100");
  EXPECT_FALSE(config.get_bool("landscape_only", true));
  EXPECT_EQ(config.get_int("enc_depth"), 24);
  EXPECT_EQ(config.get_int("dec_embed_dim", 5), 768);
  EXPECT_EQ(config.get_int("patch_size", 16), 16);  // absent
  EXPECT_EQ(config.get_number("mlp_ratio", 4.0), 4.0);
  EXPECT_THAT(config.get_numbers("img_size"), ElementsAre(512, 512));
  const ConfigValue::List& depth_mode = config.get_list("depth_mode");
  ASSERT_EQ(depth_mode.size(), 3u);
  EXPECT_EQ(std::get<std::string>(depth_mode[0].value), "exp");
  EXPECT_EQ(std::get<double>(depth_mode[1].value), -kInfinity);
  EXPECT_EQ(std::get<double>(depth_mode[2].value), kInfinity);
  const ConfigValue::List& conf_mode = config.get_list("conf_mode");
  EXPECT_EQ(std::get<double>(conf_mode[1].value), 1.0);
  EXPECT_EQ(std::get<double>(conf_mode[2].value), kInfinity);
}

TEST(Config, ReadsEveryKindOfValue) {
  const ConfigMap config = parse_config(R"( {"nan": NaN, "list": [-Infinity, Infinity, -0.5, 1e3, 18446744073709551616, -3],
      "text": "NaN, -Infinity \" Infinity \\", "\u00e9\"NaN": true, "none": null, "inner": {"a": {"b": [[], {}]}}, "empty": []}  )",
                                        "c.json");
  EXPECT_TRUE(std::isnan(config.get_number("nan")));
  EXPECT_THAT(config.get_numbers("list"), ElementsAre(-kInfinity, kInfinity, -0.5, 1000, std::ldexp(1.0, 64), -3));
  EXPECT_EQ(config.get_string("text"), "NaN, -Infinity \" Infinity \\");
  EXPECT_TRUE(config.get_bool("\xc3\xa9\"NaN"));
  EXPECT_TRUE(std::holds_alternative<std::nullptr_t>(config.find("none")->value));
  const auto& inner = std::get<ConfigValue::Object>(config.find("inner")->value);
  const auto& a = std::get<ConfigValue::Object>(inner.at(0).value.value);
  EXPECT_EQ(std::get<ConfigValue::List>(a.at(0).value.value).size(), 2u);
  EXPECT_TRUE(config.get_numbers("empty").empty());
  EXPECT_TRUE(parse_config("{}", "c.json").members().empty());
}

TEST(Config, GettersNameFileAndKey) {
  const ConfigMap config = parse_config(
      R"({"text": "x", "half": 0.5, "big": 1e300, "inf": Infinity, "nan": NaN, "none": null, "mixed": [1, "a"], "beyond": 9007199254740994})",
      "c.json");
  expect_error([&] { config.get_int("absent"); }, kNotFound, {"c.json", "absent"});
  expect_error([&] { config.get_string("absent"); }, kNotFound, {"c.json", "absent"});
  expect_error([&] { config.get_int("text"); }, kCorruptData, {"c.json", "'text' is a string, wanted an integer"});
  expect_error([&] { config.get_int("text", 3); }, kCorruptData, {"'text' is a string"});
  for (const char* key : {"half", "big", "inf", "nan", "beyond"}) {
    expect_error([&] { config.get_int(key); }, kCorruptData, {"c.json", key, "wanted an integer"});
  }
  expect_error([&] { config.get_string("half"); }, kCorruptData, {"'half' is a number, wanted a string"});
  expect_error([&] { config.get_bool("half", true); }, kCorruptData, {"'half' is a number, wanted a boolean"});
  expect_error([&] { config.get_number("none", 1.0); }, kCorruptData, {"'none' is null, wanted a number"});
  expect_error([&] { config.get_numbers("mixed"); }, kCorruptData, {"'mixed' holds a string, wanted numbers only"});
  expect_error([&] { config.get_numbers("text"); }, kCorruptData, {"'text' is a string, wanted a list"});
  EXPECT_THAT(config.get_numbers("absent", {1, 2}), ElementsAre(1, 2));
}

TEST(Config, RefusesHostileTexts) {
  struct Case {
    std::string text;
    ErrorCode code;
    const char* word;
  };
  std::string many = "{\"a\":[0";
  for (size_t i = 0; i < kMaxConfigValues; ++i) many += ",0";
  const Case cases[] = {
      {"", kCorruptData, "not valid"},
      {"[]", kCorruptData, "not an object"},
      {"3", kCorruptData, "not an object"},
      {"NaN", kCorruptData, "not an object"},
      {"{", kCorruptData, "not valid"},
      {"{\"a\":1", kCorruptData, "after key 'a'"},
      {"{\"a\":1}}", kCorruptData, "not valid"},
      {"{\"a\":1} x", kCorruptData, "not valid"},
      {std::string("{\"a\":1}\0", 8), kCorruptData, "not valid"},
      {"{\"a\":1,}", kCorruptData, "after key 'a'"},
      {"{\"a\":1 /* why */}", kCorruptData, "after key 'a'"},
      {"{'a':1}", kCorruptData, "not valid"},
      {"{\"a\":nan}", kCorruptData, "after key 'a'"},
      {"{\"a\":inf}", kCorruptData, "after key 'a'"},
      {"{\"a\":-NaN}", kCorruptData, "after key 'a'"},
      {"{\"a\":1NaN}", kCorruptData, "after key 'a'"},
      {"{\"a\":NaN1}", kCorruptData, "after key 'a'"},
      {"{\"a\":+Infinity}", kCorruptData, "after key 'a'"},
      {"{\"a\":--Infinity}", kCorruptData, "after key 'a'"},
      {"{\"a\":InfinityInfinity}", kCorruptData, "after key 'a'"},
      {"{\"a\":1Infinity}", kCorruptData, "after key 'a'"},
      {"{\"a\":Infinity1}", kCorruptData, "after key 'a'"},
      {"{\"a\":NaN.5}", kCorruptData, "after key 'a'"},
      {"{\"a\":Infinit}", kCorruptData, "after key 'a'"},
      {"{NaN:1}", kCorruptData, "not valid"},
      {"{\"a\":1e999}", kCorruptData, "after key 'a'"},
      {"{\"a\":1.00000000e+0000000000}", kCorruptData, "not valid"},
      {"{\"a\":\"\xff\"}", kCorruptData, "after key 'a'"},
      {"{\"a\":\"\\ud800\"}", kCorruptData, "after key 'a'"},
      {"{\"a\":\"\\", kCorruptData, "after key 'a'"},
      {"{\"a\":1,\"b\":2,\"\\u0061\":3}", kCorruptData, "key 'a' comes twice"},
      {"{\"\\u001b[2J\":1,\"\\u001b[2J\":3}", kCorruptData, "key '?[2J' comes twice"},
      {"{\"a\":" + std::string(200'000, '['), kLimitExceeded, "deeper than 32"},
      {"{\"a\":[" + std::string(kMaxConfigBytes, ' ') + "]}", kLimitExceeded, "bytes"},
      {many + "]}", kLimitExceeded, "more than 10000 values"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text.substr(0, 60));
    expect_error([&] { parse_config(c.text, "c.json"); }, c.code, {"'c.json'", c.word});
  }
}

TEST(Config, MissingFileIsNamed) {
  expect_error([] { read_config("/no/such/config.json"); }, kNotFound, {"/no/such/config.json"});
}

}  // namespace
}  // namespace pointmap
