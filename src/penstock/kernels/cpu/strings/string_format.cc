// Tensors as text inside a template, and n-grams.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "penstock/kernel/kernel_registry.h"

namespace penstock {
namespace {

// The fewest of `digits` or two (float: three) more digits that read back as the same number.
template <class T>
std::string ShortNumber(T value, int digits, int more) {
  if (std::isnan(value)) return "nan";
  char text[40];
  const auto print = [&](int n) {
    return std::to_chars(text, text + sizeof(text), static_cast<double>(value), std::chars_format::general, n).ptr;
  };
  const char* end = print(digits);
  T back{};
  if (std::from_chars(text, end, back).ec != std::errc() || back != value) end = print(more);
  return std::string(static_cast<const char*>(text), end);
}

std::string Quoted(std::string_view s) {
  std::string text = "\"";
  for (const char c : s) {
    const uint8_t byte = c;
    if (c == '\n') {
      text += "\\n";
    } else if (c == '\r') {
      text += "\\r";
    } else if (c == '\t') {
      text += "\\t";
    } else if (c == '"' || c == '\'' || c == '\\') {
      text += '\\';
      text += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      text += '\\';
      for (const int shift : {6, 3, 0}) text += static_cast<char>('0' + (byte >> shift & 7));
    } else {
      text += c;
    }
  }
  return text + '"';
}

std::string ElementText(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DT_FLOAT: return ShortNumber(t.data<float>()[i], 6, 9);
    case DT_HALF: return ShortNumber(static_cast<float>(t.data<Half>()[i]), 6, 9);
    case DT_BFLOAT16: return ShortNumber(static_cast<float>(t.data<BFloat16>()[i]), 6, 9);
    case DT_DOUBLE: return ShortNumber(t.data<double>()[i], 15, 17);
    case DT_BOOL: return t.data<bool>()[i] ? "1" : "0";
    case DT_STRING: return Quoted(t.data<TString>()[i].view());
    default: return t.ElementToString(i);
  }
}

// Nested brackets with the first and the last `ends` of each dimension.
class Summary {
 public:
  Summary(const Tensor& t, int64_t ends)
      : t_(t), ends_(ends < 0 ? t.num_elements() : std::min(ends, t.num_elements())) {}
  std::string Text() {
    Put(0, 0, t_.num_elements());
    return std::move(text_);
  }

 private:
  // The part of `size` elements from `at` on, from this dimension inwards.
  void Put(int dim, int64_t at, int64_t size) {
    if (dim == t_.rank()) {
      text_ += ElementText(t_, at);
      return;
    }
    const int64_t n = t_.dim(dim), part = n > 0 ? size / n : 0;
    text_ += '[';
    for (int64_t i = 0; i < n; ++i) {
      if (i > 0) Space(dim);
      if (i >= ends_ && i < n - ends_) {
        if (i == 0) Space(dim);
        text_ += "...";
        i = n - ends_ - 1;
      } else {
        Put(dim + 1, at + i * part, part);
      }
    }
    text_ += ']';
  }
  void Space(int dim) {
    if (dim == t_.rank() - 1) {
      text_ += ' ';
    } else {
      text_.append(t_.rank() - 1 - dim, '\n').append(dim + 1, ' ');
    }
  }
  const Tensor& t_;
  const int64_t ends_;
  std::string text_;
};

struct StringFormat {
  std::vector<std::string> parts;  // of the template, around the placeholders
  int64_t ends;
  explicit StringFormat(const NodeView& node) : ends(node.attr<int64_t>("summarize")) {
    std::string_view rest = node.attr<std::string>("template");
    const auto& placeholder = node.attr<std::string>("placeholder");
    for (size_t at; !placeholder.empty() && (at = rest.find(placeholder)) != rest.npos;) {
      parts.emplace_back(rest.substr(0, at));
      rest.remove_prefix(at + placeholder.size());
    }
    parts.emplace_back(rest);
    if (static_cast<int>(parts.size()) != node.num_inputs() + 1) {
      throw InvalidArgument("num placeholders in template and num inputs must match: ", parts.size() - 1, " vs. ",
                            node.num_inputs());
    }
  }
  void operator()(KernelContext& k) const {
    std::string text;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i > 0) text += Summary(k.input(static_cast<int>(i) - 1), ends).Text();
      text += parts[i];
    }
    k.SetOutput(0, Tensor(TString(text)));
  }
};

template <class Splits>
class StringNGrams {
 public:
  explicit StringNGrams(const NodeView& node)
      : separator_(node.attr<std::string>("separator")),
        left_(node.attr<std::string>("left_pad")),
        right_(node.attr<std::string>("right_pad")),
        widths_(node.attr<std::vector<int64_t>>("ngram_widths")),
        pad_(node.attr<int64_t>("pad_width")),
        keep_short_(node.attr<bool>("preserve_short_sequences")) {
    for (const int64_t width : widths_) {
      if (width <= 0) throw InvalidArgument("ngram_widths must contain positive values");
    }
  }

  void operator()(KernelContext& k) const {
    const auto data = k.in<TString>(0);
    const auto splits = k.in<Splits>(1);
    k.Require(k.shape(0).rank() == 1 && k.shape(1).rank() == 1, "data and data_splits must be vectors");
    const auto size = static_cast<Splits>(data.size());
    for (size_t i = 0; i < splits.size(); ++i) {
      k.Require(i > 0 || splits[i] == 0, "First split value must be 0, got ", splits[i]);
      const Splits low = i > 0 ? splits[i - 1] : 0;
      k.Require(splits[i] >= low && splits[i] <= size, "Invalid split value ", splits[i], ", must be in [", low, ", ",
                size, "]");
    }
    k.Require(splits.empty() || splits.back() == size, "Last split value must be data size. Expected ", size, ", got ",
              splits.empty() ? 0 : splits.back());
    const auto out_splits = k.out<Splits>(1, k.shape(1));
    if (data.empty() || splits.empty()) {
      std::fill(out_splits.begin(), out_splits.end(), Splits(0));
      k.Output(0, k.shape(0));
      return;
    }
    std::vector<std::string> grams;
    size_t bytes = 0;
    out_splits[0] = 0;
    for (size_t row = 0; row + 1 < splits.size(); ++row) {
      const auto tokens = data.subspan(splits[row], splits[row + 1] - splits[row]);
      const auto length = static_cast<int64_t>(tokens.size());
      const size_t before = grams.size();
      for (const int64_t width : widths_) Add(tokens, Count(length, width), width, &grams, &bytes);
      if (keep_short_ && grams.size() == before && length > 0) {
        k.Require(pad_ >= 0,
                  "Pad width should be >= 0 when preserve_short_sequences is True and ngram_widths are not "
                  "provided, got ",
                  pad_);
        k.Require(pad_ <= kMost, "Pad width could lead to integer overflow, got pad_width = ", pad_);
        Add(tokens, 1, length + 2 * pad_, &grams, &bytes);
      }
      out_splits[row + 1] = static_cast<Splits>(grams.size());
    }
    const auto out = k.out<TString>(0, Shape({static_cast<int64_t>(grams.size())}));
    std::transform(grams.begin(), grams.end(), out.begin(), [](const std::string& gram) { return TString(gram); });
  }

 private:
  static constexpr int64_t kMost = int64_t{1} << 28;  // n-grams, and tokens in one

  int64_t PadOf(int64_t width) const { return std::min(pad_ < 0 ? width - 1 : pad_, width - 1); }
  int64_t Count(int64_t length, int64_t width) const {
    const int64_t pad = PadOf(width);
    if (pad > kMost) throw InvalidArgument("Pad width could lead to integer overflow, got pad_width = ", pad_);
    return std::max<int64_t>(0, length + 2 * pad - width + 1);
  }

  void Add(std::span<const TString> tokens, int64_t count, int64_t width, std::vector<std::string>* grams,
           size_t* bytes) const {
    const auto length = static_cast<int64_t>(tokens.size());
    const int64_t pad = PadOf(width);
    for (int64_t i = 0; i < count; ++i) {
      std::string gram;
      for (int64_t t = 0; t < width; ++t) {
        if (t > 0) gram += separator_;
        const int64_t token = i + t - pad;
        gram += token < 0 ? std::string_view(left_) : token >= length ? std::string_view(right_) : tokens[token].view();
        if (gram.size() + *bytes > kMost * 8) throw ResourceExhausted("The n-grams are too many or too long");
      }
      *bytes += gram.size() + sizeof(TString);
      grams->push_back(std::move(gram));
    }
  }

  const std::string separator_, left_, right_;
  const std::vector<int64_t> widths_;
  const int64_t pad_;
  const bool keep_short_;
};

}  // namespace

void RegisterStringFormatKernels(KernelRegistry& kernels) {
  kernels.Add<StringFormat>("StringFormat");
  kernels.Add<StringNGrams>("StringNGrams", Types<int32_t, int64_t>{}, "Tsplits");
}

}  // namespace penstock
