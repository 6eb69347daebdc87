// Every refusal on the wire: its status, its code, the one shape of all of them, and when to come back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <set>

#include "server_process.h"

namespace pointmap {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

// "413 body_too_large"; also checks what holds for all refusals.
std::string refusal(const httplib::Result& result) {
  if (!result) return "no answer";
  EXPECT_EQ(result->get_header_value("Content-Type"), "application/json");
  const json body = json::parse(result->body, nullptr, /*allow_exceptions=*/false);
  if (!body.is_object() || !body.contains("error")) return std::to_string(result->status) + " without an error: " + result->body;
  EXPECT_EQ(body.size(), 1u);
  const json& error = body["error"];
  std::set<std::string> fields;
  for (const auto& [name, value] : error.items()) fields.insert(name);
  EXPECT_EQ(fields, (std::set<std::string>{"code", "field", "message", "request_id"}));
  EXPECT_FALSE(error["message"].get<std::string>().empty());
  EXPECT_TRUE(error["field"].is_null() || error["field"].is_string());
  EXPECT_EQ(error["request_id"], result->get_header_value("X-Request-Id"));
  if (result->status == 429 || result->status == 503) {
    EXPECT_GE(std::atoi(result->get_header_value("Retry-After").c_str()), 1) << result->body;
  }
  return std::to_string(result->status) + " " + error["code"].get<std::string>();
}

uint32_t crc32(const std::string& bytes) {
  uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

std::string big_endian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
  return bytes;
}

// test_png with another size in its header: what an honest reader would have to make room for before it finds that there are no pixels.
std::string png_that_claims(uint32_t width, uint32_t height) {
  std::string png = test_png(96, 64, 1);
  constexpr size_t kChunk = 12, kSize = 16, kChunkBytes = 17, kCrc = kChunk + kChunkBytes;  // "IHDR" and what its check covers
  png.replace(kSize, 8, big_endian(width) + big_endian(height));
  png.replace(kCrc, 4, big_endian(crc32(png.substr(kChunk, kChunkBytes))));
  return png;
}

json with(const std::string& field, const json& value) {
  json request = pair_request();
  request[field] = value;
  return request;
}

// A server with every limit set low, and two clients that it knows.
class RefusalTest : public testing::Test {
 protected:
  RefusalTest() : keys_(testing::TempDir() + "/pointmap_refusal_keys_" + std::to_string(::getpid())) {
    std::ofstream(keys_) << "first-client\nsecond-client\n";
    server_.emplace(ServerProcess::Options{.arguments = {"--api-key-file", keys_, "--max-body", "1M", "--max-pixels", "10000", "--queue",
                                                         "1", "--jobs-per-client", "2", "--drain-timeout", "3"}});
  }
  ~RefusalTest() override { std::filesystem::remove(keys_); }

  httplib::Client client(const std::string& key = "first-client") const {
    httplib::Client client = server_->client();
    client.set_bearer_token_auth(key);
    return client;
  }
  static httplib::Result predict(httplib::Client client, const json& body) {
    return client.Post("/predict", body.dump(), "application/json");
  }
  // A job that takes a while, not waited for.
  static httplib::Result hand_in(httplib::Client client) {
    const std::string options = R"({"wait": false, "preset": "pad512", "formats": "npz"})";
    return client.Post("/v1/reconstruct", httplib::MultipartFormDataItems{{"images", test_png(96, 64, 1), "1.png", "image/png"},
                                                                          {"images", test_png(96, 64, 2), "2.png", "image/png"},
                                                                          {"options", options, "", "application/json"}});
  }
  // Jobs are handed in faster than they are done, so soon one is refused.
  std::string refusal_of_jobs(const std::string& key) const {
    for (int i = 0; i < 50; ++i) {
      const httplib::Result result = hand_in(client(key));
      if (!result || result->status != 202) return refusal(result);
    }
    return "none";
  }

  std::string keys_;
  std::optional<ServerProcess> server_;
};

TEST_F(RefusalTest, OfWhatIsNoRequest) {
  EXPECT_EQ(refusal(client().Get("/nowhere")), "404 not_found");
  EXPECT_EQ(refusal(client().Get("/predict")), "405 method_not_allowed");
  EXPECT_EQ(refusal(client("nobody").Post("/predict", "{}", "application/json")), "401 unauthorized");
  EXPECT_EQ(refusal(client().Post("/predict", "{", "application/json")), "400 bad_json");
  EXPECT_EQ(refusal(client().Post("/predict", "{}", "text/plain")), "415 unsupported_media_type");
  EXPECT_EQ(refusal(client().Post("/predict", {{"Content-Encoding", "gzip"}}, "{}", "application/json")), "415 unsupported_encoding");
  EXPECT_EQ(refusal(client().Post("/predict", std::string(2 << 20, ' '), "application/json")), "413 body_too_large");
}

TEST_F(RefusalTest, OfWhatIsInIt) {
  EXPECT_EQ(refusal(predict(client(), with("image1", nullptr))), "422 invalid_argument");
  EXPECT_EQ(refusal(predict(client(), with("image1", "*"))), "422 bad_base64");
  EXPECT_EQ(refusal(predict(client(), with("image1", base64_of("no photo")))), "415 unsupported");
  EXPECT_EQ(refusal(predict(client(), with("image1", base64_of(test_png(96, 64, 1).substr(0, 200))))), "422 corrupt_data");
  EXPECT_EQ(refusal(predict(client(), with("image1", base64_of(test_png(101, 100, 1))))), "413 limit_exceeded");
}

TEST_F(RefusalTest, OfPixelsBeforeTheyAreDecoded) {
  const size_t before = server_->resident_bytes();
  EXPECT_EQ(refusal(predict(client(), with("image1", base64_of(png_that_claims(30'000, 30'000))))), "413 limit_exceeded");
  EXPECT_LT(server_->resident_bytes(), before + (64u << 20));
  EXPECT_EQ(refusal(predict(client(), with("image1", base64_of(png_that_claims(96, 65))))), "422 corrupt_data");  // the claim is read
}

TEST_F(RefusalTest, OfJobsBeyondOnesOwnAndBeyondAll) {
  EXPECT_EQ(refusal_of_jobs("first-client"), "429 too_many_jobs");
  EXPECT_EQ(refusal_of_jobs("second-client"), "503 queue_full");
}

TEST_F(RefusalTest, OfWorkThatComesWhileTheLastIsFinished) {
  EXPECT_EQ(hand_in(client())->status, 202);
  EXPECT_EQ(hand_in(client())->status, 202);
  server_->signal(SIGTERM);
  server_->wait_for_event("draining");
  EXPECT_EQ(refusal(hand_in(client("second-client"))), "503 draining");
  EXPECT_EQ(refusal(predict(client("second-client"), pair_request())), "503 draining");
  EXPECT_EQ(refusal(client().Get("/ready")), "503 draining");
  EXPECT_EQ(server_->wait_for_exit(60s), 0);
}

}  // namespace
}  // namespace pointmap
