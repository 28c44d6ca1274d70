import { fillArguments } from '../../core/enrich/composed-arguments.ts'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { type PublicEntry, toolFacts } from '../catalogue/catalogue.ts'
import type { ClientCall } from '../gateway-options.ts'
import { errorOutcome, jsonBytes, type Outcome, RPC_ERRORS } from '../json-rpc.ts'
import { EMPTY_OBJECT, objectMember } from '../members.ts'
import type { Servers } from '../servers.ts'
import { type ComposedStep, type ComposedTool, composedDefinition } from './composed-tool.ts'
import { joinAnswers } from './join-answers.ts'

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
      return trusted && toolFacts(entry.raw).isReadOnly ? entry : undefined
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
