/** Members, at any depth, of a value that is opened by itself. */
const MOST = 40

/** Whether a JSON value has few members, all in all. A large one is looked at only as far as it takes to tell. */
export function isSmall(value: unknown): boolean {
  let left = MOST
  const fits = (one: unknown): boolean =>
    typeof one !== 'object' || one === null || Object.values(one).every((member) => --left >= 0 && fits(member))
  return fits(value)
}
