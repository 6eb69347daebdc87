// What is decided from text alone: base64, paths, lengths of bodies, keys, the shape of errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/server/api_error.h"
#include "apps/server/api_keys.h"
#include "apps/server/base64.h"
#include "apps/server/request_check.h"
#include "apps/server/router.h"
#include "apps/server/server_options.h"
#include "pointmap/encode.h"

namespace pointmap::server {
namespace {

using testing::ElementsAre;
using testing::Pair;

int status_of(const std::function<void()>& function) {
  try {
    function();
  } catch (const ApiError& error) {
    return error.status;
  }
  return 0;
}

std::string decoded(std::string_view text) {
  const auto bytes = decode_base64(text);
  return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : "(none)";
}

// RFC 4648, section 10.
TEST(Base64, KnowsTheVectorsOfTheStandard) {
  const std::vector<std::pair<std::string, std::string>> vectors = {
      {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, text] : vectors) {
    std::string encoded = "before";
    encode_base64(plain, encoded);
    EXPECT_EQ(encoded, "before" + text);
    EXPECT_EQ(decoded(text), plain);
  }
}

TEST(Base64, BringsEveryByteBackAtEveryPlace) {
  for (size_t size = 0; size < 70; ++size) {
    std::string plain;
    for (size_t i = 0; i < size; ++i) plain.push_back(static_cast<char>(i * 37 + size * 11));
    std::string text;
    encode_base64(plain, text);
    EXPECT_EQ(decoded(text), plain);
  }
}

TEST(Base64, RefusesEverythingElse) {
  for (const char* text :
       {"Zg", "Zg=", "Zg=a", "Z===", "====", "Zm9v\n", "Zm 9", "Zm9-", "Zm9_", "Zh==", "Zm9=", "=m9v", "Zm=v", "Zm9v=", "\xC3\xA9Zm"}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
  }
  // A wrong character anywhere, not only where it is easy to see.
  std::string text(64, 'A');
  for (size_t i = 0; i < text.size(); ++i) {
    std::string broken = text;
    broken[i] = '*';
    EXPECT_EQ(decode_base64(broken), std::nullopt) << i;
  }
}

TEST(Base64, SkipsWhatBrowsersPutInFront) {
  EXPECT_EQ(decoded("data:image/jpeg;base64,Zm9v"), "foo");
  EXPECT_EQ(decoded("data:image/jpeg,Zm9v"), "(none)");
}

TEST(Router, FindsRoutesByTheirParts) {
  Router router;
  const Handler nothing = [](const HttpRequest&) { return HttpResponse{}; };
  router.add({"GET", "/v1/jobs/{id}", nothing});
  router.add({"DELETE", "/v1/jobs/{id}", nothing});
  router.add({"GET", "/v1/jobs/{id}/artifacts/{name}", nothing});
  router.add({"GET", "/", nothing});
  EXPECT_EQ(router.find("GET", "/").route->pattern, "/");
  const FoundRoute found = router.find("HEAD", "/v1/jobs/a1/artifacts/scene.glb");
  EXPECT_EQ(found.route->pattern, "/v1/jobs/{id}/artifacts/{name}");
  EXPECT_THAT(found.path_parameters, ElementsAre(Pair("id", "a1"), Pair("name", "scene.glb")));
  EXPECT_EQ(router.find("DELETE", "/v1/jobs/a1").route->method, "DELETE");
  EXPECT_EQ(status_of([&] { router.find("POST", "/v1/jobs/a1"); }), 405);
  for (const std::string path :
       {"", "x", "//", "/v1", "/v1/jobs", "/v1/jobs/", "/v1/jobs/a1/", "/v1/jobs//artifacts/x", "/v1/jobs/a/artifacts/b/c"}) {
    EXPECT_EQ(status_of([&] { router.find("GET", path); }), 404) << path;
  }
  EXPECT_EQ(status_of([&] { router.find("GET", "/v1/jobs/" + std::string(5000, 'a')); }), 404);
}

TEST(BodyLength, IsTakenFromOneClearStatement) {
  using Headers = std::multimap<std::string, std::string>;
  EXPECT_EQ(body_length(Headers{{"content-length", "12"}}, 100).bytes, 12u);
  EXPECT_FALSE(body_length({}, 100).has_body());
  EXPECT_TRUE(body_length(Headers{{"transfer-encoding", "chunked"}}, 100).is_chunked);
  const auto status = [](const Headers& headers) { return status_of([&] { body_length(headers, 100); }); };
  EXPECT_EQ(status({{"content-length", "101"}}), 413);
  EXPECT_EQ(status({{"content-length", "99999999999999999999999"}}), 400);
  EXPECT_EQ(status({{"content-length", "-1"}}), 400);
  EXPECT_EQ(status({{"content-length", "1 "}}), 400);
  EXPECT_EQ(status({{"content-length", "5"}, {"content-length", "5"}}), 400);
  EXPECT_EQ(status({{"content-length", "5"}, {"transfer-encoding", "chunked"}}), 400);
  EXPECT_EQ(status({{"transfer-encoding", "gzip, chunked"}}), 400);
  EXPECT_EQ(status({{"content-encoding", "gzip"}, {"content-length", "5"}}), 415);
}

TEST(RequestId, KeepsPlainOnesOnly) {
  EXPECT_EQ(request_id_from("abc-1.2_Z"), "abc-1.2_Z");
  for (const std::string& id : {std::string(), std::string(65, 'a'), std::string("a b"), std::string("a\r\nX: y"), std::string("\"")}) {
    EXPECT_THAT(request_id_from(id), testing::MatchesRegex("[0-9a-f]{16}"));
  }
  EXPECT_NE(request_id_from(""), request_id_from(""));
}

TEST(ApiKeys, LetsKnownOnesIn) {
  const ApiKeys keys = ApiKeys::parse("# team\nfirst-key-1\r\n\nsecond-key\n", "keys");
  EXPECT_EQ(keys.client_of("Bearer first-key-1"), "key 1");
  EXPECT_EQ(keys.client_of("Bearer second-key"), "key 2");
  for (const char* header :
       {"", "Bearer ", "Bearer first-key", "Bearer first-key-11", "first-key-1", "Basic first-key-1", "Bearer # team"}) {
    EXPECT_EQ(status_of([&] { keys.client_of(header); }), 401) << header;
  }
  EXPECT_THROW(ApiKeys::parse("# nothing\n", "keys"), Error);
  EXPECT_THROW(ApiKeys::parse("short\n", "keys"), Error);
  EXPECT_THROW(ApiKeys::read("/nowhere/keys"), Error);
}

TEST(ErrorResponse, HasOneShape) {
  ApiError error{503, "queue_full", "say \"no\" \xFF", "images"};
  error.retry_after_s = 3;
  const HttpResponse response = error_response(error, "id1");
  const auto json = nlohmann::json::parse(response.body);
  EXPECT_EQ(json["error"]["code"], "queue_full");
  EXPECT_EQ(json["error"]["field"], "images");
  EXPECT_EQ(json["error"]["request_id"], "id1");
  EXPECT_THAT(response.headers, testing::Contains(Pair("Retry-After", "3")));
  EXPECT_TRUE(nlohmann::json::parse(error_response({400, "a", "b"}, "").body)["error"]["field"].is_null());
}

TEST(ErrorResponse, SaysWhenToComeBack) {
  const auto retry_after = [](const ApiError& error) {
    for (const auto& [name, value] : error_response(error, "").headers) {
      if (name == "Retry-After") return value;
    }
    return std::string();
  };
  EXPECT_EQ(retry_after({503, "queue_full", "m", 17}), "17");
  EXPECT_EQ(retry_after({503, "out_of_memory", "m"}), "5");
  EXPECT_EQ(retry_after(api_error_from(Error{kCancelled, "m"})), "5");
  EXPECT_EQ(retry_after({500, "internal", "m"}), "");
}

TEST(ErrorResponse, NamesTheFieldThatThePhotoCameFrom) {
  EXPECT_EQ(api_error_from(Error{kCorruptData, "image1: JPEG is truncated"}).field, "image1");
  EXPECT_EQ(api_error_from(Error{kUnsupported, "images[3]: not an image"}).status, 415);
  EXPECT_EQ(api_error_from(Error{kLimitExceeded, "image2: too many pixels"}).status, 413);
  EXPECT_EQ(api_error_from(Error{kInternal, "images of unequal size: 3"}).field, "");
}

TEST(ModelChoice, HasANameOfItsOwnOrAnother) {
  EXPECT_EQ(parse_model_choice("demo").name, "demo");
  EXPECT_EQ(parse_model_choice("/a=b/c=small").model, "/a=b/c");
  EXPECT_EQ(parse_model_choice("/a=b/c=small").name, "small");
  for (const char* text : {"", "=", "demo=", "=demo"}) EXPECT_THROW(parse_model_choice(text), Error) << text;
}

}  // namespace
}  // namespace pointmap::server
