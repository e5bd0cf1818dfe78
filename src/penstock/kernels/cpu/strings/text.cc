// Regular expressions and Unicode.
#include <re2/re2.h>

#include <mutex>

#include "penstock/base/fork.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/strings/map_strings.h"
#include "penstock/kernels/cpu/strings/unicode.h"

namespace penstock {
namespace {

std::shared_ptr<const RE2> Compile(const std::string& pattern) {
  auto expression = std::make_shared<const RE2>(pattern, RE2::Quiet);
  if (!expression->ok()) throw InvalidArgument("Invalid pattern: ", pattern, ", error: ", expression->error());
  return expression;
}

// The expression of an attribute, or of an input, where the last one is kept.
class Expression {
 public:
  explicit Expression(const NodeView& node) {
    if (node.num_inputs() == 1) fixed_ = Compile(node.attr<std::string>("pattern"));
  }
  std::shared_ptr<const RE2> Get(KernelContext& k) {
    if (fixed_) return fixed_;
    k.Require(k.shape(1).rank() == 0, "Pattern must be scalar, but received ", k.shape(1));
    const std::string pattern = k.Scalar<TString>(1).str();
    std::lock_guard lock(mutex_);
    if (!last_ || last_->pattern() != pattern) last_ = Compile(pattern);
    return last_;
  }

 private:
  std::shared_ptr<const RE2> fixed_, last_;
  ForkMutex mutex_;
};

class RegexFullMatch : public Kernel {
 public:
  explicit RegexFullMatch(const NodeView& node) : expression_(node) {}
  void Run(KernelContext& k) override {
    const std::shared_ptr<const RE2> expression = expression_.Get(k);
    const auto in = k.in<TString>(0);
    const auto out = k.out<bool>(0, k.shape(0));
    for (size_t i = 0; i < in.size(); ++i) out[i] = RE2::FullMatch(in[i].view(), *expression);
  }

 private:
  Expression expression_;
};

class RegexReplace : public Kernel {
 public:
  explicit RegexReplace(const NodeView& node) : expression_(node), everywhere_(node.attr<bool>("replace_global")) {
    if (node.num_inputs() == 1) rewrite_ = node.attr<std::string>("rewrite");
  }
  void Run(KernelContext& k) override {
    const std::shared_ptr<const RE2> expression = expression_.Get(k);
    std::string rewrite = rewrite_;
    if (k.num_inputs() > 1) {
      k.Require(k.shape(2).rank() == 0, "Rewrite must be scalar, but received ", k.shape(2));
      rewrite = k.Scalar<TString>(2).str();
    }
    MapStrings(k, [&](std::string_view in, TString& out) {
      std::string text(in);
      if (everywhere_) {
        RE2::GlobalReplace(&text, *expression, rewrite);
      } else {
        RE2::Replace(&text, *expression, rewrite);
      }
      out = TString(text);
    });
  }

 private:
  Expression expression_;
  const bool everywhere_;
  std::string rewrite_;
};

struct UnicodeScript {
  void operator()(KernelContext& k) const {
    const auto in = k.in<int32_t>(0);
    const auto out = k.out<int32_t>(0, k.shape(0));
    for (size_t i = 0; i < in.size(); ++i) out[i] = ScriptOf(in[i]);
  }
};

// What to do with what is malformed.
struct Malformed {
  bool strict, ignore, control = false;
  int32_t replacement;
  explicit Malformed(const NodeView& node) {
    const auto& errors = node.attr<std::string>("errors");
    strict = errors == "strict";
    ignore = errors == "ignore";
    control = node.attr_or<bool>("replace_control_characters", false);
    const int64_t character = node.attr<int64_t>("replacement_char");
    if (character < 0 || character > kLastCharacter)
      throw InvalidArgument("replacement_char out of unicode codepoint range");
    replacement = static_cast<int32_t>(character);
  }
  // Whether the character is to be kept, or what stands for it.
  bool Keep(int32_t* character, bool malformed) const {
    if (!malformed && !(control && *character <= 0x1F)) return true;
    if (strict) throw InvalidArgument("Invalid formatting on input string");
    *character = replacement;
    return !ignore;
  }
};

TextEncoding OutputEncoding(const NodeView& node) {
  const auto& name = node.attr<std::string>("output_encoding");
  if (name == "UTF-8") return TextEncoding::kUtf8;
  if (name == "UTF-16-BE") return TextEncoding::kUtf16Be;
  if (name == "UTF-32-BE") return TextEncoding::kUtf32Be;
  throw InvalidArgument("Invalid encoding \"", name, "\": Should be one of: UTF-8, UTF-16-BE, UTF-32-BE");
}

struct UnicodeTranscode {
  std::shared_ptr<const TextDecoder> decoder;
  TextEncoding encoding;
  Malformed malformed;
  explicit UnicodeTranscode(const NodeView& node)
      : decoder(TextDecoder::Make(node.attr<std::string>("input_encoding"))),
        encoding(OutputEncoding(node)),
        malformed(node) {}
  void operator()(KernelContext& k) const {
    MapStrings(k, [&](std::string_view in, TString& out) {
      std::string text;
      decoder->Decode(in, [&](int32_t c, int64_t, bool bad) {
        if (malformed.Keep(&c, bad)) AppendEncoded(c, encoding, &text);
      });
      out = TString(text);
    });
  }
};

template <class Splits>
struct UnicodeDecode {
  std::shared_ptr<const TextDecoder> decoder;
  Malformed malformed;
  explicit UnicodeDecode(const NodeView& node)
      : decoder(TextDecoder::Make(node.attr<std::string>("input_encoding"))), malformed(node) {}
  void operator()(KernelContext& k) const {
    const auto in = k.in<TString>(0);
    const auto splits = k.out<Splits>(0, Shape({static_cast<int64_t>(in.size()) + 1}));
    std::vector<int32_t> characters;
    std::vector<int64_t> starts;
    splits[0] = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      int64_t at = 0;
      decoder->Decode(in[i].view(), [&](int32_t c, int64_t bytes, bool bad) {
        if (malformed.Keep(&c, bad)) {
          characters.push_back(c);
          starts.push_back(at);
        }
        at += bytes;
      });
      splits[i + 1] = static_cast<Splits>(characters.size());
    }
    k.SetOutput(1, Tensor::Vector<int32_t>(characters));
    if (k.num_outputs() > 2) k.SetOutput(2, Tensor::Vector<int64_t>(starts));
  }
};

template <class Splits>
struct UnicodeEncode {
  TextEncoding encoding;
  Malformed malformed;
  explicit UnicodeEncode(const NodeView& node) : encoding(OutputEncoding(node)), malformed(node) {}
  void operator()(KernelContext& k) const {
    const auto values = k.in<int32_t>(0);
    const auto splits = k.in<Splits>(1);
    k.Require(k.shape(0).rank() == 1 && k.shape(1).rank() == 1, "input_values and input_splits must be vectors");
    k.Require(!splits.empty(), "Input_splits should contain elements, but given input_values has 0 elements");
    k.Require(splits.front() == 0, "First value in input_splits must be zero.");
    k.Require(splits.back() == static_cast<Splits>(values.size()),
              "Last value in input_splits must be equal to length of input_tensor.");
    const auto out = k.out<TString>(0, Shape({static_cast<int64_t>(splits.size()) - 1}));
    for (size_t i = 0; i < out.size(); ++i) {
      k.Require(splits[i] <= splits[i + 1] && splits[i + 1] <= splits.back(),
                "Values in input_splits must be equal or in ascending order.");
      std::string text;
      for (Splits at = splits[i]; at < splits[i + 1]; ++at) {
        int32_t c = values[at];
        if (c < 0 || c > kLastCharacter || (c >= 0xD800 && c < 0xE000)) {
          k.Require(!malformed.strict, "Code point is out of range for Unicode, or is a surrogate.");
          if (malformed.ignore) continue;
          c = malformed.replacement;
        }
        AppendEncoded(c, encoding, &text);
      }
      out[i] = TString(text);
    }
  }
};

}  // namespace

void RegisterTextKernels(KernelRegistry& kernels) {
  for (const char* kind : {"", "Static"}) {
    kernels.Add<RegexReplace>(StrCat(kind, "RegexReplace"));
    kernels.Add<RegexFullMatch>(StrCat(kind, "RegexFullMatch"));
  }
  kernels.Add<UnicodeScript>("UnicodeScript");
  kernels.Add<UnicodeTranscode>("UnicodeTranscode");
  kernels.Add<UnicodeDecode>("UnicodeDecode", Types<int32_t, int64_t>{}, "Tsplits");
  kernels.Add<UnicodeDecode>("UnicodeDecodeWithOffsets", Types<int32_t, int64_t>{}, "Tsplits");
  kernels.Add<UnicodeEncode>("UnicodeEncode", Types<int32_t, int64_t>{}, "Tsplits");
}

}  // namespace penstock
