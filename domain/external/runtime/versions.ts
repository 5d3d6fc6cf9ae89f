import type { HeldFiles } from '../../ports/external.ts'
import type { ExternalFact } from '../commands.ts'

type Versioned = Extract<ExternalFact, { kind: 'versioned' }>

export const versionBefore = (files: HeldFiles | undefined): Promise<Versioned[]> => version('before', files)
export const versionAfter = (files: HeldFiles | undefined): Promise<Versioned[]> => version('after', files)

/**
 * The fact with the version of the files, or with the reason why no version exists. A failed snapshot does not end the
 * run.
 */
async function version(when: Versioned['when'], files: HeldFiles | undefined): Promise<Versioned[]> {
  if (files === undefined) return []
  try {
    return [{ kind: 'versioned', when, tree: await files.snapshot() }]
  } catch (error) {
    const message = (error as Error).message || 'the files could not be kept'
    return [{ kind: 'versioned', when, unversioned: { code: 'SNAPSHOT_FAILED', message } }]
  }
}
