// Files that are part of the program.
#pragma once

#include <string_view>

namespace pointmap::server {

std::string_view openapi_json();  // openapi.json
std::string_view index_html();    // index.html, the page at /

}  // namespace pointmap::server
