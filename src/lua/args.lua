-- Reads arguments: name value pairs, and for a batch, last, `columns N name ...` and the rows. A pair beside
-- columns holds for every row.
local args = {}

local MOST_ROWS = 250 -- 1,000 rows would block Redis for up to 5 ms

function args.invalid(what, found, expected)
  return redis.error_reply('DULY_INVALID ' .. what .. ': ' .. found .. ', expected ' .. expected)
end

-- reply  {given = {name = value}, column = {name = position}, first, width, rows, is_batch}
--        nil, error    a name that `known` does not hold, or a shape that is wrong
function args.parse(argv, known)
  local a = { given = {}, column = {}, first = 0, width = 0, rows = 1, is_batch = false }
  local i, last = 1, #argv
  while i <= last do
    local name = argv[i]
    if name == 'columns' then
      local width = tonumber(argv[i + 1])
      if not width or width < 1 or width > 32 or width ~= math.floor(width) then
        return nil, args.invalid('columns', 'not a small number', '1 .. 32')
      end
      for c = 1, width do
        local column = argv[i + 1 + c]
        if not column or not known[column] then
          return nil, args.invalid('column ' .. c, 'unknown name', 'one of ' .. known[1])
        end
        a.column[column] = c
      end
      a.first, a.width, a.is_batch = i + 2 + width, width, true
      a.rows = (last - a.first + 1) / width
      if a.rows < 1 or a.rows > MOST_ROWS or a.rows ~= math.floor(a.rows) then
        return nil, args.invalid('rows', tostring(a.rows), '1 .. ' .. MOST_ROWS .. ' whole ones')
      end
      return a
    end
    if not known[name] then
      return nil, args.invalid('argument ' .. i, 'unknown name', known[1] == '' and 'none' or 'one of ' .. known[1])
    end
    if i == last then
      return nil, args.invalid(name, 'no value', 'a value behind each name')
    end
    a.given[name] = argv[i + 1]
    i = i + 2
  end
  return a
end

-- The value of `name` in a row: its cell, else what holds for all rows, else nil.
function args.cell(a, argv, row, name)
  local c = a.column[name]
  if c then
    return argv[a.first + (row - 1) * a.width + c - 1]
  end
  return a.given[name]
end

-- A whole number; nil if the text is none or out of range. No blanks, signs, exponents.
function args.whole(text, low, high)
  if not text or not string.find(text, '^%d+$') then
    return nil
  end
  local number = tonumber(text)
  if number < low or number > high then
    return nil
  end
  return number
end

-- Ids are printable ASCII without blanks: the held list of a lease is parted by blanks.
function args.is_id(text)
  return text ~= nil and #text >= 1 and #text <= 128 and not string.find(text, '[^\33-\126]')
end

-- The set of names a function knows; [1] lists them for messages. Made once and kept.
local sets = {}

function args.names(list)
  local known = sets[list]
  if known then
    return known
  end
  known = { list }
  sets[list] = known
  for name in string.gmatch(list, '[^ ]+') do
    known[name] = true
  end
  return known
end
