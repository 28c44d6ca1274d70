import type { Conversation, ModelCall } from '../../../bench/trial/dialects.ts'
import { type NumberedLine, type Reading, readRaw } from '../../../bench/trial/solving.ts'
import { readPlainly as readChanges } from '../plain-changes.ts'
import type { Json } from './json.ts'
import { readPlainly } from './readers.ts'

/** A call of a conversation, and its result as it was sent. */
interface ShownCall {
  readonly call: ModelCall
  readonly text: string
}

/** What a model sees: all calls in their order, and the originals that it fetched by their hash. */
interface View {
  readonly calls: readonly ShownCall[]
  readonly fetched: ReadonlyMap<string, string>
  /** Numbers of the calls of the agent's own tools. */
  readonly own: readonly number[]
}

/** The tool with which a model fetches originals. */
export const FETCHES = 'haversack_retrieve'

export function viewOf({ turns }: Conversation): View {
  const calls = turns.flatMap(turn =>
    turn.calls.map((call, at) => ({ call, text: turn.results[at]?.text ?? '' })),
  )
  const fetches = calls.filter(({ call }) => call.name === FETCHES)
  return {
    calls,
    fetched: new Map(fetches.map(({ call, text }) => [String(call.args['hash']), text])),
    own: calls.flatMap(({ call }, at) => (call.name === FETCHES ? [] : [at])),
  }
}

/** A text lacks something, and its marker says how to fetch it. */
export class LeftOut extends Error {
  readonly hash: string

  constructor(hash: string) {
    super(`${hash} was not fetched`)
    this.hash = hash
  }
}

/**
 * What the result of a call says to one who knows docs/reference/formats.md and hints.md, and
 * nothing of our decoders. Formats are told apart by their looks, as nothing else is sent.
 * @throws {LeftOut} if it must be fetched first
 */
export function readShown(view: View, at: number, as: Reading): Json | readonly NumberedLine[] {
  return readText(view, at, view.calls[at]!.text, as)
}

const MARKER = /> \[\d.* not shown .*hash=([0-9a-f]{24})/
const WHOLE = /^> \[ref [0-9a-f]+ ([^\n]+)\]$/
const CHANGES = /^> \[near-ref [0-9a-f]+ ([^\n]+), except:\]\n/
/** Notes around a text, which are about it and not of it. */
const NOTES =
  /^(?:> \[(?:\d+ of \d|query: |total=|encoded: )[^\n]*\]\n)+|(?:\n> \[(?:\+\d|\d+ of \d)[^\n]*\])+$/g

function readText(
  view: View,
  at: number,
  sent: string,
  as: Reading,
): Json | readonly NumberedLine[] {
  const hash = MARKER.exec(sent.slice(sent.lastIndexOf('\n') + 1))?.[1]
  if (hash !== undefined) {
    const original = view.fetched.get(hash)
    if (original === undefined) throw new LeftOut(hash)
    return readText(view, at, original, as)
  }
  const text = sent.replace(NOTES, '')
  const [, whole] = WHOLE.exec(text) ?? []
  if (whole !== undefined && !/^lines? \d/.test(whole)) {
    return readShown(view, callNamed(view, at, whole).index, as)
  }
  const [, changed] = CHANGES.exec(text) ?? []
  if (changed !== undefined) {
    return readChanges(text, readShown(view, callNamed(view, at, changed).index, 'json')) as Json
  }
  if (as === 'json') return readJson(text)
  const all = withReferences(view, at, as === 'numbered' ? numberedLines(text) : plainLines(text))
  return as === 'numbered' ? all : all.map(line => line.text)
}

function readJson(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return readPlainly(/^[^:=[{]+(,[^:=[{]+)*\n/.test(text) ? 'csv@1' : 'tree@2', text)
  }
}

/** Lines that all have their numbers are unchanged; else most are left out. */
function numberedLines(text: string): readonly NumberedLine[] {
  const all = readRaw(text, 'numbered') as readonly NumberedLine[]
  if (all.every(({ line }, at) => line !== null && line === all[0]!.line! + at)) return all
  return readPlainly('numbered@1;arrow', text) as unknown as readonly NumberedLine[]
}

/** The lines of a text by themselves. */
function plainLines(text: string): readonly NumberedLine[] {
  return (readLines(text) as readonly string[]).map(line => ({ line: null, text: line }))
}

function readLines(text: string): Json {
  if (/^[A-Za-z][,|\t]?: .*(?:\n[A-Za-z][,|\t]?: .*)*\n\n/.test(text) && /\{1\}/.test(text)) {
    return readPlainly('templated@1', text)
  }
  if (/…$|^×\d/m.test(text)) return readPlainly('prefixed@1;dots', text)
  if (/.\*$/m.test(text)) return readPlainly('prefixed@1;star', text)
  return text.split('\n')
}

const LINES =
  /^> \[(?:ref ([0-9a-f]+) )?lines? (\d+)(?:-(\d+))?(?: of (.+?))?(?:,? (?:numbers )?([+-]\d+))?\]( without numbers| numbered on)?$/

/** All lines, with those of earlier results in place of the references to them. */
function withReferences(
  view: View,
  at: number,
  all: readonly NumberedLine[],
): readonly NumberedLine[] {
  const named = new Map<string, string>()
  let current = ''
  const out: NumberedLine[] = []
  for (const each of all) {
    const found = each.line === null && each.text.startsWith('> [') ? LINES.exec(each.text) : null
    if (found === null) {
      out.push(each)
      continue
    }
    const [, ref = current, first, last = first, name, shift = '0', gutter = ''] = found
    current = ref
    if (name !== undefined) named.set(ref, name)
    const referred = namedLines(view, at, named.get(ref) ?? '')
    const chosen = referred.filter(({ line }) => line! >= Number(first) && line! <= Number(last))
    if (chosen.length !== Number(last) - Number(first) + 1)
      throw new Error(`no such lines: ${each.text}`)
    for (const { line, text } of chosen) {
      const next = (out.at(-1)?.line ?? Number.NaN) + 1
      const number = gutter === '' ? line! + Number(shift) : gutter === ' numbered on' ? next : null
      out.push({ line: number, text })
    }
  }
  return out
}

/** The lines of what a name leads to, by printed numbers or counted from 1. */
function namedLines(view: View, at: number, name: string): readonly NumberedLine[] {
  const { index, field } = callNamed(view, at, name)
  const { call, text } = view.calls[index]!
  const own = field === undefined ? undefined : String(call.args[field])
  const all =
    own !== undefined
      ? own.split('\n').map(line => ({ line: null, text: line }))
      : call.name === 'read'
        ? (readText(view, index, text, 'numbered') as readonly NumberedLine[])
        : (readText(view, index, text, 'lines') as readonly string[]).map(line => ({
            line: null,
            text: line,
          }))
  const isNumbered = all.some(({ line }) => line !== null)
  return isNumbered ? all : all.map((each, i) => ({ ...each, line: i + 1 }))
}

const NAME = /^([\w-]+)(?:\.(\w+))?(?:\((?:"(.*)"|(.*))\))?(?: (\d+) calls? ago)?$/

/** The call that a hint in the result of call `at` names, and perhaps one of its arguments. */
function callNamed(
  view: View,
  at: number,
  name: string,
): { readonly index: number; readonly field: string | undefined } {
  const [, tool, field, quoted, bare, ago] = NAME.exec(name) ?? []
  if (tool === undefined) throw new Error(`no call: ${name}`)
  const shown = quoted ?? bare
  const fits = ({ call }: ShownCall) => {
    if (call.name !== tool) return false
    if (shown === undefined) return true
    const argument = String(Object.values(call.args).find(each => typeof each === 'string') ?? '')
    if (shown.startsWith('*')) return argument.endsWith(shown.slice(1))
    return shown.endsWith('*') ? argument.startsWith(shown.slice(0, -1)) : argument === shown
  }
  const index =
    ago === undefined
      ? view.calls.findLastIndex((each, i) => i < at && fits(each))
      : at - Number(ago)
  const found = view.calls[index]
  if (found === undefined || !fits(found)) throw new Error(`no such call: ${name}`)
  return { index, field }
}
