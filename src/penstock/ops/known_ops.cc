#include "penstock/ops/known_ops.h"

#include <map>
#include <memory>
#include <mutex>

#include "penstock/base/fork.h"

namespace penstock {
namespace {

constexpr std::string_view kText =
#include "penstock/ops/known_ops.inc"
    ;

// Lines of the file: texts that come often, and ops by name.
struct Index {
  std::vector<std::string_view> texts;
  std::map<std::string_view, std::string_view> ops;

  Index() {
    bool in_table = true;
    for (const std::string_view line : StrSplit(kText, '\n')) {
      if (line.empty()) {
        in_table = false;
      } else if (in_table) {
        texts.push_back(line);
      } else {
        ops.emplace(line.substr(0, line.find('\t')), line);
      }
    }
  }
};

const Index& TheIndex() {
  static const auto* index = new Index();
  return *index;
}

// Puts the texts in the place of their references, "@" and a number of base 36.
void Expand(std::string_view text, std::string* out) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '@') {
      out->push_back(text[i]);
      continue;
    }
    size_t number = 0;
    const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); };
    for (; i + 1 < text.size() && is_digit(text[i + 1]); ++i) {
      const char c = text[i + 1];
      number = number * 36 + (c <= '9' ? c - '0' : c - 'a' + 10);
    }
    Expand(TheIndex().texts.at(number), out);
  }
}

std::string Unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out.push_back(text[i]);
    } else {
      const char c = text[++i];
      out.push_back(c == 'n' ? '\n' : c == 't' ? '\t' : c);
    }
  }
  return out;
}

std::unique_ptr<const OpDef> Read(std::string_view line) {
  auto def = std::make_unique<OpDef>();
  OpBuilder builder(def.get());
  const auto columns = StrSplit(line, '\t');
  const auto for_each = [&](size_t column, auto call) {
    if (column >= columns.size() || columns[column].empty()) return;
    std::string text;
    Expand(columns[column], &text);
    for (const std::string_view item : StrSplit(text, ';')) call(Unescaped(item));
  };
  def->name = columns[0];
  for_each(1, [&](const std::string& text) { builder.Input(text); });
  for_each(2, [&](const std::string& text) { builder.Output(text); });
  for_each(3, [&](const std::string& text) { builder.Attr(text); });
  for (const char flag : columns.size() > 4 ? columns[4] : "") {
    if (flag == 's') def->traits.stateful = true;
    if (flag == 'c') def->traits.commutative = true;
    if (flag == 'a') def->traits.aggregate = true;
    if (flag == 'u') def->traits.uninitialized_input = true;
    if (flag == 'd') def->traits.distributed_communication = true;
  }
  int64_t version = 0;
  if (columns.size() > 5 && ParseInt64(columns[5], &version)) def->deprecated_since = static_cast<int>(version);
  def->known_by_name_only = true;
  return def;
}

}  // namespace

const OpDef* FindKnownOp(std::string_view name) {
  const auto line = TheIndex().ops.find(name);
  if (line == TheIndex().ops.end()) return nullptr;
  static ForkMutex mutex;
  static auto* made = new std::map<std::string_view, std::unique_ptr<const OpDef>>();
  const std::lock_guard lock(mutex);
  auto& def = (*made)[line->first];
  if (!def) def = Read(line->second);
  return def.get();
}

bool IsNewerAttr(std::string_view op, std::string_view attr) {
  const auto line = TheIndex().ops.find(op);
  if (line == TheIndex().ops.end()) return false;
  std::string_view names = line->second;
  for (int column = 0; column < 6; ++column) {
    const size_t tab = names.find('\t');
    if (tab == std::string_view::npos) return false;
    names.remove_prefix(tab + 1);
  }
  for (const std::string_view name : StrSplit(names, ',')) {
    if (name == attr) return true;
  }
  return false;
}

std::vector<std::string> KnownOpNames() {
  std::vector<std::string> names;
  for (const auto& [name, line] : TheIndex().ops) names.emplace_back(name);
  return names;
}

}  // namespace penstock
