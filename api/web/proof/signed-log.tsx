import type { z } from 'zod'
import type { ProofStatus } from '../../operations/proof/schemas.ts'
import { Ago } from '../parts/ago.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { countText } from '../parts/format.ts'
import { shown } from '../parts/shown.ts'

export type Status = z.infer<typeof ProofStatus>

/** The greatest count of unsigned events that is exact. */
const MOST_COUNTED = 1_000

/** The name and key of the log, its last head, and the events that no head covers. */
export function SignedLog({ status }: { status: Status }) {
  const { head, vkey } = status
  return (
    <section>
      <h2>The log</h2>
      <Signed status={status} />
      <dl class="facts">
        <dt>origin</dt>
        <dd class="mono">{head === null ? '–' : shown(head.origin)}</dd>
        <dt>key</dt>
        <dd>
          {vkey === null ? (
            'none yet: the first signature makes it'
          ) : (
            <>
              <span class="mono">{shown(vkey)}</span> <CopyButton title="Copy the key" text={vkey} />
            </>
          )}
        </dd>
        {head !== null && (
          <>
            <dt>last head</dt>
            <dd>
              {countText(head.size, 'event')}, signed <Ago at={head.signedAt} /> ago
            </dd>
            <dt>root</dt>
            {/* The third line of a checkpoint. */}
            <dd class="mono">{shown(head.checkpoint.split('\n')[2] ?? '')}</dd>
          </>
        )}
        <dt>not signed</dt>
        <dd>
          <Unsigned status={status} />
        </dd>
      </dl>
      <p class="quiet">
        Give the key to whoever will check proofs of this log, in another way than the proofs. Whoever has it can check
        them without keepup.
      </p>
    </section>
  )
}

function Signed({ status: { head, late, why, keyMissing, unsigned } }: { status: Status }) {
  const because = why === undefined ? '' : `: ${why}`
  if (keyMissing)
    return <p class="bad">✗ This machine does not have the key of the log, so another one must sign{shown(because)}</p>
  if (late || why !== undefined) return <p class="bad">✗ The log is not signed{shown(because)}</p>
  if (head === null) return <p class="quiet">The log has no signed head yet.</p>
  return <p class="good">✓ The log is signed{unsigned === 0 ? ', to its last event' : ''}</p>
}

function Unsigned({ status: { unsigned, unsignedSince } }: { status: Status }) {
  if (unsigned === 0) return <>every event is signed</>
  return (
    <>
      {unsigned === null ? 'not known' : countText(unsigned, 'event')}
      {unsigned === MOST_COUNTED && ' or more'}
      {unsignedSince !== null && (
        <>
          , the oldest one of <Ago at={unsignedSince} /> ago
        </>
      )}
    </>
  )
}
