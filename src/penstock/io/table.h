// Sorted tables of keys and values on disk, in LevelDB's format: what the index of a checkpoint is.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/io/files.h"

namespace penstock {

class TableWriter {
 public:
  explicit TableWriter(OutputFile* file) : file_(file) {}
  // Keys in strictly ascending order (bytes).
  void Add(std::string_view key, std::string_view value);
  void Finish();  // writes what is left; the file is still to be committed

 private:
  // Entries share a prefix with the one before, but for every `interval`-th.
  class Block {
   public:
    explicit Block(int interval) : interval_(interval) {}
    void Add(std::string_view key, std::string_view value);
    size_t SizeEstimate() const { return bytes_.size() + 4 * restarts_.size() + 4; }
    bool empty() const { return bytes_.empty(); }
    std::string Finish();  // and starts anew

   private:
    const int interval_;
    int since_restart_ = 0;
    std::string bytes_, last_key_;
    std::vector<uint32_t> restarts_{0};
  };
  std::string WriteBlock(const std::string& contents);  // where it lies, encoded
  void FlushData();

  OutputFile* file_;
  Block data_{16}, index_{1};
  std::string last_key_, pending_handle_;
};

// All entries of the table, in order. DataLoss: the file is damaged.
std::vector<std::pair<std::string, std::string>> ReadTable(const std::string& path);

// Variable-length integers: seven bits a byte, lowest first.
void AppendVarint(std::string* out, uint64_t v);
bool TakeVarint(std::string_view* in, uint64_t* v);
void PutFixed32(char* out, uint32_t v);
void AppendFixed32(std::string* out, uint32_t v);
uint32_t Fixed32At(const char* p);

}  // namespace penstock
