#include "src/cli/table.h"

#include <algorithm>
#include <utility>

namespace duly::cli {
namespace {

/// Characters of a UTF-8 text: bytes that continue none.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (const Column& column : columns_) widths_.push_back(width(column.head));
}

void Table::add(std::vector<Cell> row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    widths_.at(i) = std::max(widths_.at(i), width(row[i].text));
  }
  rows_.push_back(std::move(row));
}

std::string Table::take_text() {
  std::string text;
  if (!std::exchange(has_head_, true)) {
    std::vector<Cell> head;
    for (const Column& column : columns_) head.push_back({column.head, Colour::bold});
    text += line(head);
  }
  for (const auto& row : std::exchange(rows_, {})) text += line(row);
  return text;
}

std::string Table::line(const std::vector<Cell>& row) const {
  std::string text;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string gap(widths_.at(i) - width(row[i].text), ' ');
    const bool is_last = i + 1 == row.size();
    if (columns_.at(i).side == Side::right) text += gap;
    text += in_colour(row[i].colour, row[i].text);
    if (columns_.at(i).side == Side::left && !is_last) text += gap;
    if (!is_last) text += "  ";
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

}  // namespace duly::cli
