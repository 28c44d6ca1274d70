/**
 * Formats of answers that refer to earlier results: their content means something in its session
 * only.
 */
export const REFERENCE_FORMAT = 'ref@1'
export const NEAR_FORMAT = 'near@1'
export const LINES_FORMAT = 'lines@1'
