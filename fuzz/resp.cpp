#include <algorithm>
#include <vector>

#include "fuzz/fuzz.h"
#include "src/redis/codec.h"

namespace {

using duly::redis::Codec;
using duly::redis::Reply;

bool is_same(const Reply& a, const Reply& b) {
  return a.kind == b.kind && a.integer == b.integer && a.text == b.text &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), is_same);
}

// The replies in a stream that comes in pieces of this size.
std::pair<std::vector<Reply>, Codec::Next> decode(std::string_view stream, std::size_t piece) {
  Codec codec;
  std::vector<Reply> replies;
  Reply reply;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    codec.feed(stream.substr(at, piece));
    Codec::Next next{};
    while ((next = codec.next(reply)) == Codec::Next::reply) replies.push_back(std::move(reply));
    if (next == Codec::Next::broken) return {std::move(replies), next};
  }
  return {std::move(replies), Codec::Next::need_more};
}

}  // namespace

// However a stream of replies is cut into pieces, it means the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view stream = duly::fuzz::as_text(bytes + 1, size - 1);
  const auto whole = decode(stream, stream.size());
  const auto pieces = decode(stream, 1 + bytes[0] % 16U);
  duly::fuzz::expect(whole.second == pieces.second, "the same end in pieces");
  duly::fuzz::expect(std::equal(whole.first.begin(), whole.first.end(), pieces.first.begin(),
                                pieces.first.end(), is_same),
                     "the same replies in pieces");
  return 0;
}
