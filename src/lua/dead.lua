-- Dead letters. Both take rows of id, or, for many, `most` and `died_by_ms`: the longest dead of those that
-- died by then.
--
-- reply  {'done', id, ''}; {'not_found', id, ''}; {'wrong_state', id, ''} for a job that is not dead
--        with most: {'batch', now, how many}; fewer than most: none is left
local DEAD = 'id most died_by_ms'

local function each_dead(verb, keys, argv, step, after)
  local q, a, now, bad, now_us = open(verb, keys, argv, DEAD)
  if bad then
    return bad
  end
  if a.given.most then
    local most = args.whole(a.given.most, 1, 250)
    local died_by = args.whole(a.given.died_by_ms, 0, LAST_DUE_AT_MS)
    if not most or not died_by then
      return args.invalid('most, died_by_ms', 'not whole numbers in range', '1 .. 250, and a time in ms')
    end

    -- Writes.
    local ids = redis.call('ZRANGEBYSCORE', q.dead, '-inf', died_by, 'LIMIT', 0, most)
    for i = 1, #ids do
      step(q, ids[i], now)
    end
    after(q, #ids, now, now_us)
    return { 'batch', now, #ids }
  end

  -- Writes.
  local count = 0
  local reply = queue.each_row(a, argv, now, 'done', function(row)
    local id = args.cell(a, argv, row, 'id')
    if not id or not redis.call('ZSCORE', q.dead, id) then
      return absent(q, id)
    end
    step(q, id, now)
    count = count + 1
    return 'done'
  end)
  after(q, count, now, now_us)
  return reply
end

-- Makes dead jobs ready again, with fresh attempts; the last error stays to be seen.
--
-- args   id; or most, died_by_ms
function duly.replay(keys, argv)
  local head, has_looked
  return each_dead('replay', keys, argv, function(q, id, now)
    if not has_looked then
      head, has_looked = waiting.head(q), true
    end
    local t = tries.of(q, id)
    t.failures, t.lost, t.reason = 0, 0, 0
    keep.remove(q, 'dead', id)
    redis.call('HSET', q.tries, id, tries.pack(t))
    waiting.add(q, id, now, waiting.priority(q, id))
  end, function(q, count, now, now_us)
    if count > 0 then
      queue.count(q, 'replayed', count)
      wake.after_put(q, head, now, now, now_us)
    end
  end)
end

-- Deletes dead jobs.
--
-- args   id; or most, died_by_ms
function duly.purge(keys, argv)
  return each_dead('purge', keys, argv, function(q, id)
    keep.remove(q, 'dead', id)
    q.engine.drop(q, { id })
    redis.call('HDEL', q.tries, id)
  end, function(q, count)
    queue.count(q, 'purged', count)
  end)
end
