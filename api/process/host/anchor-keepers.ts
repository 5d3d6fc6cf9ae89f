import { anchorFolder, anchorGit } from '../../../adapters/files/anchor-folder.ts'
import { findProgram } from '../../../adapters/processes/programs.ts'
import { anchorTimestamp, anchorWitness } from '../../../adapters/web/anchors.ts'
import type { AnchorKeeper } from '../../../domain/ports/proof.ts'
import type { AnchorKind } from '../../../domain/proof/events.ts'

/** The anchors that this program knows. */
export const ANCHOR_KEEPERS: Readonly<Record<AnchorKind, AnchorKeeper>> = {
  folder: anchorFolder,
  git: anchorGit(() => findProgram('git')),
  witness: anchorWitness,
  timestamp: anchorTimestamp,
}
