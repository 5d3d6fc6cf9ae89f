import { parseVkey } from '../../../domain/log/proof/note.ts'
import { policyOfKeys, type VerifiedPack } from '../../../domain/log/proof/pack-verifier.ts'
import { checkPack } from '../../operations/pack/check-pack.ts'

/** A pack to check. `vkey`: a trusted key from elsewhere; null: use the keys in the pack. */
export interface ToCheck {
  readonly file: Blob
  readonly vkey: string | null
}

export interface CheckedPack extends VerifiedPack {
  /** The place of `story.html` in the file. */
  readonly story: { readonly offset: number; readonly size: number } | null
}

/** `read`: bytes of the file so far. */
export type Told = { readonly read: number } | { readonly found: CheckedPack } | { readonly fault: string }

/** The shortest way between two messages about the progress, in bytes. */
const STEP = 4 * 1024 * 1024

/** Checks a pack as `keepup pack --check` does, slice by slice. */
export async function check({ file, vkey }: ToCheck, tell: (told: Told) => void): Promise<void> {
  let story: CheckedPack['story'] = null
  try {
    if (vkey !== null) parseVkey(vkey)
    const policy = vkey === null ? null : policyOfKeys([vkey])
    const found = await checkPack(slices(file, tell), policy, ({ name, offset, size }) => {
      if (name === 'story.html') story = { offset, size }
    })
    tell({ found: { ...found, story } })
  } catch (error) {
    tell({ fault: (error as Error).message })
  }
}

async function* slices(file: Blob, tell: (told: Told) => void): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.size; at += STEP) {
    tell({ read: at })
    yield new Uint8Array(await file.slice(at, at + STEP).arrayBuffer())
  }
}
