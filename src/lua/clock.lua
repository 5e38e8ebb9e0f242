-- Time is Redis's. A call reads it once.
local clock = {}

-- reply  now in whole milliseconds, now in microseconds
function clock.now(q)
  local time = redis.call('TIME')
  local us = time[1] * 1000000 + time[2]
  return math.floor(us / 1000), us
end
