/** A terminal's screen as an SVG, in colours for light and for dark pages. */

const CHARACTER = 8.4
const LINE = 20
const MARGIN = 16

/** Classes by the codes that our commands write; the colour repeats what the text says. */
const CLASSES: Readonly<Record<string, string>> = { 1: 'b', 2: 'd', 32: 'g', 31: 'r' }

const STYLE = [
  '.w{fill:#fbfbf9;stroke:#dcdfe3}',
  'text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;',
  'fill:#1d2024;white-space:pre}',
  '.b{font-weight:700}.d{fill:#686f78}.g{fill:#0b7a6b}.r{fill:#b42318}',
  '@media(prefers-color-scheme:dark){.w{fill:#171b20;stroke:#2a3038}text{fill:#e9ebee}',
  '.d{fill:#9aa3ae}.g{fill:#43c7b0}.r{fill:#ff8d82}}',
].join('')

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/**
 * @param command what was typed
 * @param output with the escape sequences of its colours
 */
export function terminalSvg(command: string, output: string): string {
  const lines = [`\x1b[2m$ ${command}\x1b[0m`, '', ...output.trimEnd().split('\n')].map(spansOf)
  const longest = Math.max(
    ...lines.map(spans => spans.reduce((sum, { text }) => sum + text.length, 0)),
  )
  const width = Math.ceil(longest * CHARACTER + 2 * MARGIN)
  const height = lines.length * LINE + 2 * MARGIN
  const rows = lines
    .map((spans, at) => rowOf(spans, MARGIN + 14 + at * LINE))
    .filter(row => row !== '')
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-label="${escaped(command)}">`,
    `<style>${STYLE}</style>`,
    `<rect class="w" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="10"/>`,
    ...rows,
    '</svg>\n',
  ].join('\n')
}

interface Span {
  readonly text: string
  readonly kind: string | undefined
}

/** The parts of a line by their colour. */
function spansOf(line: string): readonly Span[] {
  const [start = '', ...painted] = line.split('\x1b[')
  const spans = painted.map(part => {
    const [code = ''] = part.split('m', 1)
    return { text: part.slice(code.length + 1), kind: CLASSES[code] }
  })
  return [{ text: start, kind: undefined }, ...spans].filter(({ text }) => text !== '')
}

/** Each span stands where its column is, whatever font the reader has. */
function rowOf(spans: readonly Span[], y: number): string {
  let column = 0
  const parts = spans.map(({ text, kind }) => {
    const x = (MARGIN + column * CHARACTER).toFixed(1)
    const length = (text.length * CHARACTER).toFixed(1)
    column += text.length
    const named = kind === undefined ? '' : ` class="${kind}"`
    return `<tspan x="${x}"${named} textLength="${length}" xml:space="preserve">${escaped(text)}</tspan>`
  })
  return parts.length === 0 ? '' : `<text y="${y}">${parts.join('')}</text>`
}
