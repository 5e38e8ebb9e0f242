#include "src/engine/rows.h"

#include <algorithm>

namespace duly {

using redis::Command;

Command held_rows(const std::vector<Held>& held) {
  const bool is_one_claim = std::all_of(held.begin(), held.end(), [&](const Held& other) {
    return other.token == held.front().token;
  });
  Command arguments;
  if (is_one_claim) {
    arguments.add("token").add(held.front().token.text()).add("columns").add("1").add("id");
    for (const Held& one : held) arguments.add(one.id.text());
    return arguments;
  }
  arguments.add("columns").add("2").add("id").add("token");
  for (const Held& one : held) arguments.add(one.id.text()).add(one.token.text());
  return arguments;
}

Command id_rows(const std::vector<JobId>& ids) {
  Command arguments{"columns", "1", "id"};
  for (const JobId& id : ids) arguments.add(id.text());
  return arguments;
}

}  // namespace duly
