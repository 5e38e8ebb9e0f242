-- The functions and their flags, for register.lua and dispatch.lua. `allow-oom` frees memory, or needs none in
-- the end: a full Redis can be drained.
local functions = {
  { 'put' },
  { 'edit' },
  { 'claim', 'allow-oom' },
  { 'ack', 'allow-oom' },
  { 'fail', 'allow-oom' },
  { 'release', 'allow-oom' },
  { 'extend', 'allow-oom' },
  { 'cancel', 'allow-oom' },
  { 'reschedule', 'allow-oom' },
  { 'run_now', 'allow-oom' },
  { 'replay', 'allow-oom' },
  { 'purge', 'allow-oom' },
  { 'recover', 'allow-oom' },
  { 'pause', 'allow-oom' },
  { 'resume', 'allow-oom' },
  { 'limits', 'allow-oom' },
  { 'find', 'no-writes' },
  { 'list', 'no-writes' },
  { 'stats', 'no-writes' },
  { 'version', 'no-writes' },
}
