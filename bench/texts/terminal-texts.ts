import { createRandom, type Random } from '../support/random.ts'
import { hex, NAMES, pick, version } from './words.ts'

/** What programs print for a terminal: colours, and lines that are written again and again. */
export function terminalTexts(): readonly string[] {
  const kinds = [listing, testRun, diff, matches, commits, download, install, spinner]
  return Array.from({ length: 64 }, (_, index) => {
    return kinds[index % kinds.length]!(createRandom(8_000 + index))
  })
}

const paint = (code: string, text: string, end = '0') => `\u001b[${code}m${text}\u001b[${end}m`

function listing(random: Random): string {
  const rows = Array.from({ length: 12 + random(30) }, (_, at) => {
    const name = `${pick(random, NAMES)}-${at}`
    const isFolder = random(3) === 0
    const shown = isFolder
      ? `\u001b[0m${paint('01;34', name)}`
      : random(3) === 0
        ? `\u001b[0m${paint('01;32', `${name}.sh`)}`
        : `${name}.ts`
    const mode = isFolder ? 'drwxr-xr-x 2' : '-rw-r--r-- 1'
    return `${mode} root root ${String(random(90_000)).padStart(6)} Nov ${String(1 + random(28)).padStart(2)} 10:${10 + random(50)} ${shown}`
  })
  return `total ${random(900)}\n${rows.join('\n')}\n`
}

function testRun(random: Random): string {
  const rows = Array.from({ length: 10 + random(25) }, (_, at) => {
    const file = `${paint('2', 'test/unit/', '22')}${pick(random, NAMES)}-${at}${paint('2', '.test.ts', '22')}`
    const took = paint(
      random(5) === 0 ? '33' : '32',
      `${random(300)}${paint('2', 'ms', '22')}`,
      '39',
    )
    return ` ${paint('32', '✓', '39')} ${file} ${paint('2', `(${paint('2', `${1 + random(40)} tests`, '22')})`, '22')} ${took}`
  })
  return `\n${paint('1', paint('46', ' RUN ', '49'), '22')} ${paint('36', 'v4.0.1', '39')}\n\n${rows.join('\n')}\n\n${paint('2', ' Test Files ', '22')} ${paint('1', paint('32', `${rows.length} passed`, '39'), '22')}\n`
}

function diff(random: Random): string {
  const lines = Array.from({ length: 10 + random(30) }, () => {
    const code = `const ${pick(random, NAMES)} = ${pick(random, NAMES)}(${random(90)})`
    const kind = random(3)
    if (kind === 0) return ` ${code}`
    const sign = kind === 1 ? '+' : '-'
    return kind === 1
      ? `${paint('32', sign, '')}${paint('32', code, '')}`
      : paint('31', sign + code, '')
  })
  const name = pick(random, NAMES)
  const head = ['diff --git', 'index', '---', '+++'].map((start, at) =>
    paint(
      '1',
      at === 1 ? `index ${hex(random, 8)}..${hex(random, 8)} 100644` : `${start} a/src/${name}.ts`,
      '',
    ),
  )
  return `${[...head, `${paint('36', `@@ -1,${random(40)} +1,${random(40)} @@`, '')} ${name}()`, ...lines].join('\n')}\n`
}

function matches(random: Random): string {
  const word = pick(random, NAMES)
  const rows = Array.from({ length: 10 + random(30) }, (_, at) => {
    const file = `\u001b[35m\u001b[Ksrc/${NAMES[Math.floor(at / 4) % NAMES.length]}.ts\u001b[m\u001b[K`
    const colon = '\u001b[36m\u001b[K:\u001b[m\u001b[K'
    return `${file}${colon}\u001b[32m\u001b[K${1 + at * 3}\u001b[m\u001b[K${colon}  return \u001b[01;31m\u001b[K${word}\u001b[m\u001b[K(${random(90)})`
  })
  return `${rows.join('\n')}\n`
}

function commits(random: Random): string {
  const rows = Array.from({ length: 12 + random(30) }, (_, at) => {
    const refs =
      at === 0
        ? ` ${paint('33', '(', '')}${paint('1;36', 'HEAD', '')} ${paint('1;32', 'main', '')}${paint('33', ')', '')}`
        : ''
    return `${paint('33', hex(random, 8), '')}${refs} fix(${pick(random, NAMES)}): ${pick(random, ['read', 'keep', 'close'])} the ${pick(random, NAMES)}`
  })
  return `${rows.join('\n')}\n`
}

function download(random: Random): string {
  const total = 40 + random(400)
  const frames = Array.from({ length: 15 + random(40) }, (_, at, all = 54) => {
    const part = Math.min(1, at / all)
    const filled = Math.round(part * 20)
    return `${String(Math.round(part * 100)).padStart(3)}%|${'█'.repeat(filled)}${' '.repeat(20 - filled)}| ${Math.round(part * total)}/${total} [00:${10 + at}<00:${70 - at}, ${random(90)}.${random(90)}MB/s]`
  })
  return `Downloading ${pick(random, NAMES)}-${version(random)}.tar.gz\n\r${frames.join('\r')}\nDone.\n`
}

function install(random: Random): string {
  const frames = Array.from({ length: 20 + random(30) }, (_, at) => {
    return `\u001b[1G\u001b[0K⠙⠹⠸⠼⠴⠦`[(at % 6) + 8] === undefined
      ? ''
      : `\u001b[1G\u001b[0K${'⠙⠹⠸⠼⠴⠦'[at % 6]} reify:${pick(random, NAMES)}: ${paint('32', 'timing')} reifyNode:node_modules/${pick(random, NAMES)} Completed in ${random(900)}ms`
  })
  return `${frames.join('')}\u001b[1G\u001b[0K\nadded ${random(400)} packages in ${random(30)}s\n`
}

function spinner(random: Random): string {
  const layers = Array.from({ length: 3 + random(4) }, () => hex(random, 12))
  const frames = Array.from({ length: 20 + random(30) }, (_, at) => {
    const layer = pick(random, layers)
    return `${layer}: Extracting [${'='.repeat(at % 40)}>${' '.repeat(40 - (at % 40))}] ${at * 3}.${random(9)}MB/180MB`
  })
  return `Using default tag: latest\n${frames.join('\r')}\nStatus: Downloaded\n`
}
