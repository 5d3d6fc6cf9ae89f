import { type RawPath, shownPath } from './worktree.ts'

/** Files that stand in the workspace and that no version can hold as they are. Each is told once. */
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
    /** Forgets which there were; what was told stays told. */
    lookAnew: (): void => now.clear(),
    has: (raw: RawPath): boolean => now.has(raw),
    unreadable: (raw: RawPath): void =>
      leave(
        raw,
        `${shownPath(raw)} cannot be read, so the versions of the workspace keep it as it was last read, if ever`,
      ),
    /** `shown`: the name with references in the secrets' places. */
    secretName: (raw: RawPath, shown: Uint8Array): void =>
      leave(raw, `${shownOf(shown)} has a secret in its name, so it is in no version of the workspace; rename it`),
  }
}

const shownOf = (name: Uint8Array): string => Buffer.from(name).toString('utf8').toWellFormed()
