#include "tests/support/certificates.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace duly::testing {
namespace {

void run_openssl(std::vector<std::string> words) {
  words.insert(words.begin(), "openssl");
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, "openssl", &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  int status = -1;
  if (error != 0 || ::waitpid(pid, &status, 0) != pid || status != 0) {
    throw std::runtime_error("openssl " + words[1] + ": status " + std::to_string(status));
  }
}

std::vector<std::string> new_certificate(const Certificate& made, const std::string& name) {
  return {"req",
          "-x509",
          "-newkey",
          "ec",
          "-pkeyopt",
          "ec_paramgen_curve:prime256v1",
          "-nodes",
          "-days",
          "2",
          "-subj",
          "/CN=" + name,
          "-keyout",
          made.key.string(),
          "-out",
          made.file.string()};
}

}  // namespace

Certificates::Certificates() {
  std::string pattern = "/tmp/duly-certificates-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("folder in /tmp: not made");
  folder_ = pattern;
}

Certificates::~Certificates() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Certificate Certificates::authority(const std::string& name) const {
  Certificate made{.file = folder_ / (name + ".crt"), .key = folder_ / (name + ".key")};
  run_openssl(new_certificate(made, name));
  return made;
}

Certificate Certificates::signed_by(const Certificate& authority, const std::string& name,
                                    const std::string& alt_names) const {
  Certificate made{.file = folder_ / (name + ".crt"), .key = folder_ / (name + ".key")};
  auto words = new_certificate(made, name);
  words.insert(words.end(),
               {"-CA", authority.file.string(), "-CAkey", authority.key.string(), "-addext",
                "subjectAltName=" + alt_names, "-addext", "basicConstraints=critical,CA:FALSE"});
  run_openssl(words);
  return made;
}

}  // namespace duly::testing
