import { describe, expect, it, onTestFinished } from 'vitest'
import type { RedisNode } from '../../../../src/core/base/redis-address.ts'
import { Sentinels } from '../../../../src/store/redis/sentinels.ts'
import { eventually } from '../../../support/eventually.ts'

const LONG_MS = 600_000
const PRIMARY = { host: 'a', port: 1 }

/** What each Sentinel says: a port of host `a`, that it is not there, or nothing for ever. */
type Says = number | 'unknown' | 'away' | 'hangs'

function sentinelsThatSay(says: Says[], disputeMs = LONG_MS, blindMs = LONG_MS) {
  const counts = { open: 0 }
  const nodes = says.map((_, i): RedisNode => ({ host: `sentinel-${i}`, port: 26_379 }))
  const sentinels = new Sentinels({
    ...{ nodes, primaryName: 'mine', disputeMs, blindMs },
    async connect(node) {
      const at = nodes.indexOf(node)
      if (says[at] === 'away') throw new Error('away')
      counts.open++
      return {
        async send(_key, args) {
          expect(args).toEqual(['SENTINEL', 'get-master-addr-by-name', 'mine'])
          const said = says[at]
          if (said === 'hangs') return new Promise(() => {})
          if (said === 'away') throw new Error('gone')
          return said === 'unknown' ? null : ['a', `${said}`]
        },
        close: () => void counts.open--,
      }
    },
  })
  onTestFinished(() => sentinels.close())
  return { sentinels, counts }
}

describe('Sentinels', () => {
  it.each<[string, Says[]]>([
    ['all', [1, 1, 1]],
    ['those that are there', ['away', 1, 'away']],
    ['those that know it', ['unknown', 1]],
    ['most, if another one does not answer', [1, 'hangs', 1]],
  ])('name the primary: %s', async (_, says) => {
    expect(await sentinelsThatSay(says).sentinels.primary()).toEqual(PRIMARY)
  })

  it('do not name it if none of them knows it', async () => {
    const { sentinels } = sentinelsThatSay(['away', 'unknown'])
    await expect(sentinels.primary()).rejects.toThrow('Socket: no Sentinel knows the primary')
  })

  it('do not name it while they disagree, and after that most of them do', async () => {
    const { sentinels } = sentinelsThatSay([2, 1, 1])
    await expect(sentinels.primary()).rejects.toThrow('different primaries')
    await expect(sentinels.primary()).rejects.toThrow('different primaries')
    expect(await sentinelsThatSay([2, 1, 1], 0).sentinels.primary()).toEqual(PRIMARY)
    expect(await sentinelsThatSay([1, 2], 0).sentinels.primary()).toEqual(PRIMARY)
  })

  it('are watched until one names another primary', async () => {
    const says: Says[] = [1, 1, 1]
    const { sentinels } = sentinelsThatSay(says)
    const errors: string[] = []
    sentinels.watch(PRIMARY, error => void errors.push(error.message))
    says[0] = 'away'
    await sentinels.primary()
    expect(errors).toEqual([])
    says[2] = 2
    await eventually(() => expect(errors).toEqual(['Socket: the Sentinels name another primary']))
  })

  it('do not end a connection because none of them answers', async () => {
    const says: Says[] = [1]
    const { sentinels, counts } = sentinelsThatSay(says)
    const errors: Error[] = []
    const stop = sentinels.watch(PRIMARY, error => void errors.push(error))
    await eventually(() => expect(counts.open).toBe(1))
    says[0] = 'away'
    await eventually(() => expect(counts.open).toBe(0))
    says[0] = 1
    await eventually(() => expect(counts.open).toBe(1))
    stop()
    sentinels.close()
    await eventually(() => expect(counts.open).toBe(0))
    expect(errors).toEqual([])
  })

  it('leave a process blind while most of them are not heard', async () => {
    const says: Says[] = ['away', 1, 'away']
    const { sentinels } = sentinelsThatSay(says)
    await sentinels.primary()
    expect(sentinels.isBlind).toBe(true)
    says[0] = 1
    await sentinels.primary()
    expect(sentinels.isBlind).toBe(false)
    const hasty = sentinelsThatSay([1], LONG_MS, -1)
    await hasty.sentinels.primary()
    expect(hasty.sentinels.isBlind).toBe(true)
  })
})
