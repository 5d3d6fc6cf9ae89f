import { useState } from 'preact/hooks'
import { annotationStream, NOTE_LENGTH, TAG_LENGTH } from '../../../domain/annotation/limits.ts'
import { asOne, take } from '../../http/answers.ts'
import type { Note } from '../../operations/annotation/schemas.ts'
import { useRights } from '../access/rights.ts'
import { busy, run } from '../actions/command.ts'
import { api } from '../client/api.ts'
import { person } from '../client/session.ts'
import { Dialog } from '../habits/dialog.tsx'
import { Ago } from '../parts/ago.tsx'
import { DialogButtons } from '../parts/dialog-buttons.tsx'
import { countText } from '../parts/format.ts'
import { Loaded, useLoaded } from '../parts/loaded.tsx'
import { useRound } from '../parts/round.ts'
import { shown } from '../parts/shown.ts'
import { Foreign } from '../parts/text.tsx'

/** The shortest time between two loads of the notes, in ms. */
const PAUSE = 500

interface Props {
  readonly runId: string
  readonly tags: readonly string[]
  /** Called after a change. */
  readonly onChange: () => void
}

/** The tags and notes of a run, and the forms that change them. */
export function Annotations({ runId, tags, onChange }: Props) {
  const rights = useRights()
  const canChange = rights?.has('runs.steer') ?? false
  if (!rights?.has('bodies.read')) return null
  return (
    <section class="annotations" aria-label="Tags and notes">
      <Tags {...{ runId, tags, onChange, canChange }} />
      <Notes runId={runId} canChange={canChange} canErase={rights.has('runs.erase')} />
    </section>
  )
}

function Tags({ runId, tags, onChange, canChange }: Props & { readonly canChange: boolean }) {
  const change = async (tag: string, how: 'add' | 'remove') => {
    const { tags: route } = api.v1.runs[':id']
    const post = how === 'add' ? route.$post : route.remove.$post
    const done = (
      <>
        The run {how === 'add' ? 'has' : 'no longer has'} the tag “<bdi>{shown(tag)}</bdi>”.
      </>
    )
    const json = { tag, by: person() }
    const isDone = await run(done, () => take(post({ param: { id: runId }, header: asOne(), json })))
    if (isDone) onChange()
    return isDone
  }
  const add = async (event: Event) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    if (await change(String(new FormData(form).get('tag')).trim(), 'add')) form.reset()
  }
  return (
    <div class="tags">
      {tags.map((tag) => (
        <span key={tag} class="tag">
          <a href={`/?${new URLSearchParams({ tag })}`}>
            <bdi>{shown(tag)}</bdi>
          </a>
          {canChange && (
            <button
              type="button"
              class="plain"
              disabled={busy.value}
              aria-label={`Remove the tag ${shown(tag)}`}
              onClick={() => change(tag, 'remove')}
            >
              ×
            </button>
          )}
        </span>
      ))}
      {canChange && (
        <form onSubmit={add}>
          <input
            name="tag"
            class="narrow"
            dir="auto"
            aria-label="New tag"
            placeholder="tag"
            required
            maxLength={TAG_LENGTH}
            pattern=".*\S.*"
          />{' '}
          <button type="submit" disabled={busy.value}>
            Tag
          </button>
        </form>
      )}
    </div>
  )
}

interface NotesProps {
  readonly runId: string
  readonly canChange: boolean
  readonly canErase: boolean
}

function Notes({ runId, canChange, canErase }: NotesProps) {
  const [round, setRound] = useState(0)
  const [changes] = useRound(PAUSE, ({ stream }) => stream === annotationStream(runId))
  const notes = useLoaded(
    `notes of ${runId}`,
    () => take(api.v1.runs[':id'].notes.$get({ param: { id: runId } })),
    `${round} ${changes}`,
  )
  const then = (done: boolean) => done && setRound(round + 1)
  const add = async (event: Event) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const json = { text: String(new FormData(form).get('text')), by: person() }
    const request = { param: { id: runId }, header: asOne(), json }
    const done = await run('The note is recorded.', () => take(api.v1.runs[':id'].notes.$post(request)))
    if (done) form.reset()
    then(done)
  }
  const remove = async (note: number, erase: boolean) => {
    const request = { param: { id: runId, note: String(note) }, header: asOne(), json: { erase, by: person() } }
    const done = erase ? 'The note is removed and erased.' : 'The note is removed.'
    then(await run(done, () => take(api.v1.runs[':id'].notes[':note'].remove.$post(request))))
  }
  const count = notes !== null && 'value' in notes ? notes.value.notes.length : 0
  return (
    <details>
      <summary>{count === 0 ? 'Notes' : countText(count, 'note')}</summary>
      <Loaded of={notes}>
        {({ notes }) => (
          <ul class="notes">
            {notes.map((note) => (
              <NoteItem
                key={note.note}
                {...{ note, canChange, canErase }}
                onRemove={(erase) => remove(note.note, erase)}
              />
            ))}
          </ul>
        )}
      </Loaded>
      {canChange && (
        <form class="form" onSubmit={add}>
          <textarea name="text" dir="auto" rows={2} aria-label="New note" required maxLength={NOTE_LENGTH} />
          <button type="submit" disabled={busy.value}>
            Write the note
          </button>
        </form>
      )}
    </details>
  )
}

interface NoteItemProps extends Omit<NotesProps, 'runId'> {
  readonly note: Note
  readonly onRemove: (erase: boolean) => void
}

/** The most characters of a note in the names of its buttons. */
const NAME_LENGTH = 40

const NoteItem = ({ note: { note, text, by, claimed, at }, canChange, canErase, onRemove }: NoteItemProps) => {
  const [isAsked, setAsked] = useState(false)
  const beginning = shown(text.length > NAME_LENGTH ? `${text.slice(0, NAME_LENGTH)}…` : text)
  const erase = (event: Event) => {
    event.preventDefault()
    setAsked(false)
    onRemove(true)
  }
  return (
    <li>
      <span class="quiet">
        <bdi>{shown(by)}</bdi>
        {claimed && ', as claimed'}, <Ago at={at} /> ago
      </span>
      <p>
        <Foreign text={text} most={NOTE_LENGTH} />
      </p>
      {canChange && (
        <span class="row">
          <button
            type="button"
            class="link"
            disabled={busy.value}
            aria-label={`Remove the note “${beginning}”`}
            onClick={() => onRemove(false)}
          >
            Remove
          </button>
          {canErase && (
            <button
              type="button"
              class="link"
              disabled={busy.value}
              aria-label={`Remove and erase the note “${beginning}”`}
              onClick={() => setAsked(true)}
            >
              Remove and erase
            </button>
          )}
        </span>
      )}
      {isAsked && (
        <Dialog title={`Remove and erase the note ${note}?`} onClose={() => setAsked(false)}>
          <form class="form start" onSubmit={erase}>
            <p>
              <bdi>{beginning}</bdi>
            </p>
            <p>Nothing brings its text back. The log still proves the rest.</p>
            <DialogButtons title="Erase it" onClose={() => setAsked(false)} />
          </form>
        </Dialog>
      )}
    </li>
  )
}
