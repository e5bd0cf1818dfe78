// Strings and numbers: printed, read, hashed, decoded from raw bytes and base64.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include <farmhash.h>

#include "penstock/base/parse_number.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/strings/map_strings.h"
#include "penstock/kernels/cpu/strings/string_hash.h"

namespace penstock {
namespace {

// --- numbers as text

template <class... Args>
std::string Printed(const std::string& format, Args... args) {
  std::string text(static_cast<size_t>(std::max(0, std::snprintf(nullptr, 0, format.c_str(), args...))), '\0');
  std::snprintf(text.data(), text.size() + 1, format.c_str(), args...);
  return text;
}

class AsString {
 public:
  explicit AsString(const NodeView& node) : type_(node.attr<DataType>("T")) {
    const bool scientific = node.attr<bool>("scientific"), shortest = node.attr<bool>("shortest");
    const int64_t width = node.attr<int64_t>("width"), precision = node.attr<int64_t>("precision");
    const auto& fill = node.attr<std::string>("fill");
    const bool real = IsFloating(type_) || IsComplex(type_);
    if (!real && type_ != DT_STRING) {
      if (scientific || shortest)
        throw InvalidArgument("scientific and shortest format not supported for datatype ", type_);
      if (precision >= 0) throw InvalidArgument("precision not supported for datatype ", type_);
    }
    if (fill.size() > 1) throw InvalidArgument("Fill string must be one or fewer characters");
    if (scientific && shortest) throw InvalidArgument("Cannot select both scientific and shortest notation");
    if (!fill.empty() && fill.find_first_of(" +-0#") != 0)
      throw InvalidArgument("Fill argument not supported: \"", fill, "\"");
    if (width > kLongest || precision > kLongest)
      throw InvalidArgument("width and precision may be at most ", kLongest);
    format_ = "%" + (type_ == DT_STRING && fill == "0" ? "" : fill);
    if (width > -1) format_ += StrCat(width);
    if (precision > -1 && real) format_ += StrCat(".", precision);
    plain_ = fill.empty() || fill == "0" || fill == "-";
    width_ = static_cast<size_t>(std::max<int64_t>(width, 0));
    fill_ = fill.empty() ? ' ' : fill[0];
    notation_ = scientific ? std::chars_format::scientific
                : shortest ? std::chars_format::general
                           : std::chars_format::fixed;
    if (precision > -1) digits_ = static_cast<int>(precision);
    format_ += real ? scientific ? "e" : shortest ? "g" : "f" : type_ == DT_STRING ? "s" : IsUnsigned() ? "llu" : "lld";
  }

  void operator()(KernelContext& k) const {
    const auto write = [&]<class T>(T) {
      const auto in = k.in<T>(0);
      const auto out = k.out<TString>(0, k.shape(0));
      k.Parallel(static_cast<int64_t>(in.size()), 200, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) Write(in[i], out[i]);
      });
    };
    switch (type_) {
      case DT_INT8: return write(int8_t());
      case DT_INT16: return write(int16_t());
      case DT_INT32: return write(int32_t());
      case DT_INT64: return write(int64_t());
      case DT_UINT8: return write(uint8_t());
      case DT_UINT16: return write(uint16_t());
      case DT_UINT32: return write(uint32_t());
      case DT_UINT64: return write(uint64_t());
      case DT_HALF: return write(Half());
      case DT_BFLOAT16: return write(BFloat16());
      case DT_FLOAT: return write(float());
      case DT_DOUBLE: return write(double());
      case DT_COMPLEX64: return write(Complex64());
      case DT_COMPLEX128: return write(Complex128());
      case DT_BOOL: return write(bool());
      case DT_STRING: return write(TString());
      default: throw InvalidArgument("Type not supported: ", type_);
    }
  }

 private:
  static constexpr int64_t kLongest = 1 << 16;
  bool IsUnsigned() const {
    return type_ == DT_UINT8 || type_ == DT_UINT16 || type_ == DT_UINT32 || type_ == DT_UINT64;
  }
  // What printf makes of v, which takes several times as long.
  template <class V>
  void Number(V v, TString& out) const {
    if (plain_) {
      char text[512];
      std::to_chars_result result;
      if constexpr (std::is_integral_v<V>) {
        result = std::to_chars(text, text + sizeof(text), v);
      } else {
        result = std::to_chars(text, text + sizeof(text), v, notation_, digits_);
      }
      if (result.ec == std::errc()) return Fill({text, static_cast<size_t>(result.ptr - text)}, out);
    }
    out = TString(Printed(format_, v));
  }
  // The text at the wanted width: spaces before or, with '-', behind it, or zeros between sign and digits.
  void Fill(std::string_view text, TString& out) const {
    if (text.size() >= width_) {
      out = text;
      return;
    }
    const size_t missing = width_ - text.size();
    const bool zeros = fill_ == '0' && text.back() >= '0' && text.back() <= '9';  // not before inf and nan
    const size_t before = fill_ == '-' ? text.size() : zeros && text[0] == '-' ? 1 : 0;
    char* to = out.Resize(width_);
    to = std::copy_n(text.data(), before, to);
    to = std::fill_n(to, missing, zeros ? '0' : ' ');
    std::copy(text.begin() + static_cast<ptrdiff_t>(before), text.end(), to);
  }
  template <class T>
  void Write(const T& v, TString& out) const {
    if constexpr (std::is_same_v<T, TString>) {
      // Of text with zeros in it no format knows the end.
      const std::string text = v.str();
      out = TString(text.find('\0') == text.npos ? Printed(format_, text.c_str()) : text);
    } else if constexpr (std::is_same_v<T, bool>) {
      out = std::string_view(v ? "true" : "false");
    } else if constexpr (std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>) {
      TString real, imaginary;
      Number(static_cast<double>(v.real()), real);
      Number(static_cast<double>(v.imag()), imaginary);
      out = TString(StrCat("(", real.view(), ",", imaginary.view(), ")"));
    } else if constexpr (std::is_integral_v<T>) {
      Number(static_cast<std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>>(v), out);
    } else {
      Number(static_cast<double>(v), out);
    }
  }

  const DataType type_;
  std::string format_;
  bool plain_ = false;  // nothing but digits and what fills the width
  size_t width_ = 0;
  char fill_ = ' ';
  std::chars_format notation_ = std::chars_format::fixed;
  int digits_ = 6;
};

// --- text as numbers

template <class T>
struct StringToNumber {
  void operator()(KernelContext& k) const {
    const auto in = k.in<TString>(0);
    const auto out = k.out<T>(0, k.shape(0));
    for (size_t i = 0; i < in.size(); ++i) {
      k.Require(ParseNumber(in[i].view(), &out[i]),
                "StringToNumberOp could not correctly convert string: ", in[i].view());
    }
  }
};

// --- hashes

template <class Hash>
struct HashBucket {
  Hash hash;
  uint64_t buckets;
  explicit HashBucket(const NodeView& node) : hash(node), buckets(node.attr<int64_t>("num_buckets")) {
    if (node.attr<int64_t>("num_buckets") < 1) throw InvalidArgument("num_buckets must be at least 1");
  }
  void operator()(KernelContext& k) const {
    const auto in = k.in<TString>(0);
    const auto out = k.out<int64_t>(0, k.shape(0));
    k.Parallel(static_cast<int64_t>(in.size()), 50, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = static_cast<int64_t>(hash(in[i].view()) % buckets);
    });
  }
};
struct Murmur {
  explicit Murmur(const NodeView&) {}
  uint64_t operator()(std::string_view s) const { return MurmurHash64(s, 0xDECAFCAFFE); }
};
struct Farm {
  explicit Farm(const NodeView&) {}
  uint64_t operator()(std::string_view s) const { return util::Fingerprint64(s.data(), s.size()); }
};
struct Sip {
  uint64_t key[2];
  explicit Sip(const NodeView& node) {
    const auto& words = node.attr<std::vector<int64_t>>("key");
    if (words.size() != 2) throw InvalidArgument("Key must have 2 elements");
    key[0] = words[0];
    key[1] = words[1];
  }
  uint64_t operator()(std::string_view s) const { return SipHash(s, key[0], key[1]); }
};

struct Fingerprint {
  void operator()(KernelContext& k) const {
    const Shape shape = k.shape(0);
    k.Require(shape.rank() >= 1, "`data` should have at least one dimension: ", shape);
    k.Require(k.shape(1).rank() == 0, "`method` should be a scalar string: ", k.shape(1));
    const std::string_view method = k.in<TString>(1)[0].view();
    k.Require(method == "farmhash64", "Unsupported fingerprint method: ", method);
    const Tensor& data = k.input(0);
    const size_t rows = static_cast<size_t>(shape.dim(0));
    const auto out = k.out<uint8_t>(0, {shape.dim(0), 8});
    const auto put = [&](size_t row, uint64_t value) {
      for (size_t i = 0; i < 8; ++i) out[row * 8 + i] = static_cast<uint8_t>(value >> (8 * i));
    };
    if (rows == 0) return;
    if (data.dtype() != DT_STRING) {
      k.Require(data.dtype() != DT_VARIANT && data.dtype() != DT_RESOURCE, "Type not supported: ", data.dtype());
      const size_t bytes = data.bytes() / rows;
      const char* from = static_cast<const char*>(data.raw());
      for (size_t row = 0; row < rows; ++row) put(row, util::Fingerprint64(from + row * bytes, bytes));
      return;
    }
    const auto in = k.in<TString>(0);
    const size_t width = in.size() / rows;
    std::string all(8 * width, '\0');
    for (size_t row = 0; row < rows; ++row) {
      for (size_t i = 0; i < width; ++i) {
        const TString& text = in[row * width + i];
        uint64_t value = util::Fingerprint64(text.data(), text.size());
        for (size_t j = 0; j < 8; ++j) all[i * 8 + j] = static_cast<char>(value >> (8 * j));
        if (width == 1) put(row, value);
      }
      if (width != 1) put(row, util::Fingerprint64(all.data(), all.size()));
    }
  }
};

// --- raw bytes

// Numbers of the other byte order: the parts of complex numbers turn separately.
void ReverseBytes(DataType type, char* bytes, int64_t size) {
  const int64_t step = static_cast<int64_t>(DataTypeSize(type)) / (IsComplex(type) ? 2 : 1);
  for (int64_t i = 0; i < size; i += step) std::reverse(bytes + i, bytes + i + step);
}

struct DecodeRaw {
  bool little_endian;
  explicit DecodeRaw(const NodeView& node) : little_endian(node.attr<bool>("little_endian")) {}
  void operator()(KernelContext& k) const {
    const auto in = k.in<TString>(0);
    const DataType type = k.node().output_type(0);
    const size_t size = DataTypeSize(type), bytes = in.empty() ? 0 : in[0].size();
    for (size_t i = 0; i < in.size(); ++i) {
      k.Require(in[i].size() == bytes, "DecodeRaw requires input strings to all be the same size, but element ", i,
                " has size ", bytes, " != ", in[i].size());
    }
    k.Require(bytes % size == 0, "Input to DecodeRaw has length ", bytes, " that is not a multiple of ", size,
              ", the size of ", type);
    Shape shape = k.shape(0);
    shape.AddDim(static_cast<int64_t>(bytes / size));
    Tensor& out = k.Output(0, shape);
    char* to = static_cast<char*>(out.mutable_raw());
    for (size_t i = 0; i < in.size(); ++i) std::copy_n(in[i].data(), bytes, to + i * bytes);
    if (type == DT_BOOL) std::transform(to, to + out.bytes(), to, [](char c) { return c != 0; });
    if (!little_endian) ReverseBytes(type, to, static_cast<int64_t>(out.bytes()));
  }
};

struct DecodePaddedRaw {
  bool little_endian;
  explicit DecodePaddedRaw(const NodeView& node) : little_endian(node.attr<bool>("little_endian")) {}
  void operator()(KernelContext& k) const {
    const auto in = k.in<TString>(0);
    k.Require(k.shape(1).rank() == 0, "k must be scalar, got shape ", k.shape(1));
    const int64_t length = k.Int(1), size = static_cast<int64_t>(DataTypeSize(k.node().output_type(0)));
    k.Require(length % size == 0, "fixed_length (", length, ") must be a multiple of the size of out_type (", size,
              ")");
    k.Require(length > 0, "fixed_length (", length, ") must be greater than zero.");
    Shape shape = k.shape(0);
    shape.AddDim(length / size);
    Tensor& out = k.Output(0, shape);
    char* to = static_cast<char*>(out.mutable_raw());
    std::fill_n(to, out.bytes(), 0);
    for (size_t i = 0; i < in.size(); ++i) {
      std::copy_n(in[i].data(), std::min<size_t>(in[i].size(), length), to + i * length);
    }
    if (!little_endian) ReverseBytes(out.dtype(), to, static_cast<int64_t>(out.bytes()));
  }
};

// --- base64, with the letters that may stand in file names and addresses

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// The number that a letter stands for, or -1.
constexpr auto kNumberOf = [] {
  std::array<int8_t, 256> numbers;
  numbers.fill(-1);
  for (size_t i = 0; i < kLetters.size(); ++i) numbers[static_cast<uint8_t>(kLetters[i])] = static_cast<int8_t>(i);
  return numbers;
}();

struct EncodeBase64 {
  bool pad;
  explicit EncodeBase64(const NodeView& node) : pad(node.attr<bool>("pad")) {}
  void operator()(KernelContext& k) const {
    MapStrings(k, [this](std::string_view in, TString& out) {
      const size_t rest = in.size() % 3, letters = in.size() / 3 * 4 + (rest == 0 ? 0 : pad ? 4 : rest + 1);
      char* to = out.Resize(letters);
      const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(in[i])); };
      size_t i = 0;
      for (; i + 3 <= in.size(); i += 3, to += 4) {
        const uint32_t bits = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
        for (int j = 0; j < 4; ++j) to[j] = kLetters[bits >> (18 - 6 * j) & 63];
      }
      if (rest == 0) return;
      const uint32_t bits = byte(i) << 16 | (rest == 2 ? byte(i + 1) << 8 : 0);
      for (size_t j = 0; j <= rest; ++j) to[j] = kLetters[bits >> (18 - 6 * j) & 63];
      for (size_t j = rest + 1; pad && j < 4; ++j) to[j] = '=';
    });
  }
};

struct DecodeBase64 {
  void operator()(KernelContext& k) const {
    MapStrings(k, [](std::string_view in, TString& out) {
      // Padding fills up the last four letters or is left out altogether.
      if (in.size() % 4 == 0) {
        for (int i = 0; i < 2 && in.ends_with('='); ++i) in.remove_suffix(1);
      }
      if (in.size() % 4 == 1) throw InvalidArgument("Base64 string length cannot be 1 modulo 4.");
      char* to = out.Resize(in.size() / 4 * 3 + (in.size() % 4 ? in.size() % 4 - 1 : 0));
      uint32_t bits = 0;
      bool good = true;
      for (size_t i = 0; i < in.size(); ++i) {
        const int8_t letter = kNumberOf[static_cast<uint8_t>(in[i])];
        good = good && letter >= 0;
        bits = bits << 6 | static_cast<uint32_t>(letter & 63);
        if (i % 4 > 0) *to++ = static_cast<char>(bits >> (6 - 2 * (i % 4)));
      }
      if (!good) throw InvalidArgument("Invalid character found in base64.");
    });
  }
};

}  // namespace

void RegisterStringNumberKernels(KernelRegistry& kernels) {
  kernels.Add<AsString>("AsString");
  kernels.Add<StringToNumber>("StringToNumber", Types<float, double, int32_t, int64_t, uint32_t, uint64_t>{},
                              "out_type");
  kernels.Add<HashBucket<Murmur>>("StringToHashBucket");
  kernels.Add<HashBucket<Farm>>("StringToHashBucketFast");
  kernels.Add<HashBucket<Sip>>("StringToHashBucketStrong");
  kernels.Add<Fingerprint>("Fingerprint").HostInput(1);
  kernels.Add<DecodeRaw>("DecodeRaw");
  kernels.Add<DecodePaddedRaw>("DecodePaddedRaw").HostInput(1);
  kernels.Add<EncodeBase64>("EncodeBase64");
  kernels.Add<DecodeBase64>("DecodeBase64");
}

}  // namespace penstock
