import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { WHY } from '../../../scripts/configuration/why.ts'
import { FILES, KEYS } from '../../../scripts/configuration.ts'

const keys = KEYS.map(({ path }) => path)

it.each(FILES.map(({ file, textOf }) => [file.pathname.split('/').at(-1), file, textOf] as const))(
  '%s is what `npm run settings` writes',
  (_, file, textOf) => {
    expect(textOf()).toBe(readFileSync(file, 'utf8'))
  },
)

it('each key has a reason and one row of the page, and no other has', () => {
  expect(Object.keys(WHY).sort()).toEqual(keys.toSorted())
  const page = readFileSync(FILES[1].file, 'utf8')
  const rows = [...page.matchAll(/^\|`([^`]+)`/gm)].map(([, key]) => key)
  expect(rows.toSorted()).toEqual(keys.toSorted())
})
