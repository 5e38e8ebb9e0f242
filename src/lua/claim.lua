-- Takes due jobs under a lease, longest overdue first, after taking back a bounded number of expired leases.
--
-- args   token       1 .. 60 characters of A-Z a-z 0-9 _ -, fresh for each claim; one that stands answers again what
--                    it took (due_at_ms is then now), so that a claim whose reply was lost can be repeated. Jobs of
--                    another lease length get a token of their own: this one and '.2', '.3' ...
--        most        how many at the most, 0 .. 250; default 1; at most about 1 MiB of them, but at least one
--        lease_ms    100 .. 86400000, for jobs that bring none of their own; default 30000
--        waiter      the caller's own channel: it is parked if fewer than `most` were due
--        id          a column, of engine keyspace alone: take these jobs, as far as they are due and still there
--        as          'records' for packed rows; 'pairs', or nothing, for plain ones
-- reply  {'jobs', now_us, next_us, role, rows}
--        next_us     until the next due time or lease end; 0: look again at once; -1: nothing waits
--        role        'keeper': look again in next_us; 'idle': wait for a message, and behind the rows follows how
--                    many are idle; 'listen': wait for expiry events; '' without waiter, or if full
--        rows        each {name, value, ...}; packed: id, due_at_ms, token, attempt, record, id, ... in one list
local CLAIM = 'token most lease_ms waiter as id'

local MOST_BYTES = 1048576
local FIRST_LOOK = 10 -- so many records are read first, to learn how large they are

-- Records of the first ids, in order, until they are MOST_BYTES together. Missing ones are false.
local function read_records(q, ids)
  local n = #ids
  local got = math.min(n, FIRST_LOOK)
  local records = redis.call('HMGET', q.jobs, unpack(ids, 1, got))
  local bytes = 0
  for i = 1, got do
    bytes = bytes + (records[i] and #records[i] or 0)
    if bytes > MOST_BYTES then
      return records, i
    end
  end
  local step = n - FIRST_LOOK
  if bytes * n / FIRST_LOOK > MOST_BYTES / 4 then
    step = math.max(1, math.floor(FIRST_LOOK * MOST_BYTES / (bytes * 8)))
  end
  while got < n and bytes <= MOST_BYTES do
    local last = math.min(n, got + step)
    local more = redis.call('HMGET', q.jobs, unpack(ids, got + 1, last))
    for i = 1, #more do
      bytes = bytes + (more[i] and #more[i] or 0)
      records[got + i] = more[i]
      if bytes > MOST_BYTES then
        return records, got + i
      end
    end
    got = last
  end
  return records, got
end

-- One plain row of a reply.
local function plain_row(id, token, bytes, attempt, due_at, lease_ms)
  local policy = record.policy(bytes)
  return {
    'id', id, 'token', token, 'type', record.type(bytes), 'payload', record.payload(bytes), 'attempt', attempt,
    'max_attempts', policy.max_attempts, 'due_at_ms', due_at, 'put_at_ms', record.put_at(bytes),
    'timeout_ms', policy.timeout_ms, 'lease_ms', lease_ms,
  }
end

-- What an earlier try of this claim took: the lease of `token` and those that follow it.
local function rows_again(q, token, packed, now)
  local rows, part = {}, 1
  local name = token
  while true do
    local l = lease.open(q, name)
    if not l then
      return rows
    end
    local ends_at = tonumber(redis.call('ZSCORE', q.leases, name) or now)
    for i = 1, #l.order do
      local id = l.order[i]
      local bytes = redis.call('HGET', q.jobs, id)
      if bytes and record.is_readable(bytes) then
        local t = tries.of(q, id)
        local attempt, at = t.failures + t.lost + 1, #rows
        if packed then
          rows[at + 1], rows[at + 2], rows[at + 3], rows[at + 4], rows[at + 5] = id, now, name, attempt, bytes
        else
          rows[at + 1] = plain_row(id, name, bytes, attempt, now, math.max(0, ends_at - now))
        end
      end
    end
    part = part + 1
    name = token .. '.' .. part
  end
end

-- The token of a claim's next lease: its own, then with '.2', '.3' ...; one that is left of an earlier claim by
-- this token is passed over. Answers it and its number.
local function next_token(q, token, part)
  if part == 0 then
    return token, 1
  end
  repeat
    part = part + 1
  until redis.call('HEXISTS', q.held, token .. '.' .. part) == 0
  return token .. '.' .. part, part
end

-- Jobs that one more lost lease would quarantine run one at a time, each under a lease of its own: what crashed beside
-- another job is not taken for the cause. `suspect` in meta names the lease of the one that runs; the others wait, each
-- a bit longer than the one before.
local SUSPECT_PAUSE_MS = 100

local function is_suspect_running(q)
  local token = redis.call('HGET', q.meta, 'suspect')
  return token and redis.call('HEXISTS', q.held, token) == 1
end

-- Takes up to `most` due jobs. Answers rows, whether there may be more, and whether the first was overdue.
local function take(q, a, now, most, lease_ms, packed)
  local rows = {}
  local due = waiting.due(q, now, most)
  local found = #due / 2
  if found == 0 then
    return rows, false, false
  end
  local ids = {}
  for i = 1, found do
    ids[i] = due[2 * i - 1]
  end
  local records, n = read_records(q, ids)
  if n < found then
    for i = n + 1, found do
      ids[i] = nil
    end
  end
  local entries = tries.of_many(q, ids)

  -- Writes: what frees memory first.
  waiting.take(q, ids, n)
  local byte, at, lateness, dropped, taken = string.byte, 0, 0, 0, 0
  local due_text, due_at, late -- of the last job: many are due at one time
  local holds, parts = {}, 0 -- by length of lease; one for most claims
  local hold, length, token, count, list
  local has_suspect, postponed = nil, {} -- the first stays nil until one is met
  for i = 1, n do
    local id, bytes = ids[i], records[i]
    local format, flags
    if bytes then
      format, flags = byte(bytes, 7, 8)
    end
    if not bytes then
      redis.call('HDEL', q.tries, id)
      dropped = dropped + 1
    elseif (format ~= 1 or flags ~= 0 or #bytes < 9 + (byte(bytes, 9) or 256)) and not record.is_readable(bytes) then
      local t = tries.unpack(entries and entries[i])
      t.error, t.last_at = 'record is damaged or of an unknown format', now
      tries.bury(q, id, t, 'unreadable', now)
    else
      local own = flags == 0 and 0 or record.lease_ms(bytes)
      own = own > 0 and own or lease_ms
      local attempt, is_alone, waits = 1, false, false
      if entries and entries[i] then
        local t = tries.unpack(entries[i])
        attempt = t.failures + t.lost + 1
        if t.lost >= lease.MOST_LOST - 1 then
          if has_suspect == nil then
            has_suspect = is_suspect_running(q)
          end
          waits, is_alone, has_suspect = has_suspect, not has_suspect, true
        end
      end
      if waits then
        local until_ms = now + SUSPECT_PAUSE_MS * (#postponed / 2 + 1)
        postponed[#postponed + 1] = waiting.score(until_ms, waiting.priority(q, id, bytes))
        postponed[#postponed + 1] = id
      else
        if is_alone or own ~= length then
          if hold then
            hold.count = count
          end
          length = not is_alone and own or nil
          hold = holds[length or id]
          if not hold then
            hold = { ids = {}, count = 0, length = own }
            hold.token, parts = next_token(q, a.given.token, parts)
            holds[length or id] = hold
          end
          token, list, count = hold.token, hold.ids, hold.count
          if is_alone then
            redis.call('HSET', q.meta, 'suspect', token)
          end
        end
        count = count + 1
        list[count] = id
        if due[2 * i] ~= due_text then
          due_text = due[2 * i]
          due_at = waiting.of_score(due_text)
          late = now - due_at
        end
        if late > 1000 then -- a due time in the past is no lateness
          lateness = lateness + math.min(late, math.max(0, now - record.put_at(bytes)))
        else
          lateness = lateness + late
        end
        taken = taken + 1
        if packed then
          rows[at + 1], rows[at + 2], rows[at + 3], rows[at + 4], rows[at + 5] = id, due_at, token, attempt, bytes
          at = at + 5
        else
          rows[taken] = plain_row(id, token, bytes, attempt, due_at, own)
        end
      end
    end
  end
  for _, one in pairs(holds) do
    redis.call('ZADD', q.leases, now + one.length, one.token)
    redis.call('HSET', q.held, one.token, table.concat(one.ids, ' '))
  end
  if #postponed > 0 then
    redis.call('ZADD', q.due, unpack(postponed))
  end
  queue.count(q, 'claimed', taken)
  queue.count(q, 'lateness_ms', lateness)
  queue.count(q, 'dropped', dropped)
  return rows, n >= most or n < found or taken < n, waiting.of_score(due[2]) < now - 20
end

function duly.claim(keys, argv)
  local q, a, bad
  q, bad = queue.open(keys, 'claim')
  if q then
    a, bad = args.parse(argv, args.names(CLAIM))
  end
  if bad then
    return bad
  end
  local token, most, lease_ms = a.given.token, args.whole(a.given.most or '1', 0, 250),
    args.whole(a.given.lease_ms or '30000', 100, 86400000)
  if not token or #token > 60 or not string.find(token, '^[A-Za-z0-9_-]+$') then
    return args.invalid('token', 'not of this form', '1 .. 60 characters of A-Z a-z 0-9 _ -')
  end
  local as, waiter = a.given.as or 'pairs', a.given.waiter
  if as ~= 'pairs' and as ~= 'records' then
    return args.invalid('as', 'unknown', 'pairs or records')
  end
  if waiter and (#waiter < 1 or #waiter > 256 or string.find(waiter, '[^\33-\126]')) then
    return args.invalid('waiter', 'not of this form', '1 .. 256 printable ASCII characters without blanks')
  end
  if not most then
    return args.invalid('most', 'not a whole number in range', '0 .. 250')
  end
  if not lease_ms then
    return args.invalid('lease_ms', 'not a whole number in range', '100 .. 86400000')
  end
  if a.given.id or a.is_batch and not q.engine.listens then
    return args.invalid('id', 'given', 'none; or a column of them, in a queue of engine keyspace')
  end
  a.argv = argv
  local now, now_us = clock.now(q)
  local packed = as == 'records'
  local again = q.engine.claimed(q, token, packed, now)
  if again then
    return { 'jobs', now_us, 0, '', again }
  end

  -- Writes.
  lease.recover(q, now, 250)
  local is_paused = q.is_paused or q.refuses_dead and keep.is_full(q)
  local rows, has_more, was_overdue = {}, false, false
  if most > 0 and not is_paused then
    rows, has_more, was_overdue = q.engine.take(q, a, now, most, lease_ms, packed)
  end
  if #rows == 0 or q.has_kept then -- time to tidy up
    keep.trim(q, now)
  end
  local next_us = -1
  if not is_paused then
    local next_at = wake.next_at(q)
    if next_at then
      next_us = math.max(0, next_at * 1000 - now_us)
    end
  end
  local role = ''
  if waiter then
    if q.engine.listens then
      role, next_us = has_more and '' or 'listen', has_more and 0 or -1
    elseif most == 0 or has_more then
      wake.leave(q, waiter, was_overdue, math.max(0, next_us))
    else
      role = wake.park(q, waiter, was_overdue, now)
    end
  end
  if role == 'idle' then
    return { 'jobs', now_us, next_us, role, rows, redis.call('ZCARD', q.idle) }
  end
  return { 'jobs', now_us, next_us, role, rows }
end
