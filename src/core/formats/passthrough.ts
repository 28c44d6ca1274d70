/**
 * The answer's `format` if the input went out unchanged: prose, and everything that no format
 * made smaller. It has no encoder: there is no value behind it, and it has no version because it
 * has no grammar.
 */
export const PASSTHROUGH = 'passthrough'
