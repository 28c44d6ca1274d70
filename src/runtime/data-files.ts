/** The ledger's file in the data folder. Its name is known here without loading SQLite. */
export const LEDGER_FILE = 'ledger.sqlite'

/** The key of the texts in the ledger, if the store has none. */
export const TEXTS_KEY_FILE = 'texts.key'

/** There if the user was told that texts are kept. */
export const TEXTS_SAID_FILE = 'texts.said'
