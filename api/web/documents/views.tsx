import { useState } from 'preact/hooks'
import { refusal, take } from '../../http/answers.ts'
import type { DocumentEntry, DocumentView } from '../../operations/document/schemas.ts'
import { busy, run } from '../actions/command.ts'
import { api, send } from '../client/api.ts'
import { setQuery } from '../page/router.ts'
import { JsonView } from '../parts/code/json-view.tsx'
import { PatchView } from '../parts/code/patch-view.tsx'
import { textDiff } from '../parts/code/text-diff.ts'
import { countText, instant } from '../parts/format.ts'
import { Loaded, useLoaded } from '../parts/loaded.tsx'
import { shown } from '../parts/shown.ts'
import { Foreign } from '../parts/text.tsx'
import { linkToCall } from '../run/writers.ts'
import { type Authors, authorColour, Blocks } from './blocks.tsx'

interface At {
  readonly documentId: string
  readonly revision: number
}

const MOST = 500

/** The parts of each span with their authors at a revision. */
async function authorsAt({ documentId, revision }: At): Promise<Authors> {
  const query = { revision: String(revision) }
  const { spans, sources } = await take(api.v1.documents[':id'].blame.$get({ param: { id: documentId }, query }))
  const names = new Map(sources.map((one) => [one.revision, authorName(one)]))
  const parts = new Map(
    spans.map(({ span_id, parts }) => [
      span_id,
      parts.map(({ text, revision }) => ({ length: text.length, author: names.get(revision ?? -1) ?? 'not known' })),
    ]),
  )
  return { names: [...new Set(names.values())], parts }
}

const authorName = ({ by }: DocumentEntry): string => (by.kind === 'gateway' ? `agent ${by.id}` : by.id)

/** The text of a document with a colour for each author. */
function ColouredText({ blocks, ...at }: At & { readonly blocks: DocumentView['blocks'] }) {
  const found = useLoaded(`authors ${at.documentId} ${at.revision}`, () => authorsAt(at))
  return (
    <Loaded of={found}>
      {(authors) => (
        <>
          <ul class="row documents" aria-label="Authors">
            {authors.names.map((name) => (
              <li key={name}>
                <bdi class={`written ${authorColour(authors, name)}`}>{shown(name)}</bdi>
              </li>
            ))}
          </ul>
          <Blocks blocks={blocks} authors={authors} />
        </>
      )}
    </Loaded>
  )
}

export function DocumentText({ documentId, revision, isPast }: At & { readonly isPast: boolean }) {
  const [colours, setColours] = useState(false)
  const found = useLoaded(`${documentId} ${revision}`, async () => {
    const answer = await send(`/v1/documents/${encodeURIComponent(documentId)}?revision=${revision}`)
    if (!answer.ok) throw await refusal(answer)
    return (await answer.json()) as DocumentView
  })
  return (
    <Loaded of={found}>
      {({ title, blocks, frontier }) => (
        <div>
          <h2>
            <bdi>{shown(title)}</bdi>
          </h2>
          {isPast && (
            <button type="button" disabled={busy.value} onClick={() => void restore(documentId, frontier)}>
              Restore this version
            </button>
          )}
          <label>
            <input type="checkbox" checked={colours} onChange={(event) => setColours(event.currentTarget.checked)} />{' '}
            Colours of authors
          </label>
          {colours ? <ColouredText {...{ documentId, revision, blocks }} /> : <Blocks blocks={blocks} />}
        </div>
      )}
    </Loaded>
  )
}

async function restore(documentId: string, frontier: string): Promise<void> {
  const done = await run('Restored. What was written since stays in the history.', async () => {
    const { restoreVersion } = await import('./editor/restore.ts')
    await restoreVersion(documentId, frontier)
  })
  if (done) setQuery({ rev: null })
}

/** Each part of each span with the request or person that wrote it. */
export function Writers({ documentId, revision }: At) {
  const [most, setMost] = useState(MOST)
  const query = { revision: String(revision) }
  const found = useLoaded(`${documentId} ${revision}`, () =>
    take(api.v1.documents[':id'].blame.$get({ param: { id: documentId }, query })),
  )
  return (
    <Loaded of={found}>
      {({ spans, sources }) => {
        const parts = spans.flatMap((span) => span.parts.map((part) => ({ ...part, span: span.span_id })))
        if (parts.length === 0) return <p class="quiet">The document is empty here.</p>
        return (
          <div class="blame">
            {parts.slice(0, most).map(({ text, revision: by, span }, i) => (
              <div key={i} class="blame-part" title={`span ${span}`}>
                {parts[i - 1]?.revision === by ? (
                  <span />
                ) : (
                  <Writer entry={sources.find((one) => one.revision === by)} />
                )}
                <span class="quiet mono" aria-hidden="true">
                  {parts[i - 1]?.revision === by ? '' : (by ?? '')}
                </span>
                <pre>
                  <Foreign text={text} />
                </pre>
              </div>
            ))}
            {parts.length > most && (
              <button type="button" class="link" onClick={() => setMost(most * 4)}>
                {parts.length - most} more parts
              </button>
            )}
          </div>
        )
      }}
    </Loaded>
  )
}

function Writer({ entry }: { entry: DocumentEntry | undefined }) {
  if (entry === undefined) return <span class="quiet">not known</span>
  return (
    <button
      type="button"
      class="link"
      aria-label={`Who wrote this? ${entry.by.id}, revision ${entry.revision}`}
      onClick={() => setQuery({ rev: String(entry.revision), tab: 'change' })}
    >
      <bdi>{shown(authorName(entry))}</bdi>
    </button>
  )
}

/** A request to the document, its answer, and the blocks that it changed. */
export function EntryChange({ documentId, revision: until, entry }: At & { entry: DocumentEntry }) {
  const { revision, by, at, kind, runId, toolCallId, ...rest } = entry
  const found = useLoaded(`${documentId} ${revision} ${until}`, async () =>
    kind === 'refused' || until === 0
      ? null
      : take(
          api.v1.documents[':id'].diff.$get({
            param: { id: documentId },
            query: { a: String(Math.max(0, revision - 1)), b: String(until) },
          }),
        ),
  )
  return (
    <>
      <h2>
        #{revision} {kind}
      </h2>
      <dl class="facts">
        <dt>by</dt>
        <dd>
          {by.kind} <bdi>{shown(by.id)}</bdi>
          {by.claimed === true && ', as claimed'}
        </dd>
        <dt>when</dt>
        <dd>{instant(at)}</dd>
        {runId !== undefined && (
          <>
            <dt>run</dt>
            <dd>
              <a href={`/runs/${runId}`}>{runId}</a>
            </dd>
          </>
        )}
        {toolCallId !== undefined && (
          <>
            <dt>call</dt>
            <dd class="mono">
              {runId === undefined ? toolCallId : <a href={linkToCall(runId, toolCallId)}>{toolCallId}</a>}
            </dd>
          </>
        )}
      </dl>
      {Object.keys(rest).length > 0 && <JsonView value={rest} />}
      <Loaded of={found}>
        {(diff) =>
          diff === null || diff.changes.length === 0 ? (
            <p class="quiet">It changed no block.</p>
          ) : (
            diff.changes.map(({ change, span_id, type, before = '', after = '', moved }) => (
              <div key={span_id} class="difference">
                <p class="quiet">
                  {type} {change}
                  {moved === true && ', moved'}
                </p>
                <PatchView
                  patch={textDiff(before, after) || `-${before}\n+${after}`}
                  label={`Change of ${type} ${span_id}`}
                />
              </div>
            ))
          )
        }
      </Loaded>
    </>
  )
}

export function Proof({ documentId }: { documentId: string }) {
  const [asked, setAsked] = useState(0)
  return (
    <>
      <button type="button" onClick={() => setAsked(asked + 1)}>
        Verify the document
      </button>
      {asked > 0 && <Verdict key={asked} documentId={documentId} />}
    </>
  )
}

function Verdict({ documentId }: { documentId: string }) {
  const found = useLoaded(documentId, () => take(api.v1.documents[':id'].verify.$get({ param: { id: documentId } })))
  return (
    <Loaded of={found}>
      {({ ok, events, digests, problems }) => (
        <div role="status">
          <p class={ok ? 'good' : 'bad'}>{ok ? '✓ The proof holds.' : '✗ The proof is broken.'}</p>
          <p>
            {countText(events, 'event')} chained, {countText(digests, 'state')} folded again and equal
          </p>
          {problems.map(({ revision, code, message }) => (
            <p key={`${revision}${code}`} class="bad">
              #{revision} {code}: <bdi>{shown(message)}</bdi>
            </p>
          ))}
        </div>
      )}
    </Loaded>
  )
}
