/** An offer of a list with one entry. */
export const OFFER = { trigger: 'list', target: 'get', prior: 0.5, rank: 1, listed: 1 }
