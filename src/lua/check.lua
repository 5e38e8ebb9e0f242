-- Looks for what does not fit together, piece by piece on a queue in use, and mends it if asked. Each finding is
-- decided within one call, so that nothing that moves is ever taken for damage. docs/protocol.md, "Checking".
--
-- args   part      'leases', 'jobs', 'held', 'due', 'dead', 'tries': what to walk through, by `cursor`
--                  (also 'done'); 'suspects', rows of suspect and version; 'twice', rows of suspect, first, second
--                  'totals'; 'summary', which looks at counts only, at most once in every_ms
--        cursor    '0' or nothing to begin, else that of the piece before
--        repair    '1': mend what is found; '0' or nothing: not
--        every_ms  with summary, 0 .. 86400000
-- reply  {'checked', cursor, looked, {kind, what, ...}, seen}; cursor '0': the part is through
--        kind      no_place, two_places, no_record, no_job, no_end, no_list, counts, totals
--        seen      jobs, suspects: id, version of each record in no sorted set; held: token, list of each lease
local CHECK = 'part cursor repair every_ms suspect version first second'

local check = {}

local CHECK_PIECE = 250
local CHECK_BYTES = 1048576
local CHECK_LIST_BYTES = 16384 -- lists are of ids, and each id is looked up
local MOST_LISTS_COUNTED = 200 -- of up to 250 ids each

-- The sorted sets that hold jobs. A record stands in one of them, or in the list of one lease.
local CHECK_SETS = { 'due', 'dead', 'done' }

local function leave(q, set, id)
  if set == 'due' then
    redis.call('ZREM', q.due, id)
  else
    keep.remove(q, set, id)
  end
end

-- Walks on through a hash or sorted set until the piece is full. `step` gets names and values.
function check.walk(command, key, cursor, most_bytes, step)
  local looked, bytes, count = 0, 0, 8
  repeat
    local found = redis.call(command, key, cursor, 'COUNT', count)
    cursor = found[1]
    local names, values = {}, {}
    for i = 1, #found[2], 2 do
      names[#names + 1], values[#values + 1] = found[2][i], found[2][i + 1]
      bytes = bytes + #found[2][i + 1]
    end
    looked = looked + #names
    if #names > 0 then
      step(names, values)
      local fits = math.floor((most_bytes - bytes) * looked / math.max(bytes, 1))
      count = math.max(1, math.min(CHECK_PIECE - looked, fits))
    end
  until cursor == '0' or looked >= CHECK_PIECE or bytes >= most_bytes
  return cursor, looked
end

-- Of each id, the sorted sets that it stands in.
function check.sets_of(q, ids)
  local of = {}
  for i = 1, #ids do
    of[i] = {}
  end
  for _, set in ipairs(CHECK_SETS) do
    for first = 1, #ids, 1000 do
      local scores = redis.call('ZMSCORE', q[set], unpack(ids, first, math.min(#ids, first + 999)))
      for i = 1, #scores do
        if scores[i] then
          table.insert(of[first + i - 1], set)
        end
      end
    end
  end
  return of
end

-- Changes whenever the job leaves a lease by another way than ack: by failure, recovery, release, or, as a new
-- job of the same id, by put. So a record of unchanged version in no list all the while is in no place.
function check.version(q, id, bytes, now)
  if #bytes >= 6 and record.put_at(bytes) == now then
    return '-' -- another job of this id may come in the same millisecond
  end
  return redis.sha1hex(string.sub(bytes, 1, 6) .. (redis.call('HGET', q.tries, id) or '') .. ':' ..
    (redis.call('HGET', q.meta, 'released') or ''))
end

-- What a walk does at each part: c = {q, now, repair, findings, seen, dropped, repaired}.
function check.found(c, kind, what)
  table.insert(c.findings, kind)
  table.insert(c.findings, what)
  if c.repair and kind == 'no_record' then
    c.dropped = c.dropped + 1
  elseif c.repair then
    c.repaired = c.repaired + 1
  end
  return c.repair
end

function check.jobs(c, ids, records)
  local of = check.sets_of(c.q, ids)
  for i = 1, #ids do
    if #of[i] == 0 then
      table.insert(c.seen, ids[i])
      table.insert(c.seen, check.version(c.q, ids[i], records[i], c.now))
    elseif #of[i] > 1 and check.found(c, 'two_places', ids[i]) then
      for s = 2, #of[i] do
        leave(c.q, of[i][s], ids[i])
      end
    end
  end
end

function check.lists(c, tokens)
  local q = c.q
  for i = 1, #tokens do
    local l = lease.open(q, tokens[i])
    if not redis.call('ZSCORE', q.leases, tokens[i]) and check.found(c, 'no_end', tokens[i]) then
      redis.call('ZADD', q.leases, c.now, tokens[i])
    end
    local of = check.sets_of(q, l.order)
    for k = 1, #l.order do
      local id = l.order[k]
      if redis.call('HEXISTS', q.jobs, id) == 0 then
        if check.found(c, 'no_record', id) then
          lease.take(l, id)
          redis.call('HDEL', q.tries, id)
        end
      elseif #of[k] > 0 and check.found(c, 'two_places', id) then
        for s = 1, #of[k] do
          leave(q, of[k][s], id)
        end
      end
    end
    lease.close(q, l)
    table.insert(c.seen, tokens[i])
    table.insert(c.seen, table.concat(l.order, ' '))
  end
end

-- A step over the members of `key`: those that `other` does not hold are findings.
function check.against(other, kind, mend)
  return function(c, names)
    for i = 1, #names do
      if redis.call('HEXISTS', c.q[other], names[i]) == 0 and check.found(c, kind, names[i]) then
        mend(c, names[i])
      end
    end
  end
end

local function drop_from(set)
  return check.against('jobs', 'no_record', function(c, id)
    leave(c.q, set, id)
    redis.call('HDEL', c.q.tries, id)
    if set == 'done' then
      c.dropped = c.dropped - 1 -- it was counted when it was acked
    end
  end)
end

check.parts = {
  jobs = { 'HSCAN', CHECK_BYTES, check.jobs },
  held = { 'HSCAN', CHECK_LIST_BYTES, check.lists },
  due = { 'ZSCAN', CHECK_BYTES, drop_from('due') },
  dead = { 'ZSCAN', CHECK_BYTES, drop_from('dead') },
  done = { 'ZSCAN', CHECK_BYTES, drop_from('done') },
  tries = { 'HSCAN', CHECK_BYTES, check.against('jobs', 'no_job', function(c, id)
    redis.call('HDEL', c.q.tries, id)
  end) },
  leases = { 'ZSCAN', CHECK_BYTES, check.against('held', 'no_list', function(c, token)
    redis.call('ZREM', c.q.leases, token)
  end) },
}

-- Records that were in no list all the while: they become ready, if they are still in no place and unchanged.
function check.suspects(c, a, argv)
  local q, head = c.q, waiting.head(c.q)
  for row = 1, a.rows do
    local id = args.cell(a, argv, row, 'suspect')
    local bytes = redis.call('HGET', q.jobs, id)
    if bytes and #check.sets_of(q, { id })[1] == 0 then
      local version = check.version(q, id, bytes, c.now)
      if version ~= args.cell(a, argv, row, 'version') or version == '-' then
        table.insert(c.seen, id)
        table.insert(c.seen, version)
      elseif check.found(c, 'no_place', id) then
        waiting.add(q, id, c.now, waiting.priority(q, id, bytes))
      end
    end
  end
  if c.repaired > 0 then
    wake.after_put(q, head, c.now, c.now, c.now * 1000)
  end
end

-- Ids that stood in the lists of two leases: the first keeps it.
function check.twice(c, a, argv)
  for row = 1, a.rows do
    local id = args.cell(a, argv, row, 'suspect')
    local first = lease.open(c.q, args.cell(a, argv, row, 'first'))
    local second = lease.open(c.q, args.cell(a, argv, row, 'second'))
    if first and second and first.set[id] and second.set[id] and check.found(c, 'two_places', id) then
      lease.take(second, id)
      lease.close(c.q, second)
    end
  end
end

-- Every job that was put is there, or was acked (and may be kept as done), cancelled, purged or dropped.
function check.totals(c)
  local q = c.q
  local t = redis.call('HMGET', q.meta, 'put', 'acked', 'cancelled', 'purged', 'dropped', 'dead_dropped')
  for i = 1, 6 do
    t[i] = tonumber(t[i] or 0)
  end
  local others = t[2] + t[3] + t[4] + t[5] + t[6] + redis.call('HLEN', q.jobs) - redis.call('ZCARD', q.done)
  if t[1] ~= others and check.found(c, 'totals', string.format(
    'put is %.0f, acked + cancelled + purged + dropped + existing %.0f', t[1], others)) then
    -- Totals only grow: the smaller side does.
    queue.count(q, 'put', others - t[1])
    queue.count(q, 'dropped', t[1] - others)
  end
end

-- Compares counts: cheap at any size. Leases without an end are mended at once.
function check.summary(c, every_ms)
  local q = c.q
  local last = tonumber(redis.call('HGET', q.meta, 'checked_ms') or 0)
  if last <= c.now and c.now < last + every_ms then
    return
  end
  if every_ms > 0 then
    redis.call('HSET', q.meta, 'checked_ms', string.format('%.0f', c.now))
  end
  local lists, ends = redis.call('HLEN', q.held), redis.call('ZCARD', q.leases)
  if lists ~= ends then
    check.found(c, 'counts', string.format('leases are %.0f, ends of leases %.0f', lists, ends))
    if c.repair then
      lease.repair(q, c.now)
    end
  end
  if lists <= MOST_LISTS_COUNTED then
    local places = 0
    for _, list in ipairs(redis.call('HVALS', q.held)) do
      places = places + select(2, string.gsub(list, '[^ ]+', ''))
    end
    for _, set in ipairs(CHECK_SETS) do
      places = places + redis.call('ZCARD', q[set])
    end
    local records = redis.call('HLEN', q.jobs)
    if records ~= places then
      check.found(c, 'counts', string.format('records are %.0f, places of records %.0f', records, places))
    end
  end
  c.repaired = 0 -- nothing but what lease.repair has counted
end

function duly.check(keys, argv)
  local q, a, now, bad = open('check', keys, argv, CHECK)
  if bad then
    return bad
  end
  local part, cursor, repair = a.given.part or '', a.given.cursor or '0', a.given.repair or '0'
  local every_ms = args.whole(a.given.every_ms or '0', 0, 86400000)
  if repair ~= '0' and repair ~= '1' then
    return args.invalid('repair', 'unknown', '1, 0 or nothing')
  end
  if not string.find(cursor, '^%d+$') or #cursor > 20 then
    return args.invalid('cursor', 'not of this form', 'the cursor of the piece before')
  end
  if not every_ms then
    return args.invalid('every_ms', 'not a whole number in range', '0 .. 86400000')
  end
  for _, name in ipairs(part == 'suspects' and { 'suspect', 'version' } or
    part == 'twice' and { 'suspect', 'first', 'second' } or {}) do
    if not args.cell(a, argv, 1, name) then
      return args.invalid(name, 'not given', 'rows of them with part ' .. part)
    end
  end

  -- Writes, if asked.
  local c = { q = q, now = now, repair = repair == '1', findings = {}, seen = {}, dropped = 0, repaired = 0 }
  local next_cursor, looked = '0', a.rows
  local walk = check.parts[part]
  if walk then
    next_cursor, looked = check.walk(walk[1], q[part], cursor, walk[2], function(names, values)
      walk[3](c, names, values)
    end)
  elseif part == 'suspects' or part == 'twice' then
    check[part](c, a, argv)
  elseif part == 'totals' then
    check.totals(c)
  elseif part == 'summary' then
    check.summary(c, every_ms)
  else
    return args.invalid('part', 'unknown',
      'leases, jobs, held, due, dead, done, tries, suspects, twice, totals or summary')
  end
  queue.count(q, 'dropped', c.dropped)
  queue.count(q, 'repaired', c.repaired)
  return { 'checked', next_cursor, looked, c.findings, c.seen }
end
