// What a client knows, from JSON: what is taken, and which field is named when it will not do.
#include "apps/server/known_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/server/api_error.h"

namespace pointmap::server {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

KnownInputs known_of(const std::string& options) {
  const json object = json::parse(options);
  KnownInputs known;
  for (const auto& [field, value] : object.items()) EXPECT_TRUE(take_known_option(field, value, known)) << field;
  return known;
}

// The message of the refusal.
std::string refusal(const std::string& options) {
  try {
    known_of(options);
  } catch (const Error& error) {
    return error.what();
  } catch (const json::exception&) {
    return "type";
  }
  return "taken";
}

// The field that is named for a request of two photos.
std::string field_of(const KnownInputs& known) {
  try {
    require_known_inputs(known, {{.name = "images[0]", .bytes = {}}, {.name = "images[1]", .bytes = {}}});
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status, 422);
    return error.field;
  }
  return "taken";
}

TEST(KnownRequest, TakesWhatIsKnown) {
  const KnownInputs known = known_of(R"({"intrinsics": [[100, 101.5, 47.5, 31.5], [1, 2, 3, 4]],
      "poses": [[[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], [[0, 0, 1, 7], [0, 1, 0, 8], [-1, 0, 0, 9]]]})");
  ASSERT_EQ(known.intrinsics.size(), 2u);
  EXPECT_EQ(known.intrinsics[0].fy, 101.5);
  EXPECT_EQ(known.intrinsics[1].cy, 4);
  ASSERT_EQ(known.poses.world_from_cam.size(), 2u);
  EXPECT_FALSE(known.poses.of_stored_pixels);
  EXPECT_THAT(known.poses.world_from_cam[0].translation, ElementsAre(0.5, 0, 0));
  EXPECT_THAT(known.poses.world_from_cam[1].translation, ElementsAre(7, 8, 9));
  EXPECT_THAT(known.poses.world_from_cam[1].rotation, ElementsAre(0, 0, 1, 0, 1, 0, -1, 0, 0));

  EXPECT_EQ(known_of(R"({"intrinsics": [100, 101, 47.5, 31.5]})").intrinsics.size(), 1u);
  EXPECT_TRUE(known_of(R"({"shared_intrinsics": true})").shared_intrinsics);
  EXPECT_EQ(known_of(R"({"baseline_metres": 2})").baseline_metres, 2);
  const KnownInputs distance =
      known_of(R"({"distance": {"from": {"photo": 1, "x": 3, "y": 4.5}, "to": {"photo": 0, "x": 5, "y": 6}, "metres": 0.25}})");
  ASSERT_TRUE(distance.distance);
  EXPECT_EQ(distance.distance->from.photo, 1u);
  EXPECT_EQ(distance.distance->from.pixel.u, 3);
  EXPECT_EQ(distance.distance->from.pixel.v, 4.5);
  EXPECT_EQ(distance.distance->to.pixel.u, 5);
  EXPECT_EQ(distance.distance->metres, 0.25);
  KnownInputs nothing;
  EXPECT_FALSE(take_known_option("preset", "keep", nothing));
}

TEST(KnownRequest, RefusesOtherShapes) {
  for (const char* intrinsics :
       {"[]", "{}", "7", "[1, 2, 3]", "[1, 2, 3, \"4\"]", "[[1, 2, 3, 4], 5]", "[[1, 2, 3, 4, 5]]", "[1, 2, 3, true]"})
    EXPECT_THAT(refusal(std::string("{\"intrinsics\": ") + intrinsics + "}"), testing::AnyOf(HasSubstr("fx"), HasSubstr("cy")))
        << intrinsics;
  for (const char* poses : {"[]", "{}", "[1]", "[[1, 0, 0, 0]]", "[[[1, 0, 0, 0], [0, 1, 0, 0]]]", "[[[1, 0, 0], [0, 1, 0], [0, 0, 1]]]",
                            "[[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, null]]]"})
    EXPECT_THAT(refusal(std::string("{\"poses\": ") + poses + "}"), testing::AnyOf(HasSubstr("matri"), HasSubstr("number"))) << poses;
  // The transpose: what somebody who multiplies from the other side sends.
  EXPECT_THAT(refusal(R"({"poses": [[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [5, 6, 7, 1]]]})"), HasSubstr("camera-to-world"));
  EXPECT_THAT(refusal(R"({"distance": {"from": {"photo": 0, "x": 1, "y": 1}, "metres": 1}})"), HasSubstr("from, to, metres"));
  for (const char* point : {R"({"photo": -1, "x": 1, "y": 1})", R"({"photo": 0.5, "x": 1, "y": 1})", R"({"x": 1, "y": 1})",
                            R"({"photo": 0, "x": 1, "y": 1, "z": 1})", R"({"photo": 0, "x": "1", "y": 1})", "[0, 1, 1]"})
    EXPECT_THAT(refusal(std::string(R"({"distance": {"from": {"photo": 0, "x": 1, "y": 1}, "metres": 1, "to": )") + point + "}}"),
                HasSubstr("to"))
        << point;
  EXPECT_NE(refusal(R"({"baseline_metres": "1"})"), "taken");
  EXPECT_NE(refusal(R"({"shared_intrinsics": 1})"), "taken");
}

TEST(KnownRequest, NamesTheFieldBeforeThereIsAJob) {
  EXPECT_EQ(field_of({}), "taken");
  EXPECT_EQ(field_of({.intrinsics = {{100, 100, 1, 1}}}), "taken");
  EXPECT_EQ(field_of({.intrinsics = {{-100, 100, 1, 1}}}), "options.intrinsics");
  EXPECT_EQ(field_of({.intrinsics = std::vector<Intrinsics>(3, {100, 100, 1, 1})}), "options.intrinsics");
  EXPECT_EQ(field_of({.masks = {{}}}), "masks");
  EXPECT_EQ(field_of({.masks = {{}, {}}}), "taken");
  EXPECT_EQ(field_of({.poses = {.world_from_cam = {{}}}}), "options.poses");
  const RigidTransform mirror = {.rotation = {-1, 0, 0, 0, 1, 0, 0, 0, 1}, .translation = {}};
  EXPECT_EQ(field_of({.poses = {.world_from_cam = {{}, mirror}}}), "options.poses");
  EXPECT_EQ(field_of({.baseline_metres = 0}), "options.baseline_metres");
  EXPECT_EQ(field_of({.distance = KnownDistance{.from = {}, .to = {}, .metres = -1}}), "options.distance");
  EXPECT_EQ(field_of({.distance = KnownDistance{.from = {.photo = 2, .pixel = {}}, .to = {}, .metres = 1}}), "options.distance");
  // What does not go together is about no single one.
  EXPECT_EQ(field_of({.intrinsics = {{100, 100, 1, 1}}, .shared_intrinsics = true}), "options");
  EXPECT_EQ(field_of({.baseline_metres = 1, .distance = KnownDistance{.from = {}, .to = {}, .metres = 1}}), "options");
}

TEST(KnownRequest, FindsTheFieldInWhatTheLibrarySays) {
  EXPECT_EQ(known_field_of("mask 'masks[1]' has 4x4 pixels"), "masks[1]");
  EXPECT_EQ(known_field_of("images[0]: JPEG is truncated"), "");
}

}  // namespace
}  // namespace pointmap::server
