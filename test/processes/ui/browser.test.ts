import { hash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  SAMPLE_SESSION,
  writeSampleLedger,
  writeSampleSession,
} from '../../../scripts/pictures/sample-ledger.ts'
import { keyFor, writeKeysFile } from '../../support/keys.ts'
import {
  PROCESS_SETTINGS,
  type ServiceProcess,
  startProcess,
} from '../../support/service-process.ts'

/** Where Debian, Fedora and others put it; `CHROMIUM` names another place. */
const PLACES = [process.env['CHROMIUM'], '/usr/bin/chromium', '/usr/bin/chromium-browser']
const executablePath = PLACES.find(place => place !== undefined && existsSync(place))
const SKIP = process.env['TEST_WITHOUT_BROWSER'] === '1'
/** Where pictures for `docs/guide/operations.md` go; none are made without it. */
const PICTURES = process.env['TEST_PICTURES']

/** Whole pages, for who looks at them. */
const FULL = process.env['TEST_PICTURES_FULL'] === '1'

const SESSION = 'a session'
const HOSTILE = '<script>document.title="taken"</script></textarea>\u202e\u0000\u001b[31m\ud800'

let service: ServiceProcess
let browser: Browser
let folder: string
const reader = keyFor('team', { scopes: ['ui', 'encode', 'retrieve', 'admin'] })
/** Of a team that has sent nothing yet. */
const newcomer = keyFor('new-team', { scopes: ['ui', 'encode'] })

async function encode(body: object, { headers } = reader): Promise<void> {
  const answer = await fetch(`${service.url}/v1/encode`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(answer.status).toBe(200)
}

const ROWS = Array.from({ length: 40 }, (_, id) => ({ id, name: `item ${id}`, state: 'open' }))
const TEXTS = [0, 1, 2, 3, 4].map(at => JSON.stringify(ROWS.map(row => ({ ...row, page: at }))))

async function fill(): Promise<void> {
  for (const content of TEXTS) {
    await encode({ content, tool: 'list_items', session: SESSION })
    await encode({ content, tool: 'list_items', session: SESSION })
  }
  if (PICTURES !== undefined) return
  await encode({ content: HOSTILE, tool: `${HOSTILE} tool`, session: SESSION })
  await encode({ content: 'x'.repeat(400_000), tool: 'long', session: SESSION })
}

beforeAll(async () => {
  if (SKIP) return
  if (executablePath === undefined) {
    throw new Error('no Chromium: apt-get install chromium, or set TEST_WITHOUT_BROWSER=1')
  }
  folder = mkdtempSync(join(tmpdir(), 'haversack-ui-'))
  writeKeysFile(join(folder, 'keys.json'), reader, newcomer)
  const settings = `${readFileSync(PROCESS_SETTINGS, 'utf8')}\n[ui]\nkeep_texts = "on"\n`
  writeFileSync(join(folder, 'settings.toml'), settings)
  const data = join(folder, 'data')
  service = await startProcess({
    env: {
      HAVERSACK_CONFIG: join(folder, 'settings.toml'),
      HAVERSACK_KEYS_FILE: join(folder, 'keys.json'),
      HAVERSACK_DATA_DIR: data,
    },
  })
  await fill()
  await writeSampleLedger(data, Date.now(), 'team')
  await writeSampleSession(data, Date.now(), 'team')
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
})

afterAll(async () => {
  await browser?.close()
  service?.child.kill('SIGTERM')
  await service?.exited
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
})

/** A page whose reader has entered, and what its console said. */
async function enter(
  context: BrowserContext,
  { key } = reader,
): Promise<{ page: Page; said: string[] }> {
  const page = await context.newPage()
  const said: string[] = []
  page.on('console', message => said.push(`${message.type()}: ${message.text()}`))
  page.on('pageerror', error => said.push(String(error)))
  page.on('dialog', dialog => said.push(`dialog: ${dialog.message()}`))
  await page.goto(`${service.url}/`)
  await page.getByLabel('Key').fill(key)
  await page.getByRole('button', { name: 'Enter' }).click()
  await page.waitForURL('**/ui')
  return { page, said }
}

/** The paths of all pages, with those of a conversation and of its results. */
async function pathsOf(page: Page): Promise<readonly string[]> {
  await page.goto(`${service.url}/ui/conversations`)
  const first = (selector: string) => page.locator(selector).first().getAttribute('href')
  const conversation = await first('.sess a:has-text("(no repository)")')
  const billed = `/ui/conversations/${SAMPLE_SESSION}`
  await page.goto(service.url + conversation)
  const rows = page.locator('.res > li')
  const ids = await rows.evaluateAll(all => all.map(each => each.id.slice(1)))
  const links = ids.map(id => `/ui/results/${id}`)
  const kept = `/ui/kept/${hash('sha256', TEXTS[0]!)}`
  return [
    ...[kept, `${kept}?path=$[1:3]`],
    ...[
      '/ui?window=30d',
      '/ui?window=7d',
      '/ui',
      `${conversation}?open=${ids[0]}`,
      '/ui/tools',
      '/ui/conversations',
      '/ui/try',
      '/ui/service',
    ],
    ...[conversation!, billed, links[0]!, links[1]!, links.at(-2)!, links.at(-1)!, '/ui/nothing'],
  ]
}

/** What would keep some readers from using the page, by axe's rules. */
async function seriousFindings(page: Page): Promise<readonly string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze()
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
}

describe.skipIf(SKIP)('the page in a browser', () => {
  it.each([
    ['light', 1_280, true],
    ['dark', 1_280, false],
    ['light', 375, false],
    ['dark', 375, true],
  ] as const)('is whole and silent: %s, %d wide', async (colorScheme, width, isExamined) => {
    const viewport = { width, height: width > 900 ? 900 : 812 }
    const context = await browser.newContext({ colorScheme, viewport })
    const { page, said } = await enter(context)
    for (const path of await pathsOf(page)) {
      await page.goto(service.url + path)
      // One colour scheme and one width at a time show what either has.
      if (isExamined) expect([path, await seriousFindings(page)]).toEqual([path, []])
      const overflow = await page.evaluate('document.documentElement.scrollWidth')
      expect([path, overflow]).toEqual([path, width])
      expect(await page.title()).toMatch(/ · Haversack$/)
      if (PICTURES !== undefined) await takePicture(page, path, colorScheme)
    }
    // The browser itself reports the page that is not there.
    expect(said.filter(line => !line.includes('404'))).toEqual([])
    await context.close()
  })

  it('shows new results without being loaded again', async () => {
    const context = await browser.newContext()
    const { page, said } = await enter(context)
    await page.evaluate("document.body.dataset.mark = 'same page'")
    await encode({ content: 'something new', tool: 'brand-new' })
    await page.getByText('brand-new').first().waitFor()
    expect(await page.evaluate('document.body.dataset.mark')).toBe('same page')
    expect(said).toEqual([])
    await context.close()
  })

  it('shows the first steps, and moves by itself when something comes', async () => {
    const context = await browser.newContext({ viewport: { width: 375, height: 812 } })
    const { page, said } = await enter(context, newcomer)
    await page.getByText('waiting for the first result').waitFor()
    expect(await seriousFindings(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375)
    await encode({ content: TEXTS[0], tool: 'first-of-all' }, newcomer)
    await page.getByText('first-of-all').first().waitFor()
    expect(said).toEqual([])
    await context.close()
  })

  it('is used by keys alone, and says what was saved on the first screen of a phone', async () => {
    const context = await browser.newContext({ viewport: { width: 375, height: 812 } })
    const { page } = await enter(context)
    const saved = await page.getByText('Saved', { exact: true }).first().boundingBox()
    expect(saved!.y).toBeLessThan(300)
    await page.goto(`${service.url}/ui/conversations/${SAMPLE_SESSION}`)
    for (const key of ['j', 'j', 'k', 'Enter']) await page.keyboard.press(key)
    await page.waitForURL(/open=\d+#r\d+$/)
    await page.locator('li[aria-current]').waitFor()
    await page.keyboard.press('?')
    await page.getByText('the session before').waitFor()
    await page.keyboard.press('/')
    await page.waitForURL('**/ui/tools')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('table').first().waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('jk')
    expect(await page.getByLabel('Tool', { exact: true }).inputValue()).toBe('jk')
    await page.goto(`${service.url}/ui/conversations/${SAMPLE_SESSION}`)
    await page.keyboard.press(']')
    await page.waitForURL(/conversations\/(?!c0ffee)/)
    await context.close()
  })

  it('works without scripts: forms, tables and links', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const { page } = await enter(context)
    await page.getByRole('link', { name: 'Tools' }).click()
    await page.getByLabel('Tool', { exact: true }).fill('list')
    await page.getByRole('button', { name: 'Show' }).click()
    expect(page.url()).toContain('tool=list')
    await page.getByRole('link', { name: 'Try it' }).click()
    await page.getByLabel('Result').fill('[{"a":1,"b":"x"},{"a":2,"b":"y"},{"a":3,"b":"z"}]')
    await page.getByRole('button', { name: 'Encode' }).click()
    await page.getByText('decoded just now: it gives the original').waitFor()
    await page.getByRole('button', { name: 'Leave' }).click()
    await page.waitForURL('**/ui/login')
    await page.goto(`${service.url}/ui`)
    expect(page.url()).toContain('/ui/login')
    await context.close()
  })

  it('ends its streams when the service drains', async () => {
    const context = await browser.newContext()
    await enter(context)
    const ended = performance.now()
    service.child.kill('SIGTERM')
    expect(await service.exited).toBe(0)
    expect(performance.now() - ended).toBeLessThan(10_000)
    await context.close()
  })
})

/** The pages of which there are pictures, by their names; the last two for phones as well. */
const PICTURED = [
  ['tools', /^\/ui\/tools$/],
  ['result', /^\/ui\/results\//],
  ['try', /^\/ui\/try$/],
  ['service', /^\/ui\/service$/],
  ['overview', /^\/ui$/],
  ['conversation', new RegExp(`/${SAMPLE_SESSION}$`)],
] as const

async function takePicture(page: Page, path: string, colorScheme: string): Promise<void> {
  const at = PICTURED.findIndex(([, pattern]) => pattern.test(path))
  const isPhone = page.viewportSize()!.width < 900
  if (at < 0 || (isPhone && at < 4)) return
  mkdirSync(PICTURES!, { recursive: true })
  const file = `${PICTURED[at]![0]}${isPhone ? '-phone' : ''}-${colorScheme}.png`
  await page.screenshot({ path: join(PICTURES!, file), fullPage: FULL })
}
