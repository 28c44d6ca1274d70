import {
  addObjectCall,
  namesIn,
  type Route,
  requestOf,
} from '../../src/core/dialects/bodies/route.ts'
import { MAY_CALL_ALL } from '../../src/core/dialects/bodies/tool-choice.ts'
import type { Dialect } from '../../src/core/dialects/dialect.ts'
import { DIALECTS } from '../../src/core/dialects/registry.ts'
import { items, itemsOf, memberOf, members, RANGE } from '../../src/core/json/bytes/json-node.ts'

const NAMED = members({ name: RANGE })

/** A request is a list of turns, and each has a call or a result at most. */
const turns: Route = {
  command: 'turns',
  signs: [['turns', ({ body }) => 'turns' in body]],
  usage: {
    places: { by: 'model', spent: { sent: 'input', reused: 'cache_read', said: 'output' } },
    inputIsUncached: true,
  },
  request: requestOf({
    abilities: items(NAMED),
    turns: items(
      members({
        from: RANGE,
        call: members({ id: RANGE, name: RANGE, with: RANGE }),
        of: RANGE,
        gave: RANGE,
      }),
    ),
  }),
  list: 'turns',
  listOptional: false,
  toolNames: (request, reader) =>
    namesIn(itemsOf(memberOf(request, 'abilities')), ['name'], reader),
  mayCall: () => MAY_CALL_ALL,
  isOfModel: (node, reader) => reader.text(memberOf(node, 'from')) === 'model',
  readMessage(node, message, reader) {
    reader.passMessage(reader.text(memberOf(node, 'from')), message)
    const call = memberOf(node, 'call')
    if (call !== undefined) {
      const key = reader.text(memberOf(call, 'id'))
      addObjectCall(call, { key, message, args: 'with', isUnclear: node.doubled }, reader)
    }
    const gave = memberOf(node, 'gave')
    if (gave === undefined || node.doubled) return
    reader.passResult()
    const callId = reader.text(memberOf(node, 'of'))
    const found = reader.takeCall(callId)
    const source = { call: found, tool: found?.tool, callId, isError: false }
    reader.addStrings([gave], { message, block: 0 }, source)
  },
}

/** A vendor's API as nobody has it: all that a new one needs, but for a row of the registry. */
const seventh: Dialect = {
  name: 'seventh',
  vendor: {
    name: 'newcomer',
    models: /^nc-/,
    loginMark: ['x-newcomer', 'login'],
    reportsWrites: false,
    errorBody: ({ status, message }) => ({ fault: [status, message] }),
    errorEvent: 'fault',
  },
  bodies: { seventh_turns: turns },
  paths: [{ ending: /\/talk\/(?<model>[^/]+)$/, body: 'seventh_turns' }],
  counting: [],
  awsService: 'newcomer',
  client: { variable: 'SEVENTH_URL', byDefault: () => 'https://api.newcomer.test' },
}

// The row. Only what is imported later sees it.
const rows: Dialect[] = DIALECTS as unknown as Dialect[]
rows.push(seventh)
