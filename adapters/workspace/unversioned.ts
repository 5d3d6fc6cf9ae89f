import { type RawPath, shownPath } from './worktree.ts'

/** Files of the workspace that cannot be versioned. Each is reported once. */
export function leftAside(warn: (text: string) => void) {
  const told = new Set<RawPath>()
  const now = new Set<RawPath>()
  const leave = (raw: RawPath, text: string) => {
    now.add(raw)
    if (told.has(raw)) return
    told.add(raw)
    warn(text)
  }
  return {
    /** Starts a new list of files. Files that were already reported are not reported again. */
    lookAnew: (): void => now.clear(),
    has: (raw: RawPath): boolean => now.has(raw),
    unreadable: (raw: RawPath): void =>
      leave(
        raw,
        `${shownPath(raw)} cannot be read, so the versions keep its last readable content, if any; give this user the right to read it`,
      ),
    /** `shown`: the name with references instead of secrets. */
    secretName: (raw: RawPath, shown: Uint8Array): void =>
      leave(raw, `${shownOf(shown)} has a secret in its name, so it is in no version of the workspace; rename it`),
  }
}

const shownOf = (name: Uint8Array): string => Buffer.from(name).toString('utf8').toWellFormed()
