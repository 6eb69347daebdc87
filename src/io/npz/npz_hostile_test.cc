// The reader against broken and malicious archives, built here byte by byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libdeflate.h>

#include <cstring>

#include "io/npz/npz_file.h"

namespace pointmap {
namespace {

using testing::HasSubstr;

void put(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

// A member whose fields can each be made to lie.
struct Member {
  std::string name = "a.npy";
  std::string content;   // as packed
  std::string unpacked;  // for the CRC and the size, unless set below
  uint16_t method = 0, flags = 0;
  std::string local_name = "";  // name unless set
  int64_t declared_packed = -1, declared_unpacked = -1, declared_offset = -1, declared_crc = -1;
};

std::string npy(const std::string& dictionary, const std::string& elements, char version = 1) {
  std::string out = "\x93NUMPY";
  out += version;
  out += '\0';
  put(out, dictionary.size(), version == 1 ? 2 : 4);
  return out + dictionary + elements;
}

std::string good_npy() {
  return npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", std::string(8, '\0'));
}

Member stored(const std::string& content, const std::string& name = "a.npy") {
  Member member;
  member.name = name;
  member.content = member.unpacked = content;
  return member;
}

std::string local_record(const Member& m) {
  std::string out = "PK\3\4";
  put(out, 20, 2);
  put(out, m.flags, 2);
  put(out, m.method, 2);
  put(out, 0, 4);
  put(out, 0, 4), put(out, 0, 4), put(out, 0, 4);  // CRC and sizes: the directory decides
  const std::string name = m.local_name.empty() ? m.name : m.local_name;
  put(out, name.size(), 2);
  put(out, 0, 2);
  return out + name + m.content;
}

std::string archive(const std::vector<Member>& members, int64_t declared_count = -1, int64_t declared_directory = -1) {
  std::string out, directory;
  for (const Member& m : members) {
    directory += "PK\1\2";
    put(directory, 20, 2), put(directory, 20, 2);
    put(directory, m.flags, 2), put(directory, m.method, 2), put(directory, 0, 4);
    put(directory, m.declared_crc >= 0 ? m.declared_crc : libdeflate_crc32(0, m.unpacked.data(), m.unpacked.size()), 4);
    put(directory, m.declared_packed >= 0 ? m.declared_packed : m.content.size(), 4);
    put(directory, m.declared_unpacked >= 0 ? m.declared_unpacked : m.unpacked.size(), 4);
    put(directory, m.name.size(), 2);
    put(directory, 0, 2), put(directory, 0, 2), put(directory, 0, 2), put(directory, 0, 2), put(directory, 0, 4);
    put(directory, m.declared_offset >= 0 ? m.declared_offset : out.size(), 4);
    directory += m.name;
    out += local_record(m);
  }
  const size_t directory_offset = out.size();
  out += directory + "PK\5\6";
  put(out, 0, 4);
  const size_t count = declared_count >= 0 ? static_cast<size_t>(declared_count) : members.size();
  put(out, count, 2), put(out, count, 2);
  put(out, directory.size(), 4);
  put(out, declared_directory >= 0 ? static_cast<size_t>(declared_directory) : directory_offset, 4);
  put(out, 0, 2);
  return out;
}

NpzFile read(const std::string& bytes, const NpzLimits& limits = {}) {
  // An exact copy on the heap, so that the address sanitizer sees a read past either end.
  const std::vector<char> copy(bytes.begin(), bytes.end());
  return NpzFile::from_bytes(std::as_bytes(std::span(copy)), "hostile.npz", limits);
}

void expect_error(const std::string& bytes, ErrorCode code, const std::string& message, const NpzLimits& limits = {}) {
  try {
    read(bytes, limits);
    ADD_FAILURE() << "read without an error, wanted: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("hostile.npz"), HasSubstr(message)));
  }
}

TEST(NpzHostile, BuilderMakesAGoodArchive) {
  EXPECT_EQ(read(archive({stored(good_npy()), stored(good_npy(), "b.npy")})).names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(read(archive({})).names().empty());
}

TEST(NpzHostile, EveryTruncationIsAnError) {
  const std::string whole = archive({stored(good_npy()), stored(good_npy(), "b.npy")});
  for (size_t length = 0; length < whole.size(); ++length) EXPECT_THROW(read(whole.substr(0, length)), Error) << length;
}

TEST(NpzHostile, EveryFlippedByteIsReadOrRefusedWithAnError) {
  const std::string whole = archive({stored(good_npy()), stored(good_npy(), "b.npy")});
  size_t refused = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const char mask : {'\x01', '\x80', '\xFF'}) {
      std::string broken = whole;
      broken[i] = static_cast<char>(broken[i] ^ mask);
      try {
        read(broken);
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, whole.size());  // most of them; times, versions and attributes are free
}

TEST(NpzHostile, FlippedElementsAreFoundByTheCrc) {
  Member member = stored(good_npy());
  member.content.back() = 'x';
  expect_error(archive({member}), kCorruptData, "CRC-32");
}

TEST(NpzHostile, BrokenDeflateIsNamed) {
  Member member = stored(good_npy());
  member.method = 8;
  member.content = std::string(20, '\xFF');
  expect_error(archive({member}), kCorruptData, "member 'a.npy' does not inflate");
}

TEST(NpzHostile, BombsAreRefusedBeforeMemoryIsTaken) {
  Member member = stored(good_npy());
  member.method = 8;
  member.declared_unpacked = 0xFFFFFFF0;
  expect_error(archive({member}), kCorruptData, "more than deflate can hold");
  member.method = 0;
  expect_error(archive({member}), kCorruptData, "declares 4294967280");
  expect_error(archive({stored(good_npy()), stored(good_npy(), "b.npy")}), kLimitExceeded, "when unpacked",
               {.max_unpacked_bytes = 2 * good_npy().size() - 1});
  expect_error(archive({stored(good_npy()), stored(good_npy(), "b.npy")}), kLimitExceeded, "2 members", {.max_members = 1});
  expect_error(archive({}), kLimitExceeded, "22 bytes", {.max_file_bytes = 21});
}

TEST(NpzHostile, OverlapsAndDuplicatesAreRefused) {
  Member again = stored(good_npy(), "b.npy");
  again.declared_offset = 0;
  again.name = "a.npy";
  expect_error(archive({stored(good_npy()), again}), kCorruptData, "occurs twice");
  // b's local header lies inside a's data.
  Member outer = stored(local_record(stored(good_npy(), "b.npy")));
  Member inner = stored(good_npy(), "b.npy");
  inner.declared_offset = static_cast<int64_t>(local_record(stored("")).size());
  expect_error(archive({outer, inner}), kCorruptData, "overlap");
}

TEST(NpzHostile, DirectoryLiesAreRefused) {
  const Member good = stored(good_npy());
  expect_error(archive({good}, 5), kCorruptData, "claims 5 members");
  expect_error(archive({good}, -1, 0xFFFFFFF0), kCorruptData, "does not fit");
  expect_error(archive({good}, -1, 0), kCorruptData, "signature");
  Member lie = good;
  lie.declared_packed = lie.declared_unpacked = 1 << 20;
  expect_error(archive({lie}), kCorruptData, "cut short");
  lie = good;
  lie.declared_offset = 1;
  expect_error(archive({lie}), kCorruptData, "no local header");
  lie = good;
  lie.declared_offset = 0xFFFFFFF0;
  expect_error(archive({lie}), kCorruptData, "begins outside");
  lie = good;
  lie.local_name = "z.npy";
  expect_error(archive({lie}), kCorruptData, "another name");
  lie = good;
  lie.flags = 1;
  expect_error(archive({lie}), kUnsupported, "encrypted");
  lie = good;
  lie.method = 14;
  expect_error(archive({lie}), kUnsupported, "method 14");
  expect_error("not a zip archive, but long enough to be one", kCorruptData, "no end record");
}

TEST(NpzHostile, BrokenNpyHeadersAreNamed) {
  const auto expect_header_error = [](const std::string& dictionary, const std::string& message) {
    expect_error(archive({stored(npy(dictionary, ""))}), kCorruptData, message);
  };
  expect_header_error("", "array 'a': npy header has no '{'");
  expect_header_error("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "wants 8 bytes, got 0");
  expect_header_error("{'descr': '<f4', 'fortran_order': False}", "lacks");
  expect_header_error("{'descr': '<f4', 'descr': '<f4'}", "repeated key 'descr'");
  expect_header_error("{'colour': '<f4'}", "unknown");
  expect_header_error("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}", "True or False");
  expect_header_error("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "number of elements");
  expect_header_error("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "2^56");
  expect_header_error("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 2)}", "array 'a'");
  expect_header_error("{'descr': '<f4', 'fortran_order': False, 'shape': (2,", "number of elements");
  expect_header_error("{'descr': '<f4", "end of a quoted text");
  expect_header_error("{'descr': [[[", "more text");
  expect_header_error("{'descr': '<f4', 'fortran_order': False, 'shape': (0,)} x", "the end");
  expect_error(archive({stored("\x93NUMPY")}), kCorruptData, "does not begin with an npy header");
  expect_error(archive({stored("plain text in an npy member")}), kCorruptData, "does not begin");
  expect_error(archive({stored(npy("{}", "", 9))}), kUnsupported, "version 9");
  std::string long_header = npy("{}", "", 2);
  std::memcpy(long_header.data() + 8, "\xFF\xFF\xFF\xFF", 4);
  expect_error(archive({stored(long_header)}), kCorruptData, "npy header claims 4294967295 bytes");
}

}  // namespace
}  // namespace pointmap
