// Files that are part of the program.
#pragma once

#include <string_view>

namespace pointmap::server {

std::string_view openapi_json();  // openapi.json

// The page at / (web/server_page), with the viewer of web/viewer in it.
std::string_view page_html();
std::string_view page_style();
std::string_view page_script();

}  // namespace pointmap::server
