import { fillArguments } from '../../core/enrich/composed-arguments.ts'
import { joinJson } from '../../core/json/bytes/checked-json.ts'
import { type JsonBytes, memberOf, members, RANGE } from '../../core/json/bytes/json-node.ts'
import { skipSpace } from '../../core/json/bytes/json-tokens.ts'
import { readJson } from '../../core/json/bytes/read-json.ts'
import { OPEN_BRACKET } from '../../core/json/char-codes.ts'
import type { PublicEntry } from '../catalogue/catalogue.ts'
import { toolFacts } from '../catalogue/tool-facts.ts'
import type { ClientCall } from '../gateway-options.ts'
import { errorOutcome, jsonBytes, type Outcome, RPC_ERRORS } from '../json-rpc.ts'
import { EMPTY_OBJECT, objectMember, shortValue, textMember } from '../members.ts'
import type { Servers } from '../servers.ts'
import { type ComposedStep, type ComposedTool, composedDefinition } from './composed-tool.ts'

/** What one call of a composed tool gave. */
interface StepAnswer {
  readonly label: string
  readonly outcome: Outcome
}

const RESULT = members({
  content: RANGE,
  structuredContent: RANGE,
  isError: RANGE,
})

/** One result of several: the blocks of each, byte for byte, after a text with its label. */
function joinAnswers(answers: readonly StepAnswer[]): JsonBytes {
  const parts = answers.map(({ label, outcome }) => ({ label, ...readAnswer(outcome) }))
  const blocks = parts.flatMap(({ label, hasFailed, content }) => {
    const state = hasFailed ? `${label} failed:` : `${label}:`
    return [jsonBytes({ type: 'text', text: state }), ...(content === null ? [] : [content])]
  })
  const list = blocks.flatMap((block, at) => (at === 0 ? [block] : [Buffer.from(','), block]))
  const haveAllFailed = parts.every(({ hasFailed }) => hasFailed)
  const end = haveAllFailed ? '],"isError":true}' : ']}'
  return joinJson(Buffer.from('{"content":['), ...list, Buffer.from(end))
}

interface ReadAnswer {
  readonly hasFailed: boolean
  /** Blocks as JSON, with commas between them; `null` if there is none. */
  readonly content: JsonBytes | null
}

function readAnswer(outcome: Outcome): ReadAnswer {
  if (outcome.kind === 'error') {
    const text = textMember(outcome.error, 'message') ?? 'an error without a message'
    return { hasFailed: true, content: jsonBytes({ type: 'text', text }) }
  }
  const bytes = outcome.result
  const limits = { maxBytes: bytes.length, maxDepth: 10_000, maxValues: 8 }
  const root = readJson(bytes, RESULT, limits) ?? undefined
  const content = memberOf(root, 'content')
  const isError = memberOf(root, 'isError')
  const blocks = content === undefined ? null : insideOf(bytes.subarray(content.start, content.end))
  const structured = memberOf(root, 'structuredContent')
  const hasFailed =
    isError !== undefined && shortValue(bytes.subarray(isError.start, isError.end)) === true
  if (blocks !== null || structured === undefined) return { hasFailed, content: blocks }
  const text = bytes.subarray(structured.start, structured.end).toString()
  return { hasFailed, content: jsonBytes({ type: 'text', text }) }
}

/** What is between the brackets of an array; `null` if it is none, or empty. */
function insideOf(array: JsonBytes): JsonBytes | null {
  const isEmpty = array[0] !== OPEN_BRACKET || skipSpace(array, 1) === array.length - 1
  return isEmpty ? null : array.subarray(1, -1)
}

/** Makes one call of a tool that a server lists, by the name that clients know. */
export type CallTool = (publicName: string, call: ClientCall) => Promise<Outcome>

/** The composed tools of one client. */
export class ComposedTools {
  readonly #tools: ReadonlyMap<string, ComposedTool>
  readonly #servers: Servers
  readonly #call: CallTool

  constructor(tools: readonly ComposedTool[], servers: Servers, call: CallTool) {
    this.#tools = new Map(tools.map(tool => [tool.name, tool]))
    this.#servers = servers
    this.#call = call
  }

  /** Definitions of those whose calls are all offered, and only read. */
  definitions(): ReadonlyMap<string, JsonBytes> {
    const offered = [...this.#tools.values()].filter(tool => this.#entriesOf(tool) !== null)
    return new Map(offered.map(tool => [tool.name, composedDefinition(tool)]))
  }

  /**
   * Makes the calls of a composed tool at once. What fails is told in its place; the answer is an
   * error if all fail.
   * @returns `null` if the name is of none that is offered
   */
  async call(name: string, call: ClientCall): Promise<Outcome | null> {
    const tool = this.#tools.get(name)
    if (tool === undefined) return null
    await this.#servers.listed()
    const entries = this.#entriesOf(tool)
    if (entries === null) return null
    const given = givenTexts(tool, call.params ?? EMPTY_OBJECT)
    if (typeof given === 'string') return errorOutcome(RPC_ERRORS.invalidParams, given)
    const outcomes = await Promise.all(
      tool.steps.map((step, at) => {
        const entry = entries[at]!
        return this.#call(entry.publicKey, stepCall(call, entry, step, given))
      }),
    )
    const answers = outcomes.map((outcome, at) => ({ label: tool.steps[at]!.label, outcome }))
    return { kind: 'result', result: joinAnswers(answers) }
  }

  /** What each step calls; `null` if one is not offered, or may do more than read. */
  #entriesOf({ steps }: ComposedTool): readonly PublicEntry[] | null {
    const entries = steps.map(step => {
      if (!this.#servers.has(step.server)) return undefined
      const entry = this.#servers.catalogue.ownTool(step.server, step.tool)
      const { trusted } = this.#servers.settingsOf(step.server)
      if (entry === undefined || step.isStatedReadOnly) return entry
      return trusted && toolFacts(entry.raw).annotations.readOnlyHint ? entry : undefined
    })
    return entries.every(entry => entry !== undefined) ? entries : null
  }
}

/** Texts of a composed tool, in bytes. */
const MOST_ARGUMENT_BYTES = 256 * 1024

/** The arguments of a call; a text says what is wrong with them. */
function givenTexts({ parameters }: ComposedTool, params: JsonBytes): Map<string, string> | string {
  const raw = objectMember(params, 'arguments') ?? EMPTY_OBJECT
  if (raw.length > MOST_ARGUMENT_BYTES) return 'the arguments are too large'
  const given = new Map(Object.entries(JSON.parse(raw.toString()) as Record<string, unknown>))
  const texts = new Map<string, string>()
  for (const name of Object.keys(parameters)) {
    const value = given.get(name)
    if (typeof value !== 'string') return `${name} must be a text`
    texts.set(name, value)
  }
  return texts
}

/**
 * The call of one step. It belongs to no context: the client sees one call, and a reference would
 * count several. Nothing asks the user in its name.
 */
function stepCall(
  { signal, sent, traceparent }: ClientCall,
  { publicKey }: PublicEntry,
  step: ComposedStep,
  given: ReadonlyMap<string, string>,
): ClientCall {
  return {
    method: 'tools/call',
    params: jsonBytes({ name: publicKey, arguments: fillArguments(step.arguments, given) }),
    signal,
    context: null,
    ...(sent === undefined ? {} : { sent }),
    ...(traceparent === undefined ? {} : { traceparent }),
    notify() {},
    ask: async () => errorOutcome(RPC_ERRORS.methodNotFound, 'a composed tool asks nothing'),
  }
}
