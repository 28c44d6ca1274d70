-- Processes that have this store: when each was last heard. One that is silent may answer turns that
-- nobody counts, until it is back and has told of them. After a minute it counts as ended.
local ENDED_MS = 60000

-- Whether a process of the list is silent for so long.
local function isSilent(contact, now, silentMs)
  return redis.call('ZCOUNT', contact, now - ENDED_MS, '(' .. now - silentMs) > 0
end

-- args: process, how long one may be silent, time after which this has no effect (or ''), and the
-- processes that it knows. The key is the list of them. Notes that the process has nothing left to
-- tell. Returns whether another one is silent, and all processes.
local function noteContact(keys, args)
  local now = timeOf('')
  -- A call that a link held back must not speak for a process that has something to tell by now.
  if isLate(args[3]) then return { 1 } end
  local ended = redis.call('ZRANGEBYSCORE', keys[1], '-inf', now - ENDED_MS, 'LIMIT', 0, STEP)
  for _, member in ipairs(ended) do redis.call('ZREM', keys[1], member) end
  if not redis.call('ZSCORE', keys[1], args[1]) then
    -- The list was lost: who does not come back to it is silent.
    for i = 4, #args do redis.call('ZADD', keys[1], 'NX', now - tonumber(args[2]) - 1, args[i]) end
  end
  redis.call('ZADD', keys[1], now, args[1])
  local silent = isSilent(keys[1], now, tonumber(args[2])) and 1 or 0
  return { silent, unpack(redis.call('ZRANGE', keys[1], 0, 255)) }
end

-- Whether some process may have answered a turn that was not counted. Nodes of a cluster do not know.
local function isUnsure(at, silentMs)
  if silentMs < 0 then return false end
  if at.isUnsure == nil then
    local contact = at.root:match('^(.*):{[^{}]*}:$') .. ':contact'
    at.isUnsure = isSilent(contact, timeOf(''), silentMs)
  end
  return at.isUnsure
end
