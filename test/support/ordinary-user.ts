/** Runs work as a user whom file permissions stop. A process of an ordinary user keeps its user. */
export async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  const root = process.getuid?.() === 0
  if (root) process.seteuid?.(ORDINARY_USER)
  try {
    return await work()
  } finally {
    if (root) process.seteuid?.(0)
  }
}

/** Every Linux and macOS knows this number for a user without rights of its own. */
const ORDINARY_USER = 65_534
