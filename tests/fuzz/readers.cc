// libFuzzer's target: the first byte chooses a reader, the rest is what it reads. Whatever the bytes are, a reader ends
// with a value or an Error, soon, and without much memory.
#include <cstdint>
#include <cstdlib>
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
#include "penstock/kernels/cpu/codecs.h"
#include "penstock/kernels/cpu/example.h"
#include "penstock/kernels/cpu/example_json.h"

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

template <class Stream>
void ReadRecords(Stream&& next) {
  std::string record;
  while (next(&record)) continue;
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
  } else {
    codecs::DecodePng<uint8_t>(bytes, 0, allocate);
  }
}

void ReadExample(std::string_view bytes) {
  const auto feature = [](std::string_view, std::string_view message) {
    FeatureValues values;
    ReadFeature(message, &values);
    VisitList(message, [](std::string_view step) {
      FeatureValues one;
      ReadFeature(step, &one);
    });
  };
  for (int field = 1; field <= 2; ++field) VisitFeatures(bytes, field, feature);
}

void Read(uint8_t reader, std::string_view bytes) {
  std::string text;
  switch (reader % 14) {
    case 0:
      ParseTensor(bytes);
      return;
    case 1:
      SerializeGraphDef(ParseGraphDef(bytes));
      return;
    case 2:
      ParseFunctionDef(bytes);
      return;
    case 3:
      ParseOpDef(bytes);
      return;
    case 4:
      ParseConfig(bytes);
      return;
    case 5:
      return ReadBundle(bytes);
    case 6:
      return ReadTables(bytes);
    case 7: {
      WriteWholeFile(kPath, bytes);
      RecordReader records(kPath);
      return ReadRecords([&](std::string* record) { return records.Next(record); });
    }
    case 8: {
      WriteWholeFile(kPath, bytes);
      RecordStream records(kPath, Compression::kGzip);
      uint64_t offset;
      return ReadRecords([&](std::string* record) { return records.Next(record, &offset); });
    }
    case 9:
      SnappyUncompress(bytes, size_t{1} << 24, &text);
      return;
    case 10:
      Decompress(std::string(bytes), Compression::kZlib);
      return;
    case 11:
      return ReadImage(bytes);
    case 12:
      return ReadExample(bytes);
    default:
      ExampleFromJson(bytes);
  }
}

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  try {
    penstock::Read(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  } catch (const penstock::Error&) {
  }
  return 0;
}
