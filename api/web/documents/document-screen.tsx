import { useEffect, useMemo, useState } from 'preact/hooks'
import type { DocumentComment } from '../../operations/document/schemas.ts'
import { useRights } from '../access/rights.ts'
import { CommandOutcome } from '../actions/outcome.tsx'
import { listen } from '../client/feed.ts'
import { SetHold } from '../keeping/hold-forms.tsx'
import { Held } from '../keeping/hold-notice.tsx'
import { later } from '../page/later.tsx'
import { query, setQuery } from '../page/router.ts'
import { Notice } from '../page/shell.tsx'
import { useTitle } from '../page/title.ts'
import { shown } from '../parts/shown.ts'
import { Tabs } from '../parts/tabs.tsx'
import { Comments, useComments } from './comments.tsx'
import { DocumentModel } from './document-model.ts'
import { Entries } from './entries.tsx'
import { DocumentText, EntryChange, Proof, Writers } from './views.tsx'

const Editor = later(async () => (await import('./editor/editor.tsx')).Editor)

const TABS = [
  ['text', 'Text'],
  ['edit', 'Edit'],
  ['writers', 'Who wrote this?'],
  ['change', 'Change'],
  ['proof', 'Proof'],
] as const

const NONE: readonly DocumentComment[] = []

const openOf = (found: ReturnType<typeof useComments>): readonly DocumentComment[] =>
  found !== null && 'value' in found ? found.value.comments.filter(({ status }) => status === 'open') : NONE

/** A document at the revision in the URL (`rev`; absent: the last one), with all requests to it. */
export function DocumentScreen({ documentId }: { documentId: string }) {
  const model = useMemo(() => new DocumentModel(documentId), [documentId])
  useEffect(() => {
    const leave = listen({ event: (event) => model.hear(event), connected: () => void model.read() })
    return () => {
      leave()
      model.end()
    }
  }, [model])
  const title = model.title.value
  useTitle(title === '' ? `Document ${documentId}` : title)
  const [all, setAll] = useState(false)
  const comments = useComments(documentId, model.entries.value, all)
  const open = useMemo(() => openOf(comments), [comments])
  const [chosen, choose] = useState<string | null>(null)
  const rights = useRights()
  const [asksHold, setAsksHold] = useState(false)
  const entries = model.entries.value
  const asked = query.value.get('rev')
  const last = entries.at(-1)?.revision ?? 0
  const revision = asked !== null && /^\d{1,9}$/.test(asked) ? Math.min(Number(asked), last) : last
  const tab = TABS.find(([name]) => name === query.value.get('tab'))?.[0] ?? 'text'
  if (entries.length === 0)
    return model.fault.value === '' ? (
      <p class="quiet">loading …</p>
    ) : (
      <Notice title="This document cannot be shown">
        <p role="alert">{model.fault.value}</p>
      </Notice>
    )
  const at = { documentId, revision }
  const isPast = revision < last
  const stream = `document-${documentId}`
  return (
    <div class="screen">
      <div class="bar">
        <h1>
          {title === '' ? 'Document' : <bdi>{shown(title)}</bdi>} <span class="quiet mono id">{documentId}</span>
        </h1>
        <span class="quiet" role="status">
          {asked === null ? `live, revision ${last}` : `revision ${revision} of ${last}`}
        </span>
        {asked !== null && (
          <button type="button" onClick={() => setQuery({ rev: null })}>
            To the end
          </button>
        )}
        {rights?.has('runs.erase') && (
          <button type="button" onClick={() => setAsksHold(true)}>
            Hold
          </button>
        )}
      </div>
      <CommandOutcome />
      {rights?.has('access.read') && <Held streams={new Map([[stream, 'This document']])} />}
      {asksHold && <SetHold of={stream} onClose={() => setAsksHold(false)} />}
      {model.fault.value !== '' && (
        <p class="fault" role="alert">
          {model.fault.value}
        </p>
      )}
      <div class="panes two document">
        <Entries entries={entries} revision={revision} />
        <section class="pane detail" aria-label="Document">
          <Tabs
            label="What to show"
            tabs={TABS}
            at={tab}
            onChange={(name) => setQuery({ tab: name === 'text' ? null : name })}
          >
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
            <div class="scroll" tabIndex={0}>
              {(tab === 'text' || tab === 'edit') && (
                <div class="beside">
                  {tab === 'text' ? (
                    <DocumentText {...at} isPast={isPast} />
                  ) : (
                    <Editor
                      {...{ documentId, chosen }}
                      label={`Text of document ${documentId}`}
                      comments={open}
                      onChoose={choose}
                    />
                  )}
                  {!isPast && <Comments {...{ documentId, comments, all, chosen }} onAll={setAll} onChoose={choose} />}
                </div>
              )}
              {tab === 'writers' && <Writers {...at} />}
              {tab === 'change' && (
                <EntryChange {...at} entry={entries.findLast((entry) => entry.revision <= revision)!} />
              )}
              {tab === 'proof' && <Proof documentId={documentId} />}
            </div>
          </Tabs>
        </section>
      </div>
    </div>
  )
}
