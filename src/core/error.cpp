#include "duly/error.h"

#include <array>

namespace duly {
namespace {

struct Row {
  ErrorCode code;
  std::string_view word;
  int exit_status;
};

// The one table of codes: nothing else maps codes.
constexpr std::array kRows{
    Row{ErrorCode::invalid_argument, "invalid_argument", 2},
    Row{ErrorCode::unavailable, "unavailable", 3},
    Row{ErrorCode::outcome_unknown, "outcome_unknown", 4},
    Row{ErrorCode::out_of_memory, "out_of_memory", 5},
    Row{ErrorCode::incompatible, "incompatible", 6},
    Row{ErrorCode::internal, "internal", 1},
};

const Row& row_of(ErrorCode code) {
  for (const Row& row : kRows) {
    if (row.code == code) return row;
  }
  return kRows.back();
}

}  // namespace

std::string_view to_string(ErrorCode code) { return row_of(code).word; }

int exit_status(ErrorCode code) { return row_of(code).exit_status; }

}  // namespace duly
