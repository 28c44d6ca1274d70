import { hasMarkup } from '../classify/inner-formats.ts'

/** From this size on the markup of a page is left out. */
const MAX_MARKUP_BYTES = 4_096
/** An intent with one of these words is about the markup itself. */
const ABOUT_MARKUP = /^(?:html|dom|markup|selector|xpath)s?$/
const BROWSER = /browser|playwright|puppeteer|selenium|chrome|webdriver|(?:^|_)dom(?:_|$)/i

/** Whether a tool is one of a browser, by its name or its server's. */
export function isBrowser(tool: string, server: string): boolean {
  return BROWSER.test(tool) || BROWSER.test(server)
}

/**
 * Whether a result is markup of a browser's tool that should be elided: above 4 kB, unless the
 * intent is about markup (SOURCES.md#planner, pattern 9).
 * @param server that offers the tool: many tools of browsers are named by what they do alone
 * @param keywords of the intent, see `intentKeywords`
 */
export function capsMarkup(
  tool: string,
  server: string,
  text: string,
  keywords: readonly string[],
): boolean {
  if (!isBrowser(tool, server) || keywords.some(word => ABOUT_MARKUP.test(word))) return false
  return Buffer.byteLength(text) > MAX_MARKUP_BYTES && hasMarkup(text)
}
