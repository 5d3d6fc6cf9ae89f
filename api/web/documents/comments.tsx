import { useEffect, useRef, useState } from 'preact/hooks'
import { asOne, take } from '../../http/answers.ts'
import type { DocumentComment, DocumentComments, DocumentEntry } from '../../operations/document/schemas.ts'
import { useRights } from '../access/rights.ts'
import { busy, run } from '../actions/command.ts'
import { api } from '../client/api.ts'
import { person } from '../client/session.ts'
import { Ago } from '../parts/ago.tsx'
import { number } from '../parts/format.ts'
import { Loaded, type Loading, useLoaded } from '../parts/loaded.tsx'
import { shown } from '../parts/shown.ts'
import { Foreign } from '../parts/text.tsx'
import { useThrottled } from '../parts/use-throttled.ts'
import { linkToCall } from '../run/writers.ts'

/** From a change of the text to the next load, in ms: people type several letters in this time. */
const TEXT_PAUSE = 1_000

/** The entries of a history that add, answer or settle a comment or suggestion. */
const DISCUSSED: ReadonlySet<DocumentEntry['kind']> = new Set<DocumentEntry['kind']>([
  ...(['commented', 'suggested', 'replied', 'resolved', 'suggestion accepted', 'suggestion refused'] as const),
])

interface Found {
  readonly comments: readonly DocumentComment[]
  /** The number of settled ones, also if `comments` does not contain them. */
  readonly settled: number
}

/**
 * The open comments and suggestions of a document, or `all`. Loads them again after each new one, and once after several
 * changes of the text.
 */
export function useComments(documentId: string, entries: readonly DocumentEntry[], all: boolean): Loading<Found> {
  const text = useThrottled(entries.at(-1)?.revision ?? 0, TEXT_PAUSE)
  const discussed = entries.findLast(({ kind }) => DISCUSSED.has(kind))?.revision ?? 0
  const load = () => loadComments(documentId, all ? 'all' : 'open')
  return useLoaded(`comments of ${documentId}`, load, `${discussed} ${text} ${all}`)
}

async function loadComments(id: string, status: 'open' | 'all'): Promise<Found> {
  const comments: DocumentComment[] = []
  for (let after: string | undefined; ; ) {
    const query = { status, limit: '500', ...(after === undefined ? {} : { after }) }
    const page: DocumentComments = await take(api.v1.documents[':id'].comments.$get({ param: { id }, query }))
    comments.push(...page.comments)
    if (page.next === null) return { comments, settled: page.settled }
    after = page.next
  }
}

interface Props {
  readonly documentId: string
  readonly comments: Loading<Found>
  /** Whether settled ones are shown. */
  readonly all: boolean
  readonly onAll: (all: boolean) => void
  /** The id of the chosen comment; null: none. */
  readonly chosen: string | null
  readonly onChoose: (id: string | null) => void
}

/** The list of comments and suggestions next to the text of a document. */
export function Comments({ documentId, comments, all, onAll, chosen, onChoose }: Props) {
  return (
    <aside class="comments" aria-label="Comments and suggestions">
      <Loaded of={comments}>
        {({ comments: found, settled }) => {
          const open = found.filter(({ status }) => status === 'open')
          return (
            <>
              <h2>
                {open.length === 0 ? 'No open comments' : `${number(open.length)} open`}
                {settled > 0 && (
                  <button type="button" class="link" aria-pressed={all} onClick={() => onAll(!all)}>
                    {all ? 'Hide settled' : `Show ${settled} settled`}
                  </button>
                )}
              </h2>
              <ul>
                {(all ? found : open).map((one) => (
                  <Thread
                    key={one.id}
                    documentId={documentId}
                    comment={one}
                    isChosen={one.id === chosen}
                    onChoose={onChoose}
                  />
                ))}
              </ul>
            </>
          )
        }}
      </Loaded>
    </aside>
  )
}

interface ThreadProps extends Pick<Props, 'documentId' | 'onChoose'> {
  readonly comment: DocumentComment
  readonly isChosen: boolean
}

function Thread({ documentId, comment, isChosen, onChoose }: ThreadProps) {
  const { id, kind, status, outdated, quote, range, replies, settled } = comment
  const rights = useRights()
  const element = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isChosen) element.current?.scrollIntoView({ block: 'nearest' })
  }, [isChosen])
  return (
    <li ref={element} class="comment" aria-current={isChosen || undefined}>
      <button type="button" class="plain comment-head" onClick={() => onChoose(isChosen ? null : id)}>
        <span>{kind === 'comment' ? 'Comment' : 'Suggestion'}</span>
        <Author of={comment} />
        {outdated && <span class="badge">outdated</span>}
        {status !== 'open' && <span class="status">{status}</span>}
      </button>
      {comment.toolCallId !== undefined && comment.runId !== undefined && (
        <a href={linkToCall(comment.runId, comment.toolCallId)}>its call</a>
      )}
      {kind === 'comment' ? (
        <>
          <blockquote>
            <Erasable text={quote} />
          </blockquote>
          <p>
            <Erasable text={comment.text} />
          </p>
        </>
      ) : (
        <p class="suggested">
          <del>
            <Erasable text={quote} />
          </del>{' '}
          <ins>{comment.replacement === '' ? '(delete)' : <Erasable text={comment.replacement} />}</ins>
        </p>
      )}
      {comment.reason !== undefined && (
        <p class="quiet">
          <Foreign text={comment.reason} />
        </p>
      )}
      {status === 'open' && (range === null || range.text !== quote) && (
        <p class="quiet">{range === null ? 'The text was deleted.' : <>Now: {<Foreign text={range.text} />}</>}</p>
      )}
      {replies.map((reply) => (
        <p key={reply.revision} class="reply">
          <Author of={reply} /> <Erasable text={reply.text} />
        </p>
      ))}
      {settled !== undefined && (
        <p class="quiet">
          {status} by <Author of={settled} />
          {typeof settled.reason === 'string' && (
            <>
              : <Foreign text={settled.reason} />
            </>
          )}
        </p>
      )}
      {status === 'open' && rights?.has('documents.write') && <Deeds documentId={documentId} comment={comment} />}
    </li>
  )
}

const Author = ({ of: { by, at } }: { of: Pick<DocumentComment, 'by' | 'at'> }) => (
  <span>
    <bdi>{shown(by.kind === 'gateway' ? `agent ${by.id}` : by.id)}</bdi>{' '}
    <span class="quiet">
      <Ago at={at} /> ago
    </span>
  </span>
)

const Erasable = ({ text }: { text: string | null | undefined }) =>
  text == null ? <span class="quiet">(erased)</span> : <Foreign text={text} />

/** The form of an answer in words; null: none is open. */
type Asking = 'reply' | 'refuse' | null

function Deeds({ documentId, comment }: Pick<ThreadProps, 'documentId' | 'comment'>) {
  const [asking, setAsking] = useState<Asking>(null)
  const { id, kind, outdated } = comment
  const by = person()
  const { comments, suggestions } = api.v1.documents[':id']
  const thread = { param: { id: documentId, comment: id }, header: {} }
  const suggestion = { param: { id: documentId, suggestion: id }, header: {} }
  const accept = () =>
    run('Accepted.', () => take(suggestions[':suggestion'].accept.$post({ ...suggestion, json: { by } })))
  const resolve = () => run('Resolved.', () => take(comments[':comment'].resolve.$post({ ...thread, json: { by } })))
  const answer = async (event: Event) => {
    event.preventDefault()
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get('text')).trim()
    const done =
      asking === 'reply'
        ? await run('Replied.', () =>
            take(comments[':comment'].replies.$post({ ...thread, header: asOne(), json: { text, by } })),
          )
        : await run('Refused; the text stays.', () =>
            take(suggestions[':suggestion'].refuse.$post({ ...suggestion, json: { reason: text, by } })),
          )
    if (done) setAsking(null)
  }
  if (asking !== null)
    return (
      <form class="pair" onSubmit={answer}>
        <input
          name="text"
          dir="auto"
          aria-label={asking === 'reply' ? 'Reply' : 'Reason'}
          required
          maxLength={2000}
          // biome-ignore lint/a11y/noAutofocus: the person asked for this field
          autoFocus
        />
        <button type="submit" disabled={busy.value}>
          {asking === 'reply' ? 'Reply' : 'Refuse'}
        </button>
        <button type="button" onClick={() => setAsking(null)}>
          Back
        </button>
      </form>
    )
  return (
    <div class="pair">
      {kind === 'suggestion' ? (
        <>
          <button type="button" class="main" disabled={busy.value || outdated} onClick={accept}>
            Accept
          </button>
          <button type="button" onClick={() => setAsking('refuse')}>
            Refuse …
          </button>
        </>
      ) : (
        <button type="button" disabled={busy.value} onClick={resolve}>
          Resolve
        </button>
      )}
      <button type="button" onClick={() => setAsking('reply')}>
        Reply …
      </button>
    </div>
  )
}
