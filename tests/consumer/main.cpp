#include <duly/duly.h>

#include <iostream>

// Links the whole library, and needs no Redis: the URL is refused before anything is opened.
int main() {
  std::cout << "duly " << duly::kVersion << '\n';
  try {
    const duly::Connection connection{"no-such-scheme://"};
    std::cout << "connected to " << connection.address() << '\n';
  } catch (const duly::Error& error) {
    std::cout << duly::to_string(error.code()) << '\n';
  }
}
