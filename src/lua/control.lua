-- Stops claims of a queue; puts, recovery and changes go on. Lasts until resumed. No arguments.
--
-- reply  {'paused'}
function duly.pause(keys, argv)
  local q, _, _, bad = open('pause', keys, argv, '')
  if bad then
    return bad
  end

  -- Writes.
  redis.call('HSET', q.meta, 'paused', '1')
  return { 'paused' }
end

-- Ends a pause, and wakes a worker. No arguments.
--
-- reply  {'resumed'}
function duly.resume(keys, argv)
  local q, _, _, bad = open('resume', keys, argv, '')
  if bad then
    return bad
  end

  -- Writes.
  redis.call('HDEL', q.meta, 'paused')
  wake.after_resume(q)
  return { 'resumed' }
end

-- Takes back the jobs of expired leases now; claims do it anyway. Also those of leases whose end is missing: that
-- only this function does. No arguments.
--
-- reply  {'recovered', how many}; 0: none is left
function duly.recover(keys, argv)
  local q, _, now, bad, now_us = open('recover', keys, argv, '')
  if bad then
    return bad
  end

  -- Writes.
  local head = waiting.head(q)
  lease.repair(q, now)
  local back, again = lease.recover(q, now, 250)
  keep.trim(q, now)
  if again > 0 then
    wake.after_put(q, head, now, now, now_us)
  end
  return { 'recovered', back }
end

-- Sets the limits that are given, and tells all.
--
-- args   length         waiting jobs; beyond it puts are refused; 0, the default: no limit
--        dead_count, dead_bytes, dead_age_ms (0: no limit)    defaults 100000, 268435456, 15552000000
--        dead_refuse    1: at the limit claims stop, until dead letters are replayed or purged; 0, the default: the
--                       oldest dead letters are dropped, and counted
--        done_age_ms    how long done jobs are kept; 0, the default: not at all
--        done_count, done_bytes    defaults 10000, 67108864
-- reply  {'limits', {name, value, ...}}
function duly.limits(keys, argv)
  local q, a, now, bad = open('limits', keys, argv,
    'length dead_count dead_bytes dead_age_ms dead_refuse done_age_ms done_count done_bytes')
  if bad then
    return bad
  end
  return keep.change(q, a, now)
end

-- The version of this library. No keys, no arguments.
--
-- reply  {'version', '0.1.0'}
function duly.version()
  return { 'version', '@DULY_VERSION@' }
end

-- Makes a queue of an engine other than `lease`. One that exists keeps its engine.
--
-- args   engine    lease, pop, list, stream or keyspace
-- reply  {'created'}, {'exists'}: it has this engine already
function duly.create(keys, argv)
  local q, a, _, bad = open('create', keys, argv, 'engine')
  if bad then
    return bad
  end
  local name = a.given.engine or ''
  if not engines[name] then
    return args.invalid('engine', 'unknown', 'lease, pop, list, stream or keyspace')
  end
  local is_new = redis.call('HEXISTS', q.meta, 'engine') == 0
  if is_new and (redis.call('EXISTS', q.jobs) == 1 or redis.call('HEXISTS', q.meta, 'put') == 1) then
    is_new = false
  end
  if not is_new and q.engine.name ~= name then
    return args.invalid('engine', "the queue is of engine '" .. q.engine.name .. "'", "'" .. name .. "'")
  end

  -- Writes.
  redis.call('HSET', q.meta, 'engine', name)
  return { is_new and 'created' or 'exists' }
end
