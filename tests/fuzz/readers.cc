// libFuzzer's target: the first byte chooses a reader, the rest is what it reads. Whatever the bytes are, a reader ends
// with a value or an Error, soon, and without much memory.
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/io/byte_stream.h"
#include "penstock/io/checkpoint_reader.h"
#include "penstock/io/config.h"
#include "penstock/io/convert.h"
#include "penstock/io/files.h"
#include "penstock/io/record_stream.h"
#include "penstock/io/records.h"
#include "penstock/io/snappy.h"
#include "penstock/io/summary.h"
#include "penstock/io/tensor_slice.h"
#include "penstock/io/wav.h"
#include "penstock/kernels/cpu/image/codecs.h"
#include "penstock/kernels/cpu/io/example.h"
#include "penstock/kernels/cpu/io/example_json.h"

namespace penstock {
namespace {

constexpr char kPath[] = "ram://fuzz/file", kPrefix[] = "ram://fuzz/model";

void ReadAll(const CheckpointReader& reader) {
  for (const std::string& name : reader.Names()) {
    try {
      reader.Read(name);
    } catch (const Error&) {  // others may be whole
    }
  }
}

// The bytes as the table of a checkpoint whose elements are these bytes too.
void ReadBundle(std::string_view bytes) {
  WriteWholeFile(BundleIndexPath(kPrefix), bytes);
  WriteWholeFile(BundleDataPath(kPrefix, 0, 1), bytes);
  ReadAll(CheckpointReader(kPrefix));
}

void ReadTables(std::string_view bytes) {
  WriteWholeFile(kPath, bytes);
  ReadAll(CheckpointReader(kPath));
}

void ReadRecords(std::string_view bytes) {
  WriteWholeFile(kPath, bytes);
  RecordReader records(kPath);
  for (std::string record; records.Next(&record);) continue;
}

template <Compression compression>
void ReadCompressedRecords(std::string_view bytes) {
  WriteWholeFile(kPath, bytes);
  RecordStream records(kPath, compression);
  uint64_t offset;
  for (std::string record; records.Next(&record, &offset);) continue;
}

void ReadSnappy(std::string_view bytes) {
  std::string text;
  SnappyUncompress(bytes, size_t{1} << 24, &text);
}

void ReadImage(std::string_view bytes) {
  std::vector<uint8_t> pixels;
  const auto allocate = [&](const codecs::Image& image) {
    pixels.resize(image.height * image.width * image.channels);
    return pixels.data();
  };
  if (bytes.starts_with("GIF")) {
    codecs::DecodeGif(bytes, [&](int64_t frames, const codecs::Image& image) {
      pixels.resize(frames * image.height * image.width * image.channels);
      return pixels.data();
    });
  } else if (bytes.starts_with("BM")) {
    codecs::DecodeBmp(bytes, 0, allocate);
  } else if (bytes.starts_with("\xff\xd8")) {
    codecs::DecodeJpeg(bytes, {.recover_truncated = true}, allocate);
    const codecs::Image whole = codecs::JpegShape(bytes);
    const int64_t y = whole.height / 3, x = whole.width / 3;
    codecs::DecodeJpeg(bytes, {.crop = true, .crop_y = y, .crop_x = x, .crop_height = y, .crop_width = x}, allocate);
    codecs::DecodeJpeg(bytes, {.channels = 1, .ratio = 4, .fancy_upscaling = false}, allocate);
  } else {
    codecs::DecodePng<uint8_t>(bytes, 0, allocate);
    std::vector<uint16_t> deep;
    codecs::DecodePng<uint16_t>(bytes, 4, [&](const codecs::Image& image) {
      deep.resize(image.height * image.width * image.channels);
      return deep.data();
    });
  }
}

void ReadValues(std::string_view message) {
  FeatureValues values;
  if (!ReadFeature(message, &values) || values.type == DT_INVALID) return;
  Tensor tensor(values.type, Shape({values.size}));
  values.CopyTo(&tensor, 0);
}

void ReadExample(std::string_view bytes) {
  const auto feature = [](std::string_view, std::string_view message) {
    ReadValues(message);
    VisitList(message, ReadValues);
  };
  for (int field = 1; field <= 2; ++field) VisitFeatures(bytes, field, feature);
}

void ReadSummary(std::string_view bytes) {
  SummaryBuilder summary;
  summary.Merge(bytes);
}

void ReadSlice(std::string_view text) {
  Shape shape;
  TensorSlice slice;
  ParseShapeAndSlice(text, &shape, &slice);
  slice.Apply(shape);
}

// In the order of the corpus' first bytes: new ones go to the end.
constexpr void (*kReaders[])(std::string_view) = {
    [](std::string_view bytes) { SerializeTensor(ParseTensor(bytes)); },
    [](std::string_view bytes) { SerializeGraphDef(ParseGraphDef(bytes)); },
    [](std::string_view bytes) { SerializeFunctionDef(*ParseFunctionDef(bytes)); },
    [](std::string_view bytes) { SerializeOpDef(ParseOpDef(bytes)); },
    [](std::string_view bytes) { ParseConfig(bytes); },
    ReadBundle,
    ReadTables,
    ReadRecords,
    ReadCompressedRecords<Compression::kGzip>,
    ReadSnappy,
    [](std::string_view bytes) {
      DecompressionLimit limit;
      Decompress(std::string(bytes), Compression::kZlib, &limit);
    },
    ReadImage,
    ReadExample,
    [](std::string_view bytes) { ExampleFromJson(bytes); },
    ReadCompressedRecords<Compression::kZlib>,
    ReadCompressedRecords<Compression::kSnappy>,
    [](std::string_view bytes) { DecodeWav(bytes); },
    ReadSummary,
    [](std::string_view bytes) { CheckedEvent(bytes); },
    [](std::string_view bytes) { SerializeAttrValue(ParseAttrValue(bytes)); },
    [](std::string_view bytes) { ParseRunOptions(bytes); },
    [](std::string_view bytes) { SerializeNodeDef(ParseNodeDef(bytes)); },
    ReadSlice,
};

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  try {
    penstock::kReaders[data[0] % std::size(penstock::kReaders)]({reinterpret_cast<const char*>(data) + 1, size - 1});
  } catch (const penstock::Error&) {
  }
  return 0;
}
