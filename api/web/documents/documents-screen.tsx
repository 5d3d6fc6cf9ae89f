import { useState } from 'preact/hooks'
import { asOne, take } from '../../http/answers.ts'
import { busy, run } from '../actions/command.ts'
import { CommandOutcome } from '../actions/outcome.tsx'
import { api } from '../client/api.ts'
import { person } from '../client/session.ts'
import { go } from '../page/router.ts'
import { Notice } from '../page/shell.tsx'
import { useTitle } from '../page/title.ts'
import { Ago } from '../parts/ago.tsx'
import { Loaded, useLoaded } from '../parts/loaded.tsx'
import { useRound } from '../parts/round.ts'
import { shown } from '../parts/shown.ts'

const PAUSE = 500

/** Documents, the last changed first, with live updates. */
export function DocumentsScreen() {
  useTitle('Documents')
  const [changes] = useRound(PAUSE, ({ stream }) => stream.startsWith('document-'))
  const [after, setAfter] = useState<string | null>(null)
  const query = { limit: '500', ...(after === null ? {} : { after }) }
  const found = useLoaded(`documents ${after}`, () => take(api.v1.documents.$get({ query })), changes)
  return (
    <div class="screen">
      <div class="bar">
        <h1>Documents</h1>
        <NewDocument />
      </div>
      <CommandOutcome />
      <Loaded of={found}>
        {({ documents, next }) =>
          documents.length === 0 ? (
            <Notice title="There are no documents yet">
              <p>A document is written by people and agents together, and each change has its author.</p>
              <p>
                <button
                  type="button"
                  class="main"
                  onClick={() => document.querySelector<HTMLElement>('input[name=title]')?.focus()}
                >
                  Name a new document
                </button>
              </p>
              <p>On the command line, make one of a file:</p>
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
                      <a class="button" href={`/documents/${documentId}?tab=edit`} aria-label={`Edit ${shown(title)}`}>
                        Edit
                      </a>
                      <span class="quiet">
                        changed by <bdi>{shown(updatedBy.replace(/^user:/, ''))}</bdi> <Ago at={updatedAt} /> ago ·
                        revision {revision}
                      </span>{' '}
                      {incompleteFrom !== null && <span class="badge">incomplete</span>}
                    </li>
                  ))}
              </ul>
              {after !== null && (
                <button type="button" onClick={() => setAfter(null)}>
                  To the first
                </button>
              )}
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

function NewDocument() {
  const create = async (event: Event) => {
    event.preventDefault()
    const title = String(new FormData(event.currentTarget as HTMLFormElement).get('title')).trim()
    await run('Created.', async () => {
      const json = { title, by: person() }
      const { documentId } = await take(api.v1.documents.$post({ header: asOne(), json }))
      go(`/documents/${documentId}?tab=edit`)
    })
  }
  return (
    <form class="pair" onSubmit={create}>
      <input
        name="title"
        dir="auto"
        aria-label="Title of a new document"
        placeholder="Title"
        required
        maxLength={200}
      />
      <button type="submit" disabled={busy.value}>
        New document
      </button>
    </form>
  )
}
