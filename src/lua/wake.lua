-- Wakes idle workers. One of them is the keeper, who sleeps until the next due time; the others are parked in
-- `idle` and cost nothing. Messages only make things faster: every worker looks by itself now and then.
--
-- A waiter is the name of its own channel. A message is the time until the next due job, in microseconds.
local wake = {}

local KEEPER_MS = 3000  -- a keeper looks every 2 s at the latest, and renews its mark
local PARKED_MS = 10000 -- who has not looked for so long is gone
local OVERDUE_MS = 20   -- so late, and the keeper must be gone or busy

local function publish(channel, in_us)
  local text = string.format('%.0f', in_us)
  local heard = redis.pcall('SPUBLISH', channel, text)
  if type(heard) ~= 'number' or heard == 0 then -- a server before 7.0, or a client that knows SUBSCRIBE only
    heard = redis.pcall('PUBLISH', channel, text)
  end
  return type(heard) == 'number' and heard > 0
end

-- The next idle waiter who hears it becomes the keeper.
local function hand_over(q, in_us)
  for _ = 1, 16 do
    local waiter = redis.call('ZPOPMAX', q.idle)[1]
    if not waiter then
      return false
    end
    redis.call('SET', q.keeper, waiter, 'PX', KEEPER_MS)
    if publish(waiter, in_us) then
      return true
    end
    redis.call('DEL', q.keeper)
  end
  return false
end

-- Time of the next due job or lease end, in ms; nil if there is none.
function wake.next_at(q)
  local due = waiting.head(q)
  if q.engine.count_beside and q.engine.count_beside(q) > 0 then
    return 0
  end
  local lease_end = redis.call('ZRANGE', q.leases, 0, 0, 'WITHSCORES')[2]
  lease_end = lease_end and tonumber(lease_end)
  if due and lease_end then
    return math.min(due, lease_end)
  end
  return due or lease_end
end

-- After jobs came in; `head` was the first due time before, `earliest` is that of the new ones.
function wake.after_put(q, head, earliest, now, now_us)
  local in_us = math.max(0, earliest * 1000 - now_us)
  if head and head < now - OVERDUE_MS then
    hand_over(q, 0)
  elseif not head or earliest < head then
    local keeper = redis.call('GET', q.keeper)
    if not keeper or not publish(keeper, in_us) then
      hand_over(q, in_us)
    end
  end
end

-- After claims became possible again.
function wake.after_resume(q)
  if redis.call('EXISTS', q.due) == 1 then
    local keeper = redis.call('GET', q.keeper)
    if not keeper or not publish(keeper, 0) then
      hand_over(q, 0)
    end
  end
end

-- A waiter with free hands goes to sleep: as the keeper, if there is none or the last one let a job wait.
function wake.park(q, waiter, was_overdue, now)
  local keeper = redis.call('GET', q.keeper)
  if not keeper or keeper == waiter or was_overdue then
    redis.call('SET', q.keeper, waiter, 'PX', KEEPER_MS)
    redis.call('ZREM', q.idle, waiter)
    return 'keeper'
  end
  redis.call('ZREMRANGEBYSCORE', q.idle, '-inf', now - PARKED_MS)
  redis.call('ZADD', q.idle, now, waiter)
  return 'idle'
end

-- A waiter has all it can hold, or leaves: another one takes the watch.
function wake.leave(q, waiter, was_overdue, in_us)
  redis.call('ZREM', q.idle, waiter)
  local keeper = redis.call('GET', q.keeper)
  if not keeper or keeper == waiter or was_overdue then
    if not hand_over(q, in_us) and keeper == waiter then
      redis.call('DEL', q.keeper)
    end
  end
end
