import { describe, expect, it } from 'vitest'
import { readParquet } from '../../../src/fingerprints/parquet-file.ts'
import {
  chunksOf,
  DICTIONARY,
  firstHeader,
  length,
  page,
  withFooter,
  withPages,
} from './crafted-parquet.ts'

const LIST = 'inner_formats_top3'
const MAX_ROWS = 2_500

/**
 * A million times level or index 1: what a reader that comes to it would write out. A true bomb
 * says a billion.
 */
const MILLION = [0x80, 0x80, 0x80, 0x01, 0x01]
/** Five times level 1. */
const FIVE = [10, 1]

/** Why a file is refused. */
async function refusal(file: Uint8Array): Promise<string> {
  const read = readParquet(file, MAX_ROWS)
  await expect(read).rejects.toMatchObject({ code: 'invalid_request' })
  return read.then(
    () => '',
    error => error.detail,
  )
}

/** A page of the first kind in the list of formats, which has levels of both sorts. */
const listPage = (values: number, body: readonly number[]) =>
  withPages(LIST, [page({ type: 0, field_5: firstHeader(values) }, body)])

describe('a run that a reader would come to', () => {
  it('is found behind levels that are said to be shorter', async () => {
    const file = listPage(5, [...length(0), ...MILLION, ...length(0), 0])
    expect(await refusal(file)).toContain('has too few levels')
  })

  it('is found behind a packed run of nothing, of which a reader takes a byte', async () => {
    const file = listPage(5, [...length(8), 1, 7, ...MILLION, 0, ...length(0)])
    expect(await refusal(file)).toContain('has an empty run')
  })

  it('is found behind a length of more than 32 bits, which a reader takes for a shorter one', async () => {
    const wide = [0x83, 0x80, 0x80, 0x80, 0x10, 0xff]
    const file = listPage(50, [...length(12), ...wide, ...MILLION, ...length(0), 0, 0])
    expect(await refusal(file)).toContain('has a run without end')
  })

  it('is found in a page that has the headers of two kinds', async () => {
    const harmless = { field_1: 1, field_2: 0, field_3: 1, field_4: 0, field_5: 0, field_6: 0 }
    const body = [...length(MILLION.length), ...MILLION, ...length(0)]
    const both = page({ type: 0, field_5: firstHeader(5), field_8: harmless }, body)
    expect(await refusal(withPages(LIST, [both]))).toContain('longer than its page')
    const neither = page({ type: 3, field_5: firstHeader(5) }, body)
    expect(await refusal(withPages(LIST, [neither]))).toContain('pages of an unknown kind')
  })

  it('is found among indexes of no bits', async () => {
    const fields = { field_1: 5, field_2: 0, field_3: 5, field_4: DICTIONARY, field_5: 2 }
    const second = page({ type: 3, field_8: { ...fields, field_6: 2, field_7: false } }, [
      ...FIVE,
      ...FIVE,
      0,
      ...MILLION.slice(0, -1),
    ])
    expect(await refusal(withPages(LIST, [second]))).toContain('longer than its page')
  })

  it('is found in a page before the file’s end, where readers look for offsets below 0', async () => {
    const file = withPages(LIST, [page({ type: 0, field_5: firstHeader(0) }, [])], chunk => {
      chunk.dictionary_page_offset = -1_000n
    })
    expect(await refusal(file)).toContain('is cut off')
  })
})

describe('what a file announces', () => {
  it('is refused where row groups of less than nothing make up for one of a billion', async () => {
    const file = withFooter(metadata => {
      const [group] = metadata.row_groups
      metadata.row_groups = [
        { ...group!, num_rows: 1_000_000n },
        { ...group!, columns: [], num_rows: 5n - 1_000_000n },
      ]
    })
    expect(await refusal(file)).toContain('row groups of less than nothing')
  })

  it('is refused where many small pages have more values together than rows can have', async () => {
    const dictionary = page({ type: 2, field_7: { field_1: 1, field_2: 0 } }, [
      ...length(3),
      ...Buffer.from('url'),
    ])
    const run = [0x80, 0xe2, 0x09, 1]
    const body = [...length(run.length), ...run, ...length(run.length), ...run, 0]
    const many = page({ type: 0, field_5: firstHeader(80_000, DICTIONARY) }, body)
    const file = (pages: number) =>
      withPages(LIST, [dictionary, ...Array.from({ length: pages }, () => many)], (chunk, at) => {
        chunk.dictionary_page_offset = BigInt(at)
      })
    expect(await refusal(file(3))).toContain('has too many values')
  })

  it('is refused where a column is written as something else than its schema says', async () => {
    const file = withFooter(metadata => {
      chunksOf(metadata)[0]!.type = 'BOOLEAN'
    })
    expect(await refusal(file)).toContain('does not fit its schema')
  })

  it.each([
    ['a decimal, which takes quadratic time', { converted_type: 'DECIMAL' }],
    ['JSON', { converted_type: 'JSON' }],
    ['a date', { logical_type: { type: 'DATE' } }],
    ['bits', { type: 'BOOLEAN' }],
  ] as const)('is refused where a column is %s', async (_, change) => {
    const file = withFooter(metadata => Object.assign(metadata.schema[1]!, change))
    expect(await refusal(file)).toContain('a column of an unknown kind: endpoint_class')
  })

  it('is refused with lists in lists, with a column twice, or with very many', async () => {
    const inner = { name: 'x', repetition_type: 'REPEATED', num_children: 1 } as const
    const nested = withFooter(({ schema }) => {
      schema.splice(2, 1, { ...schema[2]!, num_children: 1 }, inner, inner, {
        ...schema[2]!,
        name: 'leaf',
      })
    })
    expect(await refusal(nested)).toContain('a column of an unknown kind: leaf')
    const twice = withFooter(({ schema }) => {
      schema[0]!.num_children! += 1
      schema.push(schema[1]!)
    })
    expect(await refusal(twice)).toContain('has a column twice')
    const wide = withFooter(({ schema }) => {
      schema[0]!.num_children! += 300
      schema.push(
        ...Array.from({ length: 300 }, (_, index) => ({ ...schema[1]!, name: `c${index}` })),
      )
    })
    expect(await refusal(wide)).toContain('has too many columns')
  })

  it('may have more columns than are known, of any kind', async () => {
    const file = withFooter(({ schema }) => {
      schema[0]!.num_children! += 1
      schema.push({
        name: 'day',
        type: 'INT32',
        repetition_type: 'REQUIRED',
        converted_type: 'DATE',
      })
    })
    expect(await readParquet(file, MAX_ROWS)).toHaveLength(5)
  })

  it('is refused with very many row groups', async () => {
    const file = withFooter(metadata => {
      const empty = { ...metadata.row_groups[0]!, columns: [], num_rows: 0n }
      metadata.row_groups.push(...Array.from({ length: 200 }, () => empty))
    })
    expect(await refusal(file)).toContain('has above 100 row groups')
  })
})
