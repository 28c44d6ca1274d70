/** Imported before a service: the time of its day stands still. Timers go on. */
const AT = Date.UTC(2026, 0, 15, 12)

globalThis.Date = class extends Date {
  constructor(...given: [] | [number | string]) {
    super(...((given.length === 0 ? [AT] : given) as [number]))
  }

  static override now(): number {
    return AT
  }
} as DateConstructor
