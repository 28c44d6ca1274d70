-- What replicas tell each other of sessions: a state, a list of changes, and the calls that were
-- counted. The list is of the present epoch, the calls are of the present partition.

-- What key, index entries and sums of a session and of a change take in Redis, measured.
local SESSION_BYTES = 700
local CHANGE_BYTES = 40
local CALL_BYTES = 60
-- A replica that was away for longer knows the session from here on.
local MAX_CHANGES = 512
local MAX_CHANGE_BYTES = 1048576
local MAX_CALLS = 1024
local MAX_EPOCH = 2147483647
-- The last number of a change. An epoch with more of them ends.
local LAST_CHANGE = 32767

local function stateKey(at, session)
  return at.base .. 's:' .. session
end

local function changesKey(at, session)
  return at.base .. 'l:' .. session
end

local function callsKey(at, session)
  return at.base .. 'k:' .. session
end

-- The calls that were counted before those of `callsKey`.
local function olderCallsKey(at, session)
  return at.base .. 'ko:' .. session
end

local function stateOf(at, session)
  local state = redis.call('HMGET', stateKey(at, session), 'e', 'p', 'n', 'v', 'o', 'x', 'b', 't',
    'f', 'z')
  if not state[1] then return nil end
  return {
    epoch = tonumber(state[1]), partition = tonumber(state[2]), results = tonumber(state[3]),
    last = tonumber(state[4]), opened = tonumber(state[5]), ends = tonumber(state[6]),
    bytes = tonumber(state[7]), seen = tonumber(state[8]), fence = state[9],
    first = tonumber(state[10] or '0')
  }
end

-- Adds to the sums of the session, of the tenant, and of what a sweep gives back.
local function charge(at, session, bytes)
  if bytes == 0 then return end
  change(at, 0, 0, bytes)
  redis.call('HINCRBY', at.base .. 'sz', session, bytes)
end

-- The end of the session, and Redis's own of its keys, are moved now and then, not with every turn.
local function writeState(at, session, state, now, ttl)
  local isDue = state.hasNewKey or not state.ends or state.ends < now + ttl * 7 / 8
  if isDue then state.ends = now + ttl end
  redis.call('HSET', stateKey(at, session), 'e', state.epoch, 'p', state.partition,
    'n', state.results, 'v', state.last, 'o', string.format('%.0f', state.opened),
    'x', string.format('%.0f', state.ends), 'b', state.bytes, 't', string.format('%.0f', now),
    'f', state.fence, 'z', state.first)
  if not isDue then return end
  local net = ttl + NET_MS
  redis.call('PEXPIRE', stateKey(at, session), net)
  redis.call('PEXPIRE', changesKey(at, session), net)
  redis.call('PEXPIRE', callsKey(at, session), net)
  redis.call('PEXPIRE', olderCallsKey(at, session), net)
  redis.call('ZADD', at.base .. 'ss', 'GT', string.format('%.0f', state.ends), session)
end

local function forgetSession(at, session)
  redis.call('UNLINK', stateKey(at, session), changesKey(at, session), callsKey(at, session),
    olderCallsKey(at, session))
  local bytes = tonumber(redis.call('HGET', at.base .. 'sz', session) or '0')
  if bytes ~= 0 then
    change(at, 0, 0, -bytes)
    redis.call('HDEL', at.base .. 'sz', session)
  end
end

-- Nothing that was said in the session before is true for what comes. `epoch` if the next number may
-- have been used: a primary that was lost may have had it. Calls keep their numbers, so that one that
-- is tried again is not counted between those that came since.
local function beginEpoch(at, session, state, epoch)
  redis.call('UNLINK', changesKey(at, session))
  charge(at, session, -state.bytes)
  state.epoch = epoch or state.epoch % MAX_EPOCH + 1
  state.last = 0
  state.bytes = 0
  state.first = state.results
end

-- The agent forgets its calls: one that comes again is another one.
local function forgetCalls(at, session)
  local calls = redis.call('HLEN', callsKey(at, session))
    + redis.call('HLEN', olderCallsKey(at, session))
  redis.call('UNLINK', callsKey(at, session), olderCallsKey(at, session))
  charge(at, session, -calls * CALL_BYTES)
end

-- The number of the call's result, counted now unless it was before.
local function countResult(at, session, state, call)
  if call == '' then
    state.results = state.results + 1
    return state.results
  end
  local calls = callsKey(at, session)
  local older = olderCallsKey(at, session)
  local known = redis.call('HGET', calls, call) or redis.call('HGET', older, call)
  if known then return tonumber(known) end
  local count = redis.call('HLEN', calls)
  if count >= MAX_CALLS then
    charge(at, session, -redis.call('HLEN', older) * CALL_BYTES)
    redis.call('RENAME', calls, older)
    count = 0
  end
  state.results = state.results + 1
  redis.call('HSET', calls, call, state.results)
  state.hasNewKey = count == 0
  charge(at, session, CALL_BYTES)
  return state.results
end

-- Processes that have this store: when each was last heard. One that is silent may answer turns that
-- nobody counts, until it is back and has told of them. After a minute it counts as ended.
local ENDED_MS = 60000

-- Whether a process of the list is silent for so long.
local function isSilent(contact, now, silentMs)
  local latest = '(' .. now - silentMs
  local silent = redis.call('ZRANGEBYSCORE', contact, now - ENDED_MS, latest, 'LIMIT', 0, 1)
  return #silent > 0
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
  if silentMs == '' then return false end
  return isSilent(at.root:match('^(.*):{[^{}]*}:$') .. ':contact', timeOf(''), tonumber(silentMs))
end

-- The head of a change: version of the layout, writer, bytes of the change, number of texts. Then
-- come these: hash and bytes of each.
local CHANGE = '<Bc16I4I2'
local CHANGE_HEAD_BYTES = 23
local TEXT_BYTES = 36
-- Texts that one call brings at most.
local MAX_TEXTS = 64

-- Hashes of the texts that a change names; none if it is of a later layout.
local function textsOf(value)
  if #value < CHANGE_HEAD_BYTES or value:byte(1) ~= VERSION then return {}, '' end
  local _, writer, _, count = struct.unpack(CHANGE, value)
  local hashes = {}
  for i = 1, count do
    local from = CHANGE_HEAD_BYTES + (i - 1) * TEXT_BYTES
    hashes[i] = value:sub(from + 1, from + 32)
  end
  return hashes, writer
end

-- Values of the bodies that changes name, the newest first, up to so many bytes. Bodies in chunks, and
-- those of the caller's own changes, are not among them.
local function bodiesOf(at, now, changes, writer, most)
  local values, seen = {}, {}
  for i = #changes, 1, -1 do
    local hashes, by = textsOf(changes[i])
    for j = #hashes, 1, -1 do
      local id = toHex(hashes[j]:sub(1, 6))
      if by ~= writer and not seen[id] then
        seen[id] = true
        local head = headOf(at, id)
        local isThere = head and head.hash == hashes[j] and head.expires > now
        if isThere and head.chunks == 0 then
          most = most - redis.call('STRLEN', bodyKey(at, id))
          if most < 0 or #values == MAX_TEXTS then return values end
          values[#values + 1] = redis.call('GET', bodyKey(at, id))
        end
      end
    end
  end
  return values
end

-- args: time, session, the caller's epoch and its last change, an epoch for a new session, how long
-- it lives, for how long no turn can have been missed, share, tombstone time, what the caller calls
-- this server, how long a process may be silent or empty, the caller as changes name it, bytes of
-- texts that it wants at most, how many results are counted, of each its call or empty, the server's
-- time after which it has no effect or empty.
-- Returns `late`, `not_found` if no result of the session was counted, `quota`, `busy`, or `ok`,
-- epoch, partition, results, time of opening, from, to, whether changes between them are missing,
-- whether turns may be, the number of changes, the number of each result (0: the call came before the
-- epoch), the changes, and texts that they name.
local function openSession(keys, args)
  local count = tonumber(args[14])
  if isLate(args[15 + count]) then return { 'late' } end
  local now = timeOf(args[1])
  local at = rootOf(keys)
  local session, ttl = args[2], tonumber(args[6])
  local state = stateOf(at, session)
  if state and state.ends < now then
    forgetSession(at, session)
    state = nil
  end
  if not state then
    if count == 0 then return { 'not_found' } end
    local refusal = claimSpace(at, SESSION_BYTES, tonumber(args[8]), now, tonumber(args[9]))
    if refusal then return { refusal } end
    charge(at, session, SESSION_BYTES)
    state = {
      epoch = tonumber(args[5]), partition = 0, results = 0, last = 0, opened = now, bytes = 0,
      fence = args[10], first = 0
    }
  elseif state.seen < now - tonumber(args[7]) or state.fence ~= args[10] then
    beginEpoch(at, session, state, tonumber(args[5]))
    state.fence = args[10]
  end
  local numbers = {}
  for i = 1, count do
    local number = countResult(at, session, state, args[14 + i])
    -- Of a call from before the epoch, nothing is known that the agent has since.
    numbers[i] = number > state.first and number or 0
  end
  writeState(at, session, state, now, ttl)
  local from = tonumber(args[3]) == state.epoch and tonumber(args[4]) or 0
  local kept = redis.call('LLEN', changesKey(at, session))
  local isBroken = from < state.last - kept
  if isBroken then from = state.last - kept end
  local reply = {
    'ok', state.epoch, state.partition, state.results,
    string.format('%.0f', state.opened), from, state.last, isBroken and 1 or 0,
    isUnsure(at, args[11]) and 1 or 0, state.last - from, unpack(numbers)
  }
  if from == state.last then return reply end
  local changes = redis.call('LRANGE', changesKey(at, session), from - state.last, -1)
  for i = 1, #changes do reply[#reply + 1] = changes[i] end
  -- A caller that has lost what it knew of the session may lack its own texts too.
  local hasOwn = tonumber(args[3]) == state.epoch and not isBroken
  local texts = bodiesOf(at, now, changes, hasOwn and args[12] or '', tonumber(args[13]))
  for i = 1, #texts do reply[#reply + 1] = texts[i] end
  return reply
end

-- Adds a change to the list, from which the oldest leave if it becomes too long.
local function addChange(at, session, state, value)
  local bytes = #value + CHANGE_BYTES
  local list = changesKey(at, session)
  local count = redis.call('RPUSH', list, value)
  state.hasNewKey = count == 1
  local freed = 0
  while count > 1 and (count > MAX_CHANGES or state.bytes + bytes - freed > MAX_CHANGE_BYTES) do
    freed = freed + #redis.call('LPOP', list) + CHANGE_BYTES
    count = count - 1
  end
  charge(at, session, bytes - freed)
  state.bytes = state.bytes + bytes - freed
  state.last = state.last + 1
end

-- args: time, session, epoch or empty for the present one, change, how long the session lives,
-- share, tombstone time, latest time as above. Returns `ok` and the change's number, or why not.
local function appendChange(keys, args)
  if isLate(args[8]) then return { 'late' } end
  local now = timeOf(args[1])
  local at = rootOf(keys)
  local session, value = args[2], args[4]
  local state = stateOf(at, session)
  if not state or state.ends < now then return { 'not_found' } end
  if args[3] ~= '' and tonumber(args[3]) ~= state.epoch then return { 'conflict' } end
  if state.last == LAST_CHANGE then
    beginEpoch(at, session, state)
    writeState(at, session, state, now, tonumber(args[5]))
    return { 'conflict' }
  end
  local bytes = #value + CHANGE_BYTES
  local refusal = claimSpace(at, bytes, tonumber(args[6]), now, tonumber(args[7]))
  if refusal then return { refusal } end
  addChange(at, session, state, value)
  writeState(at, session, state, now, tonumber(args[5]))
  return { 'ok', state.last }
end

-- args: time, session, epoch, change or empty, how long the session lives, share, tombstone time,
-- results and last change that the caller knows, call, for how long no turn can have been missed, what
-- the caller calls this server, how long a process may be silent or empty, latest time as above.
-- Counts the next result and adds its change, if the caller knows all that has happened. Returns as
-- `appendChange`; `conflict` if it does not.
local function settleTurn(keys, args)
  if isLate(args[14]) then return { 'late' } end
  local now = timeOf(args[1])
  local at = rootOf(keys)
  local session, value, call = args[2], args[4], args[10]
  local state = stateOf(at, session)
  if not state or state.ends < now then return { 'not_found' } end
  local knowsAll = tonumber(args[3]) == state.epoch and tonumber(args[8]) == state.results
    and tonumber(args[9]) == state.last and state.last < LAST_CHANGE
    and state.seen >= now - tonumber(args[11]) and state.fence == args[12]
    and not isUnsure(at, args[13])
    and not redis.call('HGET', callsKey(at, session), call)
    and not redis.call('HGET', olderCallsKey(at, session), call)
  if not knowsAll then return { 'conflict' } end
  local bytes = #value + CHANGE_BYTES + CALL_BYTES
  local refusal = claimSpace(at, bytes, tonumber(args[6]), now, tonumber(args[7]))
  if refusal then return { refusal } end
  countResult(at, session, state, call)
  local hasNewKey = state.hasNewKey
  if value ~= '' then addChange(at, session, state, value) end
  state.hasNewKey = state.hasNewKey or hasNewKey
  writeState(at, session, state, now, tonumber(args[5]))
  return { 'ok', state.last }
end

-- args: time, session, whether the agent's context was compacted (else turns were missed), how
-- long the session lives. Returns the partition; -1 if there is no such session.
local function renewSession(keys, args)
  local now = timeOf(args[1])
  local at = rootOf(keys)
  local state = stateOf(at, args[2])
  if not state or state.ends < now then return -1 end
  beginEpoch(at, args[2], state)
  if args[3] == '1' then
    state.partition = state.partition + 1
    forgetCalls(at, args[2])
  end
  writeState(at, args[2], state, now, tonumber(args[4]))
  return state.partition
end
