import { idOf } from '../../domain/log/owner.ts'
import type { ProofEvent } from '../../domain/proof/events.ts'
import { type Change, changesIn } from '../engine/changes/change.ts'
import type { Projected } from '../engine/changes/projection.ts'
import { actorText } from '../engine/text.ts'
import type { proofTables } from './tables.ts'

const { put, set } = changesIn<typeof proofTables>()

/** Changes of `log_origins`, `anchors`, `anchored_heads` and `cosigned_heads`. */
export function proofChanges({ header, event }: Projected<ProofEvent>): Change[] {
  if (event === null) return []
  const { revision, timestamp } = header
  const proof = idOf(header.stream)
  switch (event.type) {
    case 'log_key_created': {
      const { origin, reason, vkey } = event.body
      return [put('log_origins', { origin }, { proof, reason, vkey, begun_at: timestamp, revision })]
    }
    case 'log_key_rotated': {
      const { origin, vkey } = event.body
      return [set('log_origins', { origin }, { vkey, rotated_at: timestamp, revision })]
    }
    case 'anchor_added': {
      const { anchor, kind, target } = event.body
      const added = {
        added_at: timestamp,
        added_by: actorText(header.actor),
        removed_at: null,
        size: null,
        anchored_at: null,
      }
      return [put('anchors', { anchor }, { proof, kind, target, ...added, revision })]
    }
    case 'anchor_removed':
      return [set('anchors', { anchor: event.body.anchor }, { removed_at: timestamp, revision })]
    case 'anchor_made': {
      const { anchor, origin, size, root, checkpoint, receipt } = event.body
      return [
        put(
          'anchored_heads',
          { revision },
          { proof, anchor, origin, size, root, checkpoint, receipt, anchored_at: timestamp },
        ),
        set('anchors', { anchor }, { size, anchored_at: timestamp, revision }),
      ]
    }
    case 'checkpoint_cosigned': {
      const { origin, size, root, checkpoint } = event.body
      return [put('cosigned_heads', { revision }, { proof, origin, size, root, checkpoint, cosigned_at: timestamp })]
    }
    default:
      return []
  }
}
