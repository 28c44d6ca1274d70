-- The state of a session, which is the last element of the list of its changes: so both have one
-- key. The changes are of the present epoch, the calls are of the present partition.

-- What the keys, index entries and sums of a session, a change and a call take in Redis, measured.
local SESSION_BYTES = 400
local CHANGE_BYTES = 4
local CALL_BYTES = 12
local SPILLED_BYTES = 20
-- A hash of more than 512 calls has another form.
local PACKED_CALLS = 512
local LOOSE_BYTES = 75
-- Calls that are in the state itself, and those in each of two hashes that follow.
local OWN_CALLS = 32
local MAX_CALLS = 1024
local MAX_EPOCH = 2147483647

-- version, opened, seen, ends, epoch, partition, results, results before the epoch, bytes of the
-- changes, what is charged, the last change, calls in the hash, calls in the older one, the
-- caller's name of the server. Then come the own calls: of each eight bytes of its name, and its
-- number.
local STATE = '<BdddI4I4I4I4I4I4I2I2I2Bc0'
local CALL = '<c8I4'
local NAME_BYTES = 8
local CALL_SIZE = 12
local NO_CALL = '\0\0\0\0\0\0\0\0'

local function journalKey(at, session)
  return at.base .. 'j:' .. session
end

local function callsKey(at, session)
  return at.base .. 'k:' .. session
end

-- The calls that were counted before those of `callsKey`.
local function olderCallsKey(at, session)
  return at.base .. 'ko:' .. session
end

-- The state, or nil. The second result is true for one that this version cannot read.
local function stateOf(at, session)
  local value = redis.call('LINDEX', journalKey(at, session), -1)
  if not value then return nil, false end
  if value:byte(1) ~= VERSION then return nil, true end
  local _, opened, seen, ends, epoch, partition, results, first, bytes, charged, last, spilled,
    older, fence, from = struct.unpack(STATE, value)
  return {
    opened = opened, seen = seen, ends = ends, epoch = epoch, partition = partition,
    results = results, first = first, bytes = bytes, charged = charged, last = last,
    spilled = spilled, older = older, fence = fence, calls = value:sub(from)
  }
end

local function packState(state)
  return struct.pack(STATE, VERSION, state.opened, state.seen, state.ends, state.epoch,
    state.partition, state.results, state.first, state.bytes, state.charged, state.last,
    state.spilled, state.older, #state.fence, state.fence) .. state.calls
end

local function hashBytes(calls)
  return calls * (calls > PACKED_CALLS and LOOSE_BYTES or SPILLED_BYTES)
end

local function bytesOf(state)
  return SESSION_BYTES + state.bytes + #state.calls / CALL_SIZE * CALL_BYTES
    + hashBytes(state.spilled) + hashBytes(state.older)
end

-- Sums are moved in steps, so that most turns move none: this much is charged for so many bytes.
local function stepOf(bytes)
  local units = math.ceil((bytes + 128 + bytes / 16) / CHARGE_UNIT)
  return math.min(units, CHARGES - 1) * CHARGE_UNIT
end

-- Makes room for `more` bytes of a session. Returns nil, or why there is none.
local function claimFor(at, state, more, most, now, tombstoneMs)
  local bytes = bytesOf(state) + more
  if bytes <= state.charged then return nil end
  return (claimSpace(at, stepOf(bytes) - state.charged, most, now, tombstoneMs))
end

-- Moves the sums of the tenant if they are too far from what the session takes. Returns by how
-- much.
local function account(at, state)
  local bytes = bytesOf(state)
  local step = stepOf(bytes)
  if bytes <= state.charged and state.charged <= stepOf(step) then return 0 end
  local moved = step - state.charged
  change(at, 0, 0, moved)
  state.charged = step
  return moved
end

-- The end of the session, and Redis's own of its keys, are moved now and then, not with every turn.
local function writeState(at, session, state, now, ttl)
  local moved = account(at, state)
  local isDue = state.hasNewKey or not state.ends or state.ends < now + ttl * 7 / 8
  if isDue then state.ends = now + ttl end
  state.seen = now
  local journal = journalKey(at, session)
  if state.isOut then
    redis.call('RPUSH', journal, packState(state))
  else
    redis.call('LSET', journal, -1, packState(state))
  end
  if isDue then
    local net = string.format('%.0f', ttl + NET_MS)
    redis.call('PEXPIRE', journal, net)
    if state.spilled > 0 then redis.call('PEXPIRE', callsKey(at, session), net) end
    if state.older > 0 then redis.call('PEXPIRE', olderCallsKey(at, session), net) end
    local _, due = indexed(at, session)
    index(at, session, state.charged, math.max(due or 0, math.ceil(state.ends / 1000)))
  elseif moved ~= 0 then
    redis.call('ZADD', indexKey(at), 'XX', 'INCR', moved / CHARGE_UNIT, session)
  end
end

local function forgetSession(at, session)
  redis.call('UNLINK', journalKey(at, session), callsKey(at, session), olderCallsKey(at, session))
  local charge, due = indexed(at, session)
  if charge == 0 then return end
  change(at, 0, 0, -charge)
  index(at, session, 0, due)
end

-- Nothing that was said in the session before is true for what comes. `epoch` if the next number
-- may have been used: a primary that was lost may have had it. Calls keep their numbers, so that one
-- that is tried again is not counted between those that came since.
local function beginEpoch(at, session, state, epoch)
  redis.call('LTRIM', journalKey(at, session), -1, -1)
  state.epoch = epoch or state.epoch % MAX_EPOCH + 1
  state.last = 0
  state.bytes = 0
  state.first = state.results
end

-- The agent forgets its calls: one that comes again is another one.
local function forgetCalls(at, session, state)
  if state.spilled + state.older > 0 then
    redis.call('UNLINK', callsKey(at, session), olderCallsKey(at, session))
  end
  state.calls, state.spilled, state.older = '', 0, 0
end

-- The number of a call that was counted, or nil.
local function numberOf(at, session, state, call)
  local from = state.calls:find(call, 1, true)
  while from and (from - 1) % CALL_SIZE ~= 0 do from = state.calls:find(call, from + 1, true) end
  if from then return struct.unpack('<I4', state.calls, from + NAME_BYTES) end
  local known = state.spilled > 0 and redis.call('HGET', callsKey(at, session), call)
    or state.older > 0 and redis.call('HGET', olderCallsKey(at, session), call)
  return known and tonumber(known) or nil
end

-- Moves the calls of the state to a hash. If that has enough, those of the older one are forgotten.
local function spill(at, session, state)
  local calls = callsKey(at, session)
  if state.spilled >= MAX_CALLS then
    redis.call('RENAME', calls, olderCallsKey(at, session))
    state.older, state.spilled = state.spilled, 0
  end
  local fields = {}
  for from = 1, #state.calls, CALL_SIZE do
    local call, number = struct.unpack(CALL, state.calls, from)
    fields[#fields + 1] = call
    fields[#fields + 1] = number
  end
  redis.call('HSET', calls, unpack(fields))
  state.hasNewKey = state.hasNewKey or state.spilled == 0
  state.spilled = state.spilled + #fields / 2
  state.calls = ''
end

-- Counts a result of a call that was not counted before. Returns its number.
local function countResult(at, session, state, call)
  state.results = state.results + 1
  if call ~= NO_CALL then
    if #state.calls >= OWN_CALLS * CALL_SIZE then spill(at, session, state) end
    state.calls = state.calls .. struct.pack(CALL, call, state.results)
  end
  return state.results
end
