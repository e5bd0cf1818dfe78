// Compression in zlib's format (RFC 1950, 1951): what PNG images hold.
#pragma once

#include <string>
#include <string_view>

namespace penstock {

// Repeated strings and Huffman's fixed code: fast, and good for the flat images of summaries.
std::string ZlibCompress(std::string_view bytes);

}  // namespace penstock
