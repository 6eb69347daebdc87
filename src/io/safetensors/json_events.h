// What a streaming JSON parser says, refused unless a subclass expects it. Streaming, because a parsed document no longer
// shows that a key came twice. Private to this folder; names no JSON library, so only the .cc files that parse include one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace pointmap {

// Handler base in the shape nlohmann::json::sax_parse asks for (its function names are the library's). `Reader` hides what it
// expects and implements `[[noreturn]] void unexpected(const char* what)` and `[[noreturn]] void bad_json(size_t byte)`.
template <typename Reader>
class JsonEvents {
 public:
  bool null() { return refuse("null"); }
  bool boolean(bool) { return refuse("a boolean"); }
  bool number_integer(int64_t) { return refuse("a negative number"); }
  bool number_unsigned(uint64_t) { return refuse("a number"); }
  bool number_float(double, const std::string&) { return refuse("a number that is no integer below 2^64"); }
  bool string(std::string&) { return refuse("a string"); }
  template <typename Binary>
  bool binary(Binary&) {
    return refuse("binary data");
  }
  bool start_object(size_t) { return refuse("an object"); }
  bool end_object() { return refuse("the end of an object"); }
  bool start_array(size_t) { return refuse("a list"); }
  bool end_array() { return refuse("the end of a list"); }
  template <typename Exception>
  bool parse_error(size_t byte, const std::string&, const Exception&) {
    static_cast<Reader*>(this)->bad_json(byte);
    return false;
  }

 private:
  bool refuse(const char* what) {
    static_cast<Reader*>(this)->unexpected(what);
    return false;
  }
};

}  // namespace pointmap
