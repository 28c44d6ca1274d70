/** What a real tool would read from a database. */
export function listOrders({ customer }) {
  return Array.from({ length: 100 }, (_, n) => {
    return { id: n + 1, customer, state: (n + 1) % 7 ? 'sent' : 'lost', total: 10 * (n + 1) }
  })
}
