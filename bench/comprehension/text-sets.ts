import { createRandom } from '../../src/lab/bill/statistics.ts'
import type { Json } from '../../test/support/plain-readers/json.ts'
import type { DataSet, Question } from './data-set.ts'
import {
  at,
  column,
  found,
  having,
  linesOf,
  most,
  numbered,
  pick,
  type Row,
  rowsOf,
  sum,
  times,
  VERBS,
} from './reading.ts'

const HOSTS = ['alder', 'birch', 'cedar']

/** Tool results that are texts, with what a reader finds in them. */
export function textSets(): readonly DataSet[] {
  return [
    fileRead(),
    logLines(),
    searchHits(),
    changes(),
    markdownTable(),
    jsonLines(),
    mcpResult(),
    shellResult(),
  ]
}

/** A file as an editor shows it, with a number on each line. */
function fileRead(): DataSet {
  const random = createRandom(83)
  const first = 41
  const lines = times(48, index => {
    const verb = pick(random, VERBS)
    return index % 7 === 6 ? '' : `    ${verb}(buffer, ${random(900)}); // step ${index}`
  })
  const textOf = (d: Json, line: number) => having(rowsOf(d), 'line', line)[0]?.['text']
  return {
    name: 'file read',
    data: lines.map((text, index) => ({ line: first + index, text })),
    text: numbered(lines, first),
    questions: [
      ['What is the first argument of the call in line 58?', d => found(/\((\w+)/, textOf(d, 58))],
      [
        'Which number is the second argument of the call in line 73?',
        d => found(/, (\d+)/, textOf(d, 73)),
      ],
      [
        'Which lines (their numbers) call flush?',
        d =>
          column(
            rowsOf(d).filter(({ text }) => String(text).includes('flush(')),
            'line',
          ),
      ],
      ['How many lines are empty?', d => having(rowsOf(d), 'text', '').length],
      ['What is the number of the last line?', d => rowsOf(d).at(-1)?.['line']],
    ],
  }
}

const withText = (d: Json, part: string) => linesOf(d).filter(line => line.includes(part))
const starting = (d: Json, part: string) => linesOf(d).filter(line => line.startsWith(part))
const longest = (d: Json, host: string) =>
  most(withText(d, ` ${host} `).map(line => found(/took (\d+) ms/, line) ?? 0))

/** Log lines with the same host for a while, one of them many times. */
function logLines(): DataSet {
  const random = createRandom(97)
  const data = HOSTS.flatMap((host, hour) =>
    times(14, index => {
      const time = `2026-03-0${hour + 1}T0${hour}:${10 + index * 3}:0${random(10)}Z`
      const level = pick(random, ['INFO', 'WARN', 'ERROR'])
      return `${level} ${time} ${host} worker[${200 + hour}]: ${pick(random, VERBS)} took ${random(90)} ms`
    }),
  )
  data.push(...times(9, () => 'retrying the connection to the primary in one second'))
  return {
    name: 'log lines',
    data,
    text: data.join('\n'),
    questions: [
      [
        'At what date and time, as written, is the first line of the host birch?',
        d => withText(d, ' birch ')[0]?.split(' ')[1],
      ],
      ['What is the longest time in ms on the host cedar?', d => longest(d, 'cedar')],
      ['How many lines have the level ERROR?', d => starting(d, 'ERROR ').length],
      ['How many times stands the line about retrying there?', d => starting(d, 'retrying').length],
    ],
  }
}

/** Hits of a search in files, and one line many times. */
function searchHits(): DataSet {
  const random = createRandom(101)
  const data = HOSTS.flatMap(host =>
    times(9, index => {
      const call = `${pick(random, VERBS)}(buffer, ${random(900)})`
      return `src/service/${host}/queue.ts:${10 + index * 7}:  ${call}`
    }),
  )
  data.push(...times(7, () => 'some files were too large to be searched'))
  return {
    name: 'search hits',
    data,
    text: data.join('\n'),
    questions: [
      [
        'Which number is the second argument of the call in line 17 of the file of birch?',
        d => found(/, (\d+)/, withText(d, '/birch/queue.ts:17:')[0]),
      ],
      ['How many hits has the file of cedar?', d => withText(d, '/cedar/').length],
      ['How many hits call flush?', d => withText(d, 'flush(').length],
      [
        'How many times stands the line about large files there?',
        d => starting(d, 'some files').length,
      ],
    ],
  }
}

/** A diff of git: a changed file with two hunks, a new one, and one that is gone. */
function changes(): DataSet {
  const random = createRandom(113)
  const data: Row[] = []
  const lines: string[] = []
  const write = (signs: string, start: number) => {
    let line = start
    for (const sign of signs) {
      const text = `  ${pick(random, VERBS)}(queue, ${100 + random(800)})`
      lines.push(sign + text)
      data.push({ line, sign, text })
      if (sign !== '-' || signs.startsWith('--')) line++
    }
  }
  lines.push('diff --git a/src/queue.ts b/src/queue.ts', 'index 3f2a91c..b80d1e7 100644')
  lines.push('--- a/src/queue.ts', '+++ b/src/queue.ts', '@@ -40,6 +40,7 @@ function drain() {')
  write('   ++-  ', 40)
  lines.push('@@ -90,7 +91,6 @@ function stop() {')
  write('   -   ', 91)
  lines.push('diff --git a/src/clock.ts b/src/clock.ts', 'new file mode 100644')
  lines.push('index 0000000..77e02ab', '--- /dev/null', '+++ b/src/clock.ts', '@@ -0,0 +1,9 @@')
  write('+'.repeat(9), 1)
  lines.push('diff --git a/src/timer.ts b/src/timer.ts', 'deleted file mode 100644')
  lines.push('index 5c11d90..0000000', '--- a/src/timer.ts', '+++ /dev/null', '@@ -1,5 +0,0 @@')
  write('-'.repeat(5), 1)
  const signed = (d: Json, sign: string) => having(rowsOf(d), 'sign', sign)
  return {
    name: 'diff',
    data,
    text: lines.join('\n'),
    questions: [
      [
        'Which number is the second argument of the call in the line of stop() that goes?',
        d => found(/, (\d+)/, signed(d, '-')[1]?.['text']),
      ],
      [
        'What is the function called in line 7 of the new file?',
        d => found(/(\w+)\(/, signed(d, '+')[8]?.['text']),
      ],
      [
        'Which lines (their new numbers) are added to src/queue.ts?',
        d => column(signed(d, '+').slice(0, 2), 'line'),
      ],
      ['How many lines are added in all files together?', d => signed(d, '+').length],
      ['How many lines had the file that is gone?', d => signed(d, '-').length - 2],
    ],
  }
}

/** A padded table between paragraphs. */
function markdownTable(): DataSet {
  const random = createRandom(101)
  const rows = times(18, index => ({
    Service: `${HOSTS[index % HOSTS.length]}-${index}`,
    Owner: pick(random, ['Ada, Grace', 'Edsger', 'Barbara']),
    Requests: String(100 + random(9000)),
    Note: random(3) === 0 ? '' : `see "${pick(random, VERBS)}"`,
  }))
  const cells = [Object.keys(rows[0]!), ...rows.map(row => Object.values(row))]
  const widths = cells[0]!.map((_, at) => most(cells.map(line => line[at]!.length)))
  const line = (of: readonly string[]) =>
    `| ${of.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`
  const [head, ...body] = cells.map(line)
  const table = [head, line(widths.map(width => '-'.repeat(width))), ...body].join('\n')
  const all = (d: Json) => rowsOf(at(d, 0))
  return {
    name: 'markdown table',
    data: [rows],
    text: `# Load of last week\n\n${table}\n\nAll figures are daily means.\n`,
    formats: ['md'],
    questions: [
      ['How many requests has birch-7?', d => at(d, 0, 7, 'Requests')],
      ['What is the note of alder-0?', d => at(d, 0, 0, 'Note')],
      ['How many requests have all services together?', d => sum(column(all(d), 'Requests'))],
      [
        'Which services belong to Edsger?',
        d => column(having(all(d), 'Owner', 'Edsger'), 'Service'),
      ],
      ['Which columns has the table, in order?', d => Object.keys(all(d)[0]!)],
    ],
  }
}

/** An object a line. */
function jsonLines(): DataSet {
  const random = createRandom(103)
  const data = times(24, index => ({
    seq: 900 + index,
    level: pick(random, ['info', 'warn', 'error']),
    route: `/v1/${pick(random, VERBS)}`,
    ms: random(800),
    user: { id: 10 + random(20), admin: random(5) === 0 },
  }))
  return {
    name: 'json lines',
    data,
    text: `${data.map(row => JSON.stringify(row)).join('\n')}\n`,
    questions: [
      ['Which route has the line with seq 911?', d => at(d, 11, 'route')],
      ['What is the id of the user of seq 918?', d => at(d, 18, 'user', 'id')],
      ['How many ms do all lines have together?', d => sum(column(rowsOf(d), 'ms'))],
      [
        'Which seqs are of admins?',
        d =>
          column(
            rowsOf(d).filter(row => at(row, 'user', 'admin') === true),
            'seq',
          ),
      ],
      ['How many lines are there?', d => rowsOf(d).length],
    ],
  }
}

/**
 * A result of the Model Context Protocol, which says the same as text and as structured content.
 */
function mcpResult(): DataSet {
  const random = createRandom(109)
  const data = {
    city: 'Tartu',
    days: times(12, index => ({
      date: `2026-04-${10 + index}`,
      low: random(9) - 4,
      high: 6 + random(12),
      sky: pick(random, ['clear', 'rain', 'clouds']),
    })),
  }
  const days = (d: Json) => rowsOf(at(d, 'days'))
  return {
    name: 'MCP result',
    data,
    text: JSON.stringify({
      content: [{ type: 'text', text: JSON.stringify(data) }],
      structuredContent: data,
      isError: false,
    }),
    questions: [
      ['How is the sky on 2026-04-13?', d => at(d, 'days', 3, 'sky')],
      [
        'What is the lowest temperature of all days?',
        d => Math.min(...column(days(d), 'low').map(Number)),
      ],
      ['On which dates does it rain?', d => column(having(days(d), 'sky', 'rain'), 'date')],
      ['How many days are there?', d => days(d).length],
    ],
  }
}

/** What a shell printed, as a string of JSON. */
function shellResult(): DataSet {
  const printed = (d: Json) => String(at(d, 'output')).split('\n')
  const questions: readonly Question[] = [
    ['With which code did the command end?', d => at(d, 'exit_code')],
    ['What is the longest time in ms on the host alder?', d => longest(printed(d), 'alder')],
    ['How many printed lines have the level WARN?', d => withText(printed(d), ' WARN ').length],
    ['How many lines did the command print?', d => printed(d).length],
  ]
  const output = linesOf(logLines().data).join('\n')
  return { name: 'shell result', data: { exit_code: 3, output, cwd: '/srv/queue' }, questions }
}
