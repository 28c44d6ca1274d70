import { expect, it } from 'vitest'
import { Tickets } from '../../../bench/mcp/tickets.ts'

const answer = (nonce: number, server: number, number: number) =>
  `"nonce${nonce}x${server}x${number}x"`

it('finds nothing in answers that are right', () => {
  const tickets = new Tickets()
  tickets.take(answer(1, 0, 1), 'nonce1', 0)
  tickets.take(answer(2, 1, 1), 'nonce2', 1)
  tickets.take(answer(3, 0, 2), 'nonce3', 0)
  expect(tickets.counts()).toEqual({ lost: 0, crossed: 0, doubled: 0 })
})

it.each([
  [
    'an answer of another call',
    { crossed: 1 },
    (t: Tickets) => t.take(answer(9, 0, 2), 'nonce2', 0),
  ],
  [
    'an answer of another server',
    { crossed: 1 },
    (t: Tickets) => t.take(answer(2, 1, 1), 'nonce2', 0),
  ],
  ['an answer without a ticket', { crossed: 1 }, (t: Tickets) => t.take('an error', 'nonce2', 0)],
  ['an answer twice', { doubled: 1 }, (t: Tickets) => t.take(answer(2, 0, 1), 'nonce2', 0)],
  [
    'two answers in one',
    { doubled: 1 },
    (t: Tickets) => t.take(answer(2, 0, 2) + answer(2, 0, 2), 'nonce2', 0),
  ],
  ['a call that ran twice', { doubled: 1 }, (t: Tickets) => t.take(answer(2, 0, 3), 'nonce2', 0)],
  ['a call without an answer', { lost: 1 }, (t: Tickets) => t.lost()],
] as [string, object, (tickets: Tickets) => void][])('finds %s', (_, expected, plant) => {
  const tickets = new Tickets()
  tickets.take(answer(1, 0, 1), 'nonce1', 0)
  plant(tickets)
  expect(tickets.counts()).toEqual({ lost: 0, crossed: 0, doubled: 0, ...expected })
})
