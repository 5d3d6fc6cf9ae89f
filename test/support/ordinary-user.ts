/** Runs work as a user whom file permissions stop; whoever is one already stays as it is. */
export async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  const root = process.getuid?.() === 0
  if (root) process.seteuid?.(NOBODY)
  try {
    return await work()
  } finally {
    if (root) process.seteuid?.(0)
  }
}

/** Every Linux and macOS knows this number for a user without rights of its own. */
const NOBODY = 65_534
