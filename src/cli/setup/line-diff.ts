/** Lines around the change that are shown. */
const CONTEXT = 2

/**
 * The lines that differ between two texts that have one place of change, with some around them:
 * `-` before removed ones, `+` before added ones.
 */
export function lineDiff(before: string, after: string): string {
  const [old, now] = [before.split('\n'), after.split('\n')]
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
    .map(line => line.trimEnd())
    .filter(line => line !== '')
    .join('\n')
}
