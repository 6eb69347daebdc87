// The body of /predict: what is taken, what is refused, and which field the refusal names.
#include "apps/server/predict_request.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/server/two_models_testing.h"

namespace pointmap::server {
namespace {

using nlohmann::json;

PredictRequest parse(const std::string& body, const std::string& content_type = "application/json", const PredictLimits& limits = {}) {
  HttpRequest request;
  request.headers["content-type"] = content_type;
  request.body = body;
  request.body.reserve(body.size() + kBodyPadding);
  return parse_predict_request(request, two_models(), limits);
}

// "422 images[1]"
std::string refusal(const std::string& body, const std::string& content_type = "application/json", const PredictLimits& limits = {}) {
  try {
    parse(body, content_type, limits);
  } catch (const ApiError& error) {
    return std::to_string(error.status) + " " + error.field;
  }
  return "taken";
}

std::string refusal(const json& body) {
  return refusal(body.dump());
}

TEST(PredictRequest, TakesPairsAndLists) {
  const PredictRequest pair = parse(R"({"image1": "Zm9v", "image2": "Zm9vYg==", "unknown": [1, {"a": null}]})");
  ASSERT_EQ(pair.photos.size(), 2u);
  EXPECT_EQ(pair.photos[0].name, "image1");
  EXPECT_EQ(pair.photos[1].bytes.size(), 4u);
  EXPECT_EQ(pair.preset, "pad512");
  EXPECT_FALSE(pair.wants_png || pair.return_pose || pair.compress_npz);

  const PredictRequest list = parse(
      R"({"images": ["Zm9v"], "model": "many", "output_format": "png", "return_pose": true, "compress_npz": true, "preprocess": "vggt_crop"})",
      "application/json; charset=utf-8");
  EXPECT_EQ(list.model, 1u);
  EXPECT_EQ(list.photos[0].name, "images[0]");
  EXPECT_EQ(list.preset, "vggt_crop");
  EXPECT_TRUE(list.wants_png && list.return_pose && list.compress_npz);
  EXPECT_EQ(parse(R"({"images": ["Zm9v"], "model": "many", "preprocess": null})").preset, "pad518");
}

TEST(PredictRequest, CompressesByDefaultWhereTheServerDoes) {
  const std::string body = R"({"image1": "Zm9v", "image2": "Zm9v")";
  EXPECT_TRUE(parse(body + "}", "application/json", {.compress_npz = true}).compress_npz);
  EXPECT_FALSE(parse(body + R"(, "compress_npz": false})", "application/json", {.compress_npz = true}).compress_npz);
}

TEST(PredictRequest, NamesTheFieldThatWillNotDo) {
  const json good = {{"image1", "Zm9v"}, {"image2", "Zm9v"}};
  EXPECT_EQ(refusal(good), "taken");
  const auto with = [&](const char* field, const json& value) {
    json body = good;
    body[field] = value;
    return refusal(body);
  };
  EXPECT_EQ(with("image2", "Zm9"), "422 image2");
  EXPECT_EQ(with("image2", ""), "422 image2");
  EXPECT_EQ(with("image2", 7), "422 image2");
  EXPECT_EQ(with("image2", nullptr), "422 image2");
  EXPECT_EQ(with("image1", nullptr), "422 image1");
  EXPECT_EQ(with("images", json::array({"Zm9v"})), "422 images");
  EXPECT_EQ(with("model", "other"), "422 model");
  EXPECT_EQ(with("output_format", "jpg"), "422 output_format");
  EXPECT_EQ(with("output_format", true), "422 output_format");
  EXPECT_EQ(with("return_pose", "yes"), "422 return_pose");
  EXPECT_EQ(with("compress_npz", 1), "422 compress_npz");
  EXPECT_EQ(with("preprocess", "pad518"), "422 preprocess");
  EXPECT_EQ(refusal(json::object()), "422 image1");
  EXPECT_EQ(refusal(json{{"model", "many"}}), "422 images");
  EXPECT_EQ(refusal(json{{"images", {"Zm9v"}}}), "422 images");
  EXPECT_EQ(refusal(json{{"images", {"Zm9v", "Zm9v", "Zm9v"}}}), "422 images");
  EXPECT_EQ(refusal(json{{"images", {"Zm9v", "*"}}}), "422 images[1]");
  EXPECT_EQ(refusal(json{{"images", {"Zm9v", 5}}}), "422 images[1]");
  EXPECT_EQ(refusal(json{{"images", "Zm9v"}}), "422 images");
  EXPECT_EQ(refusal(R"({"images": ["Zm9v", "Zm9v"]})", "application/json", {.max_views = 1}), "413 images");
}

TEST(PredictRequest, RefusesWhatIsNoJsonObject) {
  EXPECT_EQ(refusal(std::string("{}"), "text/plain"), "415 ");
  EXPECT_EQ(refusal(std::string("{}"), ""), "415 ");
  for (const std::string body : {"", "[]", "7", "{", "{\"image1\": }", "\xFF", "{\"image1\": \"\xFF\"}", "null"})
    EXPECT_EQ(refusal(body), "400 ") << body;
  EXPECT_EQ(refusal(std::string(100'000, '[')), "400 ");
  EXPECT_EQ(refusal("{\"a\":" + std::string(5'000, '[') + std::string(5'000, ']') + "}"), "400 ");
  std::string many = "[0";
  for (int i = 0; i < 70'000; ++i) many += ",0";
  EXPECT_EQ(refusal("{\"a\":" + many + "]}"), "400 ");
}

}  // namespace
}  // namespace pointmap::server
