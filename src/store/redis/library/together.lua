-- Several calls on one tenant that travel together.

-- Functions by their names. Returns one that calls those that its arguments name: of each its name,
-- how many arguments it has, and these; at the end the server's time after which none that minds has
-- an effect, or empty. Returns the answer of each; a failed one does not hold up others.
local function together(functions)
  return function(keys, args)
    local latest = args[#args]
    local replies = {}
    local at = 1
    while at < #args do
      local count = tonumber(args[at + 1])
      local own = {}
      for i = 1, count do own[i] = args[at + 1 + i] end
      own[count + 1] = latest
      local isDone, reply = pcall(functions[args[at]], keys, own)
      if not isDone and type(reply) ~= 'table' then reply = { err = 'ERR ' .. tostring(reply) } end
      replies[#replies + 1] = reply
      at = at + 2 + count
    end
    return replies
  end
end

local READING = { get = get, read_record = readRecord }
local WRITING = {
  get = get, read_record = readRecord, put = put, touch = touch, used = used,
  write_record = writeRecord, claim_records = claimRecords, open_session = openSession,
  append_change = appendChange, settle_turn = settleTurn
}
