import { isTelling } from './code-words.ts'
import { maskCode } from './mask-code.ts'
import { CRITICAL, raiseEnds, STRUCTURE, type TextReducer } from './reducer.ts'

const LEAST_LINES = 15
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
 * What holds declarations rather than statements: its members are as much signatures as what stands
 * outside.
 */
const HOLDER =
  /\b(?:class|interface|enum|struct|trait|impl|namespace|module|mod|extension|object|union|protocol|record|type|extern)\b/

const ENDS = 2

/**
 * Source code of brace languages: what stands outside of bodies, members of types, the blocks that
 * a body is made of, and lines that throw, assert or leave something to do. Statements and comments
 * go.
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
      const isBare = inside || code.trim() === ''
      if (isBare || CODE_END.test(code) || CODE_START.test(line.trimStart()) || ASSIGNED.test(code))
        codeLike++
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
    const masked = maskCode(lines)
    const depths = createDepths(missingOpenings(masked.map(({ code }) => code)))
    let inComment = false
    masked.forEach(({ code, inside }, at) => {
      const line = lines[at]!
      const { least, before, after } = depths.pass(code)
      const isComment = code.trim() === '' && line.trim() !== ''
      if (isTelling(line, code)) ranks[at] = CRITICAL
      // The first line of a comment outside of bodies names its subject.
      else if (isComment) ranks[at] = least === 0 && !inComment && !inside ? STRUCTURE : 0
      else if (least === 0 || (before !== after && least <= 1)) ranks[at] = STRUCTURE
      inComment = isComment
    })
    raiseEnds(ranks, ENDS, ENDS)
    return { ranks }
  },
}

/** Braces that were opened before the text begins, as far as it closes them. */
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
  // What was opened before the text are rather types than bodies: those that read a part of a file
  // see members.
  const holders: boolean[] = Array.from({ length: missing }, () => true)
  let depth = 0
  return {
    /** The depth before and after a line, and the least within it. */
    pass(code: string): { least: number; before: number; after: number } {
      const before = holders.length
      let least = depth
      const isHolder = HOLDER.test(code)
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
