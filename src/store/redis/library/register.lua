-- The names that services call. `VERSION_TAG` is replaced by the hash of the library's text, so
-- that two versions of the service call their own functions.

local function register(flags, names, functions)
  for i = 1, #names do
    redis.register_function({
      function_name = 'VERSION_TAG_' .. names[i], callback = entry(functions[i]), flags = flags
    })
  end
end

register({ 'no-writes' }, { 'get', 'read_record', 'stats', 'list' },
  { get, readRecord, stats, list })
register({}, { 'put', 'touch', 'used', 'write_record', 'claim_records' },
  { put, touch, used, writeRecord, claimRecords })
register({ 'no-writes' }, { 'read_together' }, { together(READING) })
register({}, { 'together' }, { together(WRITING) })
register({}, { 'open_session', 'append_change', 'settle_turn' },
  { openSession, appendChange, settleTurn })
-- These may run while the server is out of memory, because they free some.
register({ 'allow-oom' }, { 'discard', 'delete_record', 'disown_session', 'purge_session' },
  { discard, deleteRecord, disownSession, purgeSession })
-- A server that is full still says how many requests may pass.
register({ 'allow-oom' }, { 'lease_rate', 'hold_places', 'note_process', 'note_contact' },
  { leaseRate, holdPlaces, noteProcess, noteContact })
register({}, { 'redo' }, { redo })
register({ 'allow-oom' }, { 'redo_purge' }, { redo })
register({ 'allow-oom' }, { 'renew_session' }, { renewSession })
register({ 'allow-oom' }, { 'disown_tenant', 'purge_generation', 'sweep', 'evict' },
  { disownTenant, purgeGeneration, sweep, evict })
