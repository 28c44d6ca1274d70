import { createRandom } from '../../src/lab/bill/statistics.ts'
import type { Json } from '../../test/support/plain-readers/json.ts'
import type { DataSet } from './data-sets.ts'

const HOSTS = ['alder', 'birch', 'cedar']
const VERBS = ['open', 'read', 'write', 'close', 'flush', 'seek']

type Row = Readonly<Record<string, Json>>

/** Tool results that are texts, with what a reader finds in them. */
export function textSets(): DataSet[] {
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
  const data = Array.from({ length: 48 }, (_, index) => {
    const verb = VERBS[random(VERBS.length)] ?? ''
    const text = index % 7 === 6 ? '' : `    ${verb}(buffer, ${random(900)}); // step ${index}`
    return { line: first + index, text }
  })
  const text = data.map(({ line, text }) => `${String(line).padStart(6)}→${text}`).join('\n')
  return { name: 'file read', kind: 'text', data, text }
}

/** Log lines with the same host for a while, one of them many times. */
function logLines(): DataSet {
  const random = createRandom(97)
  const data = HOSTS.flatMap((host, hour) =>
    Array.from({ length: 14 }, (_, index) => {
      const time = `2026-03-0${hour + 1}T0${hour}:${10 + index * 3}:0${random(10)}Z`
      const level = ['INFO', 'WARN', 'ERROR'][random(3)] ?? ''
      const said = `${VERBS[random(VERBS.length)]} took ${random(90)} ms`
      return `${level} ${time} ${host} worker[${200 + hour}]: ${said}`
    }),
  )
  data.push(
    ...Array.from({ length: 9 }, () => 'retrying the connection to the primary in one second'),
  )
  return { name: 'log lines', kind: 'text', data, text: data.join('\n') }
}

/** Hits of a search in files, and one line many times. */
function searchHits(): DataSet {
  const random = createRandom(101)
  const data = HOSTS.flatMap(host =>
    Array.from({ length: 9 }, (_, index) => {
      const verb = VERBS[random(VERBS.length)] ?? ''
      return `src/service/${host}/queue.ts:${10 + index * 7}:  ${verb}(buffer, ${random(900)})`
    }),
  )
  data.push(...Array.from({ length: 7 }, () => 'some files were too large to be searched'))
  return { name: 'search hits', kind: 'text', data, text: data.join('\n') }
}

/** A diff of git: a changed file with two hunks, a new one, and one that is gone. */
function changes(): DataSet {
  const random = createRandom(113)
  const call = () => `  ${VERBS[random(VERBS.length)]}(queue, ${100 + random(800)})`
  const data: Row[] = []
  const lines: string[] = []
  const write = (signs: string, start: number) => {
    let line = start
    for (const sign of signs) {
      const text = call()
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
  return { name: 'diff', kind: 'text', data, text: lines.join('\n') }
}

/** A padded table between paragraphs. */
function markdownTable(): DataSet {
  const random = createRandom(101)
  const rows = Array.from({ length: 18 }, (_, index) => ({
    Service: `${HOSTS[index % HOSTS.length]}-${index}`,
    Owner: ['Ada, Grace', 'Edsger', 'Barbara'][random(3)] ?? '',
    Requests: String(100 + random(9000)),
    Note: random(3) === 0 ? '' : `see "${VERBS[random(VERBS.length)]}"`,
  }))
  const names = Object.keys(rows[0] ?? {})
  const width = (name: string) =>
    Math.max(...[name, ...rows.map(row => (row as Row)[name])].map(cell => String(cell).length))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(width(names[at] ?? ''))).join(' | ')} |`
  const table = [
    line(names),
    `| ${names.map(name => '-'.repeat(width(name))).join(' | ')} |`,
    ...rows.map(row => line(Object.values(row))),
  ].join('\n')
  const text = `# Load of last week\n\n${table}\n\nAll figures are daily means.\n`
  return { name: 'markdown table', kind: 'text', data: [rows], text, formats: ['md'] }
}

/** An object a line. */
function jsonLines(): DataSet {
  const random = createRandom(103)
  const data = Array.from({ length: 24 }, (_, index) => ({
    seq: 900 + index,
    level: ['info', 'warn', 'error'][random(3)] ?? '',
    route: `/v1/${VERBS[random(VERBS.length)]}`,
    ms: random(800),
    user: { id: 10 + random(20), admin: random(5) === 0 },
  }))
  const text = `${data.map(row => JSON.stringify(row)).join('\n')}\n`
  return { name: 'json lines', kind: 'text', data, text }
}

/**
 * A result of the Model Context Protocol, which says the same as text and as structured content.
 */
function mcpResult(): DataSet {
  const random = createRandom(109)
  const data = {
    city: 'Tartu',
    days: Array.from({ length: 12 }, (_, index) => ({
      date: `2026-04-${10 + index}`,
      low: random(9) - 4,
      high: 6 + random(12),
      sky: ['clear', 'rain', 'clouds'][random(3)] ?? '',
    })),
  }
  const text = JSON.stringify({
    content: [{ type: 'text', text: JSON.stringify(data) }],
    structuredContent: data,
    isError: false,
  })
  return { name: 'MCP result', kind: 'text', data, text }
}

/** What a shell printed, as a string of JSON. */
function shellResult(): DataSet {
  const lines = logLines().data as readonly string[]
  const data = { exit_code: 3, output: lines.join('\n'), cwd: '/srv/queue' }
  return { name: 'shell result', kind: 'wrapped', data }
}
