/** Runs work as a user under file permissions. A process of an ordinary user keeps its user. */
export async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  const root = process.getuid?.() === 0
  if (root) process.seteuid?.(ORDINARY_USER)
  try {
    return await work()
  } finally {
    if (root) process.seteuid?.(0)
  }
}

/** The number of the user without rights on every Linux and macOS. */
const ORDINARY_USER = 65_534
