import type { Construct } from '../../src/core/reading/constructs.ts'
import type { TokenCounter } from '../../src/core/tokens/counter.ts'
import { createRandom } from '../../src/lab/bill/statistics.ts'
import type { DataSet, Question } from './data-set.ts'
import { aboutEntries, entriesOf } from './entry-pairs.ts'
import { keys, type Made } from './pair.ts'
import { MAKERS } from './pairs.ts'
import { at, rowsOf, times } from './reading.ts'

/** Pairs whose text without the construct is a set; its format is the one that has the construct. */
const TEXTS: readonly (readonly [name: string, construct: Construct, seed: number])[] = [
  ['numbered file', 'numbered', 83],
  ['diff', 'git_headers', 113],
  ['repeated lines', 'times', 97],
  ['search hits', 'heading', 101],
  ['list of sources', 'indented_heading', 107],
  ['log in blocks', 'template', 127],
  ['mixed log', 'template_switch', 139],
  ['test run', 'sign', 251],
  ['markdown table', 'text_form', 149],
  ['json lines', 'json_lines', 103],
]
const SIZE = 60
const DRAWS = 4

/** Tool results that are texts, with what a reader finds in them. */
export function textSets(counter: TokenCounter): readonly DataSet[] {
  const made = (construct: Construct, seed: number) =>
    MAKERS[construct]({ construct, seed, size: SIZE, random: createRandom(seed), counter })
  const texts = TEXTS.map(([name, construct, seed]): DataSet => {
    const { with: written, without, ...set } = made(construct, seed)
    // JSON in a text is a tree.
    const formats = [written.format.replace(/@.*/, ''), 'tree']
    return { name, text: without, formats, ...aboutMade(set) }
  })
  const file = made('reference', 131)
  const edited: DataSet = { name: 'edited file', answer: () => file.with, ...aboutMade(file) }
  return [...texts, mcpResult(), shellResult(made('template_switch', 151)), edited]
}

/** What is asked about the data of a pair, if a reading of its text may hold more than the data. */
function aboutMade({ data, read, ask }: Pick<Made, 'data' | 'read' | 'ask'>) {
  const questions = draws(ask)
  if (read === undefined) return { data, questions }
  const inside = questions.map(([text, answer, isExact]): Question => {
    return [text, d => answer(read(d)), isExact ?? false]
  })
  return { data: [data], questions: inside }
}

/** Several draws of questions, each question once. */
export function draws(ask: () => readonly Question[]): readonly Question[] {
  const all = times(DRAWS, ask).flat()
  return [...new Map(all.map(question => [question[0], question])).values()]
}

/** A result of MCP, which says the same as text and as structured content. */
function mcpResult(): DataSet {
  const random = createRandom(109)
  const data = { region: 'eu', entries: entriesOf(keys(20, random), random) }
  const structured = { structuredContent: data, isError: false }
  return {
    name: 'MCP result',
    data,
    text: JSON.stringify({
      content: [{ type: 'text', text: JSON.stringify(data) }],
      ...structured,
    }),
    questions: draws(() => aboutEntries(data, random, d => rowsOf(at(d, 'entries')))),
  }
}

/** What a shell printed, as a string of JSON. */
function shellResult({ without, ask }: Made): DataSet {
  const questions = draws(ask).map(([text, answer, isExact]): Question => {
    return [text, d => answer(String(at(d, 'output')).split('\n')), isExact ?? false]
  })
  return { name: 'shell result', data: { exit_code: 3, output: without, cwd: '/srv' }, questions }
}
