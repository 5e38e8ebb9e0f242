-- Readers: nothing changes.

-- One job as name value pairs; nil if there is none.
local function describe(q, id, now)
  local bytes = q.engine.record(q, id)
  if not bytes then
    return nil
  end
  local due = waiting.find(q, id) or q.engine.is_ready and q.engine.is_ready(q, id)
  local died = not due and redis.call('ZSCORE', q.dead, id)
  local done = not due and not died and redis.call('ZSCORE', q.done, id)
  local state = done and 'done' or died and 'dead' or 'active'
  if due then
    state = due <= now and 'ready' or 'scheduled'
  end
  local t = tries.of(q, id)
  local row = { 'id', id, 'state', state, 'failures', t.failures, 'lost_leases', t.lost,
    'last_failed_at_ms', t.last_at, 'last_error', done and '' or t.error,
    'result', done and t.error or '', 'done_at_ms', done and string.format('%.0f', tonumber(done)) or '',
    'due_at_ms', due and string.format('%.0f', due) or '',
    'died_at_ms', died and string.format('%.0f', tonumber(died)) or '',
    'reason', died and tries.reason_words[t.reason] or '' }
  local n = #row
  if record.is_readable(bytes) then
    local p = record.policy(bytes)
    for _, value in ipairs({ 'put_at_ms', record.put_at(bytes), 'type', record.type(bytes),
      'payload', record.payload(bytes), 'priority', record.priority(bytes),
      'max_attempts', p.max_attempts, 'lease_ms', p.lease_ms,
      'timeout_ms', p.timeout_ms, 'backoff', p.is_fixed and 'fixed' or 'exponential',
      'backoff_base_ms', p.base_ms, 'backoff_cap_ms', p.cap_ms,
      'backoff_factor_milli', p.factor, 'backoff_jitter_percent', p.jitter }) do
      n = n + 1
      row[n] = value
    end
  else
    row[n + 1], row[n + 2], row[n + 3], row[n + 4] = 'payload', bytes, 'unreadable', '1'
  end
  return row
end

-- Looks a job up.
--
-- args   id
-- reply  {'found', {name, value, ...}} or {'not_found'}
-- batch  {'jobs', now, {name, value, ...} or {} a row}
function duly.find(keys, argv)
  local q, a, now, bad = open('find', keys, argv, 'id')
  if bad then
    return bad
  end
  if not a.is_batch then
    local row = a.given.id and describe(q, a.given.id, now)
    return row and { 'found', row } or { 'not_found' }
  end
  local rows = {}
  for row = 1, a.rows do
    rows[row] = describe(q, args.cell(a, argv, row, 'id'), now) or {}
  end
  return { 'jobs', now, rows }
end

-- The rank behind a cursor 'score:member' in a sorted set, in the given direction, and whether the member is
-- still in its place.
local function rank_behind(key, cursor, is_reverse)
  local score, member = string.match(cursor, '^(%d+):(.+)$')
  if not score then
    return nil
  end
  local stands = redis.call('ZSCORE', key, member)
  if stands and tonumber(stands) == tonumber(score) then
    return redis.call(is_reverse and 'ZREVRANK' or 'ZRANK', key, member) + 1, true
  end
  if is_reverse then
    return redis.call('ZCOUNT', key, '(' .. score, '+inf')
  end
  return redis.call('ZCOUNT', key, '-inf', '(' .. score)
end

-- A page ends early when its payloads are so many bytes together.
local MOST_PAGE_BYTES = 1048576

local function payload_bytes(row)
  for i = 1, row and #row or 0, 2 do
    if row[i] == 'payload' then
      return #row[i + 1]
    end
  end
  return 0
end

-- Active jobs stand in the lists of their leases: the page begins behind `after`, 'score:token:position'.
local function list_active(q, now, most, after)
  local rank, skip = 0, 0
  if after ~= '' then
    local cursor, position = string.match(after, '^(.+):(%d+)$')
    local stands
    if cursor then
      rank, stands = rank_behind(q.leases, cursor, false)
    end
    if not cursor or not rank then
      return args.invalid('after', 'not of this form', 'the next of an earlier page')
    end
    if stands then
      rank, skip = rank - 1, tonumber(position)
    end
  end
  local rows, bytes = {}, 0
  while #rows < most do
    local at = redis.call('ZRANGE', q.leases, rank, rank, 'WITHSCORES')
    if not at[1] then
      return { 'page', now, '', rows }
    end
    local position = 0
    for _, id in ipairs((q.engine.open(q, at[1]) or { order = {} }).order) do
      position = position + 1
      if position > skip then
        rows[#rows + 1] = describe(q, id, now)
        bytes = bytes + payload_bytes(rows[#rows])
        if #rows == most or bytes > MOST_PAGE_BYTES then
          return { 'page', now, at[2] .. ':' .. at[1] .. ':' .. position, rows }
        end
      end
    end
    rank, skip = rank + 1, 0
  end
  return { 'page', now, '', rows }
end

-- A page of waiting jobs: highest priority first, then by due time.
--
-- reply  {id, score, ...}; nil if `after` is none
local function waiting_page(q, now, is_ready, most, after)
  local page, after_priority = {}, nil
  if after ~= '' then
    local score = string.match(after, '^(%d+):.')
    if not score then
      return nil
    end
    local _, priority = waiting.of_score(score)
    after_priority = priority
  end
  for _, priority in ipairs(waiting.levels(q)) do
    if not after_priority or priority <= after_priority then
      local first = string.format(is_ready and '(%.0f' or '%.0f', waiting.score(is_ready and 0 or now, priority))
      local rank = redis.call('ZCOUNT', q.due, '-inf', first)
      if priority == after_priority then
        rank = math.max(rank, (rank_behind(q.due, after, false)))
      end
      local found = redis.call('ZRANGE', q.due, rank, rank + most - #page / 2 - 1, 'WITHSCORES')
      for i = 1, #found, 2 do
        local due, level = waiting.of_score(found[i + 1])
        if level ~= priority or is_ready and due > now then
          break
        end
        page[#page + 1], page[#page + 2] = found[i], found[i + 1]
      end
      if #page >= 2 * most then
        break
      end
    end
  end
  return page
end

-- A page of dead or done jobs, the latest first.
local function ended_page(key, most, after)
  local rank = 0
  if after ~= '' then
    rank = rank_behind(key, after, true)
    if not rank then
      return nil
    end
  end
  return redis.call('ZREVRANGE', key, rank, rank + most - 1, 'WITHSCORES')
end

-- Jobs of one state: scheduled and ready by priority and due time, active by lease end, dead and done latest first.
--
-- args   state, most (1 .. 250), after ('' or the `next` of the page before)
-- reply  {'page', now, next or '', {{name, value, ...}, ...}}
function duly.list(keys, argv)
  local q, a, now, bad = open('list', keys, argv, 'state most after')
  if bad then
    return bad
  end
  local state, after = a.given.state, a.given.after or ''
  local most = args.whole(a.given.most or '100', 1, 250)
  if not most then
    return args.invalid('most', 'not a whole number in range', '1 .. 250')
  end
  if state == 'active' then
    return list_active(q, now, most, after)
  end
  local found
  if state == 'scheduled' or state == 'ready' then
    found = waiting_page(q, now, state == 'ready', most, after)
  elseif state == 'dead' or state == 'done' then
    found = ended_page(q[state], most, after)
  else
    return args.invalid('state', 'unknown', 'scheduled, ready, active, dead or done')
  end
  if not found then
    return args.invalid('after', 'not of this form', 'the next of an earlier page')
  end
  local rows, bytes = {}, 0
  for i = 1, #found, 2 do
    local row = describe(q, found[i], now)
    rows[#rows + 1] = row
    bytes = bytes + payload_bytes(row)
    if #rows == most or bytes > MOST_PAGE_BYTES then
      return { 'page', now, string.format('%.0f', tonumber(found[i + 1])) .. ':' .. found[i], rows }
    end
  end
  return { 'page', now, '', rows }
end

-- Counts a queue. No arguments.
--
-- reply  {'stats', {name, value, ...}}: counts taken from the structures themselves, and totals
function duly.stats(keys, argv)
  local q, _, now, bad = open('stats', keys, argv, '')
  if bad then
    return bad
  end
  local count, ready = redis.call('ZCARD', q.due), waiting.count_due(q, now)
  local dead, done = redis.call('ZCARD', q.dead), redis.call('ZCARD', q.done)
  local due, fill, is_full = waiting.head(q), keep.fill(q)
  local active = math.max(0, redis.call('HLEN', q.jobs) - count - dead - done)
  local scheduled = count - ready
  if q.engine.count_beside then
    local beside, first = q.engine.count_beside(q), q.engine.first_beside and q.engine.first_beside(q)
    active = q.engine.count_active and q.engine.count_active(q) or active - beside
    ready, due = ready + beside, first and math.min(due or first, first) or due
  end
  local row = { 'now_ms', now, 'scheduled', scheduled, 'ready', ready, 'active', active, 'dead', dead, 'done', done,
    'oldest_due_ms', due and string.format('%.0f', due) or '', 'stopped', is_full and 1 or 0,
    'dead_percent', fill }
  local meta = redis.call('HGETALL', q.meta)
  for i = 1, #meta do
    row[#row + 1] = meta[i]
  end
  return { 'stats', row }
end
