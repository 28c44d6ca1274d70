/** The calls that a note on a search chain looks at; the answered one is the last of them. */
export const CHAIN_CALLS = 7

/** So many searches among them are a chain (SOURCES.md#views, "Multi-Query Search": 5 of 7). */
export const CHAIN_SEARCHES = 5
