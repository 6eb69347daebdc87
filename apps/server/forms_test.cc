// Forms with files, ranges of artefacts, and what /v1/reconstruct makes of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/server/byte_range.h"
#include "apps/server/multipart.h"
#include "apps/server/native_request.h"
#include "apps/server/two_models_testing.h"

namespace pointmap::server {
namespace {

const std::string kType = "multipart/form-data; boundary=xyz";

std::string part(const std::string& name, const std::string& content, const std::string& more = "") {
  return "--xyz\r\nContent-Disposition: form-data; name=\"" + name + "\"" + more + "\r\n\r\n" + content + "\r\n";
}

int status_of(const std::function<void()>& function) {
  try {
    function();
  } catch (const ApiError& error) {
    return error.status;
  }
  return 0;
}

TEST(Multipart, FindsPartsWhateverTheyHold) {
  const std::string binary("\r\n--xy\0\r\n\r\n--x", 15);
  const std::string body =
      "preamble\r\n" + part("images", binary, "; filename=\"a;b \\\"c\\\".jpg\"\r\nContent-Type: image/jpeg") + part("empty", "") +
      "--xyz  \r\ncontent-disposition: form-data; filename=x; NAME=plain\r\nX-Other: 1\r\n\r\n{}\r\n--xyz--\r\nepilogue";
  const std::vector<FormPart> parts = parse_multipart(body, kType, 10);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].name, "images");
  EXPECT_EQ(parts[0].file_name, "a;b \"c\".jpg");
  EXPECT_EQ(parts[0].content_type, "image/jpeg");
  EXPECT_EQ(parts[0].content, binary);
  EXPECT_EQ(parts[1].content, "");
  EXPECT_EQ(parts[2].name, "plain");
  EXPECT_EQ(parts[2].file_name, "x");
  EXPECT_EQ(parts[2].content, "{}");
  EXPECT_EQ(parse_multipart("--xyz--", "Multipart/Form-Data; charset=a; boundary=\"xyz\"", 1).size(), 0u);
}

TEST(Multipart, RefusesWhatIsNone) {
  for (const char* type :
       {"", "application/json", "multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed; boundary=xyz"}) {
    EXPECT_EQ(status_of([&] { parse_multipart("--xyz--", type, 1); }), 415) << type;
  }
  const std::string good = part("a", "1") + part("b", "2") + "--xyz--\r\n";
  EXPECT_EQ(parse_multipart(good, kType, 2).size(), 2u);
  EXPECT_EQ(status_of([&] { parse_multipart(good, kType, 1); }), 400);
  // Cut anywhere before the end of the last boundary, it is not whole.
  const size_t whole = good.find("--xyz--") + 7;
  for (size_t size = 0; size < whole; ++size) {
    EXPECT_EQ(status_of([&] { parse_multipart(std::string_view(good).substr(0, size), kType, 9); }), 400) << size;
  }
  EXPECT_EQ(status_of([&] { parse_multipart("--xyz\r\n\r\nno name\r\n--xyz--", kType, 9); }), 400);
  EXPECT_EQ(status_of([&] { parse_multipart("--xyz\r\nno colon\r\n\r\n\r\n--xyz--", kType, 9); }), 400);
  EXPECT_EQ(status_of([&] { parse_multipart("--xyz\r\nX: " + std::string(9000, 'a') + "\r\n\r\n1\r\n--xyz--", kType, 9); }), 400);
}

TEST(ByteRange, CutsToWhatIsThere) {
  const auto range = [](const char* header) {
    const auto found = parse_range(header, 100);
    return found ? std::to_string(found->begin) + "+" + std::to_string(found->length) : "all";
  };
  EXPECT_EQ(range("bytes=0-0"), "0+1");
  EXPECT_EQ(range("bytes=10-19"), "10+10");
  EXPECT_EQ(range("bytes=90-"), "90+10");
  EXPECT_EQ(range("bytes=90-500"), "90+10");
  EXPECT_EQ(range("bytes=90-18446744073709551615"), "90+10");
  EXPECT_EQ(range("bytes=-5"), "95+5");
  EXPECT_EQ(range("bytes=-500"), "0+100");
  for (const char* header :
       {"", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-3", "bytes=0-1,3-4", "lines=1-2", "bytes=99999999999999999999999-"}) {
    EXPECT_EQ(range(header), "all") << header;
  }
  EXPECT_EQ(status_of([] { parse_range("bytes=100-", 100); }), 416);
  EXPECT_EQ(status_of([] { parse_range("bytes=-0", 100); }), 416);
  EXPECT_EQ(status_of([] { parse_range("bytes=0-", 0); }), 416);
}

NativeRequest parse(const std::string& options, size_t num_photos = 2, size_t max_views = 4) {
  HttpRequest request;
  request.headers["content-type"] = kType;
  for (size_t i = 0; i < num_photos; ++i) request.body += part("images", "photo" + std::to_string(i), "; filename=\"../../x.jpg\"");
  if (!options.empty()) request.body += part("options", options);
  request.body += "--xyz--\r\n";
  return parse_native_request(request, two_models(), max_views);
}

std::string refusal(const std::string& options, size_t num_photos = 2) {
  try {
    parse(options, num_photos);
  } catch (const ApiError& error) {
    return std::to_string(error.status) + " " + error.field;
  }
  return "taken";
}

TEST(NativeRequest, TakesPhotosAndOptions) {
  const NativeRequest plain = parse("");
  ASSERT_EQ(plain.photos.size(), 2u);
  EXPECT_EQ(plain.photos[1].name, "images[1]");  // messages speak of the request, never of what the client calls the file
  EXPECT_THAT(plain.file_names, testing::ElementsAre("images[0]", "images[1]")) << "both are called x.jpg";
  EXPECT_EQ(plain.photos[1].bytes.size(), 6u);
  EXPECT_TRUE(plain.options.pose);
  EXPECT_EQ(plain.wait, std::nullopt);

  const NativeRequest full = parse(
      R"({"model": "many", "preset": "vggt_crop", "pose": false, "skip_bad": true, "formats": ["npz", "glb"], "conf_percentile": 25,
          "points": "head", "compress_npz": true, "wait": false, "pose_mode": "aligned"})",
      3);
  EXPECT_EQ(full.model, 1u);
  EXPECT_EQ(full.photos.size(), 3u);
  EXPECT_EQ(full.options.preset, "vggt_crop");
  EXPECT_FALSE(full.options.pose);
  EXPECT_TRUE(full.options.skip_bad);
  EXPECT_EQ(full.files.formats, (std::set{ExportFormat::kNpz, ExportFormat::kGlb}));
  EXPECT_EQ(full.files.filter.percentile, 25);
  EXPECT_EQ(full.files.points, PointSource::kHead);
  EXPECT_EQ(full.wait, false);
}

NativeRequest parse_parts(const std::string& parts) {
  std::vector<ServedModel> models(1);
  models[0].name = "pair";
  models[0].info.family = "dust3r";
  HttpRequest request;
  request.headers["content-type"] = kType;
  request.body = parts + "--xyz--\r\n";
  return parse_native_request(request, models, 2);
}

TEST(NativeRequest, CallsPhotosInResultsWhatTheClientCallsThem) {
  const auto names = [](const std::string& left, const std::string& right) {
    return parse_parts(part("images", "1", "; filename=\"" + left + "\"") + part("images", "2", "; filename=\"" + right + "\"")).file_names;
  };
  EXPECT_THAT(names("left.jpg", "r\xC3\xA9sum\xC3\xA9 2.png"), testing::ElementsAre("left.jpg", "r\xC3\xA9sum\xC3\xA9 2.png"));
  EXPECT_THAT(names("../../etc/passwd", "C:\\\\x\\\\y.jpg"), testing::ElementsAre("passwd", "y.jpg"));
  EXPECT_THAT(names("a/x.jpg", "b/x.jpg"), testing::ElementsAre("images[0]", "images[1]"));
  EXPECT_THAT(names("..", std::string(256, 'x')), testing::ElementsAre("images[0]", "images[1]"));
  EXPECT_THAT(names("", "tab\there"), testing::ElementsAre("images[0]", "images[1]"));
}

TEST(NativeRequest, TakesMasksInTheOrderOfThePhotos) {
  const NativeRequest request =
      parse_parts(part("masks", "") + part("images", "1") + part("mask", "black") + part("options", "{}") + part("images", "2"));
  ASSERT_EQ(request.options.known.masks.size(), 2u);
  EXPECT_TRUE(request.options.known.masks[0].name.empty()) << "this photo has none";
  EXPECT_EQ(request.options.known.masks[1].name, "masks[1]");
  EXPECT_EQ(request.options.known.masks[1].bytes.size(), 5u);
  try {
    parse_parts(part("images", "1") + part("images", "2") + part("masks", "1"));
    ADD_FAILURE() << "one mask for two photos was taken";
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status, 422);
    EXPECT_EQ(error.field, "masks");
  }
}

TEST(NativeRequest, NamesTheFieldThatWillNotDo) {
  EXPECT_EQ(refusal(R"({"formats": "npz,nothing"})"), "422 options.formats");
  EXPECT_EQ(refusal(R"({"formats": "colmap"})"), "taken");
  EXPECT_EQ(refusal(R"({"formats": "colmap", "pose": false})"), "422 options.formats");
  EXPECT_EQ(refusal(R"({"formats": "all", "pose": false})"), "taken");
  EXPECT_EQ(refusal(R"({"depth_formats": "exr,bmp"})"), "422 options.depth_formats");
  EXPECT_EQ(refusal(R"({"intrinsics": [1, 2, 3]})"), "422 options.intrinsics");
  EXPECT_EQ(refusal(R"({"intrinsics": [-1, 1, 1, 1]})"), "422 options.intrinsics");
  EXPECT_EQ(refusal(R"({"formats": [7]})"), "422 options.formats");
  EXPECT_EQ(refusal(R"({"conf_percentile": 101})"), "422 options.conf_percentile");
  EXPECT_EQ(refusal(R"({"conf_percentile": "5"})"), "422 options.conf_percentile");
  EXPECT_EQ(refusal(R"({"points": "nowhere"})"), "422 options.points");
  EXPECT_EQ(refusal(R"({"pose_mode": "sideways"})"), "422 options.pose_mode");
  EXPECT_EQ(refusal(R"({"pose": 1})"), "422 options.pose");
  EXPECT_EQ(refusal(R"({"model": "other"})"), "422 model");
  EXPECT_EQ(refusal(R"({"no_such_option": 1})"), "422 options.no_such_option");
  EXPECT_EQ(refusal("[]"), "400 options");
  EXPECT_EQ(refusal("{"), "400 options");
  EXPECT_EQ(refusal(std::string(70'000, ' ')), "413 options");
  EXPECT_EQ(refusal("", 0), "422 images");
  EXPECT_EQ(refusal("", 3), "422 images");
  EXPECT_EQ(refusal(R"({"model": "many"})", 5), "413 images");
}

}  // namespace
}  // namespace pointmap::server
