// What each spelling of a model means, and what is refused because it would become a folder or part of a URL.
#include "io/hub/model_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace pointmap {
namespace {

using Kind = ModelName::Kind;

TEST(ModelName, ShortNamesCarryRepositoryAndLicense) {
  const std::pair<const char*, const char*> wanted[] = {{"dust3r", "naver/DUSt3R_ViTLarge_BaseDecoder_512_dpt"},
                                                        {"dust3r-linear", "naver/DUSt3R_ViTLarge_BaseDecoder_512_linear"},
                                                        {"dust3r-224", "naver/DUSt3R_ViTLarge_BaseDecoder_224_linear"}};
  EXPECT_EQ(short_model_names().size(), std::size(wanted) + 2);  // and VGGT's, below
  for (const auto& [text, repo] : wanted) {
    const ModelName name = parse_model_name(text);
    EXPECT_EQ(name.kind, Kind::kHub);
    EXPECT_EQ(name.text, text);
    EXPECT_EQ(name.repo, repo);
    EXPECT_EQ(name.revision, "main");
    EXPECT_EQ(name.license, "CC BY-NC-SA 4.0, non-commercial");
  }
  EXPECT_EQ(parse_model_name("vggt").repo, "facebook/VGGT-1B");
  EXPECT_EQ(parse_model_name("vggt-commercial").repo, "facebook/VGGT-1B-Commercial");
  EXPECT_NE(parse_model_name("vggt").license, parse_model_name("vggt-commercial").license);
  EXPECT_THAT(parse_model_name("hf:facebook/VGGT-1B").license, testing::HasSubstr("non-commercial"));
  EXPECT_EQ(parse_model_name("dust3r@v1.0").revision, "v1.0");
}

TEST(ModelName, HubNames) {
  const ModelName plain = parse_model_name("hf:some-org/Some_Name.v2");
  EXPECT_EQ(plain.kind, Kind::kHub);
  EXPECT_EQ(plain.repo, "some-org/Some_Name.v2");
  EXPECT_EQ(plain.revision, "main");
  EXPECT_EQ(plain.license, "");
  EXPECT_EQ(parse_model_name("hf:a/b@refs/pr/1").revision, "refs/pr/1");
  // The weights keep their licence, however they are named.
  EXPECT_EQ(parse_model_name("hf:naver/DUSt3R_ViTLarge_BaseDecoder_512_dpt@main").license, "CC BY-NC-SA 4.0, non-commercial");
}

TEST(ModelName, EverythingElseIsDemoOrAPathOrSynthetic) {
  EXPECT_EQ(parse_model_name("demo").kind, Kind::kDemo);
  EXPECT_EQ(parse_model_name("demo").license, "Apache-2.0");
  EXPECT_EQ(parse_model_name("synthetic:tiny?seed=3").kind, Kind::kSynthetic);
  EXPECT_EQ(parse_model_name("synthetic:tiny?seed=3").text, "synthetic:tiny?seed=3");
  for (const char* text :
       {"./dust3r", "./demo", "demo/", "model.safetensors", "/data/m@2/model.safetensors", "naver/DUSt3R", "dust3", "DUST3R", "HF:a/b"}) {
    const ModelName name = parse_model_name(text);
    EXPECT_EQ(name.kind, Kind::kPath) << text;
    EXPECT_EQ(name.path, text);
  }
}

TEST(ModelName, RefusesWhatMustNotBecomeAPathOrUrl) {
  const std::string long_name(97, 'a');
  for (const std::string& text : {std::string(),
                                  std::string("hf:"),
                                  std::string("hf:a"),
                                  std::string("hf:a/"),
                                  std::string("hf:/b"),
                                  std::string("hf:a/b/c"),
                                  std::string("hf:../b"),
                                  std::string("hf:a/.."),
                                  std::string("hf:a/.b"),
                                  std::string("hf:-a/b"),
                                  std::string("hf:a--b/c"),
                                  std::string("hf:a/b..c"),
                                  std::string("hf:a/b c"),
                                  std::string("hf:a/b?x"),
                                  std::string("hf:a/b%2e"),
                                  "hf:a/" + long_name,
                                  std::string("hf:a/b@"),
                                  std::string("hf:a/b@.."),
                                  std::string("hf:a/b@x/../y"),
                                  std::string("hf:a/b@/x"),
                                  std::string("hf:a/b@x/"),
                                  std::string("hf:a/b@x//y"),
                                  std::string("hf:a/b@-x"),
                                  std::string("hf:a/b@x y"),
                                  "hf:a/b@" + std::string(201, 'x'),
                                  std::string("dust3r@"),
                                  std::string("dust3r@../x"),
                                  std::string("hf:a/b\n"),
                                  std::string("hf:a/b\0c", 8)}) {
    try {
      parse_model_name(text);
      ADD_FAILURE() << "accepted '" << text << "'";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), kInvalidArgument) << text;
    }
  }
}

}  // namespace
}  // namespace pointmap
