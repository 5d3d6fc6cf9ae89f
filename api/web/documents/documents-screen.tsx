import { useEffect, useState } from 'preact/hooks'
import { api, take } from '../client/api.ts'
import { listen } from '../client/feed.ts'
import { Notice } from '../page/shell.tsx'
import { ago, instant } from '../parts/format.ts'
import { Loaded, useLoaded } from '../parts/loaded.tsx'
import { shown } from '../parts/shown.ts'

/** Documents, those that changed last first; live. */
export function DocumentsScreen() {
  const [changes, setChanges] = useState(0)
  const [after, setAfter] = useState<string | null>(null)
  useEffect(() => {
    let timer = 0
    const soon = () => {
      clearTimeout(timer)
      timer = window.setTimeout(() => setChanges((n) => n + 1), 500)
    }
    const leave = listen({ event: ({ stream }) => stream.startsWith('document-') && soon(), connected: soon })
    return () => {
      leave()
      clearTimeout(timer)
    }
  }, [])
  const query = { limit: '500', ...(after === null ? {} : { after }) }
  const found = useLoaded(`${changes} ${after}`, () => take(api.v1.documents.$get({ query: query as never })))
  return (
    <div class="screen">
      <h1 class="bar">Documents</h1>
      <Loaded of={found}>
        {({ documents, next }) =>
          documents.length === 0 ? (
            <Notice title="There are no documents yet">
              <p>Agents edit documents by envelopes. On the command line, make one with:</p>
              <pre>keepup docs create plan.md --title "Plan"</pre>
            </Notice>
          ) : (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
            <div class="scroll" tabIndex={0}>
              <ul class="documents">
                {[...documents]
                  .sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
                  .map(({ documentId, title, revision, updatedAt, updatedBy, incompleteFrom }) => (
                    <li key={documentId}>
                      <a href={`/documents/${documentId}`}>
                        <bdi>{shown(title)}</bdi>
                      </a>{' '}
                      <span class="quiet">
                        revision {revision} · <bdi>{shown(updatedBy)}</bdi>,{' '}
                        <time dateTime={updatedAt} title={instant(updatedAt)}>
                          {ago(updatedAt, Date.now())} ago
                        </time>
                      </span>{' '}
                      {incompleteFrom !== null && <span class="badge">incomplete</span>}
                    </li>
                  ))}
              </ul>
              {next !== null && (
                <button type="button" onClick={() => setAfter(next)}>
                  More
                </button>
              )}
            </div>
          )
        }
      </Loaded>
    </div>
  )
}
