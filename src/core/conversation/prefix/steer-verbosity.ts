import { type JsonNode, memberOf, parseAt, textOf } from '../../json/bytes/json-node.ts'
import { literalOf, type Replacement } from '../../json/bytes/splice.ts'
import { OPEN_BRACKET, QUOTE } from '../../json/char-codes.ts'
import type { Steering } from '../../pipeline/profile/steering-section.ts'
import { headRulesOf, type ScannedRequest } from '../parse/scan-request.ts'
import { breakpointsIn, roleOf } from './request-head.ts'

type Verbosity = Exclude<Steering['verbosity'], 'balanced'>

const TAG = 'haversack_output'
const OPEN = `<${TAG}>`
const CLOSE = `</${TAG}>`

const COMPLETE = 'Code, commands and file contents stay complete.'

/** Each is one line of ASCII that JSON writes without an escape. */
const WISHES: Readonly<Record<Verbosity, string>> = {
  concise: `Keep what you write short: no preamble, no summary of what you just did. ${COMPLETE}`,
  terse:
    'Write as little prose as possible: findings, decisions and questions only, in short ' +
    `sentences. Do not announce or repeat steps. ${COMPLETE}`,
  minimal:
    'Write no prose beside what is asked for. Answer with the result alone, in as few words as ' +
    `are clear. ${COMPLETE}`,
}

/** The block that asks for a verbosity, always the same bytes. */
export function blockFor(verbosity: Verbosity): string {
  return `${OPEN}${WISHES[verbosity]}${CLOSE}`
}

/** Where the instructions of a request are. */
type Instructions =
  | { readonly kind: 'text'; readonly node: JsonNode }
  | { readonly kind: 'list'; readonly node: JsonNode }
  /** A message that ends a cached prefix: nothing may be added to it. */
  | { readonly kind: 'message'; readonly node: JsonNode; readonly role: string }

/**
 * Adds the block to the last instructions, after every cache breakpoint in them. A block that is
 * there already is replaced, if it stands after the breakpoints. Without instructions nothing is
 * added.
 * @param more what else is added, after the block; empty: nothing
 */
export function steerVerbosity(
  scanned: ScannedRequest,
  verbosity: Steering['verbosity'],
  more = '',
): readonly Replacement[] {
  const isBalanced = verbosity === 'balanced'
  const blocks = [isBalanced ? '' : blockFor(verbosity), more].filter(text => text !== '')
  const place = blocks.length === 0 ? null : instructionsOf(scanned)
  if (place === null) return []
  const { body } = scanned
  const { node } = place
  const block = blocks.join('\n\n')
  // JSON may escape the angle brackets, but not the name.
  if (!isBalanced && body.subarray(node.start, node.end).includes(TAG)) {
    const replaced = replaceBlocks(scanned, place, block)
    if (replaced !== null) return replaced
  }
  if (place.kind === 'text') return [appendToText(body, node, block)]
  const { textType = 'text' } = headRulesOf(scanned.route) ?? {}
  const added =
    place.kind === 'list' ? { type: textType, text: block } : { role: place.role, content: block }
  return [appendItem(body, node, place.kind, JSON.stringify(added))]
}

/** The last instructions: a member of the request, or a message before the first user's. */
function instructionsOf(scanned: ScannedRequest): Instructions | null {
  const { body, request, route, opening, read } = scanned
  const rules = headRulesOf(route)
  const member = rules?.system === undefined ? undefined : memberOf(request, rules.system)
  const own = member === undefined ? null : inContent(body, member)
  const roles = rules?.systemRoles ?? []
  if (own !== null || roles.length === 0) return own
  for (let index = opening - 1; index >= 0; index--) {
    const role = roleOf(scanned, index)
    const node = read[index]!
    if (role === undefined || !roles.includes(role) || node.doubled) continue
    const content = memberOf(node, 'content')
    if (content === undefined) return null
    if (breakpointsIn({ ...node, items: [node] }).length > 0) return { kind: 'message', node, role }
    return inContent(body, content)
  }
  return null
}

function inContent(body: Buffer, node: JsonNode): Instructions | null {
  if (body[node.start] === QUOTE) return { kind: 'text', node }
  return body[node.start] === OPEN_BRACKET ? { kind: 'list', node } : null
}

/** All bytes of the text stay. */
function appendToText(body: Buffer, { start, end }: JsonNode, block: string): Replacement {
  const isEmpty = end - start === '""'.length
  const last = body.subarray(end - 1, end)
  const text = JSON.stringify(isEmpty ? block : `\n\n${block}`).slice(1, -1)
  const literal = Buffer.concat([Buffer.from(text), last])
  return { start: end - 1, end, literal }
}

function appendItem(
  body: Buffer,
  node: JsonNode,
  kind: 'list' | 'message',
  item: string,
): Replacement {
  if (kind === 'message') {
    const literal = Buffer.concat([body.subarray(node.start, node.end), Buffer.from(`,${item}`)])
    return { start: node.start, end: node.end, literal }
  }
  const isEmpty = (node.items?.length ?? 0) === 0
  const closing = node.end - 1
  return { start: closing, end: node.end, literal: Buffer.from(`${isEmpty ? '' : ','}${item}]`) }
}

/**
 * Puts the block in place of each one that is there. Returns `null` if there is none. One before a
 * breakpoint stays, and nothing is added then.
 */
function replaceBlocks(
  { body }: ScannedRequest,
  { kind, node }: Instructions,
  block: string,
): readonly Replacement[] | null {
  if (kind === 'message') return containsBlock(body, node) ? [] : null
  const texts = kind === 'text' ? [node] : textNodes(body, node)
  const lastBreakpoint = breakpointsIn(node).reduce((last, { end }) => Math.max(last, end), -1)
  let isFound = false
  const changed: Replacement[] = []
  for (const each of texts) {
    const before = textOf(body, each)
    if (before === undefined || !BLOCKS.test(before)) continue
    if (each.start < lastBreakpoint) return []
    isFound = true
    const after = before.replace(ALL_BLOCKS, block)
    if (after !== before) {
      changed.push({ start: each.start, end: each.end, literal: literalOf(after) })
    }
  }
  return isFound ? changed : null
}

const BLOCKS = new RegExp(`${OPEN}[^<]*${CLOSE}`)
const ALL_BLOCKS = new RegExp(BLOCKS, 'g')

function containsBlock(body: Buffer, node: JsonNode): boolean {
  return BLOCKS.test(JSON.stringify(parseAt(body, node)))
}

/** The texts of a list of parts, with their places. */
function textNodes(body: Buffer, list: JsonNode): readonly JsonNode[] {
  return (list.items ?? []).flatMap(item => {
    const text = item.doubled ? undefined : memberOf(item, 'text')
    return text === undefined || body[text.start] !== QUOTE ? [] : [text]
  })
}
