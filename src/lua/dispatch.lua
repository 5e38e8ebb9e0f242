-- Ends the script text for servers without functions: EVALSHA sha numkeys key ... name argument ...
local name = string.gsub(table.remove(ARGV, 1) or '', '^duly_', '')
if not duly[name] then
  return redis.error_reply('DULY_INVALID function: unknown name, expected one of docs/protocol.md')
end
for i = 1, #functions do
  if functions[i][1] == name and functions[i][2] == 'allow-oom' and #KEYS == KEYS_OF_A_SHARD then
    -- Scripts of old servers have no flags. After a first write that needs no memory, Redis lets the rest pass.
    redis.call('HDEL', KEYS[7], '')
  end
end
return duly[name](KEYS, ARGV)
