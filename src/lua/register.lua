-- Ends the library text for servers with functions (Redis 7, Valkey).
for i = 1, #functions do
  local name, flag = functions[i][1], functions[i][2]
  redis.register_function({ function_name = 'duly_' .. name, callback = duly[name], flags = { flag } })
end
