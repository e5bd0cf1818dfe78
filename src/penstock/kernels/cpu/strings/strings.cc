// Strings joined, cut, measured and put into another case.
#include <algorithm>
#include <optional>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/elementwise.h"
#include "penstock/kernels/cpu/strings/map_strings.h"
#include "penstock/kernels/cpu/strings/unicode.h"

namespace penstock {
namespace {

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

struct StringJoin {
  std::string separator;
  explicit StringJoin(const NodeView& node) : separator(node.attr<std::string>("separator")) {}
  void operator()(KernelContext& k) const {
    Shape shape;
    bool seen = false;
    for (int i = 0; i < k.num_inputs(); ++i) {
      if (k.shape(i).rank() == 0) continue;
      k.Require(!seen || k.shape(i) == shape, "Input shapes do not match: ", shape, " vs. ", k.shape(i));
      shape = k.shape(i);
      seen = true;
    }
    const auto out = k.out<TString>(0, shape);
    std::string text;
    for (size_t e = 0; e < out.size(); ++e) {
      text.clear();
      for (int i = 0; i < k.num_inputs(); ++i) {
        if (i > 0) text += separator;
        text += k.input(i).data<TString>()[k.shape(i).rank() == 0 ? 0 : e].view();
      }
      out[e] = TString(text);
    }
  }
};

bool CountsCharacters(const NodeView& node) { return node.attr<std::string>("unit") == "UTF8_CHAR"; }

struct StringLength {
  bool characters;
  explicit StringLength(const NodeView& node) : characters(CountsCharacters(node)) {}
  void operator()(KernelContext& k) const {
    const auto in = k.in<TString>(0);
    const auto out = k.out<int32_t>(0, k.shape(0));
    for (size_t i = 0; i < in.size(); ++i) {
      const std::string_view s = in[i].view();
      out[i] = static_cast<int32_t>(characters ? std::count_if(s.begin(), s.end(), StartsCharacter) : s.size());
    }
  }
};

template <bool kUpper>
struct ChangeCase {
  bool unicode;
  explicit ChangeCase(const NodeView& node) {
    const auto& encoding = node.attr<std::string>("encoding");
    unicode = encoding == "utf-8";
    if (!unicode && !encoding.empty()) {
      throw InvalidArgument("only utf-8 or '' (no encoding) is supported, received ", encoding);
    }
  }
  void operator()(KernelContext& k) const {
    MapStrings(k, [this](std::string_view in, TString& out) {
      if (unicode) {
        out = TString(kUpper ? UpperCase(in) : LowerCase(in));
        return;
      }
      char* to = out.Resize(in.size());
      for (size_t i = 0; i < in.size(); ++i) {
        const char c = in[i];
        const bool change = kUpper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z';
        to[i] = change ? static_cast<char>(c ^ 0x20) : c;
      }
    });
  }
};

struct StringStrip {
  void operator()(KernelContext& k) const {
    MapStrings(k, [](std::string_view in, TString& out) { out = StripSpaces(in); });
  }
};

// Bytes [begin, end) that the position and length stand for; nothing if the position lies outside.
std::optional<std::pair<size_t, size_t>> SubstrRange(std::string_view s, int64_t pos, int64_t len, bool characters) {
  const auto size = static_cast<int64_t>(s.size());
  if (!characters) {
    if (pos < -size || pos > size) return std::nullopt;
    const int64_t begin = pos < 0 ? pos + size : pos;
    return std::pair<size_t, size_t>(begin, len < 0 || len > size - begin ? size : begin + len);
  }
  // Starts of characters, and the end.
  std::vector<size_t> starts;
  for (size_t i = 0; i < s.size(); ++i) {
    if (StartsCharacter(s[i])) starts.push_back(i);
  }
  const auto count = static_cast<int64_t>(starts.size());
  starts.push_back(s.size());
  if (pos < -count || pos > count) return std::nullopt;
  const int64_t begin = pos < 0 ? pos + count : pos;
  return std::pair<size_t, size_t>(starts[begin], starts[len < 0 || len > count - begin ? count : begin + len]);
}

template <class T>
struct Substr {
  bool characters;
  explicit Substr(const NodeView& node) : characters(CountsCharacters(node)) {}
  void operator()(KernelContext& k) const {
    k.Require(k.shape(1) == k.shape(2), "pos and len should have the same shape, got: ", k.shape(1), " vs. ",
              k.shape(2));
    const Shape* shapes[] = {&k.shape(0), &k.shape(1)};
    const Broadcast plan = MakeBroadcast(shapes);
    const auto in = k.in<TString>(0);
    const auto pos = k.in<T>(1), len = k.in<T>(2);
    const auto out = k.out<TString>(0, plan.out);
    ForEachRun(plan, 0, plan.out.num_elements(), [&](int64_t at, const int64_t* from, int64_t n) {
      const int64_t step = plan.strides[0].back(), pos_step = plan.strides[1].back();
      for (int64_t i = 0; i < n; ++i) {
        const std::string_view s = in[from[0] + i * step].view();
        const int64_t p = pos[from[1] + i * pos_step], l = len[from[1] + i * pos_step];
        const auto range = SubstrRange(s, p, l, characters);
        if (!range) {
          throw InvalidArgument("pos ", p, " out of range for string ", characters ? "" : StrCat("b'", s, "' "),
                                "at index ", at + i);
        }
        out[at + i] = s.substr(range->first, range->second - range->first);
      }
    });
  }
};

struct ReduceJoin {
  std::string separator;
  bool keep;
  explicit ReduceJoin(const NodeView& node)
      : separator(node.attr<std::string>("separator")), keep(node.attr<bool>("keep_dims")) {}
  void operator()(KernelContext& k) const {
    const Shape shape = k.shape(0);
    const int rank = shape.rank();
    const auto in = k.in<TString>(0);
    std::vector<int> axes;
    std::vector<bool> reduced(rank, false);
    for (const int64_t axis : k.Ints(1)) {
      if (axis < -rank || axis >= rank) {
        throw OutOfRange("Invalid reduction dimension ", axis, " for input with ", rank, " dimension(s)");
      }
      const int positive = static_cast<int>(axis < 0 ? axis + rank : axis);
      k.Require(!reduced[positive], "Duplicate reduction dimension ", axis);
      reduced[positive] = true;
      axes.push_back(positive);
    }
    if (axes.empty()) return k.Forward(0, 0);
    std::reverse(axes.begin(), axes.end());  // the first that is named runs fastest
    std::vector<int64_t> strides(rank, 1), dims;
    for (int d = rank - 2; d >= 0; --d) strides[d] = strides[d + 1] * shape[d + 1];
    std::vector<int> others;
    int64_t count = 1;
    for (int d = 0; d < rank; ++d) {
      if (!reduced[d]) {
        dims.push_back(shape[d]);
        others.push_back(d);
      } else {
        count *= shape[d];
        if (keep) dims.push_back(1);
      }
    }
    const auto out = k.out<TString>(0, Shape(dims));
    // The position that `number` has among the places along these axes, the last of which runs fastest.
    const auto offset = [&](const std::vector<int>& along, int64_t number) {
      int64_t at = 0;
      for (size_t a = along.size(); a-- > 0;) {
        at += number % shape[along[a]] * strides[along[a]];
        number /= shape[along[a]];
      }
      return at;
    };
    std::string text;
    for (size_t o = 0; o < out.size(); ++o) {
      text.clear();
      const int64_t first = in.empty() ? 0 : offset(others, static_cast<int64_t>(o));
      for (int64_t i = 0; i < count; ++i) {
        if (i > 0) text += separator;
        text += in[first + offset(axes, i)].view();
      }
      out[o] = TString(text);
    }
  }
};

struct UnsortedSegmentJoin {
  std::string separator;
  explicit UnsortedSegmentJoin(const NodeView& node) : separator(node.attr<std::string>("separator")) {}
  void operator()(KernelContext& k) const {
    const Shape shape = k.shape(0), ids_shape = k.shape(1);
    k.Require(k.shape(2).rank() == 0, "Number of segments must be a scalar");
    const int64_t segments = k.Int(2);
    k.Require(segments >= 0, "Number of segments must be nonnegative, got ", segments);
    k.Require(ids_shape.rank() > 0, "Segment_id cannot have rank 0");
    if (ids_shape.rank() > shape.rank()) {
      throw OutOfRange("Invalid segment_id rank ", ids_shape.rank(), " for input with ", shape.rank(), " dimension(s)");
    }
    std::vector<int64_t> dims = {segments};
    for (int d = 0; d < shape.rank(); ++d) {
      if (d >= ids_shape.rank()) {
        dims.push_back(shape[d]);
      } else {
        k.Require(shape[d] == ids_shape[d], "Segment dimension is ", ids_shape[d], " while input dimension is ",
                  shape[d], " in rank ", d);
      }
    }
    const Shape out_shape(dims);
    const int64_t row = segments > 0 ? out_shape.num_elements() / segments : 0;
    std::vector<std::vector<int64_t>> members(segments);
    const Tensor& ids = k.input(1);
    for (int64_t i = 0; i < ids.num_elements(); ++i) {
      const int64_t id = ids.IntAt(i);
      k.Require(id >= 0 && id < segments,
                "segment_ids are not allowed to exceed num_segments or to have negative values.");
      members[id].push_back(i);
    }
    const auto in = k.in<TString>(0);
    const auto out = k.out<TString>(0, out_shape);
    std::string text;
    for (int64_t o = 0; o < static_cast<int64_t>(out.size()); ++o) {
      text.clear();
      bool first = true;
      for (const int64_t member : members[o / row]) {
        if (!first) text += separator;
        first = false;
        text += in[member * row + o % row].view();
      }
      out[o] = TString(text);
    }
  }
};

// The pieces of one string.
using Pieces = std::vector<std::string_view>;

void PutPieces(KernelContext& k, const std::vector<Pieces>& rows) {
  int64_t total = 0, longest = 0;
  for (const Pieces& row : rows) {
    total += static_cast<int64_t>(row.size());
    longest = std::max(longest, static_cast<int64_t>(row.size()));
  }
  const auto indices = k.out<int64_t>(0, Shape({total, 2}));
  const auto values = k.out<TString>(1, Shape({total}));
  const auto shape = k.out<int64_t>(2, Shape({2}));
  int64_t at = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t i = 0; i < rows[r].size(); ++i, ++at) {
      indices[2 * at] = static_cast<int64_t>(r);
      indices[2 * at + 1] = static_cast<int64_t>(i);
      values[at] = rows[r][i];
    }
  }
  shape[0] = static_cast<int64_t>(rows.size());
  shape[1] = longest;
}

struct StringSplit {
  bool skip_empty;
  explicit StringSplit(const NodeView& node) : skip_empty(node.attr<bool>("skip_empty")) {}
  void operator()(KernelContext& k) const {
    k.Require(k.shape(0).rank() == 1, "input must be a vector, got shape: ", k.shape(0));
    k.Require(k.shape(1).rank() == 0, "delimiter must be a scalar, got shape: ", k.shape(1));
    const std::string_view delimiters = k.in<TString>(1)[0].view();
    std::vector<Pieces> rows;
    for (const TString& s : k.in<TString>(0)) rows.push_back(Split(s.view(), delimiters));
    PutPieces(k, rows);
  }

 private:
  Pieces Split(std::string_view s, std::string_view delimiters) const {
    Pieces pieces;
    if (s.empty()) return pieces;
    if (delimiters.empty()) {
      for (size_t i = 0; i < s.size(); ++i) pieces.push_back(s.substr(i, 1));
      return pieces;
    }
    for (size_t begin = 0; begin <= s.size();) {
      const size_t end = std::min(s.find_first_of(delimiters, begin), s.size());
      if (end > begin || !skip_empty) pieces.push_back(s.substr(begin, end - begin));
      begin = end + 1;
    }
    return pieces;
  }
};

struct StringSplitV2 {
  int64_t most;
  explicit StringSplitV2(const NodeView& node) : most(node.attr<int64_t>("maxsplit")) {}
  void operator()(KernelContext& k) const {
    k.Require(k.shape(0).rank() == 1, "input must be a vector, got shape: ", k.shape(0));
    k.Require(k.shape(1).rank() == 0, "sep must be a scalar, got shape: ", k.shape(1));
    const std::string_view separator = k.in<TString>(1)[0].view();
    std::vector<Pieces> rows;
    for (const TString& s : k.in<TString>(0)) {
      rows.push_back(most == 0 ? Pieces{s.view()} : separator.empty() ? Words(s.view()) : Split(s.view(), separator));
    }
    PutPieces(k, rows);
  }

 private:
  bool Enough(const Pieces& pieces) const { return most > 0 && static_cast<int64_t>(pieces.size()) == most; }

  Pieces Split(std::string_view s, std::string_view separator) const {
    Pieces pieces;
    while (!Enough(pieces)) {
      const size_t end = s.find(separator);
      if (end == s.npos) break;
      pieces.push_back(s.substr(0, end));
      s.remove_prefix(end + separator.size());
    }
    pieces.push_back(s);
    return pieces;
  }

  Pieces Words(std::string_view s) const {
    Pieces pieces;
    const auto skip = [&] { s.remove_prefix(std::find_if_not(s.begin(), s.end(), IsSpace) - s.begin()); };
    for (skip(); !s.empty(); skip()) {
      pieces.push_back(s.substr(0, std::find_if(s.begin(), s.end(), IsSpace) - s.begin()));
      s.remove_prefix(pieces.back().size());
      if (Enough(pieces)) {
        skip();
        pieces.push_back(s);  // what is left, perhaps nothing
        break;
      }
    }
    return pieces;
  }
};

}  // namespace

void RegisterStringKernels(KernelRegistry& kernels) {
  kernels.Add<StringJoin>("StringJoin");
  kernels.Add<StringLength>("StringLength");
  kernels.Add<ChangeCase<false>>("StringLower");
  kernels.Add<ChangeCase<true>>("StringUpper");
  kernels.Add<StringStrip>("StringStrip");
  kernels.Add<Substr>("Substr", Types<int32_t, int64_t>{});
  kernels.Add<ReduceJoin>("ReduceJoin");
  kernels.Add<UnsortedSegmentJoin>("UnsortedSegmentJoin");
  kernels.Add<StringSplit>("StringSplit");
  kernels.Add<StringSplitV2>("StringSplitV2");
}

}  // namespace penstock
