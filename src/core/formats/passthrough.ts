/**
 * The answer's `format` if the input went out unchanged: prose, and everything that no format made
 * smaller. It is no `JsonFormat`: there is no value after it, and it has no version because it has
 * no grammar.
 */
export const PASSTHROUGH = 'passthrough'
