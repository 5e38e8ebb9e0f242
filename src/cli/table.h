#pragma once

#include <string>
#include <vector>

#include "src/cli/terminal.h"

namespace duly::cli {

struct Cell {
  std::string text{};
  Colour colour = Colour::plain;
};

/// Rows under a head, in columns as wide as needed; numbers to the right. Printed page by page: a
/// later page keeps the columns of the first, wider where it must.
class Table {
 public:
  enum class Side { left, right };
  struct Column {
    std::string head;
    Side side = Side::left;
  };

  explicit Table(std::vector<Column> columns);

  void add(std::vector<Cell> row);

  /// The rows since the last call, each line ended; the head before the first of all.
  std::string take_text();

 private:
  [[nodiscard]] std::string line(const std::vector<Cell>& row) const;

  std::vector<Column> columns_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<Cell>> rows_{};
  bool has_head_ = false;
};

}  // namespace duly::cli
