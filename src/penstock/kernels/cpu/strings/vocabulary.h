// Files with one word a line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock {

// The lines of a file, the first `most` of them unless that is negative. InvalidArgument: fewer lines, or an empty one.
std::vector<std::string> VocabularyLines(const std::string& path, int64_t most);

}  // namespace penstock
