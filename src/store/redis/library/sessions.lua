-- What replicas tell each other of sessions: a state, and a list of changes.

-- A replica that was away for longer knows the session from here on.
local MAX_CHANGES = 512
local MAX_CHANGE_BYTES = 1048576
-- The last number of a change. An epoch with more of them ends.
local LAST_CHANGE = 32767

-- The head of a change: version of the layout, writer, number of texts. Then come these: hash and
-- bytes of each.
local CHANGE = '<Bc6I2'
local CHANGE_HEAD_BYTES = 9
local TEXT_BYTES = 36
-- Texts that one call brings at most.
local MAX_TEXTS = 64

-- Hashes of the texts that a change names; none if it is of a later layout.
local function textsOf(value)
  if #value < CHANGE_HEAD_BYTES or value:byte(1) ~= VERSION then return {}, '' end
  local _, writer, count = struct.unpack(CHANGE, value)
  local hashes = {}
  for i = 1, count do
    local from = CHANGE_HEAD_BYTES + (i - 1) * TEXT_BYTES
    hashes[i] = value:sub(from + 1, from + 32)
  end
  return hashes, writer
end

-- Values of the bodies that changes name, the newest first, up to so many bytes. Bodies in chunks,
-- and those of the caller's own changes, are not among them.
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

-- Numbers of the arguments travel packed. Of an opened session: the caller's epoch and its last
-- change, an epoch for a new session, how long it lives, for how long no turn can have been missed,
-- share, tombstone time, how long a process may be silent or -1, bytes of texts that are wanted at
-- most, the caller as changes name it, what the caller calls this server, and how many results are
-- counted. Then come the calls, eight bytes of each, zeros if it has no name.
local OPENED = '<I4I2I4ddddddc6Bc0I2'
-- Of a change: its epoch or 0 for the present one, how long the session lives, share, tombstone
-- time.
local APPENDED = '<I4ddd'
-- Of a turn: the same, results and last change that the caller knows, for how long no turn can have
-- been missed, how long a process may be silent or -1, the call, what the caller calls this server.
local SETTLED = '<I4dddI4I2ddc8Bc0'

-- args: time, session, numbers as above, the server's time after which it has no effect or empty.
-- Returns `late`, `not_found` if no result of the session was counted, `quota`, `busy`, `unknown`,
-- or `ok`, epoch, partition, results, time of opening, from, to, whether changes between them are
-- missing, whether turns may be, the number of changes, the number of each result (0: the call came
-- before the epoch), the changes, and texts that they name.
local function openSession(keys, args)
  if isLate(args[4]) then return { 'late' } end
  local now = timeOf(args[1])
  local at = rootOf(keys)
  local session = args[2]
  local epoch, applied, newEpoch, ttl, sureMs, share, tombstoneMs, silentMs, most, writer, fence,
    count, from = struct.unpack(OPENED, args[3])
  local state, isForeign = stateOf(at, session)
  if isForeign then return { 'unknown' } end
  if state and state.ends < now then
    forgetSession(at, session)
    state = nil
  end
  if not state then
    if count == 0 then return { 'not_found' } end
    state = {
      epoch = newEpoch, partition = 0, results = 0, last = 0, opened = now, bytes = 0,
      fence = fence, first = 0, charged = 0, spilled = 0, older = 0, calls = '', isOut = true
    }
    local refusal = claimFor(at, state, 0, share, now, tombstoneMs)
    if refusal then return { refusal } end
  elseif state.seen < now - sureMs or state.fence ~= fence then
    beginEpoch(at, session, state, newEpoch)
    state.fence = fence
  end
  local numbers = {}
  for i = 1, count do
    local call = args[3]:sub(from + (i - 1) * NAME_BYTES, from + i * NAME_BYTES - 1)
    local number = call ~= NO_CALL and numberOf(at, session, state, call)
      or countResult(at, session, state, call)
    -- Of a call from before the epoch, nothing is known that the agent has since.
    numbers[i] = number > state.first and number or 0
  end
  writeState(at, session, state, now, ttl)
  local known = epoch == state.epoch and applied or 0
  local isBroken = false
  if known < state.last then
    local kept = redis.call('LLEN', journalKey(at, session)) - 1
    isBroken = known < state.last - kept
    if isBroken then known = state.last - kept end
  end
  local reply = {
    'ok', state.epoch, state.partition, state.results,
    string.format('%.0f', state.opened), known, state.last, isBroken and 1 or 0,
    isUnsure(at, silentMs) and 1 or 0, state.last - known, unpack(numbers)
  }
  if known == state.last then return reply end
  local changes = redis.call('LRANGE', journalKey(at, session), known - state.last - 1, -2)
  for i = 1, #changes do reply[#reply + 1] = changes[i] end
  -- A caller that has lost what it knew of the session may lack its own texts too.
  local hasOwn = epoch == state.epoch and not isBroken
  local texts = bodiesOf(at, now, changes, hasOwn and writer or '', most)
  for i = 1, #texts do reply[#reply + 1] = texts[i] end
  return reply
end

-- Adds a change to the list, from which the oldest leave if it becomes too long. It takes the place
-- of the state, which has to be written after it.
local function addChange(at, session, state, value)
  local journal = journalKey(at, session)
  redis.call('LSET', journal, -1, value)
  state.isOut = true
  state.last = state.last + 1
  state.bytes = state.bytes + #value + CHANGE_BYTES
  if state.last <= MAX_CHANGES and state.bytes <= MAX_CHANGE_BYTES then return end
  local count = redis.call('LLEN', journal)
  while count > 1 and (count > MAX_CHANGES or state.bytes > MAX_CHANGE_BYTES) do
    state.bytes = state.bytes - #redis.call('LPOP', journal) - CHANGE_BYTES
    count = count - 1
  end
end

-- args: time, session, numbers as above, change, latest time as above. Returns `ok` and the
-- change's number, or why not.
local function appendChange(keys, args)
  if isLate(args[5]) then return { 'late' } end
  local now = timeOf(args[1])
  local at = rootOf(keys)
  local session, value = args[2], args[4]
  local epoch, ttl, share, tombstoneMs = struct.unpack(APPENDED, args[3])
  local state, isForeign = stateOf(at, session)
  if isForeign then return { 'unknown' } end
  if not state or state.ends < now then return { 'not_found' } end
  if epoch ~= 0 and epoch ~= state.epoch then return { 'conflict' } end
  if state.last == LAST_CHANGE then
    beginEpoch(at, session, state)
    writeState(at, session, state, now, ttl)
    return { 'conflict' }
  end
  local refusal = claimFor(at, state, #value + CHANGE_BYTES, share, now, tombstoneMs)
  if refusal then return { refusal } end
  addChange(at, session, state, value)
  writeState(at, session, state, now, ttl)
  return { 'ok', state.last }
end

-- args: time, session, numbers as above, change or empty, latest time as above. Counts the next
-- result and adds its change, if the caller knows all that has happened. Returns as
-- `appendChange`; `conflict` if it does not.
local function settleTurn(keys, args)
  if isLate(args[5]) then return { 'late' } end
  local now = timeOf(args[1])
  local at = rootOf(keys)
  local session, value = args[2], args[4]
  local epoch, ttl, share, tombstoneMs, results, last, sureMs, silentMs, call, fence =
    struct.unpack(SETTLED, args[3])
  local state, isForeign = stateOf(at, session)
  if isForeign then return { 'unknown' } end
  if not state or state.ends < now then return { 'not_found' } end
  local knowsAll = epoch == state.epoch and results == state.results
    and last == state.last and last < LAST_CHANGE
    and state.seen >= now - sureMs and state.fence == fence
    and not isUnsure(at, silentMs)
    and not numberOf(at, session, state, call)
  if not knowsAll then return { 'conflict' } end
  local more = CALL_BYTES + (value == '' and 0 or #value + CHANGE_BYTES)
  local refusal = claimFor(at, state, more, share, now, tombstoneMs)
  if refusal then return { refusal } end
  countResult(at, session, state, call)
  if value ~= '' then addChange(at, session, state, value) end
  writeState(at, session, state, now, ttl)
  return { 'ok', state.last }
end

-- args: time, session, whether the agent's context was compacted (else turns were missed), how
-- long the session lives. Returns the partition; -1 if there is no such session.
local function renewSession(keys, args)
  local now = timeOf(args[1])
  local at = rootOf(keys)
  local session = args[2]
  local state, isForeign = stateOf(at, session)
  if isForeign then return redis.error_reply('ERR a session of a later layout') end
  if not state or state.ends < now then return -1 end
  beginEpoch(at, session, state)
  if args[3] == '1' then
    state.partition = state.partition + 1
    forgetCalls(at, session, state)
  end
  writeState(at, session, state, now, tonumber(args[4]))
  return state.partition
end
