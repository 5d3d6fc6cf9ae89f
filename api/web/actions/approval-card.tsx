import { useEffect, useRef, useState } from 'preact/hooks'
import { asOne, Refused, take } from '../../http/answers.ts'
import { approvalCount } from '../../operations/approvals/approval-count.ts'
import { api } from '../client/api.ts'
import { listen } from '../client/feed.ts'
import { person } from '../client/session.ts'
import { useKeys } from '../page/keyboard-shortcuts.ts'
import { Ago } from '../parts/ago.tsx'
import { PatchView } from '../parts/code/patch-view.tsx'
import { Loaded, useLoaded } from '../parts/loaded.tsx'
import { shown } from '../parts/shown.ts'
import { Foreign } from '../parts/text.tsx'
import { subjectText } from '../run/calls/call-text.ts'
import { AgentWay } from './agent-way.tsx'
import { run } from './command.ts'

interface ApprovalCardProps {
  readonly toolCallId: string
  readonly runId: string
  /** The keys `a` and `r` act on this card. */
  readonly keys: boolean
  /** Passes the keys to the next question after the decision. */
  readonly next?: (() => void) | undefined
}

const question = (isOpen: boolean, kind: string): string => {
  if (kind === 'permission') return isOpen ? 'Permit' : 'Asked for'
  return isOpen ? 'Allow' : 'Asked'
}

/** The requested tool of a permission request, otherwise the called tool. */
function subjectOf({ toolName, arguments: args }: { readonly toolName: string; readonly arguments: unknown }): string {
  const asked = toolName === 'request_permission' ? (args as { tool?: unknown } | null)?.tool : undefined
  return typeof asked === 'string' ? asked : toolName
}

/** The most characters of a call's subject in a heading. */
const SUBJECT = 80

/** The file, the address or the like of a call. The preview shows a command, and everything else of the call. */
function Subject({ approval }: { approval: { readonly toolName: string; readonly arguments: unknown } }) {
  const { toolName } = approval
  const text = toolName === 'run_command' ? '' : subjectText(toolName, approval.arguments)
  if (text === '' || text.startsWith('{')) return null
  return (
    <>
      {' '}
      <bdi class="mono">{shown(text.length > SUBJECT ? `${text.slice(0, SUBJECT)}…` : text)}</bdi>
    </>
  )
}

/**
 * A call that awaits an approval: its effect, the reason and the decision. The decision applies only to the question on
 * the screen.
 */
export function ApprovalCard({ toolCallId, runId, keys, next }: ApprovalCardProps) {
  const reason = useRef<HTMLInputElement>(null)
  const [changes, setChanges] = useState(0)
  const param = { toolCallId }
  const found = useLoaded(toolCallId, () => take(api.v1.approvals[':toolCallId'].$get({ param })), changes)
  const value = found !== null && 'value' in found ? found.value : null
  const again = () => setChanges((n) => n + 1)
  useEffect(
    () => listen({ event: (event) => event.toolCallId === toolCallId && again(), connected: again }),
    [toolCallId],
  )
  const isOpen = value?.approval.state === 'pending'
  // The question that the person has read. A changed question needs another look before an answer.
  const [read, setRead] = useState<string | null>(null)
  const hash = value?.questionHash ?? null
  useEffect(() => {
    if (read === null) setRead(hash)
  }, [read, hash])
  const isOther = isOpen && read !== null && read !== hash
  const decide = async (decision: 'approved' | 'rejected') => {
    if (!isOpen || isOther) return setRead(hash)
    const why = reason.current?.value.trim() ?? ''
    const { questionHash } = value
    const json = { decision, questionHash, by: person(), ...(why === '' ? {} : { reason: why }) }
    await run(decision === 'approved' ? 'Approved.' : 'Rejected.', () =>
      take(api.v1.approvals[':toolCallId'].$post({ param, header: asOne(), json })).catch((error: unknown) => {
        // Another person decided first. The card reloads and shows who decided.
        if (error instanceof Refused && error.status === 409) again()
        throw error
      }),
    )
  }
  // Ignore key repeats: a held key decides one question, not the next ones too.
  const answers = { a: () => void decide('approved'), r: () => reason.current?.focus() }
  const moves = { a: () => next?.(), r: () => next?.() }
  const onKey = isOpen ? answers : moves
  useKeys(keys && value !== null ? { a: ({ repeat }) => repeat || onKey.a(), r: () => onKey.r() } : {})
  return (
    <article class="ask">
      <Loaded of={found}>
        {({ approval, preview }) => (
          <>
            <h2>
              {question(isOpen, preview.kind)} <bdi class="mono">{shown(subjectOf(approval))}</bdi>
              {approval.toolName !== 'request_permission' && <Subject approval={approval} />}?
            </h2>
            <p class="quiet">
              <bdi>{shown(approval.reason)}</bdi>
              {approval.needed > 1 && (
                <>
                  {' '}
                  · <bdi>{shown(approvalCount(approval))}</bdi>
                </>
              )}{' '}
              · asked <Ago at={approval.requestedAt} /> ago, by <AgentWay runId={runId} path={approval.agentPath} />
            </p>
            {preview.notes.map((note) => (
              <p key={note} class="note">
                <bdi>{shown(note)}</bdi>
              </p>
            ))}
            {preview.kind === 'diff' ? (
              <PatchView patch={preview.text} />
            ) : (
              <pre class="preview">
                <Foreign text={preview.text} most={preview.text.length} />
              </pre>
            )}
            {isOther && (
              <p class="fault" role="alert">
                The question has changed since it was shown. Read it again, then answer.{' '}
                <button type="button" onClick={() => setRead(hash)}>
                  I have read it
                </button>
              </p>
            )}
            {isOpen ? (
              <form
                class="decision"
                onSubmit={(event) => {
                  event.preventDefault()
                  void decide('rejected')
                }}
              >
                <button type="button" class="main" onClick={() => void decide('approved')}>
                  Approve{keys && ' (a)'}
                </button>
                <input
                  ref={reason}
                  dir="auto"
                  aria-label="Reason"
                  placeholder={`reason${keys ? ' (r)' : ''}`}
                  onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
                />
                <button type="submit">Reject</button>
              </form>
            ) : (
              <p role="status" class="decided">
                {approval.state}
                {approval.by !== null && (
                  <>
                    {' '}
                    by <bdi>{shown(approval.by.replace(/^(?:approver|user):/, ''))}</bdi>
                  </>
                )}
                {keys && next !== undefined && ' · press a for the next question'}
              </p>
            )}
          </>
        )}
      </Loaded>
    </article>
  )
}
