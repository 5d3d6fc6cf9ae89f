import { take } from '../../../http/answers.ts'
import { api } from '../../client/api.ts'
import { instant } from '../../parts/format.ts'
import { useLoaded } from '../../parts/loaded.tsx'
import { shown } from '../../parts/shown.ts'

/** How a call was decided. Nothing for a call without a decision, such as one before a fork. */
export function CallDecision({ runId, toolCallId }: { readonly runId: string; readonly toolCallId: string }) {
  const query = { call: toolCallId }
  const found = useLoaded(toolCallId, () => take(api.v1.runs[':id'].decisions.$get({ param: { id: runId }, query })))
  const one = found !== null && 'value' in found ? found.value.decisions[0] : undefined
  if (one === undefined) return null
  const people = [
    ...one.supporters.map(({ by, at }) => `${by} (${instant(at)})`),
    ...(one.principal === null ? [] : [one.principal]),
  ]
  const facts = {
    decision: one.decision,
    method: one.method?.replaceAll('_', ' '),
    'decided by': people.join(', ').replaceAll('approver:', ''),
    approvals: one.needed > 1 ? `${one.needed} needed` : null,
    rule: one.rule,
    'policy hash': one.policyHash,
    'shown at': one.askedAt && instant(one.askedAt),
    'decided at': one.decidedAt && instant(one.decidedAt),
  }
  return (
    <dl class="facts" aria-label="Decision">
      {Object.entries(facts).map(
        ([name, value]) =>
          value && (
            <>
              <dt>{name}</dt>
              <dd>
                <bdi>{shown(value)}</bdi>
              </dd>
            </>
          ),
      )}
    </dl>
  )
}
