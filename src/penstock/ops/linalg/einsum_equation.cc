#include "penstock/ops/linalg/einsum_equation.h"

#include <algorithm>

#include "penstock/base/status.h"

namespace penstock {
namespace {

std::vector<int> ParseLabels(std::string_view text) {
  std::vector<int> labels;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (text.substr(i, 3) == "...") {
      if (EinsumEquation::HasEllipsis(labels)) throw InvalidArgument("Found multiple ellipsis in a subscript: ", text);
      labels.push_back(EinsumEquation::kEllipsis);
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      labels.push_back(c);
    } else {
      throw InvalidArgument("Found invalid character '", std::string_view(&c, 1), "' in subscript: ", text);
    }
  }
  return labels;
}

}  // namespace

EinsumEquation EinsumEquation::Parse(std::string_view text) {
  const size_t arrow = text.find("->");
  if (arrow == std::string_view::npos || text.find("->", arrow + 2) != std::string_view::npos) {
    throw InvalidArgument("Expecting exactly one '->' in einsum equation: ", text);
  }
  EinsumEquation e;
  for (const std::string_view part : StrSplit(text.substr(0, arrow), ',')) e.inputs.push_back(ParseLabels(part));
  if (e.inputs.size() > 2) {
    throw InvalidArgument("Expecting 1 or 2 input subscripts in equation '", text, "' but got: ", e.inputs.size());
  }
  e.output = ParseLabels(text.substr(arrow + 2));
  for (const int label : e.output) {
    bool found = label == kEllipsis;
    for (const auto& input : e.inputs) found = found || std::find(input.begin(), input.end(), label) != input.end();
    if (!found) {
      throw InvalidArgument("Output label '", ToString({label}), "' is in no input of the einsum equation: ", text);
    }
  }
  return e;
}

bool EinsumEquation::HasEllipsis(const std::vector<int>& labels) {
  return std::find(labels.begin(), labels.end(), kEllipsis) != labels.end();
}

std::string EinsumEquation::ToString(const std::vector<int>& labels) {
  std::string text;
  for (const int label : labels) {
    if (label == kEllipsis) {
      text += "...";
    } else {
      text += static_cast<char>(label);
    }
  }
  return text;
}

std::vector<int> EinsumEquation::Expand(const std::vector<int>& labels, int rank, int input) {
  const bool ellipsis = HasEllipsis(labels);
  const int named = static_cast<int>(labels.size()) - ellipsis;
  if (ellipsis ? rank < named : rank != named) {
    throw InvalidArgument("Expected input ", input, " to have rank ", ellipsis ? "at least " : "", named,
                          " but got: ", rank);
  }
  std::vector<int> out;
  for (const int label : labels) {
    if (label != kEllipsis) {
      out.push_back(label);
    } else {
      for (int i = rank - named - 1; i >= 0; --i) out.push_back(kBroadcast + i);
    }
  }
  return out;
}

std::vector<int> EinsumEquation::ExpandOutput(int broadcast) const {
  if (broadcast > 0 && !HasEllipsis(output)) {
    throw InvalidArgument("Output contains ", broadcast,
                          " broadcasting dimension(s) but no ellipsis (...) was found in the output subscripts.");
  }
  std::vector<int> out;
  for (const int label : output) {
    if (label != kEllipsis) {
      out.push_back(label);
    } else {
      for (int i = broadcast - 1; i >= 0; --i) out.push_back(kBroadcast + i);
    }
  }
  return out;
}

}  // namespace penstock
