import type { HeldFiles } from '../../ports/external.ts'
import type { ExternalFact } from '../commands.ts'

type Versioned = Extract<ExternalFact, { kind: 'versioned' }>

export const versionBefore = (files: HeldFiles | undefined): Promise<Versioned[]> => version('before', files)
export const versionAfter = (files: HeldFiles | undefined): Promise<Versioned[]> => version('after', files)

/** The fact that says which version holds the files, or why none does: a run is recorded all the same. */
async function version(when: Versioned['when'], files: HeldFiles | undefined): Promise<Versioned[]> {
  if (files === undefined) return []
  try {
    return [{ kind: 'versioned', when, tree: await files.snapshot() }]
  } catch (error) {
    const unversioned = (error as Error).message || 'the files could not be kept'
    return [{ kind: 'versioned', when, tree: null, unversioned }]
  }
}
