import type { AnchorKeeper, TreeStore } from '../../../domain/ports/proof.ts'
import type { AnchorKind } from '../../../domain/proof/events.ts'
import type { LogAnchors } from '../../../domain/proof/runtime/anchors.ts'
import type { LogSigner } from '../../../domain/proof/runtime/log-signer.ts'

/** The proofs of the log. */
export interface ProofServices {
  /** Null: this log has no tree here. */
  readonly store: TreeStore | null
  readonly keepers: Readonly<Record<AnchorKind, AnchorKeeper>>
  /** Null: this process does not sign. */
  signing(): { readonly signer: LogSigner; readonly anchors: LogAnchors } | null
}
