/**
 * Which paths of the context a build sees, from a `.dockerignore` that keeps everything out (`*`)
 * and lets named paths back in (`!src`). Other patterns are a fault: this project wants a list of
 * what goes in.
 */
export function contextFilter(source: string): (path: string) => boolean {
  const [first, ...rest] = source.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  if (first !== '*') throw new Error('.dockerignore: the first pattern must be *')
  const allowed = rest.map(pattern => {
    if (!/^![\w./-]+$/.test(pattern)) throw new Error(`.dockerignore: not a plain path: ${pattern}`)
    return pattern.slice(1)
  })
  return path => allowed.some(name => path === name || path.startsWith(`${name}/`))
}
