/**
 * The answer's `format` where the input went out as it came: prose, and everything that no notation
 * made smaller. It is no `Notation`: there is no value behind it, and it has no version because it
 * has no grammar.
 */
export const PASSTHROUGH = 'passthrough'
