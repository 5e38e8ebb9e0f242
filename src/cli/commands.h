#pragma once

#include <CLI/App.hpp>

#include "src/cli/context.h"

namespace duly::cli {

// One function a command, or a small family of commands: each adds its options and its help, and
// says by Context::on what happens when it is chosen.

void add_put(CLI::App& app, Context& context);
void add_import(CLI::App& app, Context& context);  ///< import zset, zset-hash, ndjson.
void add_export(CLI::App& app, Context& context);
void add_claim(CLI::App& app, Context& context);
void add_finish(CLI::App& app, Context& context);  ///< ack, fail, release, extend.
void add_work(CLI::App& app, Context& context);
void add_show(CLI::App& app, Context& context);
void add_ls(CLI::App& app, Context& context);
void add_stats(CLI::App& app, Context& context);   ///< queues, stats.
void add_change(CLI::App& app, Context& context);  ///< cancel, reschedule, run-now, edit.
void add_dead(CLI::App& app, Context& context);    ///< dead ls, dead replay, dead purge.
void add_engines(CLI::App& app, Context& context);
void add_queue_engines(CLI::App& queues, Context& context);  ///< queues create.
void add_control(CLI::App& app, Context& context);           ///< pause, resume, recover.
void add_limits(CLI::App& app, Context& context);
void add_check(CLI::App& app, Context& context);
void add_library(CLI::App& app, Context& context);  ///< library show, library load.
void add_doctor(CLI::App& app, Context& context);
void add_self(CLI::App& app, Context& context);  ///< completion, man.
void add_version(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);
void add_demo(CLI::App& app, Context& context);

// The groups in which `duly --help` shows the commands.
inline constexpr auto kProduce = "Put and steer jobs";
inline constexpr auto kWork = "Work on jobs";
inline constexpr auto kLook = "Look";
inline constexpr auto kOperate = "Operate";

}  // namespace duly::cli
