/** The sums of two records of numbers, field by field; what only the second has is left out. */
export function addFields<Counts extends Readonly<Record<keyof Counts, number>>>(
  a: Counts,
  b: Counts,
): Counts {
  const sums = Object.keys(a).map(name => {
    const field = name as keyof Counts
    return [field, a[field] + b[field]]
  })
  return Object.fromEntries(sums) as Counts
}
