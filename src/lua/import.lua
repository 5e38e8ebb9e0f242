-- Moves waiting jobs of a home-made queue into this one. That queue is a sorted set whose scores are due times; the
-- payload is the member itself, or stands in a hash under it. What is put here and what goes there is one step.
--
-- keys   the fifteen, then the sorted set, then the hash if there is one
-- args   score           what a score is: 's', the default, or 'ms'; fractions are rounded up
--        cursor          '' to begin, else that of the reply before
--        look            '1': changes nothing, and counts what would be done
--        planned         with look: so many jobs were counted as created by the calls before
--        payload_limit   bytes; larger payloads are left
--        record          of all jobs, packed by the client, its payload empty; or instead, plain:
--        type, priority, lease_ms, timeout_ms, max_attempts, backoff, backoff_base_ms, backoff_cap_ms,
--        backoff_factor_milli, backoff_jitter_percent
-- reply  {'imported', cursor, {name, number, ...}}
--        cursor    '' when the sorted set is through
--        gone from there:  created; existed, as the waiting job says the same; updated, as it took over due time and
--                          payload
--        left there:       not_a_time, no_content, too_large, full, in_use (a job of the id that does not wait)
--        and       bytes of the payloads, remaining members, earliest_ms and latest_ms due times ('' if none)
local IMPORT = 'score cursor look planned payload_limit record type priority lease_ms timeout_ms max_attempts ' ..
  'backoff backoff_base_ms backoff_cap_ms backoff_factor_milli backoff_jitter_percent'

local COUNTS = { 'created', 'existed', 'updated', 'not_a_time', 'no_content', 'too_large', 'full', 'in_use' }
local MOST_MEMBERS = 250

-- The keys of the shard, and those of the source; nil, error if one is wrong.
local function split(keys)
  local own = {}
  for i = 1, KEYS_OF_A_SHARD do
    own[i] = keys[i]
  end
  local set, hash = keys[KEYS_OF_A_SHARD + 1], keys[KEYS_OF_A_SHARD + 2]
  if not set or #keys > KEYS_OF_A_SHARD + 2 then
    return nil, args.invalid('keys', tostring(#keys), '15 as in docs/protocol.md, the sorted set, and the hash if any')
  end
  for i = 1, KEYS_OF_A_SHARD do
    if own[i] == set or own[i] == hash then
      return nil, args.invalid('source', 'a key of the queue itself', 'another one')
    end
  end
  if type(redis.pcall('ZCARD', set)) ~= 'number' then
    return nil, args.invalid('source', 'not a sorted set', 'the sorted set of a home-made queue')
  end
  if hash and type(redis.pcall('HLEN', hash)) ~= 'number' then
    return nil, args.invalid('contents', 'not a hash', 'the hash of a home-made queue')
  end
  return own, nil, set, hash
end

-- The record of all jobs but for their payload; nil, error if it is wrong.
local function header_of(a)
  local header = a.given.record
  if header and header ~= '' then
    local _, flags, type_length = string.byte(header, 1, 3)
    if not record.is_packed(header) or #header ~= 3 + type_length + (flags % 2) * POLICY_BYTES then
      return nil, args.invalid('record', 'not of format 1', 'a header as in docs/protocol.md, and no payload')
    end
    return header
  end
  local packed, text = record.pack(function(name) return a.given[name] end)
  if not packed then
    return nil, redis.error_reply('DULY_INVALID ' .. text)
  end
  return packed
end

-- A cursor is a score, and how many members of it were left behind. Counted from the score, it holds whatever comes
-- and goes at others.
--
-- reply  its rank, score, how many; nil if it is none
local function place_of(set, cursor)
  if cursor == '' then
    return 0, '-inf', 0
  end
  local score, left = string.match(cursor, '^([%d.einf+-]+):(%d+)$')
  local number = score and tonumber(score)
  if not number or number ~= number or #cursor > 48 then
    return nil
  end
  return redis.call('ZCOUNT', set, '-inf', '(' .. score) + tonumber(left), score, tonumber(left)
end

-- {member, score, ...} from a rank on: MOST_MEMBERS of them, or about MOST_BYTES.
local function read_members(set, rank)
  local found, bytes, step = {}, 0, FIRST_LOOK
  while #found < 2 * MOST_MEMBERS do
    local at = rank + #found / 2
    local more = redis.call('ZRANGE', set, at, at + math.min(step, MOST_MEMBERS - #found / 2) - 1, 'WITHSCORES')
    for i = 1, #more, 2 do
      found[#found + 1], found[#found + 2] = more[i], more[i + 1]
      bytes = bytes + #more[i]
      if bytes > MOST_BYTES then
        return found
      end
    end
    if #more < 2 * step then
      break
    end
    local room = math.floor((MOST_BYTES - bytes) / (bytes / (#found / 2) + 1))
    step = math.max(1, math.min(2 * step, room))
  end
  return found
end

-- The payloads of members, until they are about MOST_BYTES.
--
-- reply  a list: false where there is none, nil where it is beyond the limit; and of how many members
local function read_contents(hash, found, limit)
  local contents, wanted, places, bytes, n = {}, {}, {}, 0, 0
  for i = 1, #found, 2 do
    n = n + 1
    local size = redis.call('HSTRLEN', hash, found[i])
    if size <= limit then
      wanted[#wanted + 1], places[#wanted + 1] = found[i], n
      bytes = bytes + size
      if bytes > MOST_BYTES then
        break
      end
    end
  end
  local got = #wanted > 0 and redis.call('HMGET', hash, unpack(wanted)) or {}
  for i = 1, #got do
    contents[places[i]] = got[i]
  end
  return contents, n
end

-- The due time that a score means, never before it; nil if it means none.
local function due_of_score(text, is_seconds)
  local due = tonumber(text)
  if not (due >= 0 and due <= LAST_DUE_AT_MS) then
    return nil
  end
  if is_seconds then
    -- A double holds the decimals of a second inexactly: what is a whole millisecond but for that, is one.
    due = due * 1000
    local nearest = math.floor(due + 0.5)
    if math.abs(due - nearest) <= due / 4503599627370496 then
      due = nearest
    end
  end
  due = math.ceil(due) + 0
  return due <= LAST_DUE_AT_MS and due or nil
end

-- What becomes of a member that could be a job: a word of COUNTS, and of a job that is updated whether its due time
-- moves, and whether its payload changes.
local function word_of(q, id, due, payload)
  if not q.engine.has(q, id) then
    return 'created'
  end
  local waits_until = waiting.find(q, id)
  local bytes = waits_until and q.engine.record(q, id)
  if not bytes or not record.is_readable(bytes) then
    return 'in_use'
  end
  local moves, changes = waits_until ~= due, record.payload(bytes) ~= payload
  return (moves or changes) and 'updated' or 'existed', moves, changes
end

-- Calls a function of this library for rows, if there are any; `argv` ends with its columns.
local function with_rows(call, own, argv, rows)
  if #rows == 0 then
    return {}
  end
  for i = 1, #rows do
    argv[#argv + 1] = rows[i]
  end
  return call(own, argv)
end

-- What is to be done with the members that were found.
--
-- reply  {counts, bytes, earliest, latest; gone: members; new, moved, changed: rows; score, left: the cursor behind}
local function plan_of(q, source, found, place, is_look)
  local plan = { counts = {}, bytes = 0, gone = {}, new = {}, moved = {}, changed = {}, score = place.score,
    left = place.left }
  local contents, n = {}, #found / 2
  if source.hash then
    contents, n = read_contents(source.hash, found, source.limit)
  end
  plan.looked = n
  local new, moved, changed, seen = plan.new, plan.moved, plan.changed, {}
  for i = 1, n do
    local member, due, payload = found[2 * i - 1], due_of_score(found[2 * i], source.is_seconds), contents[i]
    if not source.hash then
      payload = #member <= source.limit and member or nil
    end
    local word, id, moves, changes = 'not_a_time', member, false, false
    if due and not payload then
      word = payload == nil and 'too_large' or 'no_content'
    elseif due then
      if not source.hash or not args.is_id(member) then
        id = redis.sha1hex(source.set .. '\n' .. member)
      end
      word, moves, changes = word_of(q, id, due, payload)
      if seen[id] then
        word = 'in_use'
      elseif word == 'created' and #new / 3 >= source.room then
        word = 'full'
      end
    end
    plan.counts[word] = (plan.counts[word] or 0) + 1
    local goes = word == 'created' or word == 'existed' or word == 'updated'
    if goes then
      seen[id] = true
      plan.bytes = plan.bytes + #payload
      plan.earliest, plan.latest = math.min(plan.earliest or due, due), math.max(plan.latest or due, due)
      local due_text = string.format('%.0f', due)
      if word == 'created' then
        new[#new + 1], new[#new + 2], new[#new + 3] = id, due_text, source.header .. payload
      end
      if moves then
        moved[#moved + 1], moved[#moved + 2] = id, due_text
      end
      if changes then
        changed[#changed + 1], changed[#changed + 2] = id, payload
      end
    end
    if goes and not is_look then
      plan.gone[#plan.gone + 1] = member
    else
      plan.left = found[2 * i] == plan.score and plan.left + 1 or 1
      plan.score = found[2 * i]
    end
  end
  return plan
end

function duly.import(keys, argv)
  local own, bad, set, hash = split(keys)
  if bad then
    return bad
  end
  local q, a, header
  q, bad = queue.open(own, 'import')
  if q then
    a, bad = args.parse(argv, args.names(IMPORT))
  end
  if not bad and a.is_batch then
    bad = args.invalid('columns', 'given', 'none')
  end
  if not bad then
    header, bad = header_of(a)
  end
  if bad then
    return bad
  end
  local score = a.given.score or 's'
  if score ~= 's' and score ~= 'ms' then
    return args.invalid('score', 'unknown', 's or ms')
  end
  local look, planned = args.whole(a.given.look or '0', 0, 1), args.whole(a.given.planned or '0', 0, 9007199254740991)
  local limit = args.whole(a.given.payload_limit or tostring(MOST_PAYLOAD), 0, MOST_PAYLOAD)
  if not look or not planned or not limit then
    return args.invalid('look, planned or payload_limit', 'not a whole number in range', 'as in docs/protocol.md')
  end
  local rank, at_score, left = place_of(set, a.given.cursor or '')
  if not rank then
    return args.invalid('cursor', 'not of this form', 'that of an earlier reply')
  end
  local plan = plan_of(q, { set = set, hash = hash, header = header, is_seconds = score == 's',
    limit = math.min(limit, MOST_PAYLOAD - #header), room = keep.room(q) - planned },
    read_members(set, rank), { score = at_score, left = left }, look == 1)
  local remaining = redis.call('ZCARD', set)
  local is_through = rank + plan.looked >= remaining

  if #plan.gone > 0 then
    -- Writes: first that which can refuse, and then has done nothing.
    local reply = with_rows(duly.put, own, { 'mode', 'all', 'columns', 3, 'id', 'due_at_ms', 'record' }, plan.new)
    if reply.err or reply[4] then
      return reply.err and reply or redis.error_reply('ERR a job that could be put was refused: ' .. reply[6])
    end
    with_rows(duly.reschedule, own, { 'columns', 2, 'id', 'due_at_ms' }, plan.moved)
    with_rows(duly.edit, own, { 'columns', 2, 'id', 'payload' }, plan.changed)
    redis.call('ZREM', set, unpack(plan.gone))
    if hash then
      redis.call('HDEL', hash, unpack(plan.gone))
    end
    remaining = remaining - #plan.gone
  end

  local told = { 'bytes', plan.bytes, 'remaining', remaining,
    'earliest_ms', plan.earliest and string.format('%.0f', plan.earliest) or '',
    'latest_ms', plan.latest and string.format('%.0f', plan.latest) or '' }
  for i = 1, #COUNTS do
    told[#told + 1] = COUNTS[i]
    told[#told + 1] = plan.counts[COUNTS[i]] or 0
  end
  return { 'imported', is_through and '' or plan.score .. ':' .. string.format('%.0f', plan.left), told }
end
