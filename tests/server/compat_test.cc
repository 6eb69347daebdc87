// /predict and /predict_npz of a real process against the library called directly: same arrays, same facts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/image/decode.h"
#include "io/npz/npz_file.h"
#include "pointmap/pointmap.h"
#include "server_process.h"
#include "tensor/dtype.h"

namespace pointmap {
namespace {

using nlohmann::json;
using testing::ElementsAre;

class CompatTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new ServerProcess(); }  // NOLINT: GoogleTest's way, deleted below
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }
  httplib::Result post(const std::string& path, const json& body) { return server_->client().Post(path, body.dump(), "application/json"); }
  // The answer of status 200.
  json predict(const json& body) {
    const httplib::Result result = post("/predict", body);
    EXPECT_EQ(result->status, 200) << result->body;
    return json::parse(result->body, nullptr, false);
  }
  static ServerProcess* server_;
};
ServerProcess* CompatTest::server_ = nullptr;

std::string from_base64(const std::string& text) {
  std::string bytes;
  uint32_t bits = 0;
  int num_bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    const int value = c >= 'a' ? c - 'a' + 26 : c >= 'A' ? c - 'A' : c >= '0' ? c - '0' + 52 : c == '+' ? 62 : 63;
    bits = bits << 6 | static_cast<uint32_t>(value);
    num_bits += 6;
    if (num_bits >= 8) bytes.push_back(static_cast<char>(bits >> (num_bits -= 8)));
  }
  return bytes;
}

NpzFile npz_of(const std::string& bytes) {
  return NpzFile::from_bytes(std::as_bytes(std::span(bytes)), "answer");
}

Photo photo(const std::string& png) {
  const auto* begin = reinterpret_cast<const std::byte*>(png.data());
  return {.name = "photo", .bytes = {begin, begin + png.size()}};
}

TEST_F(CompatTest, GivesWhatTheLibraryGives) {
  const json answer = predict(pair_request());
  const NpzFile npz = npz_of(from_base64(answer["npz_b64"]));
  EXPECT_THAT(npz.names(), ElementsAre("conf_1", "conf_2", "pts3d_1", "pts3d_2"));

  Reconstructor reconstructor = Reconstructor::open("demo");
  const Scene scene = reconstructor.reconstruct({photo(test_png(96, 64, 1)), photo(test_png(96, 64, 2))}).scene;
  for (size_t i = 0; i < 2; ++i) {
    const std::string number = std::to_string(i + 1);
    const auto points = npz.array("pts3d_" + number).as<float>();
    EXPECT_TRUE(std::equal(points.begin(), points.end(), scene.views[i].points.begin(), scene.views[i].points.end()));
    const NpzArray& confidence = npz.array("conf_" + number);
    ASSERT_EQ(confidence.dtype, DType::kF16);
    const auto* halves = reinterpret_cast<const uint16_t*>(confidence.bytes.data());
    for (size_t p = 0; p < scene.views[i].confidence.size(); ++p) ASSERT_EQ(halves[p], f16_from_float(scene.views[i].confidence[p]));
    EXPECT_EQ(answer["summary"]["views"][i]["shape"], json({128, 192, 3}));
  }
  EXPECT_FALSE(answer.contains("pose"));
  EXPECT_EQ(answer["preprocess"][0], json({{"orig_w", 96},
                                           {"orig_h", 64},
                                           {"resized_w", 192},
                                           {"resized_h", 128},
                                           {"scale_x", 2.0},
                                           {"scale_y", 2.0},
                                           {"pad_left", 0.0},
                                           {"pad_top", 0.0}}));
  const json& timing = answer["timing_ms"];
  const double parts = timing["decode"].get<double>() + timing["preprocess"].get<double>() + timing["forward"].get<double>() +
                       timing["encode"].get<double>() + timing["queue"].get<double>();
  EXPECT_GT(timing["forward"], 0);
  EXPECT_LE(parts, timing["total"].get<double>() + 1e-3);  // seven digits of each
}

TEST_F(CompatTest, SummarizesWhatIsInTheArrays) {
  const json answer = predict(pair_request());
  const NpzFile npz = npz_of(from_base64(answer["npz_b64"]));
  for (size_t i = 0; i < 2; ++i) {
    const auto points = npz.array("pts3d_" + std::to_string(i + 1)).as<float>();
    std::vector<float> z;
    for (size_t p = 2; p < points.size(); p += 3) z.push_back(points[p]);
    std::sort(z.begin(), z.end());
    const double median = (static_cast<double>(z[z.size() / 2]) + z[z.size() / 2 - 1]) / 2;
    EXPECT_NEAR(answer["summary"]["views"][i]["z_median"], median, 1e-6 * std::abs(median));  // seven digits
  }
}

TEST_F(CompatTest, BothRoutesGiveTheSameArraysStoredOrDeflated) {
  json request = pair_request(80, 100, 5);
  request["return_pose"] = true;
  const json answer = predict(request);
  const std::string archive = from_base64(answer["npz_b64"]);
  const httplib::Result npz = post("/predict_npz", request);
  ASSERT_EQ(npz->status, 200);
  EXPECT_EQ(npz->get_header_value("Content-Type"), "application/x-npz");
  EXPECT_TRUE(npz->body == archive);
  const std::string header = npz->get_header_value("X-Pointmap-Meta");
  EXPECT_TRUE(std::all_of(header.begin(), header.end(), [](char c) { return c >= ' ' && c < 127; }));
  json meta = json::parse(header), same = answer;
  for (json* facts : {&meta, &same}) {
    for (const char* field : {"timing_ms", "request_id", "npz_b64"}) facts->erase(field);
  }
  EXPECT_EQ(meta, same);

  request["compress_npz"] = true;
  const httplib::Result deflated = post("/predict_npz", request);
  EXPECT_LT(deflated->body.size(), archive.size());
  const NpzFile stored = npz_of(archive), packed = npz_of(deflated->body);
  for (const std::string& name : stored.names()) EXPECT_EQ(packed.array(name).bytes, stored.array(name).bytes);
}

TEST_F(CompatTest, GivesThePoseThatTheLibraryFinds) {
  json request = pair_request(96, 64, 9);
  request["return_pose"] = true;
  const json pose = predict(request)["pose"];
  Reconstructor reconstructor = Reconstructor::open("demo");
  ReconstructOptions options;
  options.pose = true;
  const Reconstruction run = reconstructor.reconstruct({photo(test_png(96, 64, 9)), photo(test_png(96, 64, 10))}, options);
  EXPECT_NEAR(pose["rotation_angle_deg"], run.report.pose->rotation_deg, 1e-4);
  EXPECT_NEAR(pose["f1"], run.report.pose->focal_px[0], 1e-3);
  EXPECT_NEAR(pose["f2"], run.report.pose->focal_px[1], 1e-3);
  EXPECT_EQ(pose["extrinsic"][0], json({{1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}}));
  // extrinsic is camera from world, the library's camera is world from camera: one after the other is no move at all.
  const RigidTransform& world_from_cam = run.scene.views[1].camera->world_from_cam;
  for (size_t row = 0; row < 3; ++row) {
    double shift = pose["extrinsic"][1][row][3];
    for (size_t k = 0; k < 3; ++k) shift += pose["extrinsic"][1][row][k].get<double>() * world_from_cam.translation[k];
    EXPECT_NEAR(shift, 0, 1e-5);
    for (size_t column = 0; column < 3; ++column) {
      double product = 0;
      for (size_t k = 0; k < 3; ++k) product += pose["extrinsic"][1][row][k].get<double>() * world_from_cam.rotation[3 * k + column];
      EXPECT_NEAR(product, row == column ? 1 : 0, 1e-6);
    }
  }
}

TEST_F(CompatTest, DrawsFourPictures) {
  json request = pair_request();
  request["output_format"] = "png";
  const json answer = predict(request);
  EXPECT_FALSE(answer.contains("npz_b64"));
  for (const char* name : {"depth1", "conf1", "depth2", "conf2"}) {
    const std::string png = from_base64(answer[std::string(name) + "_png_b64"]);
    const DecodedImage picture = decode_image(std::as_bytes(std::span(png)), name);
    EXPECT_EQ(picture.image.width, 192);
    EXPECT_EQ(picture.image.height, 128);
    EXPECT_GT(answer["png_scale"][name], 0);
  }
  EXPECT_EQ(post("/predict_npz", request)->status, 422);
}

TEST_F(CompatTest, NamesThePhotoThatWillNotDo) {
  const std::string png = test_png(96, 64, 1);
  const auto status_and_field = [&](const std::string& bytes) {
    json request = pair_request();
    request["image2"] = base64_of(bytes);
    const httplib::Result result = post("/predict", request);
    const json error = json::parse(result->body)["error"];
    EXPECT_EQ(error["request_id"], result->get_header_value("X-Request-Id"));
    return std::to_string(result->status) + " " + error["field"].get<std::string>();
  };
  EXPECT_EQ(status_and_field(png.substr(0, png.size() / 2)), "422 image2");
  EXPECT_EQ(status_and_field("no picture at all"), "415 image2");
}

TEST(CompatVariables, AreReadFromTheEnvironment) {
  const ServerProcess server({.arguments = {"-m", "demo=small"}, .environment = {"POINTMAP_NPZ_COMPRESS=1", "POINTMAP_MAX_PIXELS=5000"}});
  httplib::Client client = server.client();
  const json info = json::parse(client.Get("/info")->body);
  EXPECT_EQ(info["models"][0]["name"], "small");
  EXPECT_EQ(info["limits"]["max_pixels"], 5000);
  const httplib::Result too_many = client.Post("/predict", pair_request().dump(), "application/json");
  EXPECT_EQ(too_many->status, 413) << too_many->body;
  json request = pair_request(64, 64);
  const size_t deflated = client.Post("/predict_npz", request.dump(), "application/json")->body.size();
  request["compress_npz"] = false;
  EXPECT_GT(client.Post("/predict_npz", request.dump(), "application/json")->body.size(), deflated);
}

}  // namespace
}  // namespace pointmap
