import type { Json } from '../../test/support/plain-readers/json.ts'
import {
  aggregation,
  at,
  filtering,
  list,
  type Question,
  retrieval,
  rowsOf,
  structure,
  sum,
} from './question.ts'

const lineWith = (d: Json, number: number) =>
  String(rowsOf(d).find(({ line }) => line === number)?.['text'])

const fileRead: readonly Question[] = [
  retrieval('What is the first argument of the call in line 58?', d =>
    String(/\((\w+)/.exec(lineWith(d, 58))?.[1]),
  ),
  retrieval('Which number is the second argument of the call in line 73?', d =>
    String(/, (\d+)/.exec(lineWith(d, 73))?.[1]),
  ),
  filtering('Which lines (their numbers) call flush?', d =>
    list(
      rowsOf(d)
        .filter(({ text }) => String(text).includes('flush('))
        .map(({ line }) => line),
    ),
  ),
  aggregation('How many lines are empty?', d =>
    String(rowsOf(d).filter(({ text }) => text === '').length),
  ),
  structure('What is the number of the last line?', d => String(rowsOf(d).at(-1)?.['line'])),
]

const linesOf = (d: Json) => d as readonly string[]
const tookOf = (line: string) => Number(/took (\d+) ms/.exec(line)?.[1] ?? 0)

const logLines: readonly Question[] = [
  retrieval('At what date and time, as written, is the first line of the host birch?', d =>
    String(
      linesOf(d)
        .find(line => line.includes(' birch '))
        ?.split(' ')[1],
    ),
  ),
  aggregation('What is the longest time in ms on the host cedar?', d =>
    String(
      Math.max(
        ...linesOf(d)
          .filter(line => line.includes(' cedar '))
          .map(tookOf),
      ),
    ),
  ),
  filtering('How many lines have the level ERROR?', d =>
    String(linesOf(d).filter(line => line.startsWith('ERROR ')).length),
  ),
  structure('How many times stands the line about retrying there?', d =>
    String(linesOf(d).filter(line => line.startsWith('retrying')).length),
  ),
]

const searchHits: readonly Question[] = [
  retrieval('Which number is the second argument of the call in line 17 of the file of birch?', d =>
    String(/, (\d+)/.exec(linesOf(d).find(line => line.includes('/birch/queue.ts:17:'))!)?.[1]),
  ),
  filtering('How many hits has the file of cedar?', d =>
    String(linesOf(d).filter(line => line.includes('/cedar/')).length),
  ),
  aggregation('How many hits call flush?', d =>
    String(linesOf(d).filter(line => line.includes('flush(')).length),
  ),
  structure('How many times stands the line about large files there?', d =>
    String(linesOf(d).filter(line => line.startsWith('some files')).length),
  ),
]

const linesBy = (d: Json, sign: string) => rowsOf(d).filter(row => row['sign'] === sign)

const diff: readonly Question[] = [
  retrieval('Which number is the second argument of the call in the line of stop() that goes?', d =>
    String(/, (\d+)/.exec(String(linesBy(d, '-')[1]?.['text']))?.[1]),
  ),
  retrieval('What is the function called in line 7 of the new file?', d =>
    String(/(\w+)\(/.exec(String(linesBy(d, '+')[8]?.['text']))?.[1]),
  ),
  filtering('Which lines (their new numbers) are added to src/queue.ts?', d =>
    list(
      linesBy(d, '+')
        .slice(0, 2)
        .map(row => row['line']),
    ),
  ),
  aggregation('How many lines are added in all files together?', d =>
    String(linesBy(d, '+').length),
  ),
  structure('How many lines had the file that is gone?', d => String(linesBy(d, '-').length - 2)),
]

const tableOf = (d: Json) => rowsOf(at(d, 0))

const markdownTable: readonly Question[] = [
  retrieval('How many requests has birch-7?', d => String(at(d, 0, 7, 'Requests'))),
  retrieval('What is the note of alder-0?', d => String(at(d, 0, 0, 'Note'))),
  aggregation('How many requests have all services together?', d =>
    String(sum(tableOf(d).map(row => row['Requests']))),
  ),
  filtering('Which services belong to Edsger?', d =>
    list(
      tableOf(d)
        .filter(row => row['Owner'] === 'Edsger')
        .map(row => row['Service']),
    ),
  ),
  structure('Which columns has the table, in order?', d => list(Object.keys(tableOf(d)[0] ?? {}))),
]

const jsonLines: readonly Question[] = [
  retrieval('Which route has the line with seq 911?', d => String(at(d, 11, 'route'))),
  retrieval('What is the id of the user of seq 918?', d => String(at(d, 18, 'user', 'id'))),
  aggregation('How many ms do all lines have together?', d =>
    String(sum(rowsOf(d).map(row => row['ms']))),
  ),
  filtering('Which seqs are of admins?', d =>
    list(
      rowsOf(d)
        .filter(row => at(row, 'user', 'admin') === true)
        .map(row => row['seq']),
    ),
  ),
  structure('How many lines are there?', d => String(rowsOf(d).length)),
]

const mcpResult: readonly Question[] = [
  retrieval('How is the sky on 2026-04-13?', d => String(at(d, 'days', 3, 'sky'))),
  aggregation('What is the lowest temperature of all days?', d =>
    String(Math.min(...rowsOf(at(d, 'days')).map(day => Number(day['low'])))),
  ),
  filtering('On which dates does it rain?', d =>
    list(
      rowsOf(at(d, 'days'))
        .filter(day => day['sky'] === 'rain')
        .map(day => day['date']),
    ),
  ),
  structure('How many days are there?', d => String(rowsOf(at(d, 'days')).length)),
]

const printed = (d: Json) => String(at(d, 'output')).split('\n')

const shellResult: readonly Question[] = [
  retrieval('With which code did the command end?', d => String(at(d, 'exit_code'))),
  aggregation('What is the longest time in ms on the host alder?', d =>
    String(
      Math.max(
        ...printed(d)
          .filter(line => line.includes(' alder '))
          .map(tookOf),
      ),
    ),
  ),
  filtering('How many printed lines have the level WARN?', d =>
    String(printed(d).filter(line => line.includes(' WARN ')).length),
  ),
  structure('How many lines did the command print?', d => String(printed(d).length)),
]

const editedFile: readonly Question[] = [
  retrieval('In the second result, what does the function in line 5 return?', d =>
    String(/return (\d+)/.exec(lineWith(d, 5))?.[1]),
  ),
  retrieval('In the second result, what is the name of the function in line 40?', d =>
    String(/function (\w+)/.exec(lineWith(d, 40))?.[1]),
  ),
  retrieval('In the second result, which line has the function step50? Give its number.', d =>
    String(rowsOf(d).find(({ text }) => String(text).includes(' step50('))?.['line']),
  ),
  filtering('Which lines (their numbers) of the second result define no function?', d =>
    list(
      rowsOf(d)
        .filter(({ text }) => !String(text).includes('function'))
        .map(({ line }) => line),
    ),
  ),
  structure('What is the number of the last line of the second result?', d =>
    String(rowsOf(d).at(-1)?.['line']),
  ),
  filtering('Is the function step22 in the second result? Answer yes or no.', d =>
    rowsOf(d).some(({ text }) => String(text).includes(' step22(')) ? 'yes' : 'no',
  ),
]

const shownLines = (d: Json) => rowsOf(at(d, 'shown'))

const partsLeftOut: readonly Question[] = [
  retrieval('Which line has the error? Give its number.', d =>
    String(shownLines(d).find(({ text }) => String(text).startsWith('ERROR'))?.['line']),
  ),
  retrieval('With which hash can the whole be fetched?', d => String(at(d, 'hash'))),
  aggregation('How many lines are left out?', d =>
    String(Number(at(d, 'lines')) - shownLines(d).length),
  ),
  structure('How many lines does the whole result have?', d => String(at(d, 'lines'))),
  filtering('Is line 30 shown? Answer yes or no.', d =>
    shownLines(d).some(({ line }) => line === 30) ? 'yes' : 'no',
  ),
  structure('What is the number of the last line that is shown?', d =>
    String(shownLines(d).at(-1)?.['line']),
  ),
]

/** The questions about each tool result that is a text, by the name of its data set. */
export const QUESTIONS_OF_TEXTS: Readonly<Record<string, readonly Question[]>> = {
  'file read': fileRead,
  'log lines': logLines,
  'search hits': searchHits,
  diff,
  'markdown table': markdownTable,
  'json lines': jsonLines,
  'MCP result': mcpResult,
  'shell result': shellResult,
  'edited file': editedFile,
  'log with parts left out': partsLeftOut,
}
