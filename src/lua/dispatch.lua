-- Ends the script text for servers without functions: EVALSHA sha numkeys key ... name argument ...
local name = table.remove(ARGV, 1)
local run = name and duly[string.gsub(name, '^duly_', '')]
if not run then
  return redis.error_reply('DULY_INVALID function: unknown name, expected one of docs/protocol.md')
end
return run(KEYS, ARGV)
