import { expect } from 'vitest'

/** A call and its result, as somebody reads them who has nothing but the request. */
export interface ReadCall {
  readonly tool: string
  readonly input: unknown
  readonly content: unknown
}

/** The calls of a conversation, in their order. */
export type Reader = readonly ReadCall[]

interface Block {
  readonly type: string
  readonly id?: string
  readonly tool_use_id?: string
  readonly name?: string
  readonly input?: unknown
  readonly content?: unknown
}

/**
 * Reads a request to Anthropic. Results with one id answer the last calls of that id, in their
 * order.
 */
export function readerOf(request: unknown): Reader {
  const { messages } = request as {
    readonly messages: readonly { readonly content: readonly Block[] }[]
  }
  const calls: {
    tool: string
    input: unknown
    content: unknown
    id: string
    message: number
    isOpen: boolean
  }[] = []
  for (const [message, { content }] of messages.entries()) {
    for (const {
      type,
      id = '',
      tool_use_id: answered,
      name = '',
      input,
      content: result,
    } of content) {
      if (type.endsWith('tool_use'))
        calls.push({ tool: name, input, content: null, id, message, isOpen: true })
      if (!type.endsWith('tool_result')) continue
      const latest = calls.findLast(call => call.id === answered)!.message
      const call = calls.find(
        each => each.isOpen && each.id === answered && each.message === latest,
      )!
      call.content = result
      call.isOpen = false
    }
  }
  return calls
}

/** The texts of a result. */
export function textsOf(reader: Reader, at: number): readonly string[] {
  const { content } = reader[at]!
  if (typeof content === 'string') return [content]
  return ((content ?? []) as readonly { readonly text?: string }[]).flatMap(
    ({ text }) => text ?? [],
  )
}

const CALL =
  /^(?:part (?<part>\d+) of )?(?<tool>"(?:[^"\\]|\\.)*"|[^( ]+)(?:\((?<shown>.*)\))?(?: (?<ago>\d+) calls? ago)?$/

/**
 * What a reference means: a call's result, or a part of it, from 1; or a text in a call's
 * arguments.
 */
export type Target =
  | { readonly call: number; readonly part: number | undefined }
  | { readonly argument: string }

/** The one text that a reference means; fails where a reader could take it for another one. */
export function textOf(reader: Reader, target: Target): string {
  if ('argument' in target) return target.argument
  const { content } = reader[target.call]!
  if (typeof content === 'string') {
    expect(target.part, 'a part of a text').toBeUndefined()
    return content
  }
  const parts = (content ?? []) as readonly { readonly text?: string }[]
  if (target.part === undefined) expect(parts.length, 'parts of what is named as one').toBe(1)
  return parts[(target.part ?? 1) - 1]!.text!
}

/** The call, or the text in its arguments, that a name means to the reader of result `at`. */
export function findCalled(reader: Reader, at: number, name: string): Target {
  const match = CALL.exec(name)
  expect(match, name).not.toBeNull()
  const { tool: written, ago, part } = match!.groups!
  const tool: string = written!.startsWith('"') ? JSON.parse(written!) : written
  const target = at - Number(ago ?? 0)
  expect(target, name).toBeGreaterThanOrEqual(0)
  const call = reader[target]!
  if (tool === call.tool && target < at) {
    return { call: target, part: part === undefined ? undefined : Number(part) }
  }
  expect(tool.startsWith(`${call.tool}.`), `${name}: ${call.tool} is there`).toBe(true)
  const argument = (call.input as Record<string, unknown>)[tool.slice(call.tool.length + 1)]
  expect(typeof argument, name).toBe('string')
  return { argument: argument as string }
}

const PRINTED = /^ *(\d+)[→\t:]/

/** Lines that a reference names, without their numbers, found as they are shown. */
export function linesNamed(
  before: Reader,
  after: Reader,
  target: Target,
  first: number,
  last: number,
  reference: string,
): readonly string[] {
  if ('argument' in target) return target.argument.split('\n').slice(first - 1, last)
  const original = textOf(before, target)
  const shown = textOf(after, target)
  expect(shown, reference).not.toMatch(/ not shown \| hash=/)
  const lines = original.split('\n')
  const isNumbered = lines.filter(line => PRINTED.test(line)).length * 2 >= lines.length
  const inOriginal = (n: number) =>
    isNumbered ? lines.findIndex(line => Number(PRINTED.exec(line)?.[1]) === n) : n - 1
  const wanted = lines.slice(inOriginal(first), inOriginal(last) + 1).map(withoutNumber)
  expect(wanted.length, reference).toBeGreaterThan(0)
  if (shown === original) return wanted
  const sent = shown.split('\n').flatMap(expanded)
  if (!isNumbered) expect(sent.length, `${reference}: lines of\n${shown}`).toBe(lines.length)
  // Where it has references of its own, the reader follows these: each of them is looked at by
  // itself.
  if (isNumbered && sent.includes(ELSEWHERE)) return wanted
  const at = isNumbered
    ? sent.findIndex(
        line => Number(PRINTED.exec(line)?.[1]) === first - ((first - 1) % 5 === 4 ? 0 : first % 5),
      )
    : first - 1
  const from =
    isNumbered && at !== -1 ? at + (first % 5) : isNumbered ? first - inNumbers(sent) : at
  const found = sent.slice(from, from + wanted.length).map(withoutNumber)
  expect(found, reference).toEqual(
    wanted.map((line, i) => (found[i] === ELSEWHERE ? ELSEWHERE : line)),
  )
  return wanted
}

const ELSEWHERE = 'a line that is referred to'
const LINES = /^> \[(?:ref [0-9a-f]{8} )?lines? (\d+)(?:-(\d+))?[ ,\]]/

/** A line, or as many as a reference stands for. */
function expanded(line: string): readonly string[] {
  const [, first, last = first] = LINES.exec(line) ?? []
  if (first === undefined) return [line.replace(/^\\(?=\\*> \[)/, '')]
  return Array(Number(last) - Number(first) + 1).fill(ELSEWHERE)
}

/** The first number that is printed. */
function inNumbers(lines: readonly string[]): number {
  return Number(PRINTED.exec(lines.find(line => PRINTED.test(line)) ?? '')?.[1] ?? 0)
}

function withoutNumber(line: string): string {
  return line.replace(PRINTED, '')
}
