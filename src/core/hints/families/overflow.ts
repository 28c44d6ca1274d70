import type { OverflowHint } from '../hint.ts'
import { readToolCall } from '../read-tool-call.ts'
import { writeWord } from '../text-slot.ts'
import { validToolCall, writeToolCall } from '../tool-call.ts'
import { areCounts, type Family } from './family.ts'

/** `> [+18 more issues. call get_issues(page=2)]` */
export const overflow: Family<OverflowHint> = {
  valid: hint => areCounts(1, hint.omitted) && hint.unit !== '' && validToolCall(hint.call),

  write({ omitted, unit, call }, verbosity) {
    if (verbosity === 'terse') return `+${omitted}: ${writeToolCall(call)}`
    const of = unit === undefined ? '' : ` ${writeWord(unit)}`
    const words = verbosity === 'verbose' ? ', omitted here' : ''
    return `+${omitted} more${of}${words}. call ${writeToolCall(call)}`
  },

  read(reader) {
    const omitted = reader.skip('+') ? reader.count() : undefined
    if (omitted === undefined) return null
    let unit: string | undefined
    if (!reader.skip(': ')) {
      if (!reader.skip(' more')) return null
      if (reader.skip(' ')) unit = reader.word()
      reader.skip(', omitted here')
      if (!reader.skip('. call ')) return null
    }
    const call = readToolCall(reader)
    if (call === null) return null
    return { family: 'overflow', omitted, ...(unit === undefined ? {} : { unit }), call }
  },
}
