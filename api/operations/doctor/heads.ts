import { counted } from '../../../projections/engine/text.ts'
import { proofStatus } from '../proof/status.ts'
import type { Services } from '../services.ts'
import { bad, type Finding, ok } from './finding.ts'

const MISSING_TODO =
  'copy "log.key" from the machine that signs; if no machine has it any more: "keepup call rotateLogKey lost=true"'

/** The last signed head, whether the log is signed now, and the last head of each anchor. */
export async function checkHeads(s: Services): Promise<Finding[]> {
  const { head, late, unsignedSince, why, keyMissing, anchors } = await proofStatus(s)
  const last = head === null ? 'none yet' : `${counted(head.size, 'event')}, signed ${head.signedAt}, ${head.origin}`
  const [cause, ...todo] = why?.split('; ') ?? []
  const signed = late
    ? bad(
        'warning',
        'signed heads',
        `${last}; events since ${unsignedSince} are not signed${cause === undefined ? '' : `: ${cause}`}`,
        todo.join('; ') || 'start a process that writes the log, on a machine with its key',
      )
    : ok('signed heads', last)
  const key = keyMissing ? [bad('warning', 'log key', 'this machine does not have it', MISSING_TODO)] : []
  const kept = anchors.map(({ anchor, kind, size, anchoredAt, failure }) => {
    const found = `${anchor} (${kind}): ${size === null ? 'no head yet' : `${counted(size, 'event')}, ${anchoredAt}`}`
    return failure === null
      ? ok('anchor', found)
      : bad('warning', 'anchor', `${found}; ${failure.message}`, `"keepup anchor now ${anchor}" tries it again`)
  })
  return [signed, ...key, ...kept]
}
