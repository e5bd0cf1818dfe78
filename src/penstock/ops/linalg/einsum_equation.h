// The equation of an Einsum: "ab,bc->ac", with "..." for dimensions that are broadcast.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace penstock {

struct EinsumEquation {
  static constexpr int kEllipsis = -1;
  // Labels that "..." stands for are kBroadcast + their distance from its right end.
  static constexpr int kBroadcast = 256;

  std::vector<std::vector<int>> inputs;  // the characters, or kEllipsis
  std::vector<int> output;

  // InvalidArgument: no or several "->", more than two inputs, a second "..." or something that is no letter.
  static EinsumEquation Parse(std::string_view text);
  static bool HasEllipsis(const std::vector<int>& labels);
  static std::string ToString(const std::vector<int>& labels);
  // The labels of `rank` dimensions, "..." written out. InvalidArgument if the rank does not fit.
  static std::vector<int> Expand(const std::vector<int>& labels, int rank, int input);
  // The labels of the output, where "..." stands for `broadcast` dimensions.
  std::vector<int> ExpandOutput(int broadcast) const;
};

}  // namespace penstock
