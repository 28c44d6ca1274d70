import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createHistoryMemory } from '../../src/core/conversation/rewrite/history.ts'
import { attachRewriteMemory } from '../../src/core/conversation/rewrite/rewrite-memory.ts'
import { createTurnMemories } from '../../src/core/conversation/rewrite/turn-memory.ts'
import type { RouteName } from '../../src/core/dialects/lookup.ts'
import { ROUTE_NAMES } from '../../src/core/dialects/lookup.ts'
import { rewriteRequestOperation } from '../../src/core/operations/rewrite-request.ts'
import { decodeContent } from '../../src/core/pipeline/decode.ts'
import { createBodyMemory } from '../../src/core/sessions/lines/memory-layout.ts'
import { createLocalContext } from '../../src/library/local-context.ts'
import { startProcess } from '../../test/support/service-process.ts'
import { turnBody } from '../../test/support/turns/bodies.ts'
import { CASES, UNDECODABLE } from '../../test/unit/core/formats/cases.ts'
import { TEXT_CASES, UNDECODABLE_TEXTS } from '../../test/unit/core/formats/text-cases.ts'
import { NO_TREES, TREE_CASES } from '../../test/unit/core/formats/tree-cases.ts'
import { type Conversation, conversationsOf, MODELS, turnsOf } from '../turns/conversations.ts'

/** A SHA-256 over texts and bytes, each with its length, so that their borders count. */
export interface Sum {
  add(part: string | Uint8Array): void
  hex(): string
}

function createSum(): Sum {
  const hash = createHash('sha256')
  return {
    add(part) {
      const bytes = typeof part === 'string' ? Buffer.from(part) : part
      hash.update(`${bytes.length}:`).update(bytes)
    },
    hex: () => hash.digest('hex'),
  }
}

const MOST_CHARS = 10_000_000

/** What each kept case of the decoders decodes to, or the error that it gives. */
export async function* decodedCases(): AsyncGenerator<readonly [string, string]> {
  const csv = Object.values(CASES).flatMap(({ csv: text }) => (text === null ? [] : [text]))
  yield ['csv', decodeAll(csv.map(text => ['csv@1', text]))]
  yield ['tree', decodeAll(Object.values(TREE_CASES).map(([, text]) => ['tree@2', text]))]
  yield ['text', decodeAll(Object.values(TEXT_CASES).flatMap(textCase))]
  const refused = UNDECODABLE.map(([format, text]) => [format, text] as const)
  const refusedTrees = NO_TREES.map(([text]) => ['tree@2', text] as const)
  const refusedTexts = UNDECODABLE_TEXTS.map(([format, text]) => [format, text] as const)
  yield ['refused', decodeAll([...refused, ...refusedTrees, ...refusedTexts])]
}

type Encoded = readonly [format: string, text: string]

function textCase({ format, content }: { format: string; content: string | null }): Encoded[] {
  const [name = '', ...style] = format.split(';')
  return content === null ? [] : [[[`${name}@1`, ...style].join(';'), content]]
}

function decodeAll(cases: readonly Encoded[]): string {
  const sum = createSum()
  for (const [format, text] of cases) {
    sum.add(format)
    sum.add(decodeOne(format, text))
  }
  return sum.hex()
}

function decodeOne(format: string, text: string): string {
  try {
    return JSON.stringify(decodeContent(text, format, MOST_CHARS))
  } catch (error) {
    return `error: ${error instanceof Error ? error.message : String(error)}`
  }
}

const run = promisify(execFile)
const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))

/** Options of `haversack replay`, by the name of the run. */
const RUNS: Readonly<Record<string, readonly string[]>> = {
  lossless: [],
  trim: ['--budget', '2000', '--mode', 'trim'],
  elide: ['--budget', '2000', '--mode', 'elide'],
  'estimated-tokenizer': ['--model', 'claude-sonnet-4-5'],
}

/** All requests and answers of `haversack replay --transcript`, with sessions as recorded. */
export async function* playedResults(corpus: string): AsyncGenerator<readonly [string, string]> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-guard-'))
  try {
    for (const [name, options] of Object.entries(RUNS)) {
      const transcript = join(folder, `${name}.jsonl`)
      // A replay that finds fault says so by its exit code; what it wrote counts all the same.
      const { code } = await run(process.execPath, [
        ...[CLI, 'replay', corpus, '--transcript', transcript, ...options],
      ]).then(
        () => ({ code: 0 }),
        (error: { code?: number }) => ({ code: error.code ?? -1 }),
      )
      const sum = createSum()
      for await (const line of createInterface({ input: createReadStream(transcript) })) {
        sum.add(line)
      }
      sum.add(`exit ${code}`)
      yield [name, sum.hex()]
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const MOST_TURNS = 12
const MEMORY_BYTES = 16 * 1024 * 1024
/** A retrieving tool is defined in each second conversation, so that markers may be sent. */
const RETRIEVING_EACH = 2
const RETRIEVING_TOOL = 'headroom_retrieve'

/** The rewritten bodies, records and reports of all recorded conversations, turn by turn. */
export async function* rewrittenTurns(corpus: string): AsyncGenerator<readonly [string, string]> {
  const conversations = conversationsOf(corpus)
  const context = createLocalContext()
  for (const route of ROUTE_NAMES) {
    const model = MODELS[route]
    // Of the other shapes a part shows the same.
    const each = route === 'anthropic_messages' ? 1 : 4
    const sum = createSum()
    for (const [index, conversation] of conversations.entries()) {
      if (index % each !== 0) continue
      const own = [...new Set(conversation.steps.map(({ tool }) => tool))]
      const tools = index % RETRIEVING_EACH === 0 ? [...own, RETRIEVING_TOOL] : own
      play(conversation, route, { terms: { model, tools }, context, sum })
    }
    yield [route, sum.hex()]
  }
}

interface Player {
  readonly terms: { readonly model: string; readonly tools: readonly string[] }
  readonly context: ReturnType<typeof createLocalContext>
  readonly sum: Sum
}

function play(conversation: Conversation, route: RouteName, { terms, context, sum }: Player): void {
  const operation = rewriteRequestOperation(route)
  const memory = attachRewriteMemory(createBodyMemory({ bytes: MEMORY_BYTES }))
  const rewrites = {
    tenant: 'guard',
    memory,
    turns: createTurnMemories(1).of('guard'),
    history: createHistoryMemory(1),
  }
  const recalled: Record<string, Uint8Array> = {}
  let before = 0
  for (const end of turnsOf(conversation, MOST_TURNS)) {
    const bytes = turnBody(route, conversation.steps, { end, before }, terms)
    const answer = operation.run(bytes, {
      ...context,
      keepsOriginals: true,
      rewrites: { ...rewrites, recalled },
      terms: { redeems: true, bypass: false },
    })
    for (const { key, bytes: record } of answer.records ?? []) recalled[key] = record
    sum.add(answer.bytes ?? 'unchanged')
    sum.add(JSON.stringify([answer.records?.map(({ key }) => key), answer.markers]))
    const reports = answer.reports.map(({ rewrite }) => rewrite)
    sum.add(JSON.stringify(reports, (key, value) => (key === 'at' ? undefined : value)))
    before = end
  }
}

const EXAMPLE = new URL('../../config.example.toml', import.meta.url)

/** What the service says of itself: its OpenAPI document, metrics, settings, and command line. */
export async function* servicePages(): AsyncGenerator<readonly [string, string]> {
  const upstream = 'http://127.0.0.1:9'
  const service = await startProcess({
    env: { HAVERSACK_ANTHROPIC_URL: upstream, HAVERSACK_OPENAI_URL: upstream },
  })
  try {
    const read = async (path: string) => (await fetch(service.url + path)).text()
    yield ['openapi.json', sumOf([await read('/openapi.json')])]
    const metrics = (await read('/metrics')).split('\n').filter(line => line.startsWith('#'))
    yield ['metrics', sumOf(metrics.sort())]
  } finally {
    service.child.kill('SIGTERM')
    await service.exited
  }
  yield ['config.example.toml', sumOf([readFileSync(EXAMPLE, 'utf8')])]
  yield ['help', sumOf(await helpPages())]
}

async function helpPages(): Promise<readonly string[]> {
  const overview = await help('--help')
  const commands = [...overview.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name as string)
  return [overview, ...(await Promise.all(commands.map(name => help(name, '--help'))))]
}

async function help(...args: string[]): Promise<string> {
  return (await run(process.execPath, [CLI, ...args])).stdout
}

function sumOf(parts: readonly string[]): string {
  const sum = createSum()
  for (const part of parts) sum.add(part)
  return sum.hex()
}
