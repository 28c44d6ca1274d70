import { isTelling } from './code-words.ts'
import { CRITICAL, raiseEnds, STRUCTURE, type TextReducer } from './reducer.ts'

const LEAST_LINES = 15
/** Most braces, as a share of the lines. */
const BRACE_SHARE = 0.1
/** Least share of lines that are indented, as bodies are. */
const INDENTED_SHARE = 0.3

/**
 * Lines without their indentation: what signs a body, starts a block, ends one in languages that
 * mark the end, is a comment.
 */
const SIGNATURE = /^(?:async def|def|class|module|defmodule|defp|local function|function) /
const DECORATOR = /^@\w/
const HEADER =
  /^(?:if|elif|elsif|else|for|while|with|try|except|finally|match|case|unless|begin|rescue|ensure|do|async)\b/
const HOLDER = /^(?:class|module|defmodule)\b/
const END = /^end\b/
const COMMENT = /^(?:#|--)/
const COLON_END = /:\s*(?:#|$)/
const TRIPLE = /"""|'''/g

const ENDS = 2

/**
 * Source code of indentation languages, and of those that close blocks with a word: what is not
 * indented, signatures with their decorators, the outer blocks of bodies, and lines that raise,
 * assert or leave something to do. Statements, comments and the text of docstrings go.
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
    const blocks: { indent: number; isHolder: boolean }[] = []
    let inString = false
    let signature = 0
    lines.forEach((line, at) => {
      const wasInString = inString
      if ((line.match(TRIPLE)?.length ?? 0) % 2 === 1) inString = !inString
      const code = line.trimStart()
      if (code === '') return
      const isText = wasInString || COMMENT.test(code)
      if (isTelling(line, isText ? '' : line)) ranks[at] = CRITICAL
      if (isText) return
      const indent = indentOf(line)
      while ((blocks.at(-1)?.indent ?? -1) >= indent) blocks.pop()
      const bodies = blocks.filter(({ isHolder }) => !isHolder).length
      const isSignature = SIGNATURE.test(code)
      const isHeader = HEADER.test(code) || END.test(code) || code.startsWith('"""')
      const isKept =
        indent === 0 ||
        isSignature ||
        DECORATOR.test(code) ||
        signature > 0 ||
        (isHeader && bodies <= 1)
      if (isKept && ranks[at] === 0) ranks[at] = STRUCTURE
      // A signature goes on until its brackets are closed.
      if (isSignature || signature > 0) signature = Math.max(0, signature + openedBy(line))
      if (isSignature || HEADER.test(code)) blocks.push({ indent, isHolder: HOLDER.test(code) })
    })
    raiseEnds(ranks, ENDS, ENDS)
    return { ranks }
  },
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
