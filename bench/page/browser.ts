import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { median } from '../support/statistics.ts'

const PLACES = [process.env['CHROMIUM'], '/usr/bin/chromium', '/usr/bin/chromium-browser']
const ROUNDS = 7
const MIB = 2 ** 20
/** Runs in the page, whose types are not those of Node. */
const FIRST_PAINT = `new Promise(resolve => {
  const seen = entries => {
    const first = entries.find(({ name }) => name === 'first-contentful-paint')
    if (first !== undefined) resolve(first.startTime)
  }
  const observer = new PerformanceObserver(list => seen(list.getEntries()))
  observer.observe({ type: 'paint', buffered: true })
})`

/** For each page: milliseconds until it is first painted, and MiB of heap of the loaded page. */
export async function paintsOf(
  url: string,
  pages: readonly (readonly [name: string, path: string])[],
): Promise<string[][]> {
  const executablePath = PLACES.find(place => place !== undefined && existsSync(place))
  if (executablePath === undefined) throw new Error('no Chromium: apt-get install chromium')
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  try {
    const rows: string[][] = []
    for (const [, path] of pages) rows.push(await paintOf(browser, url + path))
    return rows
  } finally {
    await browser.close()
  }
}

/** Every visit is a first one: its context has no cache. */
async function paintOf(browser: Browser, address: string): Promise<string[]> {
  const paints: number[] = []
  const heaps: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const context = await browser.newContext()
    const page = await context.newPage()
    const session = await context.newCDPSession(page)
    await page.goto(address)
    paints.push(await page.evaluate<number>(FIRST_PAINT))
    const { usedSize } = await session.send('Runtime.getHeapUsage')
    heaps.push(usedSize)
    await context.close()
  }
  return [median(paints).toFixed(0), (median(heaps) / MIB).toFixed(1)]
}
