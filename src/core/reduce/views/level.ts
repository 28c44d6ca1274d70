/**
 * How much of a result is shown. `full`: everything, as the request's mode says. `standard`: what a
 * view shows of it. `compact`: what its stricter view shows, without the bulk of lists and texts.
 */
export const VIEW_LEVELS = ['full', 'standard', 'compact'] as const
export type ViewLevel = (typeof VIEW_LEVELS)[number]
