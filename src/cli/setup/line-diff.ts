/** Lines around the change that are shown. */
const CONTEXT = 2

/** A name whose value is a secret, and its sign. */
const NAME =
  /(?:^\s*(?:export\s+)?|["'\s{,])[\w.-]*(?:key|token|secret|passw|credential|auth)[\w.-]*["']?\s*[:=]\s*/
/** Such a value: in quotes, or to the end of the line. */
const VALUE = /"(?:[^"\\]|\\.)*"|'[^']*'|[^"'{[\s].*/
const SECRET = new RegExp(`(${NAME.source})(${VALUE.source})`, 'gi')
/** What a URL has before its host. */
const USER = /(:\/\/)[^\s/@"']+@/g

/**
 * The lines that differ between two texts that have one place of change, with some around them:
 * `-` before removed ones, `+` before added ones. People copy what a terminal shows, so secrets are
 * left out.
 */
export function lineDiff(before: string, after: string): string {
  const [old, now] = [before, after].map(linesOf) as [readonly string[], readonly string[]]
  const most = Math.min(old.length, now.length)
  let same = 0
  while (same < most && old[same] === now[same]) same++
  let rest = 0
  while (rest < most - same && old.at(-1 - rest) === now.at(-1 - rest)) rest++
  const kept = (line: string) => `  ${line}`
  return [
    ...old.slice(Math.max(0, same - CONTEXT), same).map(kept),
    ...old.slice(same, old.length - rest).map(line => `- ${line}`),
    ...now.slice(same, now.length - rest).map(line => `+ ${line}`),
    ...old.slice(old.length - rest, old.length - rest + CONTEXT).map(kept),
  ]
    .map(line => line.replace(SECRET, '$1…').replace(USER, '$1…@').trimEnd())
    .filter(line => line !== '')
    .join('\n')
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}
