-- One lease a claim: its end in `leases`, and in `held` the ids it still holds, parted by blanks. An id in that
-- list is the proof: ack, fail, release and recover take it out.
local lease = {}

lease.MOST_LOST = 3 -- so many lost leases, and the job is quarantined

function lease.new(token)
  return { token = token, set = {}, count = 0, order = {}, is_changed = false }
end

function lease.add(l, id)
  l.count = l.count + 1
  l.order[l.count] = id
  l.set[id] = true
end

-- reply  {token, set = {id = true}, count}; nil if no such lease stands
function lease.open(q, token)
  local list = token and redis.call('HGET', q.held, token)
  if not list then
    return nil
  end
  local l = lease.new(token)
  for id in string.gmatch(list, '[^ ]+') do
    lease.add(l, id)
  end
  return l
end

-- Writes: the lease holds nothing any more.
function lease.free(q, l)
  redis.call('ZREM', q.leases, l.token)
  redis.call('HDEL', q.held, l.token)
end

function lease.take(l, id)
  if not l or not l.set[id] then
    return false
  end
  l.set[id] = nil
  l.count = l.count - 1
  l.is_changed = true
  return true
end

-- Writes what is left of a lease.
function lease.close(q, l)
  if not l.is_changed then
    return
  end
  if l.count == 0 then
    return lease.free(q, l)
  end
  local rest = {}
  for i = 1, #l.order do
    if l.set[l.order[i]] then
      rest[#rest + 1] = l.order[i]
    end
  end
  redis.call('HSET', q.held, l.token, table.concat(rest, ' '))
end

-- Opens each lease that the rows of a call name, once.
function lease.opener(q)
  local opened = {}
  return function(token)
    if token and opened[token] == nil then
      opened[token] = q.engine.open(q, token) or false
    end
    return token and opened[token]
  end, opened
end

function lease.close_all(q, opened)
  for _, l in pairs(opened) do
    if l then
      q.engine.close(q, l)
    end
  end
end

-- Takes back the jobs of expired leases, about `most` at the most: ready since the end of their lease, dead if that
-- happened too often, or gone if their cancel was asked for.
--
-- reply  how many jobs came back, and how many of them wait again
function lease.recover(q, now, most)
  local expired = redis.call('ZRANGEBYSCORE', q.leases, '-inf', now, 'WITHSCORES', 'LIMIT', 0, most)
  local back, again, lost, dropped = 0, 0, 0, 0
  for i = 1, #expired, 2 do
    local token, ended_at = expired[i], tonumber(expired[i + 1])
    local l = q.engine.open(q, token) or lease.new(token)
    for _, id in ipairs(l.order) do
      lease.take(l, id)
      local bytes = q.has_levels and q.engine.record(q, id)
      if bytes or not q.has_levels and q.engine.has(q, id) then
        local t = tries.of(q, id)
        t.lost, t.last_at = t.lost + 1, ended_at
        lost = lost + 1
        if tries.is_asked(t) then
          tries.drop_cancelled(q, id)
        elseif t.lost >= lease.MOST_LOST then
          t.error = 'lease lost ' .. t.lost .. ' times'
          tries.bury(q, id, t, 'quarantined', now)
        else
          if t.failures == 0 then
            t.error = 'lease lost'
          end
          redis.call('HSET', q.tries, id, tries.pack(t))
          q.engine.again(q, l, id, ended_at, waiting.priority(q, id, bytes))
          again = again + 1
        end
        back = back + 1
      else
        redis.call('HDEL', q.tries, id)
        dropped = dropped + 1
      end
    end
    if l.is_changed then
      q.engine.close(q, l)
    else
      q.engine.free(q, l)
    end
    if back >= most then
      break
    end
  end
  queue.count(q, 'lost_leases', lost)
  queue.count(q, 'dropped', dropped)
  return back, again
end

-- Leases whose end is missing (a restored backup, a deleted key) end now: no job stays active for ever. Looks at no
-- more than 250 leases, picked at random, and only if there are more leases than ends.
function lease.repair(q, now)
  if redis.call('HLEN', q.held) <= redis.call('ZCARD', q.leases) then
    return
  end
  local tokens = redis.call('HRANDFIELD', q.held, 250)
  local ends, repaired = redis.call('ZMSCORE', q.leases, unpack(tokens)), 0
  for i = 1, #tokens do
    if not ends[i] then
      redis.call('ZADD', q.leases, now, tokens[i])
      repaired = repaired + 1
    end
  end
  queue.count(q, 'repaired', repaired)
end
