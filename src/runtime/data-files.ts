/** The ledger's file in the data folder. Its name is known here without loading SQLite. */
export const LEDGER_FILE = 'ledger.sqlite'
