#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace duly::cli {

/// Keeps the order in which fields are written.
using Json = nlohmann::ordered_json;

/// Thrown when the reader of standard output has gone, as `head` does: the command ends quietly.
struct OutputClosed {};

/// Writes to standard output. Throws OutputClosed, or internal if the output cannot be written.
void print(std::string_view text);
void print_line(std::string_view text);
/// One line. Bytes that are no UTF-8 are replaced: give payloads by add_bytes.
void print_json(const Json& value);
/// What was printed goes out now; called once more at the end of the program.
void flush_output();

std::string to_text(const Json& value);

/// Adds the bytes as `name`, or as `name`_base64 where they are no UTF-8.
void add_bytes(Json& object, const std::string& name, std::string_view bytes);

}  // namespace duly::cli
