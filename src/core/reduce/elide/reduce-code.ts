import { isLiteralMember } from './data-text.ts'
import { maskCode } from './mask-code.ts'
import { BULK, CRITICAL, raiseEnds, STRUCTURE, type TextReducer } from './reducer.ts'
import { hasLevel, severityOf } from './severity.ts'

/** Shorter texts of code stay. */
const LEAST_LINES = 15
/** Lines at the start and at the end that stay. */
const ENDS = 2
/** If an outline shows a smaller share of the lines, one body is most of the text. */
const OUTLINE_SHARE = 1 / 12

/** Notes of authors, and statements that end a run. They matter more than other lines of a body. */
const NOTE = /\b(?:TODO|FIXME|XXX|HACK|BUG|SAFETY)\b/
const STOP = /\b(?:throw|raise|panic|assert|abort|unreachable|exit)\b/

/**
 * Whether a line of code always stays.
 * @param code the line without strings and comments
 */
function isTelling(line: string, code: string): boolean {
  return NOTE.test(line) || STOP.test(code)
}

/**
 * Whether a line among code reports a failure, rather than being code that handles one: a text of
 * data, or output of a program. Code itself is full of words for failures.
 * @param isCode whether it reads like a statement or a comment
 */
function reportsFailure(line: string, isCode: boolean): boolean {
  return (!isCode || isLiteralMember(line)) && severityOf(line) === 'failure'
}

/**
 * Leaves out the outer blocks of bodies, if enough of the text is left.
 * @param blocks lines that are nothing else
 */
function dropBlocks(ranks: Uint8Array, blocks: readonly number[]): void {
  const shown = ranks.reduce((sum, rank) => sum + (rank === BULK ? 0 : 1), 0)
  if (shown - blocks.length < ranks.length * OUTLINE_SHARE) return
  for (const at of blocks) ranks[at] = BULK
}

/**
 * Shares of lines that look like code, and of braces that may lack their other one, as in a part of
 * a file.
 */
const CODE_SHARE = 0.6
const OPEN_SHARE = 0.25
const MOST_OPEN = 2

/** How lines of these languages end; words that they begin with. */
const CODE_END = /[{}();,:[\]>=|&]\s*$/
const CODE_START =
  /^(?:import|export|from|use|using|package|return|const|let|var|if|else|for|while|case|func|fn|type|#include|#define|@\w|\.\w|\}|\*|\/[/*])/
const ASSIGNED = /\s(?::=|[-+*/|&]?=|=>|->)\s/
const BLOCK = /\{\s*$/

/**
 * Blocks with declarations instead of statements. Their members are signatures, like the code
 * outside of bodies.
 */
const BRACES_HOLDER =
  /\b(?:class|interface|enum|struct|trait|impl|namespace|module|mod|extension|object|union|protocol|record|type|extern)\b/

/**
 * Source code of brace languages. Kept are the code outside of bodies, members of types, the outer
 * blocks of bodies, and lines that throw, assert or note something to do. Statements and comments
 * are left out.
 */
export const bracesReducer: TextReducer = {
  kind: 'braces',
  accepts({ lines }) {
    if (lines.length < LEAST_LINES) return false
    let opened = 0
    let closed = 0
    let blocks = 0
    let filled = 0
    let codeLike = 0
    for (const [index, { code, inside }] of maskCode(lines).entries()) {
      const line = lines[index]!
      if (line.trim() === '') continue
      filled++
      if (BLOCK.test(code)) blocks++
      if (isCodeLike(line, code, inside)) codeLike++
      for (const c of code) {
        if (c === '{') opened++
        else if (c === '}') closed++
      }
    }
    return (
      blocks > 0 &&
      codeLike >= filled * CODE_SHARE &&
      Math.abs(opened - closed) <= Math.max(MOST_OPEN, (opened + closed) * OPEN_SHARE)
    )
  },
  rank({ lines }) {
    const ranks = new Uint8Array(lines.length)
    const blocks: number[] = []
    const masked = maskCode(lines)
    const depths = createDepths(missingOpenings(masked.map(({ code }) => code)))
    let inComment = false
    masked.forEach(({ code, inside }, at) => {
      const line = lines[at]!
      const { least, before, after } = depths.pass(code)
      const isComment = code.trim() === '' && line.trim() !== ''
      const isCode = inside ? !hasLevel(line) : isCodeLike(line, code, inside)
      if (isTelling(line, code) || reportsFailure(line, isCode)) ranks[at] = CRITICAL
      // The first line of a comment outside of bodies names its subject.
      else if (isComment) ranks[at] = least === 0 && !inComment && !inside ? STRUCTURE : 0
      else if (least === 0 || (before !== after && least <= 1)) {
        ranks[at] = STRUCTURE
        if (least > 0) blocks.push(at)
      }
      inComment = isComment
    })
    dropBlocks(ranks, blocks)
    raiseEnds(ranks, ENDS, ENDS)
    return { ranks }
  },
}

/** @param inside whether the line is in a comment or a string from its first character on */
function isCodeLike(line: string, code: string, inside: boolean): boolean {
  if (inside || code.trim() === '' || CODE_END.test(code)) return true
  return CODE_START.test(line.trimStart()) || ASSIGNED.test(code)
}

/** Closing braces in the text whose opening braces come before it. */
function missingOpenings(codes: readonly string[]): number {
  let depth = 0
  let least = 0
  for (const code of codes) {
    for (const c of code) {
      if (c === '{') depth++
      else if (c === '}') least = Math.min(least, --depth)
    }
  }
  return -least
}

/** Depths in bodies: braces of types and namespaces do not count. */
function createDepths(missing: number) {
  // Blocks that were opened before the text count as types, because a reader of a part of a file
  // mostly sees members.
  const holders: boolean[] = Array.from({ length: missing }, () => true)
  let depth = 0
  return {
    /** The depth before and after a line, and the least within it. */
    pass(code: string): { least: number; before: number; after: number } {
      const before = holders.length
      let least = depth
      const isHolder = BRACES_HOLDER.test(code)
      for (const c of code) {
        if (c === '{') {
          holders.push(isHolder)
          if (!isHolder) depth++
        } else if (c === '}' && holders.pop() === false) {
          depth--
          least = Math.min(least, depth)
        }
      }
      return { least, before, after: holders.length }
    },
  }
}

/** Most braces, as a share of the lines. */
const BRACE_SHARE = 0.1
/** Least share of lines that are indented, as bodies are. */
const INDENTED_SHARE = 0.3

/**
 * Lines without their indentation: patterns for signatures, for the start and the end of blocks,
 * and for comments.
 */
const SIGNATURE = /^(?:async def|def|class|module|defmodule|defp|local function|function) /
const DECORATOR = /^@\w/
const HEADER =
  /^(?:if|elif|elsif|else|for|while|with|try|except|finally|match|case|unless|begin|rescue|ensure|do|async)\b/
const INDENTS_HOLDER = /^(?:class|module|defmodule)\b/
const END = /^end\b/
const COMMENT = /^(?:#|--)/
const COLON_END = /:\s*(?:#|$)/
const TRIPLE = /"""|'''/g

/**
 * Source code of indentation languages, and of languages that close blocks with a word. Kept are
 * lines without indentation, signatures with their decorators, the outer blocks of bodies, and
 * lines that raise, assert or note something to do. Statements, comments and the text of docstrings
 * are left out.
 */
export const indentsReducer: TextReducer = {
  kind: 'indents',
  accepts({ lines }) {
    if (lines.length < LEAST_LINES) return false
    let signatures = 0
    let endings = 0
    let braces = 0
    let indented = 0
    let filled = 0
    for (const line of lines) {
      if (line.trim() === '') continue
      filled++
      if (/^[ \t]/.test(line)) indented++
      const code = line.trimStart()
      if (SIGNATURE.test(code)) signatures++
      if (COLON_END.test(line) || END.test(code)) endings++
      if (/[{}]\s*$/.test(line)) braces++
    }
    return (
      signatures > 0 &&
      endings >= signatures &&
      braces <= filled * BRACE_SHARE &&
      indented >= filled * INDENTED_SHARE
    )
  },
  rank({ lines }) {
    const ranks = new Uint8Array(lines.length)
    const headers: number[] = []
    const blocks: { indent: number; isHolder: boolean }[] = []
    let inString = false
    let signature = 0
    lines.forEach((line, at) => {
      const wasInString = inString
      if ((line.match(TRIPLE)?.length ?? 0) % 2 === 1) inString = !inString
      const code = line.trimStart()
      if (code === '') return
      const isText = wasInString || COMMENT.test(code)
      const isCode = isText ? !hasLevel(line) : readsLikeCode(code)
      if (isTelling(line, isText ? '' : line) || reportsFailure(line, isCode)) ranks[at] = CRITICAL
      if (isText) return
      const indent = indentOf(line)
      while ((blocks.at(-1)?.indent ?? -1) >= indent) blocks.pop()
      const bodies = blocks.filter(({ isHolder }) => !isHolder).length
      const isSignature = SIGNATURE.test(code)
      const isHeader = HEADER.test(code) || END.test(code) || code.startsWith('"""')
      const isOutside = indent === 0 || isSignature || DECORATOR.test(code) || signature > 0
      if ((isOutside || (isHeader && bodies <= 1)) && ranks[at] === BULK) {
        ranks[at] = STRUCTURE
        if (!isOutside) headers.push(at)
      }
      // A signature continues until its brackets are closed.
      if (isSignature || signature > 0) signature = Math.max(0, signature + openedBy(line))
      if (isSignature || HEADER.test(code))
        blocks.push({ indent, isHolder: INDENTS_HOLDER.test(code) })
    })
    dropBlocks(ranks, headers)
    raiseEnds(ranks, ENDS, ENDS)
    return { ranks }
  },
}

function readsLikeCode(code: string): boolean {
  if (SIGNATURE.test(code) || HEADER.test(code) || END.test(code)) return true
  return CODE_END.test(code) || CODE_START.test(code) || ASSIGNED.test(code)
}

const TAB_COLUMNS = 4

function indentOf(line: string): number {
  let columns = 0
  for (const c of line) {
    if (c === ' ') columns++
    else if (c === '\t') columns += TAB_COLUMNS
    else break
  }
  return columns
}

function openedBy(line: string): number {
  let open = 0
  for (const c of line) {
    if (c === '(' || c === '[') open++
    else if (c === ')' || c === ']') open--
  }
  return open
}
