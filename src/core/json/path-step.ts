const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** A step of a JSON path (RFC 9535): the index of an item, or the key of a member. */
export function writePathStep(step: string | number): string {
  if (typeof step === 'number') return `[${step}]`
  return NAME.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`
}
