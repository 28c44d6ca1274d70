import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { terminalSvg } from '../../../scripts/pictures/terminal-svg.ts'
import { commandPictures } from '../../../scripts/pictures.ts'

it('are what the commands print today: npm run pictures', async () => {
  const folder = new URL('../../../docs/guide/pictures/', import.meta.url)
  const pictures = await commandPictures()
  expect([...pictures.keys()]).toEqual(['gain.svg'])
  for (const [name, svg] of pictures) {
    expect(svg).toBe(readFileSync(new URL(name, folder), 'utf8'))
  }
})

it('escape what is text, and paint what is painted', () => {
  const svg = terminalSvg('a "b"', '\x1b[31m−1 <&\x1b[0m plain\n')
  expect(svg).toContain('aria-label="a &quot;b&quot;"')
  expect(svg).toContain(' class="r" textLength="42.0" xml:space="preserve">−1 &lt;&amp;</tspan>')
  expect(svg).toMatch(/x="58\.0" textLength="50\.4" xml:space="preserve"> plain<\/tspan>/)
})
