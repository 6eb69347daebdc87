// What a client of /v1/reconstruct knows about its photos, from JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "pointmap/known_inputs.h"

namespace pointmap::server {

// Takes the option `field` into `known` if it is about what is known: intrinsics, shared_intrinsics, poses, baseline_metres, distance.
// False: it is about something else. Throws Error{kInvalidArgument} or nlohmann's exceptions for a value that will not do.
bool take_known_option(const std::string& field, const nlohmann::json& value, KnownInputs& known);

// What is wrong whatever the photos show, before a job is made of it. Throws ApiError 422 naming the field.
void require_known_inputs(const KnownInputs& known, const std::vector<Photo>& photos);

// The field of a message of the library's about known inputs, once it has seen the photos: "options.distance"; "" for other messages.
std::string known_field_of(const std::string& message);

}  // namespace pointmap::server
