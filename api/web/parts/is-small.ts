/** The most members of a value that is expanded by default, over all levels. */
const MOST = 40

/** Whether a JSON value has few members over all levels. Stops counting at the limit. */
export function isSmall(value: unknown): boolean {
  let left = MOST
  const fits = (one: unknown): boolean =>
    typeof one !== 'object' || one === null || Object.values(one).every((member) => --left >= 0 && fits(member))
  return fits(value)
}
